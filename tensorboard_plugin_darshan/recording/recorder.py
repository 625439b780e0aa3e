"""Darshan's counters of the running process: attach, snapshot, detach.

`attach` redirects the process's I/O calls at run time; nothing has to be preloaded or restarted.
Counters mean what Darshan's mean (`counters.py` has their names).
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.recording import exclusions
from tensorboard_plugin_darshan.recording.records import (
    SEGMENT_DTYPE,
    ModuleArrays,
    Snapshot,
    Totals,
)
from tensorboard_plugin_darshan.window import BIN_COLUMNS, BinSeries, Int64Array

try:
    from tensorboard_plugin_darshan import _native
except ImportError:  # another system, or a build without a compiler
    _native = None  # type: ignore[assignment]

SOURCE_VARIABLE: Final = "TENSORBOARD_DARSHAN_SOURCE"

_NANOSECONDS: Final = 1e9
_FILES_CEILING: Final = 16_000_000
_ARENA_CEILING: Final = 64 * 1024**3
_MODULES: Final = tuple(counters.LAYOUTS)


class RecordingUnavailableError(RuntimeError):
    """This process cannot be recorded; the message says why and what to do."""


def _choose_exclusions(extended: bool, exclude: Sequence[str] | None) -> exclusions.Exclusions:
    darshan = exclusions.Exclusions(
        tuple(map(os.fsdecode, _native.DARSHAN_EXCLUDED)),
        tuple(map(os.fsdecode, _native.DARSHAN_INCLUDED)),
    )
    return exclusions.choose(extended, exclude, darshan)


class _Recording:
    """The process's one recording, shared by all handles."""

    def __init__(
        self, extended: bool, exclude: Sequence[str] | None, max_segments: int, max_files: int
    ) -> None:
        self.extended = extended
        self.exclusions = _choose_exclusions(extended, exclude)
        self.handles = 0
        self.pid = os.getpid()
        self._names: dict[int, list[str]] = {module: [] for module in range(len(_MODULES))}
        self._names_lock = threading.Lock()
        try:
            self.redirected = _native.start(
                None,
                _ARENA_CEILING,
                max_files,
                max_segments,
                extended,
                [os.fsencode(path) for path in self.exclusions.excluded],
                [os.fsencode(path) for path in self.exclusions.included],
            )
        except OSError as error:
            raise RecordingUnavailableError(
                f"no room for the recorder's memory in /dev/shm or $TMPDIR ({error}); "
                "free some space there, or point TMPDIR at a local disk"
            ) from error
        self.begin = _native.status()["begin"]

    def names(self, module: int, places: Int64Array) -> list[str]:
        """Paths of records, asked from the recording, which must go on."""
        packed = places.astype(np.uint32).tobytes()
        return [os.fsdecode(name) for name in _native.names(module, packed)]

    def keep_names(self, module: int, n: int) -> Callable[[Int64Array], Sequence[str]]:
        """A way to find names of the first `n` records also after the recording has ended."""
        with self._names_lock:
            kept = self._names[module]
            kept.extend(self.names(module, np.arange(len(kept), n)))
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
        return _native.now()

    def facts(self) -> dict[str, Any]:
        """How is recorded: plain values for the job description."""
        recording = self._live()
        redirected, status = _native.redirected(), _native.status()
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
            "refused_files": status["refused"],
            "mapped_files": status["mappings"],
            "rings": status["rings"],
            "segments_dropped": status["segments_dropped"],
            "memory_bytes": status["arena_bytes"],
        }

    @contextlib.contextmanager
    def muted(self) -> Iterator[None]:
        """Calls that this thread makes inside are not recorded."""
        if _native is None:
            yield
            return
        before = _native.mute(True)
        try:
            yield
        finally:
            _native.mute(before)

    def arrays(self, module: str, lately: bool = False) -> ModuleArrays:
        """Records of a module.

        With `lately`, only those on which something happened since the last such call: the windows'
        own question, to be asked by one cutter.
        """
        recording, number = self._live(), _MODULES.index(module)
        layout = counters.LAYOUTS[module]
        indices, ids, ints, floats = _native.records(number, lately)
        places = np.frombuffer(indices, np.uint32).astype(np.int64)
        return ModuleArrays(
            np.frombuffer(ids, np.uint64),
            np.frombuffer(ints, np.int64).reshape(-1, len(layout.counters)),
            np.frombuffer(floats, np.float64).reshape(-1, len(layout.fcounters)),
            places,
            functools.partial(recording.names, number)
            if lately
            else recording.keep_names(number, int(places.max(initial=-1)) + 1),
        )

    def snapshot(self) -> Snapshot:
        """A copy of all records."""
        seconds = self.seconds()
        return Snapshot(seconds, {module: self.arrays(module) for module in _MODULES})

    def totals(self, module: str) -> Totals:
        """All records of a module as one."""
        self._live()
        records, sums, maxima, fsums, fmaxima, fminima, sizes = _native.totals(
            _MODULES.index(module)
        )
        common = np.frombuffer(sizes, np.int64).reshape(-1, 2)
        return Totals(
            records,
            np.frombuffer(sums, np.int64),
            np.frombuffer(maxima, np.int64),
            np.frombuffer(fsums),
            np.frombuffer(fmaxima),
            np.frombuffer(fminima),
            common_sizes=common[common[:, 1] > 0],
            partial=_native.status()["refused"] > 0,
        )

    def drain_bins(self, module: str) -> BinSeries:
        """Activity of a module over time since the last call; one cutter's business."""
        self._live()
        width, first, rows, idle = _native.drain_bins(_MODULES.index(module))
        values = np.frombuffer(rows, np.int64).reshape(-1, len(BIN_COLUMNS) - 1)
        busy = np.rint(width * (1.0 - np.frombuffer(idle, np.float64))).astype(np.int64)
        return BinSeries(width / _NANOSECONDS, first, np.column_stack([values, busy]))

    def segments(self) -> np.ndarray[Any, np.dtype[Any]]:
        """Traced accesses since the last call, `[n] SEGMENT_DTYPE`, in no particular order."""
        self._live()
        return np.frombuffer(_native.drain_segments(), SEGMENT_DTYPE)

    def detach(self) -> None:
        """Ends this handle; with the last one calls go to the C library directly again."""
        global _current
        with _lock:
            recording, self._recording = self._recording, None
            if recording is None or recording.pid != os.getpid():
                return
            recording.handles -= 1
            if recording.handles == 0:
                _native.stop()
                _current = None


def attach(
    source: str = "auto",
    *,
    extended: bool = True,
    exclude: Sequence[str] | None = None,
    max_segments: int = 0,
    max_files: int = _FILES_CEILING,
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
        max_segments: reads and writes to trace one by one; 0 traces none.
        max_files: files with a record of their own; the rest share one.

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
    if _native is None:
        raise RecordingUnavailableError(
            "recording is not available here: it needs Linux on x86-64 or aarch64 and the compiled "
            "part of the package; recordings made elsewhere can be shown"
        )
    with _lock:
        if _current is not None and _current.pid != os.getpid():
            _current = None  # a forked child starts afresh
        if _current is None:
            _current = _Recording(extended, exclude, max_segments, max_files)
        elif _current.extended != extended or (
            exclude is not None and _choose_exclusions(extended, exclude) != _current.exclusions
        ):
            raise ValueError("this process is being recorded with other settings; detach first")
        _current.handles += 1
        return Recorder(_current)
