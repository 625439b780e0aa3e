"""Darshan's counters of the running process: attach, snapshot, detach.

`attach` redirects the process's I/O calls at run time; nothing has to be preloaded or restarted.
Counters mean what Darshan's mean (`counters.py` has their names).
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.recording import exclusions
from tensorboard_plugin_darshan.recording.children import Children
from tensorboard_plugin_darshan.recording.native import (
    RecordingUnavailableError,
    is_available,
    native,
)
from tensorboard_plugin_darshan.recording.reader import MODULES, ProcessReader
from tensorboard_plugin_darshan.recording.records import ModuleArrays, SegmentArray, Snapshot
from tensorboard_plugin_darshan.recording.session import (
    ARENA_CEILING,
    JOIN_VARIABLE,
    Session,
    new_session_name,
)
from tensorboard_plugin_darshan.window import Int64Array

__all__ = ["Recorder", "RecordingUnavailableError", "attach"]

SOURCE_VARIABLE: Final = "TENSORBOARD_DARSHAN_SOURCE"

_FILES_CEILING: Final = 16_000_000


def _choose_exclusions(extended: bool, exclude: Sequence[str] | None) -> exclusions.Exclusions:
    darshan = exclusions.Exclusions(
        tuple(map(os.fsdecode, native().DARSHAN_EXCLUDED)),
        tuple(map(os.fsdecode, native().DARSHAN_INCLUDED)),
    )
    return exclusions.choose(extended, exclude, darshan)


class _Recording:
    """The process's one recording, shared by all handles."""

    def __init__(
        self,
        extended: bool,
        exclude: Sequence[str] | None,
        max_segments: int,
        max_files: int,
        children: bool,
    ) -> None:
        self.extended = extended
        self.max_segments = max_segments
        self.exclusions = _choose_exclusions(extended, exclude)
        self.handles = 0
        self.pid = os.getpid()
        self.own = ProcessReader()
        self._names: dict[str, list[str]] = {module: [] for module in MODULES}
        self._names_lock = threading.Lock()
        self.is_joined = native().is_active()
        """It was begun as a child's of another process's session."""
        if not self.is_joined:
            self._start(max_segments, max_files, children)
        status = native().status()
        self.begin: float = status["begin"]
        self.children = Children(status["arena"])
        if children and not self.is_joined:
            self._invite(status, max_segments, max_files)

    def _start(self, max_segments: int, max_files: int, children: bool) -> None:
        try:
            native().start(
                None,
                ARENA_CEILING,
                max_files,
                max_segments,
                self.extended,
                [os.fsencode(path) for path in self.exclusions.excluded],
                [os.fsencode(path) for path in self.exclusions.included],
                new_session_name(),
                True,
                children,
                0,
                0.0,
            )
        except OSError as error:
            raise RecordingUnavailableError(
                f"no room for the recorder's memory in /dev/shm or $TMPDIR ({error}); "
                "free some space there, or point TMPDIR at a local disk"
            ) from error

    def _invite(self, status: dict[str, Any], max_segments: int, max_files: int) -> None:
        Session(
            status["session"],
            os.path.dirname(status["arena"]),
            status["begin_monotonic"],
            status["begin"],
            self.extended,
            *self.exclusions,
            max_files,
            max_segments,
        ).to_environment()

    def stop(self) -> None:
        """Ends the recording; a joined one goes on for its session."""
        self.children.close()
        if not self.is_joined:
            os.environ.pop(JOIN_VARIABLE, None)
            native().stop()

    def keep_names(self, module: str, n: int) -> Callable[[Int64Array], Sequence[str]]:
        """A way to find names of the first `n` records also after the recording has ended."""
        with self._names_lock:
            kept = self._names[module]
            kept.extend(self.own.names(module, np.arange(len(kept), n)))
        return lambda places: list(map(kept.__getitem__, places.tolist()))


_current: _Recording | None = None
_lock = threading.Lock()


class Recorder:
    """A handle on the recording of this process; `attach` makes it."""

    def __init__(self, recording: _Recording) -> None:
        self._recording: _Recording | None = recording

    def _live(self) -> _Recording:
        if self._recording is None:
            raise RuntimeError("this recorder was detached")
        if self._recording.pid != os.getpid():
            raise RuntimeError("this recorder belongs to the parent process; attach in this one")
        return self._recording

    @property
    def begin(self) -> float:
        """When the recording began, in seconds since the epoch."""
        return self._live().begin

    @property
    def attached(self) -> bool:
        """Whether this handle still records."""
        return self._recording is not None and self._recording.pid == os.getpid()

    def seconds(self) -> float:
        """Now, in seconds since the recording began."""
        self._live()
        return float(native().now())

    def facts(self) -> dict[str, Any]:
        """How is recorded: plain values for the job description."""
        recording = self._live()
        redirected, status = native().redirected(), native().status()
        process = recording.own.facts()
        return {
            "source": "builtin",
            "source_version": None,
            "extended": recording.extended,
            "exclusions": list(recording.exclusions.excluded),
            "inclusions": list(recording.exclusions.included),
            "objects": redirected["objects"],
            "slots": redirected["slots"],
            "skipped_slots": redirected["skipped"],
            "skips": [[os.fsdecode(text) for text in skip] for skip in redirected["skips"]],
            "refused_files": process.refused_files,
            "mapped_files": process.mapped_files,
            "rings": process.rings,
            "segments_dropped": status["segments_dropped"],
            "memory_bytes": status["arena_bytes"],
        }

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
        self._live()
        native().claim()

    def snapshot(self) -> Snapshot:
        """A copy of all records of this process."""
        seconds, recording = self.seconds(), self._live()
        arrays: dict[str, ModuleArrays] = {}
        for module in MODULES:
            copied = recording.own.arrays(module)
            n = int(copied.places.max(initial=-1)) + 1
            arrays[module] = dataclasses.replace(copied, find_names=recording.keep_names(module, n))
        return Snapshot(seconds, arrays)

    @property
    def traces(self) -> bool:
        """Whether single accesses are kept."""
        return self._live().max_segments > 0

    def segments(self) -> SegmentArray:
        """Traced accesses of this process since the last call, `[n] SEGMENT_DTYPE`, in no
        particular order. `max_segments` of `attach` bounds what waits here; more is dropped.
        """
        return self._live().own.drain_segments()[0]

    def detach(self) -> None:
        """Ends this handle; with the last one calls go to the C library directly again."""
        global _current
        with _lock:
            recording, self._recording = self._recording, None
            if recording is None or recording.pid != os.getpid():
                return
            recording.handles -= 1
            if recording.handles == 0:
                recording.stop()
                _current = None


def attach(
    source: str = "auto",
    *,
    extended: bool = True,
    exclude: Sequence[str] | None = None,
    max_segments: int = 0,
    max_files: int = _FILES_CEILING,
    children: bool = True,
) -> Recorder:
    """Records the I/O of this process from now on.

    Handles are counted: a second `attach` shares the recording that goes on, which ends when all
    have detached.

    Args:
        source: `builtin`, or `auto` for the best one that is there.
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
    if source == "auto":
        source = os.environ.get(SOURCE_VARIABLE) or "builtin"
    if source not in ("auto", "builtin"):
        raise ValueError(f"source is {source!r}; it can be 'auto' or 'builtin'")
    if max_files < 1 or max_segments < 0:
        raise ValueError("max_files must be at least 1, max_segments at least 0")
    native()
    with _lock:
        if _current is not None and _current.pid != os.getpid():
            _current = None  # a forked child starts afresh
        if _current is None:
            _current = _Recording(extended, exclude, max_segments, max_files, children)
        elif _current.extended != extended or (
            exclude is not None and _choose_exclusions(extended, exclude) != _current.exclusions
        ):
            raise ValueError("this process is being recorded with other settings; detach first")
        _current.handles += 1
        return Recorder(_current)
