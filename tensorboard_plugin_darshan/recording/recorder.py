"""Darshan's counters of the running process: attach, snapshot, detach.

`attach` redirects the process's I/O calls at run time; nothing has to be preloaded or restarted.
Counters mean what Darshan's mean (`counters.py` has their names).
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from tensorboard_plugin_darshan.recording import sources
from tensorboard_plugin_darshan.recording.builtin import FILES_CEILING, Settings
from tensorboard_plugin_darshan.recording.children import Children
from tensorboard_plugin_darshan.recording.native import (
    RecordingUnavailableError,
    is_available,
    native,
)
from tensorboard_plugin_darshan.recording.reader import ProcessReader
from tensorboard_plugin_darshan.recording.records import SegmentArray, Snapshot

__all__ = ["Recorder", "RecordingUnavailableError", "attach"]


class _Shared:
    """The process's one recording, shared by all handles."""

    def __init__(
        self, source: str, library: str | os.PathLike[str] | None, settings: Settings
    ) -> None:
        self.recording = sources.begin(source, library, settings)
        self.handles = 0
        self.pid = os.getpid()

    def agrees(self, source: str, settings: Settings) -> bool:
        """Whether it records as is asked for."""
        return source in ("auto", self.recording.source) and self.recording.agrees(settings)


_current: _Shared | None = None
_lock = threading.Lock()


class Recorder:
    """A handle on the recording of this process; `attach` makes it."""

    def __init__(self, shared: _Shared) -> None:
        self._shared: _Shared | None = shared

    def __enter__(self) -> Recorder:
        """The recorder itself; the end of the context detaches."""
        return self

    def __exit__(self, *exception: object) -> None:
        self.detach()

    def _live(self) -> sources.Recording:
        if self._shared is None:
            raise RuntimeError("this recorder was detached")
        if self._shared.pid != os.getpid():
            raise RuntimeError("this recorder belongs to the parent process; attach in this one")
        return self._shared.recording

    @property
    def begin(self) -> float:
        """When the recording began, in seconds since the epoch."""
        return self._live().begin

    @property
    def attached(self) -> bool:
        """Whether this handle still records."""
        return self._shared is not None and self._shared.pid == os.getpid()

    def seconds(self) -> float:
        """Now, in seconds since the recording began."""
        return self._live().seconds()

    def facts(self) -> dict[str, Any]:
        """How is recorded: plain values for the job description."""
        return self._live().facts()

    @contextlib.contextmanager
    def muted(self) -> Iterator[None]:
        """Calls that this thread makes inside are not recorded."""
        if not is_available():
            yield
            return
        before = native().mute(True)
        try:
            yield
        finally:
            native().mute(before)

    @property
    def own(self) -> ProcessReader:
        """The records of this process."""
        return self._live().own

    @property
    def children(self) -> Children:
        """The other processes of this training; one cutter's business."""
        return self._live().children

    def claim(self) -> None:
        """Says that this process writes its own recording, so that its parent does not count it."""
        self._live().claim()

    def snapshot(self) -> Snapshot:
        """A copy of all records of this process. Those of a libdarshan are as Darshan has them:
        since Darshan began, which may be before the recording did.
        """
        return self._live().snapshot()

    @property
    def traces(self) -> bool:
        """Whether single accesses are kept."""
        return self._live().traces

    def segments(self) -> SegmentArray:
        """Traced accesses of this process since the last call, `[n] SEGMENT_DTYPE`, in no
        particular order. `max_segments` of `attach` bounds what waits here; more is dropped.
        """
        return self._live().own.drain_segments()[0]

    def detach(self) -> None:
        """Ends this handle; with the last one calls go to the C library directly again."""
        global _current
        with _lock:
            shared, self._shared = self._shared, None
            if shared is None or shared.pid != os.getpid():
                return
            shared.handles -= 1
            if shared.handles == 0:
                shared.recording.stop()
                _current = None


def attach(
    source: str = "auto",
    *,
    library: str | os.PathLike[str] | None = None,
    extended: bool = True,
    exclude: Sequence[str] | None = None,
    max_segments: int = 0,
    max_files: int = FILES_CEILING,
    children: bool = True,
) -> Recorder:
    """Records the I/O of this process from now on.

    Handles are counted: a second `attach` shares the recording that goes on, which ends when all
    have detached.

    Args:
        source: `builtin`; `libdarshan` for Darshan's own library, loaded if it is not there; or
            `auto` for libdarshan where the process has it already and it records, else `builtin`.
        library: the libdarshan to load, else `LIBDARSHAN`, else what the loader finds.
        extended: False records just the calls that Darshan 3.5.0 wraps, and leaves out the paths
            that it leaves out; True also the calls that it misses (fortified variants, `stat` of
            newer C libraries, …), and leaves out the system's and Python's own directories.
        exclude: directories to leave out instead of the default ones; `TENSORBOARD_DARSHAN_EXCLUDE`
            (separated by colons) does the same.
        max_segments: reads and writes to trace one by one between two calls of
            `Recorder.segments`; 0 traces none.
        max_files: files with a record of their own; the rest share one.
        children: forked children, and Pythons that are started from here, are recorded too.

    Raises:
        ValueError: the source is unknown, or a recording with other settings goes on.
        RecordingUnavailableError: this process cannot be recorded.
    """
    global _current
    source = sources.chosen(source)
    if max_files < 1 or max_segments < 0:
        raise ValueError("max_files must be at least 1, max_segments at least 0")
    native()
    with _lock:
        if _current is not None and _current.pid != os.getpid():
            _current = None  # a forked child starts afresh
        settings = Settings(extended, exclude, max_segments, max_files, children)
        if _current is None:
            _current = _Shared(source, library, settings)
        elif not _current.agrees(source, settings):
            raise ValueError("this process is being recorded with other settings; detach first")
        _current.handles += 1
        return Recorder(_current)
