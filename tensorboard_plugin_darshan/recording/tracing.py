"""Traced accesses of all processes: gathered at each cut, restricted to steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tensorboard_plugin_darshan.recording.file_rows import FileRows
from tensorboard_plugin_darshan.recording.options import Trace
from tensorboard_plugin_darshan.recording.reader import ProcessFacts, ProcessReader
from tensorboard_plugin_darshan.recording.records import SegmentArray
from tensorboard_plugin_darshan.segments import Segments
from tensorboard_plugin_darshan.window import Int64Array, UInt64Array

MODULE: Final = "POSIX"
"""The module whose accesses are traced."""

MAX_WAITING: Final = 250_000
"""Accesses of a process that wait for the next cut, 14 MB; what comes beyond is dropped."""

_NANOSECONDS: Final = 1e9
_PLAIN_COLUMNS: Final = ("direction", "offset", "length", "start", "end")

_Drained = list[tuple[ProcessReader, ProcessFacts, SegmentArray]]


class TracedSteps:
    """From when to when accesses are kept: whatever `trace` asks for, in times.

    Args:
        trace: True, False, or the first and the last step.
    """

    def __init__(self, trace: Trace) -> None:
        self._first, self._last = trace if isinstance(trace, tuple) else (0, 0)
        self._is_open = trace is True or (isinstance(trace, tuple) and self._first <= 1)
        self._is_restricted = isinstance(trace, tuple)
        self.begin_seconds = 0.0 if self._is_open else np.inf
        self.end_seconds = np.inf

    def waits_for(self, step: int) -> bool:
        """Whether the end of `step` changes anything."""
        if not self._is_restricted or self.end_seconds < np.inf:
            return False
        return step >= self._last or (not self._is_open and step >= self._first - 1)

    def step_ended(self, step: int, seconds: float) -> None:
        """A step ended at `seconds` since the recording began."""
        if not self._is_open and step >= self._first - 1:
            self._is_open, self.begin_seconds = True, seconds
        if step >= self._last:
            self.end_seconds = seconds


@dataclass(frozen=True)
class Traced:
    """Accesses since the last cut.

    Attributes:
        segments: the accesses.
        names: paths of `segments.files`.
    """

    segments: Segments
    names: list[str]

    def first(self, n: int) -> Traced:
        """Only the `n` that began first; the others count as dropped."""
        left_out = len(self.segments) - n
        if left_out <= 0:
            return self
        return self._only(slice(0, n), self.segments.dropped + left_out)

    def within(self, begin: float, end: float) -> Traced:
        """Only those that began in a stretch of time, in seconds; the others are not missed."""
        start = self.segments.start
        edges = [min(edge * _NANOSECONDS, 2.0**62) for edge in (begin, end)]
        low, high = np.searchsorted(start, np.array(edges, np.float64)).tolist()
        if low == 0 and high == len(start):
            return self
        return self._only(slice(low, high), self.segments.dropped if low < high else 0)

    def _only(self, rows: slice, dropped: int) -> Traced:
        its = self.segments
        used, file = np.unique(its.file[rows], return_inverse=True)
        kept = {name: getattr(its, name)[rows] for name in (*_PLAIN_COLUMNS, "thread")}
        segments = replace(
            its, files=its.files[used], file=file.astype(np.int64), dropped=dropped, **kept
        )
        return Traced(segments, [self.names[i] for i in used.tolist()])


class TraceCollector:
    """Takes the traced accesses of all processes at a cut.

    Args:
        files: the files of the module that is traced.
    """

    def __init__(self, files: FileRows) -> None:
        self._files = files
        self._dropped: dict[int, int] = {}
        self._sequence = 0
        self._drained: _Drained = []
        self._rows: list[Int64Array] = []
        self._held: dict[int, SegmentArray] = {}
        self._lost = 0

    def drain(self, reader: ProcessReader, facts: ProcessFacts) -> None:
        """Takes what a process traced; to be called before its records are read."""
        found, dropped = reader.drain_segments()
        self._lost += dropped - self._dropped.get(reader.handle, 0)
        self._dropped[reader.handle] = dropped
        if reader.handle in self._held:
            found = np.concatenate([self._held.pop(reader.handle), found])
        self._drained.append((reader, facts, found))

    def find_files(self) -> None:
        """Finds the files of what was taken; to be called when their records were read. A file
        that other threads began to use meanwhile may not be among these: its accesses wait for the
        next cut.
        """
        for i in range(len(self._rows), len(self._drained)):
            reader, facts, found = self._drained[i]
            rows = self._files.rows_of(reader.handle, found["record"].astype(np.int64))
            is_known = rows >= 0
            if not is_known.all():
                if facts.alive:
                    self._held[reader.handle] = found[~is_known]
                self._drained[i] = reader, facts, found[is_known]
            self._rows.append(rows[is_known])
            if not facts.alive:
                self._dropped.pop(reader.handle, None)

    def take(self) -> Traced:
        """All that was taken since the last call."""
        drained, rows, lost = self._drained, self._rows, self._lost
        self._drained, self._rows, self._lost = [], [], 0
        self._sequence += 1
        empty = np.zeros(0, np.int64)
        row = np.concatenate([empty, *rows])

        def column(name: str) -> Int64Array:
            return np.concatenate([empty, *(found[name] for _, _, found in drained)])

        order = np.argsort(column("start"), kind="stable")
        used, file = np.unique(row[order], return_inverse=True)
        threads, thread = _threads(drained, order)
        segments = Segments(
            self._sequence - 1,
            self._files.ids_of(used),
            threads,
            file.astype(np.int64),
            **{name: column(name)[order] for name in _PLAIN_COLUMNS},
            thread=thread,
            dropped=lost,
        )
        return Traced(segments, [self._files.names[i] for i in used.tolist()])


def _threads(drained: _Drained, order: Int64Array) -> tuple[UInt64Array, Int64Array]:
    """Process and thread of all accesses as a table, by first access, and the place in it of each
    access in `order`.
    """
    threads: list[tuple[int, int]] = []
    places = [np.zeros(0, np.int64)]
    for _, facts, found in drained:
        its, place = np.unique(found["thread"], return_inverse=True)
        places.append(place.astype(np.int64) + len(threads))
        threads.extend((facts.pid, thread) for thread in its.tolist())
    used, first, place = np.unique(
        np.concatenate(places)[order], return_index=True, return_inverse=True
    )
    by_first = np.argsort(first)
    rank = np.empty(len(used), np.int64)
    rank[by_first] = np.arange(len(used))
    return np.array(threads, np.uint64).reshape(-1, 2)[used[by_first]], rank[place]
