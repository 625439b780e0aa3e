"""Cuts windows: what happened since the last cut, from the recorder's records and time bins."""

from __future__ import annotations

import os
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_darshan import counters, window
from tensorboard_plugin_darshan.recording.recorder import Recorder
from tensorboard_plugin_darshan.recording.records import ModuleArrays, Totals
from tensorboard_plugin_darshan.window import Int64Array

_ADDITIVE: Final = tuple(column != "size_bytes" for column in window.FILE_COLUMNS)
_COLUMN: Final = {name: i for i, name in enumerate(window.FILE_COLUMNS)}
_METADATA_CALLS: Final = {
    "POSIX": ("OPENS", "SEEKS", "STATS", "RENAME_SOURCES"),
    "STDIO": ("OPENS", "SEEKS"),
}
"""Calls that Darshan counts and whose time it calls metadata time; closes have no counter."""
_NANOSECONDS: Final = 1e9
_DIRECTORY_SEPARATOR: Final = "/"


class _Bandwidth(NamedTuple):
    """Columns that a bandwidth histogram divides."""

    bytes_column: int
    time_column: int


_BANDWIDTHS: Final = (
    _Bandwidth(_COLUMN["bytes_read"], _COLUMN["read_nanoseconds"]),
    _Bandwidth(_COLUMN["bytes_written"], _COLUMN["write_nanoseconds"]),
)
_PLAIN_HISTOGRAMS: Final = tuple(_COLUMN[f"{n}_bytes" if n == "size" else n] for n in
                                 window.HISTOGRAMS[len(_BANDWIDTHS):])  # fmt: skip


def file_columns(module: str, arrays: ModuleArrays) -> Int64Array:
    """The columns `[n, len(window.FILE_COLUMNS)] int64` of records, since the recording began."""
    layout = counters.LAYOUTS[module]

    def ints(name: str) -> Int64Array:
        return arrays.counters[:, layout.index[layout.prefix + name]]

    def nanoseconds(name: str) -> Int64Array:
        seconds = arrays.fcounters[:, layout.findex[f"{layout.prefix}F_{name}_TIME"]]
        return np.rint(seconds * _NANOSECONDS).astype(np.int64)

    columns = {
        "opens": ints("OPENS"),
        "reads": ints("READS"),
        "writes": ints("WRITES"),
        "metadata_calls": sum(ints(name) for name in _METADATA_CALLS[module]),
        "bytes_read": ints("BYTES_READ"),
        "bytes_written": ints("BYTES_WRITTEN"),
        "read_nanoseconds": nanoseconds("READ"),
        "write_nanoseconds": nanoseconds("WRITE"),
        "metadata_nanoseconds": nanoseconds("META"),
        "size_bytes": np.maximum(
            np.where(ints("BYTES_READ") > 0, ints("MAX_BYTE_READ") + 1, 0),
            np.where(ints("BYTES_WRITTEN") > 0, ints("MAX_BYTE_WRITTEN") + 1, 0),
        ),
    }
    return np.stack([columns[name] for name in window.FILE_COLUMNS], axis=1)


def bandwidths(columns: Int64Array) -> npt.NDArray[np.float64]:
    """Read and write bandwidth `[n, 2] float64` in bytes per second, 0 where there is none."""
    values = np.zeros((len(columns), len(_BANDWIDTHS)))
    for i, (amount, time) in enumerate(_BANDWIDTHS):
        has_one = (columns[:, amount] > 0) & (columns[:, time] > 0)
        np.divide(
            columns[:, amount] * _NANOSECONDS, columns[:, time], out=values[:, i], where=has_one
        )
    return values


def histogram_places(columns: Int64Array) -> Int64Array:
    """The bin `[n, len(window.HISTOGRAMS)] int64` of each file in each histogram, -1 for none."""
    values = np.concatenate([bandwidths(columns), columns[:, _PLAIN_HISTOGRAMS]], axis=1)
    return np.where(values > 0, window.histogram_bin(values), -1)


def count_places(places: Int64Array) -> Int64Array:
    """Files a bin, `[len(window.HISTOGRAMS), window.N_HISTOGRAM_BINS] int64`."""
    counts = [
        np.bincount(column[column >= 0], minlength=window.N_HISTOGRAM_BINS) for column in places.T
    ]
    return np.stack(counts).astype(np.int64)


class _ModuleState:
    """What is remembered of one module from cut to cut; rows are records by their place."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.layout = counters.LAYOUTS[module]
        self.columns = np.zeros((0, len(window.FILE_COLUMNS)), np.int64)
        self.places = np.zeros((0, len(window.HISTOGRAMS)), np.int16)
        self.histograms = np.zeros((len(window.HISTOGRAMS), window.N_HISTOGRAM_BINS), np.int64)
        self.counters = np.zeros(len(self.layout.counters), np.int64)
        self.fcounters = np.zeros(len(self.layout.fcounters))
        self.slow = window.SlowFiles()
        self.records = 0

    def reserve(self, n: int) -> None:
        missing = n - len(self.columns)
        if missing > 0:
            missing = max(missing, len(self.columns), 1024)
            self.columns = np.pad(self.columns, ((0, missing), (0, 0)))
            self.places = np.pad(self.places, ((0, missing), (0, 0)), constant_values=-1)

    def totals(self, now: Totals) -> tuple[Int64Array, npt.NDArray[np.float64]]:
        """Counters of the window: differences of what adds up, the present value of the rest."""
        layout = self.layout
        ints = np.where(layout.where("max"), now.maxima, 0)
        ints = np.where(layout.where("sum"), now.sums - self.counters, ints)
        floats = np.where(layout.fwhere("max"), now.fmaxima, 0.0)
        floats = np.where(layout.fwhere("min"), now.fminima, floats)
        floats = np.where(layout.fwhere("sum"), now.fsums - self.fcounters, floats)
        self.counters, self.fcounters = now.sums, now.fsums
        return ints, floats

    def update_slow(self, ids: window.UInt64Array, columns: Int64Array) -> None:
        """Keeps the slowest files of each bandwidth bin.

        A listed file that moves to another bin leaves its place open until another file of the
        old bin is touched again.
        """
        speeds = bandwidths(columns)
        kept = ~np.isin(self.slow.ids, ids)
        parts_ids, parts_bins = [self.slow.ids[kept]], [self.slow.bins[kept]]
        parts_values = [self.slow.values[kept]]
        for direction in range(len(_BANDWIDTHS)):
            has_one = speeds[:, direction] > 0
            values = speeds[has_one, direction]
            places = window.histogram_bin(values)
            parts_ids.append(ids[has_one])
            parts_bins.append(np.stack([np.full_like(places, direction), places], axis=1))
            parts_values.append(values)
        all_ids, all_bins = np.concatenate(parts_ids), np.concatenate(parts_bins)
        all_values = np.concatenate(parts_values)
        order = np.lexsort((all_values, all_bins[:, 1], all_bins[:, 0]))
        all_ids, all_bins, all_values = all_ids[order], all_bins[order], all_values[order]
        key = all_bins[:, 0] * window.N_HISTOGRAM_BINS + all_bins[:, 1]
        rank = np.arange(len(key)) - np.searchsorted(key, key, side="left")
        first = rank < window.SLOWEST_PER_BIN
        self.slow = window.SlowFiles(all_ids[first], all_bins[first], all_values[first])


class WindowCutter:
    """Cuts a recording into windows that follow each other without gap or overlap.

    Only one cutter can follow a recorder, since it empties the recorder's time bins.
    """

    def __init__(self, recorder: Recorder, max_listed_files: int = 500) -> None:
        self._recorder = recorder
        self._max_listed = max_listed_files
        self._states = {module: _ModuleState(module) for module in counters.LAYOUTS}
        self._end = 0.0
        self._sequence = 0
        self._named: set[int] = set()
        self._process_io = read_process_io()

    def cut(self, phase: str = "", epoch: int = -1, step: int = -1) -> window.Window:
        """The window from the last cut (the first: the recording's begin) to now."""
        start, self._end = self._end, self._recorder.seconds()
        names: dict[int, str] = {}
        modules = {m: self._cut_module(state, names) for m, state in self._states.items()}
        before, self._process_io = self._process_io, read_process_io()
        known = (before >= 0) & (self._process_io >= 0)
        cut = window.Window(
            sequence=self._sequence,
            start_seconds=start,
            end_seconds=self._end,
            phase=phase,
            epoch=epoch,
            step=step,
            modules=modules,
            names={key: name for key, name in names.items() if key not in self._named},
            process_io=np.where(known, self._process_io - before, -1),
        )
        self._named.update(cut.names)
        self._sequence += 1
        return cut

    def _cut_module(self, state: _ModuleState, names: dict[int, str]) -> window.ModuleWindow:
        arrays = self._recorder.arrays(state.module, lately=True)
        places = arrays.places
        now = self._recorder.totals(state.module)
        state.reserve(int(places.max(initial=-1)) + 1)
        columns = file_columns(state.module, arrays)
        change = np.where(_ADDITIVE, columns - state.columns[places], columns)
        active = np.any(change[:, _ADDITIVE] != 0, axis=1)
        bins_now, bins_before = histogram_places(columns), state.places[places].astype(np.int64)
        state.histograms = state.histograms + count_places(bins_now) - count_places(bins_before)
        state.columns[places] = columns
        state.places[places] = bins_now.astype(np.int16)
        state.update_slow(arrays.ids, columns)
        ints, floats = state.totals(now)
        change, ids = change[active], arrays.ids[active]
        paths = [name for name, is_active in zip(arrays.names, active, strict=True) if is_active]
        files, folded = self._list_files(ids, paths, change, names)
        self._name_slow(state, arrays, names)
        return window.ModuleWindow(
            counters=ints,
            fcounters=floats,
            files_active=len(ids),
            files_total=now.records,
            bins=self._recorder.drain_bins(state.module),
            files=files,
            folded=folded,
            histograms=count_places(histogram_places(change)),
            histograms_total=state.histograms,
            slow=state.slow,
            common_sizes=now.common_sizes,
            partial=now.partial,
        )

    def _list_files(
        self,
        ids: window.UInt64Array,
        paths: list[str],
        change: Int64Array,
        names: dict[int, str],
    ) -> tuple[window.FileTable, window.FileTable]:
        """The busiest files, by time in calls, and the rest by directory."""
        times = [_COLUMN[f"{kind}_nanoseconds"] for kind in ("read", "write", "metadata")]
        order = np.argsort(-change[:, times].sum(axis=1), kind="stable")
        listed, rest = order[: self._max_listed], order[self._max_listed :]
        names.update((int(ids[i]), paths[i]) for i in listed.tolist())
        folded: dict[str, Int64Array] = {}
        for i in rest.tolist():
            directory = paths[i].rpartition(_DIRECTORY_SEPARATOR)[0] + _DIRECTORY_SEPARATOR
            row = folded.get(directory)
            folded[directory] = change[i] if row is None else _fold(row, change[i])
        folded_ids = np.array([directory_id(path) for path in folded], np.uint64)
        names.update(zip(folded_ids.tolist(), folded, strict=True))
        rows = np.array(list(folded.values()), np.int64).reshape(-1, len(window.FILE_COLUMNS))
        return window.FileTable(ids[listed], change[listed]), window.FileTable(folded_ids, rows)

    def _name_slow(self, state: _ModuleState, arrays: ModuleArrays, names: dict[int, str]) -> None:
        fresh = np.isin(arrays.ids, state.slow.ids)
        names.update((int(arrays.ids[i]), arrays.names[i]) for i in np.flatnonzero(fresh).tolist())


def _fold(row: Int64Array, other: Int64Array) -> Int64Array:
    return np.where(_ADDITIVE, row + other, np.maximum(row, other))


def directory_id(path: str) -> int:
    """A key for a folded directory: FNV-1a of its path, apart from Darshan's ids of files."""
    key = 0xCBF29CE484222325
    for byte in os.fsencode(path):
        key = ((key ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return key


def read_process_io() -> Int64Array:
    """The kernel's counts `[len(window.PROCESS_IO)] int64` of this process, -1 for unknown."""
    try:
        with open("/proc/self/io") as counts:
            values = dict(line.split(":") for line in counts)
        return np.array([int(values[name]) for name in window.PROCESS_IO], np.int64)
    except (OSError, KeyError, ValueError):
        return np.full(len(window.PROCESS_IO), -1, np.int64)
