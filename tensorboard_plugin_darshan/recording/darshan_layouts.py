"""How Darshan lays out a log in memory: headers by log format, records by module and version.

What is not listed here is not known for sure and is not read. Offsets are in bytes, numbers are
little-endian; a test holds all of it against logs that Darshan wrote.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from tensorboard_plugin_darshan.modules import SHOWN

MAGIC: Final = 6567223
UNCOMPRESSED: Final = 2
"""Value of the header's compression field where it describes memory, as the library keeps it with
memory-mapped logs. Without these the library leaves it 0 until it writes a log."""

VERSION_BYTES: Final = 8
MAGIC_AT: Final = 8
COMPRESSION_AT: Final = 16

_IDS: Final = (
    *("NULL", "POSIX", "MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR", "BG/Q", "LUSTRE"),
    *("STDIO", "DXT_POSIX", "DXT_MPIIO", "MDHIM", "APXC", "APMPI", "HEATMAP", "DFS", "DAOS"),
)
_OLD_IDS: Final = (
    *("NULL", "POSIX", "MPI-IO", "H5F", "H5D", "PNETCDF", "BG/Q", "LUSTRE"),
    *("STDIO", "DXT_POSIX", "DXT_MPIIO", "MDHIM", "APXC", "APMPI", "HEATMAP"),
)


@dataclass(frozen=True)
class HeaderLayout:
    """The header of a log format.

    Attributes:
        size: bytes.
        slots: how many modules it has room for.
        partial_at, partial_type: one bit a module that ran out of room.
        names_at: where the names lie: offset and length.
        map_at: where each module's records lie, likewise.
        versions_at: format version of each module, 4 bytes each; 0 for one that is not in use.
        modules: names of the modules by number.
        described: how many modules the library itself describes, see `native/libdarshan.h`.
        job_size: bytes of the job's description, which follows the header.
        start_type, start_at, end_at: when the job started and ended, whole seconds, in the job's
            description; the end is 0 while it runs.
    """

    size: int
    slots: int
    partial_at: int
    partial_type: str
    names_at: int
    map_at: int
    versions_at: int
    modules: tuple[str, ...]
    described: int
    job_size: int
    end_at: int


_NEW_HEADER: Final = HeaderLayout(
    size=1328,
    slots=64,
    partial_at=24,
    partial_type="<u8",
    names_at=32,
    map_at=48,
    versions_at=1072,
    modules=_IDS,
    described=len(_IDS),
    job_size=1080,
    end_at=24,
)
_OLD_HEADER: Final = HeaderLayout(
    size=360,
    slots=16,
    partial_at=20,
    partial_type="<u4",
    names_at=24,
    map_at=40,
    versions_at=296,
    modules=_OLD_IDS,
    described=16,
    job_size=1064,
    end_at=16,
)
HEADERS: Final = MappingProxyType({"3.41": _NEW_HEADER, "3.21": _OLD_HEADER})
"""Log format → layout of its header: Darshan 3.4.1 and later, and 3.4.0."""


@dataclass(frozen=True)
class RecordLayout:
    """The records of one version of a module.

    Attributes:
        size: bytes of a record; 0 where they differ.
        ints_at: where its integer counters begin.
        floats_at: where its floating-point counters begin.
    """

    size: int
    ints_at: int
    floats_at: int

    def dtype(self, n_ints: int, n_floats: int) -> np.dtype[np.void]:
        """The records of a module with so many counters."""
        return np.dtype(
            {
                "names": ["id", "rank", "ints", "floats"],
                "formats": ["<u8", "<i8", ("<i8", (n_ints,)), ("<f8", (n_floats,))],
                "offsets": [0, 8, self.ints_at, self.floats_at],
                "itemsize": self.size,
            }
        )


def _plain(module: str, ints_at: int = 16, after: int = 0) -> RecordLayout:
    """Integer counters, then floating-point ones, then `after` bytes of something else."""
    layout = SHOWN[module]
    floats_at = ints_at + 8 * len(layout.counters)
    return RecordLayout(floats_at + 8 * len(layout.fcounters) + after, ints_at, floats_at)


_FILE_ID: Final = 8
_TWO_UUIDS: Final = 32
_OBJECT_ID: Final = 16

RECORDS: Final = MappingProxyType(
    {
        ("POSIX", 4): _plain("POSIX"),
        ("STDIO", 2): _plain("STDIO"),
        ("MPI-IO", 3): _plain("MPI-IO"),
        ("H5F", 3): _plain("H5F"),
        ("H5D", 2): _plain("H5D", 16 + _FILE_ID),
        ("PNETCDF_FILE", 3): _plain("PNETCDF_FILE"),
        ("PNETCDF_VAR", 1): _plain("PNETCDF_VAR", 16 + _FILE_ID),
        ("DFS", 1): _plain("DFS", after=_TWO_UUIDS),
        ("DAOS", 1): _plain("DAOS", after=_TWO_UUIDS + _OBJECT_ID),
    }
)
"""Module and version → records whose counters `modules.SHOWN` names."""

HEATMAP_VERSION: Final = 1
HEATMAP_BINS: Final = 200
HEATMAP_DTYPE: Final = np.dtype(
    [
        ("id", "<u8"),
        ("rank", "<i8"),
        ("bin_seconds", "<f8"),
        ("n_bins", "<i8"),
        ("addresses", "<u8", (2,)),
        ("written", "<i8", (HEATMAP_BINS,)),
        ("read", "<i8", (HEATMAP_BINS,)),
    ]
)
"""A heat map while it is made: bytes written and read in each bin of time."""

LUSTRE_VERSION: Final = 2
LUSTRE_COUNTERS: Final = (
    *("STRIPE_SIZE", "STRIPE_COUNT", "STRIPE_PATTERN", "FLAGS", "EXT_START", "EXT_END"),
    "MIRROR_ID",
)
LUSTRE_HEAD: Final = np.dtype(
    [("id", "<u8"), ("rank", "<i8"), ("n_components", "<i8"), ("n_stripes", "<i8")]
)
LUSTRE_COMPONENT: Final = np.dtype([("counters", "<i8", (7,)), ("pool", "S16")])

WITHOUT_RECORDS: Final = ("NULL", "DXT_POSIX", "DXT_MPIIO")
"""Modules that keep nothing in the log's memory; traced accesses lie elsewhere."""
