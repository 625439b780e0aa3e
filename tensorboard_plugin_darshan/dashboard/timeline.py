"""When a run did what: time bins of all windows on one grid, at the level of detail asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.log_run import LogRun
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.window import BIN_COLUMNS

Array = columns.Array

MAX_BINS: Final = 2_000

_NANO: Final = 1_000_000_000


@dataclass(frozen=True)
class Timeline:
    """Activity in equal bins.

    Attributes:
        bin_seconds: width of a bin.
        edges: `[n_bins + 1] float64`, seconds on the run's axis.
        seconds: `[n_bins] float64`, how much of each bin lies within the run.
        sums: one of `BIN_COLUMNS` → `[n_bins] float64`, added over modules and recordings.
        recordings: number of recordings that did anything.
        busy_is_known: `busy_nanoseconds` says something.
    """

    bin_seconds: float
    edges: Array
    seconds: Array
    sums: dict[str, Array]
    recordings: int
    busy_is_known: bool = True

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
        calls: Array = self.sums["reads"] + self.sums["writes"] + self.sums["metadata_calls"]
        return calls / self.seconds

    @property
    def in_flight(self) -> Array:
        """Mean number of calls in flight `[n_bins]`."""
        in_flight: Array = self.sums["call_nanoseconds"] / (self.seconds * _NANO)
        return in_flight

    @property
    def busy(self) -> Array:
        """Share 0–1 of the time in which a call was in flight `[n_bins]`, mean of recordings."""
        whole = self.seconds * _NANO * max(1, self.recordings)
        share: Array = self.sums["busy_nanoseconds"] / whole
        return share.clip(0.0, 1.0)


def timeline(
    selection: Selection,
    max_bins: int = MAX_BINS,
    names: tuple[str, ...] = BIN_COLUMNS,
    places: Collection[int] | None = None,
) -> Timeline | None:
    """The stretch's time bins, or None when nothing was recorded in it.

    The width is the narrowest recorded one times a power of two, so that every bin recorded falls
    into one bin of the answer or is spread over equal ones; sums are kept. The first and the last
    bin may reach beyond the stretch by less than their width. With `places`, only what these of the
    run's recordings did counts, on the same grid.
    """
    if selection.range is None:
        return None
    start, end = (round(edge * _NANO) for edge in selection.range)
    width = _width(selection, start, end, max_bins)
    first, last = start // width, -(-end // width)
    edges = np.arange(first, last + 1) * width
    sums = {name: np.zeros(len(edges) - 1) for name in names}
    for place, recording in enumerate(selection.run.recordings):
        if places is not None and place not in places:
            continue
        offset = round(selection.run.offset(recording) * _NANO)
        for name in selection.base:
            module = recording.windows.modules.get(name)
            if module is not None:
                _add_bins(sums, module, selection.masks[place], edges - offset)
    active = sum(bool(mask.any()) for mask in selection.masks)
    inside = np.diff(np.minimum(edges / _NANO, selection.run.duration))
    seconds = np.maximum(inside, width / _NANO / 10)
    known = not isinstance(selection.run, LogRun) or selection.run.busy_is_known(selection.base)
    return Timeline(width / _NANO, edges / _NANO, seconds, sums, active, known)


def _width(selection: Selection, start: int, end: int, max_bins: int) -> int:
    """Width of a bin in nanoseconds."""
    widths = [
        int(module.bin_width[module.present & mask].min())
        for name in selection.base
        for _, _, module, mask in selection.parts(name)
        if (module.present & mask).any()
    ]
    width = min(widths, default=10_000_000)
    while -(-end // width) - start // width > max_bins:
        width *= 2
    return width


def _add_bins(
    sums: dict[str, Array], module: columns.ModuleColumns, mask: Array, edges: Array
) -> None:
    """Adds a module's bins to `sums`; `edges` in nanoseconds on the recording's own grid."""
    shown = module.present & mask
    for width in np.unique(module.bin_width[shown]).tolist():
        rows = columns.rows_of(module.bins, shown & (module.bin_width == width))
        place = module.bins["place"][rows]
        if not place.size:
            continue
        if (place[1:] < place[:-1]).any():
            order = np.argsort(place, kind="stable")
            rows, place = np.arange(len(module.bins["place"]))[rows][order], place[order]
        _add_grid(sums, module.bins, rows, place, edges / width)


def _add_grid(
    sums: dict[str, Array], bins: columns.Table, rows: Any, place: Array, edges: Array
) -> None:
    """Adds bins of one width to `sums`.

    Args:
        sums: column → `[n_edges - 1]`.
        bins: the columns.
        rows: the rows that count, in the order of their places.
        place: `[n_rows]` places on the grid, rising; two windows can share a bin.
        edges: where the sums' bins begin and end, in widths of the grid.
    """
    whole = np.floor(edges)
    limits = np.clip(whole, 0, np.iinfo(place.dtype).max).astype(place.dtype)
    below = np.searchsorted(place, limits, "left")
    above = np.searchsorted(place, limits, "right")
    below[whole > limits] = len(place)
    above[limits != whole] = below[limits != whole]
    cuts, where = np.unique(np.concatenate([below, above]), return_inverse=True)
    starts = cuts[cuts < len(place)]
    for name, total in sums.items():
        if not starts.size:
            continue
        pieces = np.add.reduceat(bins[name][rows], starts, dtype=np.int64)
        until = np.concatenate([[0], np.cumsum(pieces)])[where]
        before, after = until[: len(below)], until[len(below) :]
        total += np.diff(before + (edges - whole) * (after - before))
