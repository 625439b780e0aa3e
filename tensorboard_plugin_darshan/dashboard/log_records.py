"""A log's records as arrays, through the library that PyDarshan ships.

Runs in the child process only: the library aborts or crashes on damaged files. PyDarshan's own
functions make one dictionary a traced access; here whole records become arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan import modules
from tensorboard_plugin_darshan.dashboard import columns

Array = columns.Array

TRACES: Final[Mapping[str, str]] = {"DXT_POSIX": "POSIX", "DXT_MPIIO": "MPI-IO"}
"""Modules with traced accesses → the module whose accesses they are."""

_STRUCTS: Final[Mapping[str, str]] = {
    "POSIX": "struct darshan_posix_file",
    "STDIO": "struct darshan_stdio_file",
    "MPI-IO": "struct darshan_mpiio_file",
    "H5F": "struct darshan_hdf5_file",
    "H5D": "struct darshan_hdf5_dataset",
    "PNETCDF_FILE": "struct darshan_pnetcdf_file",
    "PNETCDF_VAR": "struct darshan_pnetcdf_var",
    "DFS": "struct darshan_dfs_file",
    "DAOS": "struct darshan_daos_object",
}
_MAX_VALUES: Final = 2**27
"""More segments or bins than this in one record are damage."""


class DamagedError(ValueError):
    """The library gave values that no log holds."""


@dataclass
class Records:
    """Records of one module.

    Attributes:
        ids: `[n] uint64`.
        ranks: `[n] int64`, -1 for a record that all ranks share.
        counters: `[n, n_counters] int64` in the order of `modules.SHOWN`.
        fcounters: `[n, n_fcounters] float64` likewise.
        failed: the library could not read all of them.
    """

    ids: Array
    ranks: Array
    counters: Array
    fcounters: Array
    failed: bool = False


@dataclass
class Trace:
    """Traced accesses of one record; arrays with `offset`, `length`, `start`, `end`."""

    record_id: int
    rank: int
    writes: Array
    reads: Array


@dataclass
class HeatmapRecord:
    """One process's bytes over time in one module."""

    record_id: int
    rank: int
    bin_seconds: float
    writes: Array
    reads: Array


@dataclass
class Striping:
    """How a file lies on Lustre: one entry a component."""

    record_id: int
    components: list[Mapping[str, int]] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)


class Log:
    """An open log.

    Raises:
        DamagedError: the library cannot open it.
    """

    def __init__(self, path: str) -> None:
        from darshan.backend import cffi_backend

        self._backend: Any = cffi_backend
        self._ffi, self._library = cffi_backend.ffi, cffi_backend.libdutil
        self._handle = self._library.darshan_log_open(path.encode("utf-8", "surrogateescape"))
        if self._handle == self._ffi.NULL:
            raise DamagedError("Darshan's library cannot open it")
        self._log = {"handle": self._handle, "modules": None, "name_records": None}
        self.modules: Mapping[str, Mapping[str, int]] = cffi_backend.log_get_modules(self._log)

    def close(self) -> None:
        """Closes it; the library checks its own state here, and may abort."""
        self._library.darshan_log_close(self._handle)

    def mounts(self) -> list[list[str]]:
        """Mount points and types of file systems, longest path first."""
        return [list(mount) for mount in self._backend.log_get_mounts(self._log)]

    def names(self) -> dict[int, str]:
        """Record id → name; undecodable bytes survive."""
        ffi, library = self._ffi, self._library
        found, count = ffi.new("struct darshan_name_record **"), ffi.new("int *")
        library.darshan_log_get_name_records(self._handle, found, count)
        return {
            found[0][i].id: ffi.string(found[0][i].name).decode("utf-8", "surrogateescape")
            for i in range(count[0])
        }

    def records(self, name: str) -> Records:
        """All records of a module with counters."""
        ffi, layout = self._ffi, modules.SHOWN[name]
        kind = ffi.typeof(_STRUCTS[name])
        size, fields = ffi.sizeof(kind), dict(kind.fields)
        copies, failed = self._copies(name, size)
        raw = np.frombuffer(b"".join(copies), np.uint8).reshape(len(copies), size)

        def part(field_name: str, dtype: str) -> Array:
            place = fields[field_name]
            width = ffi.sizeof(place.type)
            return raw[:, place.offset : place.offset + width].copy().view(dtype)

        base = part("base_rec", "<i8")
        return Records(
            base[:, 0].astype(np.uint64),
            base[:, 1].copy(),
            self._ordered(part("counters", "<i8"), name, layout.counters, False),
            self._ordered(part("fcounters", "<f8"), name, layout.fcounters, True),
            failed,
        )

    def _ordered(self, values: Array, name: str, wanted: tuple[str, ...], floats: bool) -> Array:
        """Columns by name, so that another library's order does no harm; zero where it has none."""
        known = list(self._backend.counter_names(name, floats))
        if known == list(wanted):
            return values
        places = {counter: i for i, counter in enumerate(known)}
        ordered = np.zeros((len(values), len(wanted)), values.dtype)
        for i, counter in enumerate(wanted):
            if counter in places:
                ordered[:, i] = values[:, places[counter]]
        return ordered

    def _copies(self, name: str, size: int) -> tuple[list[bytes], bool]:
        ffi, library = self._ffi, self._library
        space = ffi.new("char[]", max(size, 65536))
        pointer, index = ffi.new("void **"), self.modules[name]["idx"]
        copies: list[bytes] = []
        while True:
            pointer[0] = space
            status = library.darshan_log_get_record(self._handle, index, pointer)
            if status < 1:
                return copies, status < 0
            copies.append(bytes(ffi.buffer(pointer[0], size)))

    def _each(self, name: str, kind: str) -> Iterator[Any]:
        """Records whose size varies; each is valid until the next is asked for.

        Raises:
            DamagedError: the library cannot read on.
        """
        pointer, index = self._ffi.new("void **"), self.modules[name]["idx"]
        while True:
            pointer[0] = self._ffi.NULL
            status = self._library.darshan_log_get_record(self._handle, index, pointer)
            if status < 0:
                raise DamagedError(f"{name}: the library cannot read on")
            if status < 1:
                return
            yield self._ffi.cast(f"{kind} *", pointer[0])
            self._library.darshan_free(pointer[0])

    def traces(self, name: str) -> Iterator[Trace]:
        """Traced accesses, one record after another."""
        ffi = self._ffi
        head, segment = ffi.sizeof("struct dxt_file_record"), ffi.typeof("struct segment_info")
        fields = dict(segment.fields)
        wanted = {"offset": "offset", "length": "length", "start": "start_time", "end": "end_time"}
        dtype = np.dtype(
            {
                "names": list(wanted),
                "formats": ["<i8", "<i8", "<f8", "<f8"],
                "offsets": [fields[name].offset for name in wanted.values()],
                "itemsize": ffi.sizeof(segment),
            }
        )
        for record in self._each(name, "struct dxt_file_record"):
            n_writes, n_reads = record.write_count, record.read_count
            if not (0 <= n_writes < _MAX_VALUES and 0 <= n_reads < _MAX_VALUES):
                raise DamagedError(f"{name}: impossible number of accesses")
            start = ffi.cast("char *", record) + head
            data = bytes(ffi.buffer(start, (n_writes + n_reads) * dtype.itemsize))
            accesses = np.frombuffer(data, dtype)
            base = record.base_rec
            yield Trace(base.id, base.rank, accesses[:n_writes], accesses[n_writes:])

    def heatmaps(self) -> Iterator[HeatmapRecord]:
        """Bytes over time, one record a process and module."""
        ffi = self._ffi
        for record in self._each("HEATMAP", "struct darshan_heatmap_record"):
            n, width = record.nbins, record.bin_width_seconds
            if not (0 <= n < _MAX_VALUES and 0 < width < 1e9):
                raise DamagedError("HEATMAP: impossible bins")
            writes, reads = (
                np.frombuffer(bytes(ffi.buffer(bins, n * 8)), np.int64)
                for bins in (record.write_bins, record.read_bins)
            )
            yield HeatmapRecord(record.base_rec.id, record.base_rec.rank, width, writes, reads)

    def stripings(self) -> Iterator[Striping]:
        """How files lie on Lustre."""
        names = [
            name.removeprefix("LUSTRE_COMP_") for name in self._backend.counter_names("LUSTRE_COMP")
        ]
        for record in self._each("LUSTRE", "struct darshan_lustre_record"):
            n, targets = record.num_comps, record.num_stripes
            if not (0 <= n < _MAX_VALUES and 0 <= targets < _MAX_VALUES):
                raise DamagedError("LUSTRE: impossible striping")
            components: list[Mapping[str, int]] = [
                dict(zip(names, list(record.comps[i].counters), strict=True)) for i in range(n)
            ]
            yield Striping(
                record.base_rec.id, components, [record.ost_ids[i] for i in range(targets)]
            )
