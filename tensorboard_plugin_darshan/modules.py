"""All modules that can be shown: the two recorded here, and those only in Darshan's own logs.

Names are Darshan 3.5.0's; a test holds them against PyDarshan's. What a module calls its reads,
writes and opens differs (`MPIIO_COLL_READS`, `DAOS_KV_GETS`); `QUANTITIES` says what they mean
together.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.counters import SIZE_BUCKETS, ModuleLayout

_RANKS: Final = ("FASTEST_RANK", "FASTEST_RANK_BYTES", "SLOWEST_RANK", "SLOWEST_RANK_BYTES")
_BYTES: Final = ("BYTES_READ", "BYTES_WRITTEN", "RW_SWITCHES")
_TIME_SIZES: Final = ("MAX_READ_TIME_SIZE", "MAX_WRITE_TIME_SIZE")
_EVENTS: Final = ("OPEN", "READ", "WRITE", "CLOSE")
_STAMPS: Final = tuple(f"{event}_{end}_TIMESTAMP" for end in ("START", "END") for event in _EVENTS)
_TIMES: Final = ("READ_TIME", "WRITE_TIME", "META_TIME", "MAX_READ_TIME", "MAX_WRITE_TIME")
_RANK_TIMES: Final = ("FASTEST_RANK_TIME", "SLOWEST_RANK_TIME")
_DAOS_F: Final = (*_STAMPS, *_TIMES, *_RANK_TIMES)
_COMMON_F: Final = (*_DAOS_F, "VARIANCE_RANK_TIME", "VARIANCE_RANK_BYTES")


def _sizes(infix: str = "") -> tuple[str, ...]:
    return tuple(f"SIZE_{kind}_{infix}{b}" for kind in ("READ", "WRITE") for b in SIZE_BUCKETS)


def _common() -> tuple[str, ...]:
    return tuple(f"ACCESS{i}_{kind}" for kind in ("ACCESS", "COUNT") for i in range(1, 5))


def _shaped_common() -> tuple[str, ...]:
    """The most frequent accesses of modules that know shapes: size, five lengths, five strides."""
    parts = ("ACCESS", *(f"{kind}_D{d}" for kind in ("LENGTH", "STRIDE") for d in range(1, 6)))
    shaped = tuple(f"ACCESS{i}_{part}" for i in range(1, 5) for part in parts)
    return (*shaped, *(f"ACCESS{i}_COUNT" for i in range(1, 5)))


_MPIIO: Final = (
    *("INDEP_OPENS", "COLL_OPENS", "INDEP_READS", "INDEP_WRITES", "COLL_READS", "COLL_WRITES"),
    *("SPLIT_READS", "SPLIT_WRITES", "NB_READS", "NB_WRITES", "SYNCS", "HINTS", "VIEWS", "MODE"),
    *_BYTES,
    *_TIME_SIZES,
    *_sizes("AGG_"),
    *_common(),
    *_RANKS,
)
_H5D: Final = (
    *("OPENS", "READS", "WRITES", "FLUSHES", *_BYTES),
    *("REGULAR_HYPERSLAB_SELECTS", "IRREGULAR_HYPERSLAB_SELECTS", "POINT_SELECTS"),
    *_TIME_SIZES,
    *_sizes("AGG_"),
    *_shaped_common(),
    *("DATASPACE_NDIMS", "DATASPACE_NPOINTS", "DATATYPE_SIZE"),
    *(f"CHUNK_SIZE_D{d}" for d in range(1, 6)),
    *("USE_MPIIO_COLLECTIVE", "USE_DEPRECATED"),
    *_RANKS,
)
_VAR_SHAPES: Final = ("VAR", "VAR1", "VARA", "VARS", "VARM", "VARN")
_PNETCDF_VAR: Final = (
    *("OPENS", "INDEP_READS", "INDEP_WRITES", "COLL_READS", "COLL_WRITES", "NB_READS", "NB_WRITES"),
    *_BYTES,
    *(f"{verb}_{shape}" for verb in ("PUT", "GET") for shape in (*_VAR_SHAPES, "VARD")),
    *(f"{verb}_{shape}" for verb in ("IPUT", "IGET", "BPUT") for shape in _VAR_SHAPES),
    *_TIME_SIZES,
    *_sizes("AGG_"),
    *_shaped_common(),
    *("NDIMS", "NPOINTS", "DATATYPE_SIZE", "IS_RECORD_VAR"),
    *_RANKS,
)
_DFS: Final = (
    *("OPENS", "GLOBAL_OPENS", "LOOKUPS", "DUPS", "READS", "READXS", "WRITES", "WRITEXS"),
    *("NB_READS", "NB_WRITES", "GET_SIZES", "PUNCHES", "REMOVES", "STATS"),
    *_BYTES,
    *_TIME_SIZES,
    *_sizes(),
    *_common(),
    "CHUNK_SIZE",
    *_RANKS,
)
_DAOS: Final = (
    *("OBJ_OPENS", "OBJ_FETCHES", "OBJ_UPDATES", "OBJ_PUNCHES", "OBJ_DKEY_PUNCHES"),
    *("OBJ_AKEY_PUNCHES", "OBJ_DKEY_LISTS", "OBJ_AKEY_LISTS", "OBJ_RECX_LISTS"),
    *("ARRAY_OPENS", "ARRAY_READS", "ARRAY_WRITES", "ARRAY_GET_SIZES", "ARRAY_SET_SIZES"),
    *("ARRAY_STATS", "ARRAY_PUNCHES", "ARRAY_DESTROYS", "KV_OPENS", "KV_GETS", "KV_PUTS"),
    *("KV_REMOVES", "KV_LISTS", "KV_DESTROYS", "NB_OPS"),
    *_BYTES,
    *_TIME_SIZES,
    *_sizes(),
    *_common(),
    *("OBJ_OTYPE", "ARRAY_CELL_SIZE", "ARRAY_CHUNK_SIZE"),
    *_RANKS,
)
_H5F_F: Final = (
    *(f"{event}_{end}_TIMESTAMP" for end in ("START", "END") for event in ("OPEN", "CLOSE")),
    "META_TIME",
)
_PNETCDF_FILE: Final = (
    *("CREATES", "OPENS", "REDEFS", "INDEP_WAITS", "COLL_WAITS", "SYNCS"),
    *("BYTES_READ", "BYTES_WRITTEN", "WAIT_FAILURES"),
)
_PNETCDF_FILE_F: Final = (
    *(f"{e}_{end}_TIMESTAMP" for end in ("START", "END") for e in ("OPEN", "CLOSE", "WAIT")),
    *("META_TIME", "WAIT_TIME"),
)


def _layout(
    name: str, names: tuple[str, ...], fnames: tuple[str, ...], prefix: str = ""
) -> ModuleLayout:
    prefix = prefix or f"{name}_"
    return ModuleLayout(
        name,
        prefix,
        tuple(prefix + counter for counter in names),
        tuple(f"{prefix}F_{fcounter}" for fcounter in fnames),
    )


SHOWN: Final[Mapping[str, ModuleLayout]] = MappingProxyType(
    {
        layout.name: layout
        for layout in (
            counters.POSIX,
            counters.STDIO,
            _layout("DFS", _DFS, _DAOS_F),
            _layout("DAOS", _DAOS, _DAOS_F),
            _layout("MPI-IO", _MPIIO, _COMMON_F, "MPIIO_"),
            _layout("H5F", ("OPENS", "FLUSHES", "USE_MPIIO"), _H5F_F),
            _layout("H5D", _H5D, _COMMON_F),
            _layout("PNETCDF_FILE", _PNETCDF_FILE, _PNETCDF_FILE_F),
            _layout("PNETCDF_VAR", _PNETCDF_VAR, _COMMON_F),
        )
    }
)
"""Modules with records of files, in the order they are shown: first those that storage sees."""

_ARRAY_READS: Final = ("OBJ_FETCHES", "ARRAY_READS", "KV_GETS")
_ARRAY_WRITES: Final = ("OBJ_UPDATES", "ARRAY_WRITES", "KV_PUTS")
_OWN: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "POSIX": {"metadata_calls": ("OPENS", "SEEKS", "STATS", "RENAME_SOURCES")},
        "STDIO": {"metadata_calls": ("OPENS", "SEEKS")},
        "MPI-IO": {
            "opens": ("INDEP_OPENS", "COLL_OPENS"),
            "reads": ("INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS"),
            "writes": ("INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES"),
            "metadata_calls": ("INDEP_OPENS", "COLL_OPENS", "SYNCS", "VIEWS"),
        },
        "H5F": {"metadata_calls": ("OPENS", "FLUSHES")},
        "H5D": {"metadata_calls": ("OPENS", "FLUSHES")},
        "PNETCDF_FILE": {
            "opens": ("CREATES", "OPENS"),
            "metadata_calls": ("CREATES", "OPENS", "REDEFS", "SYNCS"),
        },
        "PNETCDF_VAR": {
            "reads": ("INDEP_READS", "COLL_READS", "NB_READS"),
            "writes": ("INDEP_WRITES", "COLL_WRITES", "NB_WRITES"),
        },
        "DFS": {
            "opens": ("OPENS", "GLOBAL_OPENS"),
            "reads": ("READS", "READXS"),
            "writes": ("WRITES", "WRITEXS"),
            "metadata_calls": (
                *("OPENS", "GLOBAL_OPENS", "LOOKUPS", "DUPS", "GET_SIZES"),
                *("PUNCHES", "REMOVES", "STATS"),
            ),
        },
        "DAOS": {
            "opens": ("OBJ_OPENS", "ARRAY_OPENS", "KV_OPENS"),
            "reads": _ARRAY_READS,
            "writes": _ARRAY_WRITES,
            "metadata_calls": tuple(
                name
                for name in _DAOS[: _DAOS.index("NB_OPS")]
                if name not in (*_ARRAY_READS, *_ARRAY_WRITES)
            ),
        },
    }
)

_PLAIN: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "opens": ("OPENS",),
        "reads": ("READS",),
        "writes": ("WRITES",),
        "metadata_calls": ("OPENS",),
        "bytes_read": ("BYTES_READ",),
        "bytes_written": ("BYTES_WRITTEN",),
        "read_seconds": ("F_READ_TIME",),
        "write_seconds": ("F_WRITE_TIME",),
        "metadata_seconds": ("F_META_TIME",),
    }
)


def _places(layout: ModuleLayout, names: tuple[str, ...]) -> tuple[int, ...]:
    index = {**layout.index, **layout.findex}
    return tuple(index[layout.prefix + n] for n in names if layout.prefix + n in index)


QUANTITIES: Final[Mapping[str, Mapping[str, tuple[int, ...]]]] = MappingProxyType(
    {
        name: {
            quantity: _places(layout, _OWN.get(name, {}).get(quantity, plain))
            for quantity, plain in _PLAIN.items()
        }
        for name, layout in SHOWN.items()
    }
)
"""Module → quantity → places of the counters that make it up together: integer counters, or
floating-point ones for those in seconds. Empty where the module has none."""


def sizes(layout: ModuleLayout) -> np.ndarray[tuple[int, int], np.dtype[np.int64]] | None:
    """Places `[2, 10] int64` of the counters of reads and writes by size; None without any."""
    for infix in ("", "AGG_"):
        names = [layout.prefix + name for name in _sizes(infix)]
        if names[0] in layout.index:
            return np.array([layout.index[name] for name in names]).reshape(2, -1)
    return None


def base(names: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the modules `names` whose bytes may be added up: what MPI-IO or HDF5 move arrives
    in POSIX, DFS or DAOS again (and DFS is built on DAOS, but knows names of files).

    Args:
        names: modules asked for.
        known: modules that the run has at all.
    """
    if len(names) < 2:
        return names
    present = tuple(name for name in names if name in known)
    layers: list[tuple[str, ...]] = [("DFS",), ("DAOS",)]
    if "POSIX" not in present:
        layers += [("MPI-IO",), ("H5D", "PNETCDF_VAR"), ("H5F", "PNETCDF_FILE")]
    above = next(
        ([n for n in layer if n in present] for layer in layers if {*layer} & {*present}), []
    )
    return tuple(name for name in names if name in ("POSIX", "STDIO", *above))
