"""What each file of a module has seen so far, over all processes of a training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorboard_plugin_darshan import window
from tensorboard_plugin_darshan.recording import file_columns
from tensorboard_plugin_darshan.recording.records import ModuleArrays
from tensorboard_plugin_darshan.window import Int64Array, UInt64Array

_PROCESSES: Final = file_columns.COLUMN["processes"]
_SUMMED: Final = np.array([column != "size_bytes" for column in window.FILE_COLUMNS])
"""Mask of what adds up over processes: each counts a file once, when it first uses it."""


class _IdIndex:
    """Record id → row, as sorted arrays: 16 bytes a file."""

    def __init__(self) -> None:
        self._ids = np.zeros(0, np.uint64)
        self._rows = np.zeros(0, np.int64)

    def find(self, ids: UInt64Array) -> Int64Array:
        """Rows `[n] int64`, -1 for ids that have none."""
        if not len(self._ids):
            return np.full(len(ids), -1)
        places = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[places] == ids, self._rows[places], -1)

    def add(self, ids: UInt64Array, rows: Int64Array) -> None:
        """Adds ids that are not there yet."""
        ids, rows = np.concatenate([self._ids, ids]), np.concatenate([self._rows, rows])
        order = np.argsort(ids, kind="stable")
        self._ids, self._rows = ids[order], rows[order]


class _ProcessRows:
    """One process's own counts, and which row each of its records is."""

    def __init__(self) -> None:
        self.columns = np.zeros((0, len(window.FILE_COLUMNS)), np.int64)
        self.rows = np.zeros(0, np.int64)

    def reserve(self, n: int) -> None:
        missing = n - len(self.rows)
        if missing > 0:
            missing = max(missing, len(self.rows) // 2, 256)
            self.columns = np.pad(self.columns, ((0, missing), (0, 0)))
            self.rows = np.pad(self.rows, (0, missing), constant_values=-1)


@dataclass(frozen=True)
class Change:
    """What happened to files since the last update; one row a file.

    Attributes:
        ids: `[n] uint64` record ids.
        rows: `[n] int64` rows of the files.
        names: `n` paths.
        columns: `[n, len(window.FILE_COLUMNS)] int64` differences; `processes` is how many used the
            file for the first time, after `FileRows.apply` how many used it so far.
    """

    ids: UInt64Array
    rows: Int64Array
    names: list[str]
    columns: Int64Array


class FileRows:
    """The files of one module.

    Attributes:
        histograms: `[len(window.HISTOGRAMS), window.N_HISTOGRAM_BINS] int64` over all files so far.
        slow: the slowest files of the bandwidth bins.
        n: files so far.
        names: their paths, by row.
    """

    def __init__(self) -> None:
        self.histograms = np.zeros((len(window.HISTOGRAMS), window.N_HISTOGRAM_BINS), np.int64)
        self.slow = window.SlowFiles()
        self.n = 0
        self.names: list[str] = []
        self._index = _IdIndex()
        self._ids = np.zeros(0, np.uint64)
        self._columns = np.zeros((0, len(window.FILE_COLUMNS)), np.int64)
        self._places = np.zeros((0, len(window.HISTOGRAMS)), np.int16)
        self._processes: dict[int, _ProcessRows] = {}

    def _reserve(self, n: int) -> None:
        missing = n - len(self._columns)
        if missing > 0:
            missing = max(missing, len(self._columns) // 2, 1024)
            self._ids = np.pad(self._ids, (0, missing))
            self._columns = np.pad(self._columns, ((0, missing), (0, 0)))
            self._places = np.pad(self._places, ((0, missing), (0, 0)), constant_values=-1)

    def _find_rows(self, process: _ProcessRows, arrays: ModuleArrays) -> Int64Array:
        places = arrays.places
        process.reserve(int(places.max(initial=-1)) + 1)
        unknown = process.rows[places] < 0
        if unknown.any():
            ids = arrays.ids[unknown]
            found = self._index.find(ids)
            fresh = found < 0
            found[fresh] = np.arange(self.n, self.n + int(fresh.sum()))
            self._index.add(ids[fresh], found[fresh])
            self.names.extend(arrays.find_names(places[unknown][fresh]))
            self.n += int(fresh.sum())
            self._reserve(self.n)
            self._ids[found[fresh]] = ids[fresh]
            process.rows[places[unknown]] = found
        return process.rows[places]

    def update(self, key: int, module: str, arrays: ModuleArrays) -> Change:
        """Takes in the records of process `key` that changed; returns what happened on them."""
        process = self._processes.setdefault(key, _ProcessRows())
        rows = self._find_rows(process, arrays)
        now = file_columns.file_columns(module, arrays)
        before = process.columns[arrays.places]
        change = np.where(file_columns.ADDITIVE, now - before, now)
        process.columns[arrays.places] = now
        active = np.any(change[:, file_columns.ADDITIVE] != 0, axis=1)
        change[:, _PROCESSES] = active & ~np.any(before[:, file_columns.ADDITIVE] != 0, axis=1)
        rows = rows[active]
        names = list(map(self.names.__getitem__, rows.tolist()))
        return Change(arrays.ids[active], rows, names, change[active])

    def rows_of(self, key: int, places: Int64Array) -> Int64Array:
        """Rows of records of process `key`, -1 for those that no `update` has taken in."""
        rows = self._processes[key].rows
        return np.append(rows, -1)[np.minimum(places, len(rows))]

    def ids_of(self, rows: Int64Array) -> UInt64Array:
        """Record ids of rows."""
        return self._ids[rows]

    @property
    def columns(self) -> Int64Array:
        """What each file did since the recording began, `[n, len(window.FILE_COLUMNS)]`."""
        return self._columns[: self.n]

    def end(self, key: int) -> None:
        """Forgets what process `key` counted by itself; the files keep it."""
        self._processes.pop(key, None)

    def apply(self, changes: list[Change]) -> Change:
        """Adds up changes of several processes; returns them by file."""
        change = changes[0] if len(changes) == 1 else _merge(changes)
        before = self._columns[change.rows]
        after = np.where(_SUMMED, before + change.columns, np.maximum(before, change.columns))
        self._columns[change.rows] = after
        change.columns[:, _PROCESSES] = after[:, _PROCESSES]
        places, old = file_columns.histogram_places(after), self._places[change.rows]
        self.histograms = (
            self.histograms
            + file_columns.count_places(places)
            - file_columns.count_places(old.astype(np.int64))
        )
        self._places[change.rows] = places.astype(np.int16)
        self.slow = file_columns.slowest(self.slow, change.ids, after)
        return change


def _merge(changes: list[Change]) -> Change:
    rows = np.concatenate([change.rows for change in changes])
    kept, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    all_columns = np.concatenate([change.columns for change in changes])
    columns = np.zeros((len(kept), all_columns.shape[1]), np.int64)
    np.add.at(columns, inverse, np.where(_SUMMED, all_columns, 0))
    np.maximum.at(columns, inverse, np.where(_SUMMED, 0, all_columns))
    names = [name for change in changes for name in change.names]
    ids = np.concatenate([change.ids for change in changes])
    return Change(ids[first], kept, [names[i] for i in first.tolist()], columns)
