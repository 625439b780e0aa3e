"""Single accesses of a stretch of time in lanes, at the level of detail that an answer can hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.traces import Trace

Array = columns.Array
By = Literal["file", "thread"]

MAX_BARS: Final = 5_000
BY: Final[tuple[By, ...]] = ("file", "thread")

_FINEST: Final = 4_096
"""Most parts that the stretch is cut into where accesses are put together."""

_NANO: Final = 1e9


@dataclass(frozen=True)
class Source:
    """A recording's trace and what is needed to show it.

    Attributes:
        trace: the accesses.
        offset: seconds on the run's axis at which the recording began.
        path_of: gives the path of a record id.
        prefix: what tells its threads from those of other recordings.
    """

    trace: Trace
    offset: float
    path_of: Callable[[int], str]
    prefix: str = ""


@dataclass(frozen=True)
class Lanes:
    """Lanes and the bars in them.

    Attributes:
        labels: `n_lanes` paths, or names of threads; the busiest first.
        total: lanes that had an access in the stretch and match the search.
        segments: accesses in the lanes shown.
        merged: whether bars stand for several accesses.
        lane, direction: `[n_bars]`.
        start, end: `[n_bars] float64` seconds on the run's axis.
        count, bytes: `[n_bars] int64` accesses, and what they moved.
        busy: `[n_bars] float64` seconds that the accesses took together.
        offset: `[n_bars] int64` of the first one.
        file: `[n_bars] int64` place in `paths` of the first one's file.
        thread: `[n_bars] int64` place in `threads` of the first one's thread.
        paths, threads: names.
    """

    labels: list[str]
    total: int
    segments: int
    merged: bool
    lane: Array
    direction: Array
    start: Array
    end: Array
    count: Array
    bytes: Array
    busy: Array
    offset: Array
    file: Array
    thread: Array
    paths: list[str]
    threads: list[str]


@dataclass(frozen=True)
class _Rows:
    """Accesses of all recordings in the stretch; times in seconds on the run's axis."""

    start: Array
    duration: Array
    direction: Array
    offset: Array
    length: Array
    file: Array
    thread: Array
    paths: list[str]
    threads: list[str]


def build_lanes(
    sources: Sequence[Source],
    span: tuple[float, float],
    by: By,
    search: str = "",
    max_lanes: int = 30,
    max_bars: int = MAX_BARS,
) -> Lanes:
    """The busiest lanes of a stretch.

    Args:
        sources: the recordings.
        span: the stretch, in seconds on the run's axis.
        by: what makes a lane.
        search: only lanes whose name contains this, whatever its case.
        max_lanes: most lanes.
        max_bars: most bars; accesses near to each other are put together until they are not more.
    """
    rows = _gather(sources, span)
    names = rows.paths if by == "file" else rows.threads
    owner = rows.file if by == "file" else rows.thread
    busy = np.bincount(owner, rows.duration, minlength=len(names))
    present = np.bincount(owner, minlength=len(names)) > 0
    text = search.lower()
    if text:
        present &= np.array([text in name.lower() for name in names], np.bool_)
    found = np.flatnonzero(present)
    chosen = found[np.argsort(-busy[found], kind="stable")][:max_lanes]
    lane_of = np.full(len(names), -1, np.int64)
    lane_of[chosen] = np.arange(len(chosen))
    lane = lane_of[owner] if len(names) else owner
    shown = np.flatnonzero(lane >= 0)
    first, key = _group(lane[shown], rows.direction[shown], rows.start[shown], span, max_bars)
    n = len(first)
    end = rows.start[shown] + rows.duration[shown]
    ends = np.zeros(n)
    np.maximum.at(ends, key, end)
    picked = shown[first]
    return Lanes(
        [names[i] for i in chosen.tolist()],
        len(found),
        len(shown),
        n < len(shown),
        lane[picked],
        rows.direction[picked].astype(np.int64),
        rows.start[picked],
        ends,
        np.bincount(key, minlength=n),
        np.bincount(key, rows.length[shown], minlength=n).astype(np.int64),
        np.bincount(key, rows.duration[shown], minlength=n),
        rows.offset[picked],
        rows.file[picked],
        rows.thread[picked],
        rows.paths,
        rows.threads,
    )


def _gather(sources: Sequence[Source], span: tuple[float, float]) -> _Rows:
    paths: dict[str, int] = {}
    threads: list[str] = []
    parts: dict[str, list[Array]] = {name: [] for name in _Rows.__annotations__}
    for source in sources:
        trace = source.trace
        low, high = ((edge - source.offset) * _NANO for edge in span)
        until = int(np.searchsorted(trace.start, high))
        rows = np.flatnonzero(trace.start[:until] + trace.duration[:until] >= low)
        file = trace.file[rows]
        used = np.flatnonzero(np.bincount(file, minlength=len(trace.files)))
        places = np.zeros(len(trace.files), np.int64)
        for place in used.tolist():
            path = source.path_of(int(trace.files[place]))
            places[place] = paths.setdefault(path, len(paths))
        parts["file"].append(places[file])
        parts["thread"].append(trace.thread[rows].astype(np.int64) + len(threads))
        parts["start"].append(trace.start[rows] / _NANO + source.offset)
        parts["duration"].append(trace.duration[rows] / _NANO)
        for name in ("direction", "offset", "length"):
            parts[name].append(getattr(trace, name)[rows].astype(np.int64))
        threads += thread_names(trace.threads.tolist(), source.prefix)
    empty = {"start": np.float64, "duration": np.float64}
    whole = {
        name: np.concatenate([np.zeros(0, empty.get(name, np.int64)), *parts[name]])
        for name in parts
        if name not in ("paths", "threads")
    }
    return _Rows(**whole, paths=list(paths), threads=threads)


def thread_names(threads: Sequence[Sequence[int]], prefix: str = "") -> list[str]:
    """A name for each thread, of which process and thread id are given; threads of a process count
    from 1 by first access.
    """
    counts: dict[int, int] = {}
    names = []
    for process, _ in threads:
        counts[process] = counts.get(process, 0) + 1
        names.append(f"{prefix}process {process}, thread {counts[process]}")
    return names


def _group(
    lane: Array, direction: Array, start: Array, span: tuple[float, float], max_bars: int
) -> tuple[Array, Array]:
    """Puts accesses of a lane and direction that begin near to each other together.

    Returns:
        The place of the first access of each bar, and the bar of each access.
    """
    n = len(lane)
    if n <= max_bars:
        return np.arange(n), np.arange(n)
    low, high = span
    part = np.clip((start - low) / max(high - low, 1e-9) * _FINEST, 0, _FINEST - 1)
    row = lane * 2 + direction
    key = row * _FINEST + part.astype(np.int64)
    unique, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    shift = 0
    while len(np.unique(unique >> shift)) > max_bars and 1 << shift < _FINEST:
        shift += 1
    _, again, coarse = np.unique(unique >> shift, return_index=True, return_inverse=True)
    bars: Array = coarse[inverse]
    return first[again], bars
