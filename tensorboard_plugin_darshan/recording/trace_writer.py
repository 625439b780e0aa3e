"""`TraceWriter`: traced accesses in an event file, within the recording's size."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tensorboard_plugin_darshan import metadata, segments, summary
from tensorboard_plugin_darshan.recording.budget import allowed_bytes
from tensorboard_plugin_darshan.recording.event_file import EventFile
from tensorboard_plugin_darshan.recording.options import DEFAULT_MAX_SEGMENTS, Options
from tensorboard_plugin_darshan.recording.tracing import Traced

PIECE_BYTES: Final = 32 * 1024**2
"""A tag of segments ends after this many bytes: readers can only read whole tags."""

_SHARE: Final = 0.5
"""Of the bytes that a recording may have, what segments may take."""

_FIRST_GUESS: Final = 12.0
"""Bytes that an access takes, before any was written."""

_NAME_SHARE: Final = 0.4
"""Of a path's length, what it takes in a window."""


class TraceWriter:
    """Writes segments, the first of each window as far as the size allows, and counts the others.

    Args:
        file: the recording's.
        options: settings.

    Attributes:
        kept, dropped: accesses so far.
        extra_bytes: size of those that do not count towards the recording's, because the settings
            ask for more.
    """

    def __init__(self, file: EventFile, options: Options) -> None:
        self._file = file
        self._options = options
        self.kept = self.dropped = 0
        self.extra_bytes = 0
        self._scale = max(1.0, options.max_segments / DEFAULT_MAX_SEGMENTS)
        self._is_bound = options.trace is True
        self._not_told = 0
        self._bytes = 0.0
        self._bytes_each = _FIRST_GUESS
        self._events = 0
        self._piece = 0
        self._piece_bytes = 0

    def choose(self, traced: Traced, seconds: float) -> Traced:
        """The accesses to write, `seconds` after the recording's begin.

        With `trace=True` the bound is the recording's size; steps that were asked for are bound by
        `max_segments` alone.
        """
        n = self._options.max_segments - self.kept
        if self._is_bound:
            room = _SHARE * self._scale * allowed_bytes(seconds) - self._bytes
            n = min(n, int(room / self._bytes_each))
        return traced.first(max(0, n))

    def write(self, traced: Traced, new_names: list[str], last: bool = False) -> None:
        """Writes accesses that `choose` gave.

        Args:
            traced: the accesses.
            new_names: paths that only they put into the window.
            last: no others may follow.
        """
        its = traced.segments
        self.kept += len(its)
        self.dropped += its.dropped
        self._not_told += its.dropped
        if not len(its) and not (last and self._not_told):
            return
        its = replace(its, sequence=self._events, dropped=self._not_told)
        self._not_told = 0
        if self._piece_bytes >= PIECE_BYTES:
            self._piece, self._piece_bytes = self._piece + 1, 0
        data = segments.encode(its)
        tag = metadata.segments_tag(self._piece)
        self._file.write(self._events, summary.segments_pb(tag, data))
        if self._scale > 1.0 or not self._is_bound:
            self.extra_bytes += len(data)
        self._events += 1
        self._piece_bytes += len(data)
        spent = len(data) + _NAME_SHARE * sum(map(len, new_names))
        self._bytes += spent
        if len(its) >= 100:
            self._bytes_each = spent / len(its)

    def notes(self) -> list[str]:
        """What to tell about accesses that are missing."""
        if not self.dropped:
            return []
        total = self.kept + self.dropped
        return [
            f"{self.dropped} of {total} reads and writes are not kept one by one, so that the "
            "recording stays small (they are in all sums and distributions): a larger max_segments "
            f"than {self._options.max_segments} keeps more, trace=(first_step, last_step) those of "
            "some steps"
        ]
