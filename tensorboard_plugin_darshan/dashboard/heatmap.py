"""Who did what when: a grid of ranks, or of processes, over time; and the page cache over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.dashboard import columns, processes, rank_totals
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.dashboard.timeline import timeline
from tensorboard_plugin_darshan.window import PROCESS_IO

Array = columns.Array

MAX_COLUMNS: Final = 240
MAX_ROWS: Final = 60
_SHARE_COLUMNS: Final = 480
_BIN_NAMES: Final = ("read_bytes", "write_bytes")


@dataclass(frozen=True)
class Heatmap:
    """Bytes over time, one row a rank or process.

    Attributes:
        edges: `[n_columns + 1] float64`, seconds on the run's axis.
        labels: `[n_rows]` names of the rows.
        read, written: `[n_rows, n_columns] float64` bytes per second.
        known: `[n_rows, n_columns] bool`, whether the row was recorded then.
        folded: processes that the last row holds together, 0 for none.
    """

    edges: Array
    labels: tuple[str, ...]
    read: Array
    written: Array
    known: Array
    folded: int = 0


@dataclass(frozen=True)
class Shares:
    """What the kernel's counts say over time; NaN where they say nothing.

    Attributes:
        edges: `[n_columns + 1] float64`, seconds on the run's axis.
        cache: `[n_columns] float64`, share of bytes read that came from the page cache.
        seen: `[n_columns] float64`, recorder's bytes ÷ the kernel's.
        read: `[n_columns] float64`, bytes per second that the kernel counted as read.
    """

    edges: Array
    cache: Array
    seen: Array
    read: Array


def rank_heatmap(selection: Selection) -> Heatmap | None:
    """Ranks over time, at the resolution of time bins; None when nothing was recorded."""
    found = rank_totals.ranks(selection)
    rows = []
    for rank in found[:MAX_ROWS]:
        line = timeline(selection, MAX_COLUMNS, _BIN_NAMES, rank.places)
        if line is None:
            return None
        known = np.zeros(len(line.seconds), np.bool_)
        for start, end in rank.spans:
            known |= (line.edges[1:] > start) & (line.edges[:-1] < end)
        rows.append((line, known))
    if not rows:
        return None
    return Heatmap(
        rows[0][0].edges,
        tuple(f"rank {rank.name}" for rank in found[:MAX_ROWS]),
        np.stack([line.read_bandwidth for line, _ in rows]),
        np.stack([line.write_bandwidth for line, _ in rows]),
        np.stack([known for _, known in rows]),
    )


def process_heatmap(selection: Selection, found: Sequence[processes.Process]) -> Heatmap | None:
    """Processes over time, at the resolution of windows.

    Args:
        selection: the stretch.
        found: its processes, busiest first; those behind the first `MAX_ROWS` are one row.
    """
    span = selection.range
    if span is None or not found:
        return None
    listed, rest = list(found[:MAX_ROWS]), found[MAX_ROWS:]
    listed.sort(key=lambda p: (p.place, not p.is_main, p.start, p.pid))
    edges = np.linspace(*span, MAX_COLUMNS + 1)
    rows = [_process_row(selection, [process], edges) for process in listed]
    several = len({process.rank for process in found}) > 1
    labels = [_label(process, several) for process in listed]
    if rest:
        rows.append(_process_row(selection, rest, edges))
        labels.append(f"{len(rest)} others")
    width = edges[1] - edges[0]
    read, written, known = (np.stack(part) for part in zip(*rows, strict=True))
    return Heatmap(edges, tuple(labels), read / width, written / width, known, len(rest))


def _label(process: processes.Process, with_rank: bool) -> str:
    kind = "main" if process.is_main else "worker"
    return f"{process.rank}: {kind} {process.pid}" if with_rank else f"{kind} {process.pid}"


def _process_row(
    selection: Selection, group: Sequence[processes.Process], edges: Array
) -> tuple[Array, Array, Array]:
    """Bytes read and written `[n_columns]` of processes together, and when any was there."""
    sums, known = np.zeros((2, len(edges) - 1)), np.zeros(len(edges) - 1, np.bool_)
    for place in {process.place for process in group}:
        recording = selection.run.recordings[place]
        offset, table = selection.run.offset(recording), recording.windows.processes
        its = [process for process in group if process.place == place]
        rows = np.concatenate([process.rows for process in its])
        owner = table["window"][rows]
        for i, name in enumerate(("bytes_read", "bytes_written")):
            amounts = np.bincount(owner, table[name][rows], minlength=len(recording.windows))
            sums[i] += spread(
                recording.windows.start + offset, recording.windows.end + offset, amounts, edges
            )
        for process in its:
            known |= (edges[1:] > process.start) & (edges[:-1] < process.end)
    return sums[0], sums[1], known


def spread(start: Array, end: Array, amounts: Array, edges: Array) -> Array:
    """Amounts `[n_columns] float64` in the columns between `edges`, each amount spread evenly over
    its stretch; the stretches `[n]` follow each other without overlap.
    """
    until = np.cumsum(amounts, dtype=np.float64)
    times = np.stack([start, end], axis=1).ravel()
    levels = np.stack([until - amounts, until], axis=1).ravel()
    if not times.size:
        return np.zeros(len(edges) - 1)
    return np.diff(np.interp(edges, np.maximum.accumulate(times), levels))


def shares(selection: Selection) -> Shares | None:
    """The page cache's share and the recorder's over time; None where the kernel said nothing."""
    span = selection.range
    if span is None:
        return None
    edges = np.linspace(*span, _SHARE_COLUMNS + 1)
    kernel, ours = np.zeros((len(PROCESS_IO), _SHARE_COLUMNS)), np.zeros(_SHARE_COLUMNS)
    for recording, mask in zip(selection.run.recordings, selection.masks, strict=True):
        windows, offset = recording.windows, selection.run.offset(recording)
        known = mask & (windows.process_io >= 0).all(axis=1)
        times = windows.start[known] + offset, windows.end[known] + offset
        for i, amounts in enumerate(windows.process_io[known].T):
            kernel[i] += spread(*times, amounts, edges)
        for name, module in windows.modules.items():
            layout = counters.LAYOUTS.get(name)
            if layout is not None:
                places = [layout.index[f"{name}_BYTES_{kind}"] for kind in ("READ", "WRITTEN")]
                ours += spread(*times, module.counters[known][:, places].sum(axis=1), edges)
    counts = dict(zip(PROCESS_IO, kernel, strict=True))
    moved = counts["rchar"] + counts["wchar"]
    if not moved.any():
        return None
    cache = 1.0 - _ratio(counts["read_bytes"], counts["rchar"])
    width = edges[1] - edges[0]
    return Shares(
        edges, np.maximum(cache, 0.0), np.minimum(_ratio(ours, moved), 1.0), counts["rchar"] / width
    )


def _ratio(part: Array, whole: Array) -> Array:
    result = np.full(len(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0.5)
    return result
