"""When a run did what: time bins of all windows on one grid, at the level of detail asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.window import BIN_COLUMNS

Array = columns.Array

MAX_BINS: Final = 2_000

_NANO: Final = 1_000_000_000


@dataclass(frozen=True)
class Timeline:
    """Activity in equal bins.

    Attributes:
        edges: `[n_bins + 1] float64`, seconds on the run's axis.
        seconds: `[n_bins] float64`, how much of each bin lies within the run.
        sums: one of `BIN_COLUMNS` → `[n_bins] float64`, added over modules and recordings.
        recordings: number of recordings that did anything.
    """

    edges: Array
    seconds: Array
    sums: dict[str, Array]
    recordings: int

    @property
    def bin_seconds(self) -> float:
        """Width of a bin."""
        return float(self.edges[1] - self.edges[0]) if len(self.edges) > 1 else 0.0

    @property
    def read_bandwidth(self) -> Array:
        """Bytes per second `[n_bins]`."""
        return self.sums["read_bytes"] / self.seconds

    @property
    def write_bandwidth(self) -> Array:
        """Bytes per second `[n_bins]`."""
        return self.sums["write_bytes"] / self.seconds

    @property
    def calls(self) -> Array:
        """Reads, writes and metadata calls per second `[n_bins]`."""
        calls = self.sums["reads"] + self.sums["writes"] + self.sums["metadata_calls"]
        return calls / self.seconds

    @property
    def in_flight(self) -> Array:
        """Mean number of calls in flight `[n_bins]`."""
        return self.sums["call_nanoseconds"] / (self.seconds * _NANO)

    @property
    def busy(self) -> Array:
        """Share 0–1 of the time in which a call was in flight `[n_bins]`, mean of recordings."""
        whole = self.seconds * _NANO * max(1, self.recordings)
        return np.minimum(1.0, self.sums["busy_nanoseconds"] / whole)


def timeline(
    selection: Selection, max_bins: int = MAX_BINS, names: tuple[str, ...] = BIN_COLUMNS
) -> Timeline | None:
    """The stretch's time bins, or None when nothing was recorded in it.

    The width is the narrowest recorded one times a power of two, so that every bin recorded falls
    into one bin of the answer or is spread over equal ones; sums are kept. The first and the last
    bin may reach beyond the stretch by less than their width.
    """
    if selection.range is None:
        return None
    start, end = (round(edge * _NANO) for edge in selection.range)
    width = _width(selection, start, end, max_bins)
    first, last = start // width, -(-end // width)
    edges = np.arange(first, last + 1) * width
    sums = {name: np.zeros(len(edges) - 1) for name in names}
    for place, recording in enumerate(selection.run.recordings):
        offset = round(selection.run.offset(recording) * _NANO)
        for name in selection.modules:
            module = recording.windows.modules.get(name)
            if module is not None:
                _add_bins(sums, module.bins, selection.masks[place], edges - offset)
    active = sum(bool(mask.any()) for mask in selection.masks)
    inside = np.diff(np.minimum(edges / _NANO, selection.run.duration))
    return Timeline(edges / _NANO, np.maximum(inside, width / _NANO / 10), sums, active)


def _width(selection: Selection, start: int, end: int, max_bins: int) -> int:
    """Width of a bin in nanoseconds."""
    widths = [
        int(module.bins["width"].min())
        for name in selection.modules
        for _, _, module, _ in selection.parts(name)
        if module.bins["width"].size
    ]
    width = min(widths, default=10_000_000)
    while -(-end // width) - start // width > max_bins:
        width *= 2
    return width


def _add_bins(sums: dict[str, Array], bins: columns.Table, mask: Array, edges: Array) -> None:
    """Adds a module's bins to `sums`; `edges` in nanoseconds on the recording's own grid."""
    for rows, width in _rows_by_width(bins, mask):
        place = bins["place"][rows].astype(np.int64)
        steps = np.diff(place, prepend=-1)
        if (steps < 0).any():
            order = np.argsort(place, kind="stable")
            rows, place = np.arange(len(bins["place"]))[rows][order], place[order]
            steps = np.diff(place, prepend=-1)
        new = np.flatnonzero(steps)
        if new.size:
            _add_grid(sums, bins, rows, place[new], new, edges / width)


def _add_grid(
    sums: dict[str, Array],
    bins: columns.Table,
    rows: Array | slice,
    place: Array,
    new: Array,
    edges: Array,
) -> None:
    """Adds bins of one width to `sums`.

    Args:
        sums: column → `[n_edges - 1]`.
        bins: the columns.
        rows: the rows that count, in the order of their places.
        place: `[n_places]` places on the grid, strictly rising.
        new: for each place its first row among `rows`; two windows can share a bin.
        edges: where the sums' bins begin and end, in widths of the grid.
    """
    whole = np.floor(edges).astype(np.int64)
    below = np.searchsorted(place, whole)
    inside = np.minimum(below, len(place) - 1)
    part = np.where(place[inside] == whole, edges - whole, 0.0)
    for name, total in sums.items():
        values = bins[name][rows]
        if new.size < len(values):
            values = np.add.reduceat(values, new, dtype=np.int64)
        until = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
        total += np.diff(until[below]) + np.diff(part * values[inside])


def _rows_by_width(bins: columns.Table, mask: Array) -> list[tuple[Array | slice, int]]:
    """Rows of the bins that count, one group for each width of bins."""
    widths = np.unique(bins["width"])
    if mask.all() and len(widths) == 1:
        return [(slice(None), int(widths[0]))]
    counted = mask[bins["window"]]
    return [(np.flatnonzero(counted & (bins["width"] == w)), int(w)) for w in widths]
