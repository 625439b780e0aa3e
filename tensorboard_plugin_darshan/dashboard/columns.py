"""Windows as columns: the same field of many windows in one array.

A recording has thousands of windows, each with a few hundred rows of bins and files. One array a
column makes every question a few numpy calls, and narrow integer types keep a day of recording
in tens of megabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_darshan import modules
from tensorboard_plugin_darshan.window import (
    BIN_COLUMNS,
    FILE_COLUMNS,
    HISTOGRAMS,
    N_HISTOGRAM_BINS,
    PROCESS_COLUMNS,
    FileTable,
    ModuleWindow,
    Window,
)

Array = npt.NDArray[Any]
Table = dict[str, Array]
"""Columns of equal length. `window` is the row's window; `file` a place in a `FileIndex`."""

_NARROW: Final = (np.uint8, np.uint16, np.uint32)
Parts = list[tuple[int, ModuleWindow]]


class FileIndex:
    """Small numbers for record ids, in order of first mention; it only ever grows.

    Attributes:
        paths: `paths[place]` is the path of the file, or a stand-in while its name is not known.
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        self._places: dict[int, int] = {}

    def name(self, names: Mapping[int, str]) -> None:
        """Takes the names that a window mentions first."""
        for record_id, path in names.items():
            self.paths[self._place(record_id)] = path

    def places(self, ids: Array) -> Array:
        """Place `[n]` of each record id `[n] uint64`."""
        unique, inverse = np.unique(ids, return_inverse=True)
        places = np.array([self._place(record_id) for record_id in unique.tolist()], np.int64)
        return narrow(places[inverse]) if len(ids) else np.zeros(0, np.uint8)

    def path_of(self, record_id: int) -> str:
        """The path of a record id, or a stand-in where it is not known."""
        place = self._places.get(record_id)
        return f"record {record_id}" if place is None else self.paths[place]

    def _place(self, record_id: int) -> int:
        place = self._places.setdefault(record_id, len(self.paths))
        if place == len(self.paths):
            self.paths.append(f"record {record_id}")
        return place


def narrow(values: Array) -> Array:
    """The same integers in the smallest type that holds them; never uint64, which numpy turns
    into floats when it meets int64.
    """
    if values.size and values.min() < 0:
        return values.astype(np.int64, copy=False)
    largest = int(values.max()) if values.size else 0
    for dtype in _NARROW:
        if largest <= np.iinfo(dtype).max:
            return values.astype(dtype)
    return values.astype(np.int64, copy=False)


@dataclass(frozen=True)
class ModuleColumns:
    """One module over the windows of a recording.

    Attributes:
        counters: `[n_windows, n_counters] int64`; zeros where the window lacks the module.
        fcounters: `[n_windows, n_fcounters] float64`.
        present: `[n_windows] bool`, whether the window has the module.
        files_active, files_total: `[n_windows] int64`.
        partial: `[n_windows] bool`.
        bin_sums: `[n_windows, len(BIN_COLUMNS)] int64`, each window's bins added up.
        bin_width: `[n_windows] int64`, nanoseconds.
        bins: `window`, `place` (on the recording's grid), `BIN_COLUMNS`.
        files, folded: `window`, `file`, `FILE_COLUMNS`.
        histograms, histograms_total: `window`, `place` (flat, `HISTOGRAMS` by bins), `count`;
            zeros left out.
        slow: `window`, `file`, `direction` (0 read, 1 write), `place`, `bandwidth`.
        common_sizes: `window`, `size`, `count`.
    """

    counters: Array
    fcounters: Array
    present: Array
    files_active: Array
    files_total: Array
    partial: Array
    bin_sums: Array
    bin_width: Array
    bins: Table
    files: Table
    folded: Table
    histograms: Table
    histograms_total: Table
    slow: Table
    common_sizes: Table

    @property
    def nbytes(self) -> int:
        """Memory that the columns take, in bytes."""
        total = 0
        for item in fields(self):
            value = getattr(self, item.name)
            arrays = value.values() if isinstance(value, dict) else (value,)
            total += sum(array.nbytes for array in arrays)
        return total


def rows_of(table: Table, mask: Array) -> Any:
    """The rows of the windows in `mask` as an index: a slice when these follow each other, as
    the windows of a stretch of time do.
    """
    windows = np.flatnonzero(mask)
    if not windows.size:
        return slice(0, 0)
    first, last = windows[0], windows[-1]
    if last - first + 1 == windows.size:
        edges = np.array([first, last + 1], table["window"].dtype)
        return slice(*np.searchsorted(table["window"], edges).tolist())
    return np.flatnonzero(mask[table["window"]])


def build_module(name: str, windows: Sequence[Window], index: FileIndex) -> ModuleColumns:
    """The module's columns over `windows`; `checks.check_window` must have accepted each."""
    layout = modules.SHOWN[name]
    parts = [(i, w.modules[name]) for i, w in enumerate(windows) if name in w.modules]
    n = len(windows)
    places = [i for i, _ in parts]

    def spread(shape: tuple[int, ...], dtype: Any, get: Callable[[ModuleWindow], Any]) -> Array:
        column = np.zeros((n, *shape), dtype)
        if parts:
            column[places] = np.array([get(part) for _, part in parts], dtype)
        return column

    return ModuleColumns(
        counters=spread((len(layout.counters),), np.int64, lambda m: m.counters),
        fcounters=spread((len(layout.fcounters),), np.float64, lambda m: m.fcounters),
        present=spread((), np.bool_, lambda m: True),
        files_active=spread((), np.int64, lambda m: m.files_active),
        files_total=spread((), np.int64, lambda m: m.files_total),
        partial=spread((), np.bool_, lambda m: m.partial),
        bin_sums=spread((len(BIN_COLUMNS),), np.int64, lambda m: m.bins.values.sum(axis=0)),
        bin_width=spread((), np.int64, lambda m: round(m.bins.width_seconds * 1e9)),
        bins=_bins(parts),
        files=_files(parts, lambda m: m.files, index),
        folded=_files(parts, lambda m: m.folded, index),
        histograms=_histograms(parts, lambda m: m.histograms),
        histograms_total=_histograms(parts, lambda m: m.histograms_total),
        slow=_slow(parts, index),
        common_sizes=_common_sizes(parts),
    )


def build_processes(windows: Sequence[Window]) -> Table:
    """What `Window.processes` of all windows hold: `window` and `PROCESS_COLUMNS`."""
    values = _stack([window.processes for window in windows], len(PROCESS_COLUMNS))
    lengths = [len(window.processes) for window in windows]
    return {
        "window": np.repeat(np.arange(len(windows), dtype=np.int32), lengths),
        **{name: narrow(values[:, k]) for k, name in enumerate(PROCESS_COLUMNS)},
    }


def concatenate(pieces: Sequence[tuple[int, ModuleColumns | None]], name: str) -> ModuleColumns:
    """Columns of consecutive pieces of a recording as one.

    Args:
        pieces: number of windows and columns of each; None where the module was not there.
        name: the module.
    """
    whole = [
        columns or build_module(name, [Window(0, 0, 0)] * n, FileIndex()) for n, columns in pieces
    ]
    shifts = np.cumsum([0, *(n for n, _ in pieces)])
    merged: dict[str, Any] = {}
    for item in fields(ModuleColumns):
        values = [getattr(columns, item.name) for columns in whole]
        if isinstance(values[0], dict):
            merged[item.name] = concatenate_tables(values, shifts)
        else:
            merged[item.name] = np.concatenate(values)
    return ModuleColumns(**merged)


def concatenate_tables(tables: Sequence[Table], shifts: Array) -> Table:
    """Tables of consecutive pieces as one; `shifts` is the number of windows before each."""
    merged = {
        column: np.concatenate([table[column] for table in tables])
        for column in tables[0]
        if column != "window"
    }
    rows = [
        table["window"].astype(np.int32) + np.int32(shift)
        for table, shift in zip(tables, shifts, strict=False)
    ]
    return {"window": np.concatenate(rows), **merged}


def _owners(parts: Parts, lengths: Iterable[int]) -> Array:
    return np.repeat(np.array([i for i, _ in parts], np.int32), list(lengths))


def _stack(arrays: Sequence[Array], n_columns: int) -> Array:
    return np.concatenate(arrays) if arrays else np.zeros((0, n_columns), np.int64)


def _ids(arrays: Sequence[Array]) -> Array:
    return np.concatenate(arrays) if arrays else np.zeros(0, np.uint64)


def _bins(parts: Parts) -> Table:
    series = [part.bins for _, part in parts]
    lengths = [len(bins.values) for bins in series]
    values = _stack([bins.values for bins in series], len(BIN_COLUMNS))
    firsts = np.array([bins.first for bins in series], np.int64)
    starts = np.cumsum(lengths, dtype=np.int64) - np.array(lengths, np.int64)
    place = np.arange(len(values)) + np.repeat(firsts - starts, lengths)
    return {
        "window": _owners(parts, lengths),
        "place": narrow(place),
        **{name: narrow(values[:, k]) for k, name in enumerate(BIN_COLUMNS)},
    }


def _files(parts: Parts, get: Callable[[ModuleWindow], FileTable], index: FileIndex) -> Table:
    tables = [get(part) for _, part in parts]
    values = _stack([table.values for table in tables], len(FILE_COLUMNS))
    return {
        "window": _owners(parts, (len(table.ids) for table in tables)),
        "file": index.places(_ids([table.ids for table in tables])),
        **{name: narrow(values[:, k]) for k, name in enumerate(FILE_COLUMNS)},
    }


def _histograms(parts: Parts, get: Callable[[ModuleWindow], Array]) -> Table:
    width = len(HISTOGRAMS) * N_HISTOGRAM_BINS
    dense = np.array([get(part).reshape(-1) for _, part in parts], np.int64).reshape(-1, width)
    row, place = np.nonzero(dense)
    owners = np.array([i for i, _ in parts], np.int32)
    return {
        "window": owners[row],
        "place": place.astype(np.uint16),
        "count": narrow(dense[row, place]),
    }


def _slow(parts: Parts, index: FileIndex) -> Table:
    tables = [part.slow for _, part in parts]
    bins = _stack([table.bins for table in tables], 2)
    return {
        "window": _owners(parts, (len(table.ids) for table in tables)),
        "file": index.places(_ids([table.ids for table in tables])),
        "direction": bins[:, 0].astype(np.uint8),
        "place": bins[:, 1].astype(np.uint8),
        "bandwidth": np.concatenate([np.zeros(0), *(table.values for table in tables)]),
    }


def _common_sizes(parts: Parts) -> Table:
    tables = [part.common_sizes for _, part in parts]
    values = _stack(tables, 2)
    return {
        "window": _owners(parts, (len(table) for table in tables)),
        "size": narrow(values[:, 0]),
        "count": narrow(values[:, 1]),
    }
