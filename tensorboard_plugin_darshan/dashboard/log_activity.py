"""What a log says about when: bins of time for a module, and a grid of ranks × time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.log_bins import bin_nanoseconds, spread, union, whole
from tensorboard_plugin_darshan.window import BIN_COLUMNS, BinSeries

Array = columns.Array

MAX_RANK_ROWS: Final = 512
MAX_RANK_BINS: Final = 2048
"""The grid of ranks × time is never finer than this; a row may stand for several ranks."""

_BATCH: Final = 2_000_000
"""Accesses that are binned at once; their union is exact only within one batch."""

_PLACE: Final = {name: i for i, name in enumerate(BIN_COLUMNS)}


@dataclass(frozen=True)
class Axis:
    """The axes of a log.

    Attributes:
        duration: seconds.
        processes: number of ranks.
    """

    duration: float
    processes: int

    @property
    def ranks_per_row(self) -> int:
        """Ranks that one row of the grid stands for."""
        return max(1, -(-self.processes // MAX_RANK_ROWS))

    @property
    def rank_rows(self) -> int:
        """Rows of the grid; one more follows for what all ranks share."""
        return max(1, -(-self.processes // self.ranks_per_row))

    def rows(self, ranks: Array) -> Array:
        """Row `[n] int64` of each rank; the last row for -1 and for ranks that do not exist."""
        known = (ranks >= 0) & (ranks < self.processes)
        return np.where(known, ranks // self.ranks_per_row, self.rank_rows).astype(np.int64)


@dataclass
class Grid:
    """Activity of one module, filled piece by piece.

    Attributes:
        axis: its axes.
        source: where the bytes over time come from: `DXT`, `HEATMAP` or `timestamps`.
        busy_is_known: `busy_nanoseconds` is exact; else it is 0.
        outside: accesses that lie outside the job.
    """

    axis: Axis
    source: str = ""
    busy_is_known: bool = False
    outside: int = 0
    _values: Array = field(init=False, repr=False)
    _ranks: Array = field(init=False, repr=False)
    _pending: list[tuple[int, int, Array]] = field(init=False, default_factory=list, repr=False)
    _n_pending: int = field(init=False, default=0)
    _n_batches: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.width = bin_nanoseconds(self.axis.duration) / 1e9
        self._n_bins = max(1, int(np.ceil(self.axis.duration / self.width)))
        self._values = np.zeros((len(BIN_COLUMNS), self._n_bins))
        rank_width = bin_nanoseconds(self.axis.duration, MAX_RANK_BINS) / 1e9
        self.rank_width = max(self.width, rank_width)
        n = max(1, int(np.ceil(self.axis.duration / self.rank_width)))
        self._ranks = np.zeros((2, self.axis.rank_rows + 1, n))

    def add_bytes(self, write: int, ranks: Array, start: Array, end: Array, moved: Array) -> None:
        """Bytes read (`write` 0) or written (1) by ranks between two times, in seconds."""
        zeros = np.zeros(len(start), np.int64)
        shape = (1, self._n_bins)
        self._values[write] += spread(zeros, start / self.width, end / self.width, moved, shape)[0]
        self._ranks[write] += spread(
            self.axis.rows(ranks),
            start / self.rank_width,
            end / self.rank_width,
            moved,
            self._ranks.shape[1:],
        )

    def add_even(self, column: str, start: Array, end: Array, amount: Array) -> None:
        """An amount of one of `BIN_COLUMNS`, evenly between two times, in seconds."""
        zeros, shape = np.zeros(len(start), np.int64), (1, self._n_bins)
        spread_out = spread(zeros, start / self.width, end / self.width, amount, shape)
        self._values[_PLACE[column]] += spread_out[0]

    def add_accesses(self, write: int, rank: int, accesses: Array) -> None:
        """Traced accesses of one rank; fields `start`, `end` in seconds, `length` in bytes."""
        if len(accesses):
            self._pending.append((write, rank, accesses))
            self._n_pending += len(accesses)
        if self._n_pending >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if not self._pending:
            return
        lengths = [len(accesses) for _, _, accesses in self._pending]
        write = np.repeat([write for write, _, _ in self._pending], lengths)
        rank = np.repeat([rank for _, rank, _ in self._pending], lengths)
        accesses = np.concatenate([accesses for _, _, accesses in self._pending])
        self._pending, self._n_pending = [], 0
        self._n_batches += 1
        start, end = accesses["start"], accesses["end"]
        last_moment = self.axis.duration * (1 + 1e-9)
        good = (start >= 0) & (end >= start) & (end <= last_moment)  # false for NaN
        self.outside += int(len(good) - good.sum())
        start, end = (np.nan_to_num(t, nan=0.0, posinf=0.0, neginf=0.0) for t in (start, end))
        end, length = np.maximum(start, end), np.maximum(accesses["length"], 0)
        for direction, calls in enumerate(("reads", "writes")):
            some = write == direction
            self.add_bytes(direction, rank[some], start[some], end[some], length[some])
            self.add_even(calls, start[some], start[some], np.ones(int(some.sum())))
        limit = np.minimum(end, self.axis.duration)
        self.add_even("call_nanoseconds", start, limit, np.maximum(limit - start, 0) * 1e9)
        first, last = union(start, limit)
        self.add_even("busy_nanoseconds", first, last, np.maximum(last - first, 0) * 1e9)

    def finish(self) -> BinSeries:
        """The bins."""
        self._flush()
        self.busy_is_known = self.source == "DXT" and self._n_batches <= 1
        if not self.busy_is_known:
            self._values[_PLACE["busy_nanoseconds"]] = 0.0
        values = whole(self._values)
        return BinSeries(self.width, 0, np.ascontiguousarray(values.T))

    def rank_cells(self) -> Array:
        """Cells `[n, 4] int64` that are not empty: row, bin, bytes read, bytes written."""
        read, written = (whole(part) for part in self._ranks)
        row, place = np.nonzero(read + written)
        return np.stack([row, place, read[row, place], written[row, place]], axis=1)
