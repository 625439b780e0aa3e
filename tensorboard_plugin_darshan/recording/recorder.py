"""Darshan's counters of the running process: attach, snapshot, detach.

`attach` redirects the process's I/O calls at run time; nothing has to be preloaded or restarted.
Counters mean what Darshan's mean (`counters.py` has their names).
"""

from __future__ import annotations

import contextlib
import os
import site
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.window import (
    BIN_COLUMNS,
    BinSeries,
    Float64Array,
    Int64Array,
    UInt64Array,
)

try:
    from tensorboard_plugin_darshan import _native
except ImportError:  # another system, or a build without a compiler
    _native = None  # type: ignore[assignment]

SOURCE_VARIABLE: Final = "TENSORBOARD_DARSHAN_SOURCE"
EXCLUDE_VARIABLE: Final = "TENSORBOARD_DARSHAN_EXCLUDE"

DEFAULT_EXCLUDED: Final = (
    *("/proc", "/sys", "/dev", "/etc", "/usr", "/bin", "/sbin"),
    *("/lib", "/lib32", "/lib64", "/libx32", "/boot"),
)
"""Left out of recordings with `extended=True`, with everything below them; to these come the
interpreter's own directories and site-packages."""
DEFAULT_INCLUDED: Final = ("/dev/shm",)

_NANOSECONDS: Final = 1e9
_FILES_CEILING: Final = 16_000_000
_ARENA_CEILING: Final = 64 * 1024**3
_MODULES: Final = tuple(counters.LAYOUTS)

SEGMENT_DTYPE: Final = np.dtype(
    [
        ("record", "<u4"),
        ("direction", "<u4"),
        ("order", "<i8"),
        ("offset", "<i8"),
        ("length", "<i8"),
        ("start", "<i8"),
        ("end", "<i8"),
        ("thread", "<u8"),
    ]
)
"""A traced access: place of its POSIX record, 0 read or 1 write, number among the record's accesses
in that direction, bytes, nanoseconds since the recording began, `pthread_self()`."""


class RecordingUnavailableError(RuntimeError):
    """This process cannot be recorded; the message says why and what to do."""


@dataclass(frozen=True)
class ModuleArrays:
    """The records of one module.

    Attributes:
        ids: `[n] uint64` record ids, Darshan's hash of the name.
        names: `n` paths; bytes that are not UTF-8 are kept as surrogates.
        counters: `[n, n_counters] int64` in the order of `counters.LAYOUTS[module].counters`.
        fcounters: `[n, n_fcounters] float64`; seconds, timestamps since the recording began.
    """

    ids: UInt64Array
    names: tuple[str, ...]
    counters: Int64Array
    fcounters: Float64Array


@dataclass(frozen=True)
class Totals:
    """All records of a module as one, since the recording began.

    Attributes:
        records: how many there are.
        sums, maxima: `[n_counters] int64` over all records.
        fsums, fmaxima, fminima: `[n_fcounters] float64`; the smallest of those that are set.
        common_sizes: `[n, 2] int64` access size and count, the most frequent first.
        partial: some files went into a common record, because there were too many.
    """

    records: int
    sums: Int64Array
    maxima: Int64Array
    fsums: Float64Array
    fmaxima: Float64Array
    fminima: Float64Array
    common_sizes: Int64Array
    partial: bool


class Snapshot:
    """A copy of all records at one instant (each record is consistent in itself)."""

    def __init__(self, seconds: float, arrays: dict[str, ModuleArrays]) -> None:
        self.seconds: Final = seconds
        """When it was taken, in seconds since the recording began."""
        self._arrays = arrays

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that are recorded."""
        return tuple(self._arrays)

    def arrays(self, module: str) -> ModuleArrays:
        """The records of a module as arrays.

        Raises:
            KeyError: the module is not recorded.
        """
        try:
            return self._arrays[module]
        except KeyError:
            raise KeyError(f"no module {module!r}; recorded are {', '.join(_MODULES)}") from None

    def records(self, module: str) -> dict[str, dict[str, int | float]]:
        """The records of a module by path, each counter by Darshan's name.

        Raises:
            KeyError: the module is not recorded.
        """
        arrays, layout = self.arrays(module), counters.LAYOUTS[module]
        names = (*layout.counters, *layout.fcounters)
        rows = zip(arrays.counters.tolist(), arrays.fcounters.tolist(), strict=True)
        return {
            path: dict(zip(names, (*row, *frow), strict=True))
            for path, (row, frow) in zip(arrays.names, rows, strict=True)
        }


def _interpreter_directories() -> tuple[str, ...]:
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    packages = {*site.getsitepackages(), site.getusersitepackages()}
    paths = {os.path.abspath(path) for path in prefixes | packages}
    paths |= {os.path.realpath(path) for path in paths}
    return tuple(sorted(paths - {"/"}))


def _exclusions(extended: bool, exclude: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Paths that are left out, and exceptions from them."""
    if exclude is None and os.environ.get(EXCLUDE_VARIABLE) is not None:
        exclude = [path for path in os.environ[EXCLUDE_VARIABLE].split(":") if path]
    if exclude is not None:
        if isinstance(exclude, str):
            raise TypeError("exclude is a list of directories, not one string")
        return [os.path.abspath(path) for path in exclude], []
    if extended:
        return [*DEFAULT_EXCLUDED, *_interpreter_directories()], list(DEFAULT_INCLUDED)
    excluded, included = _native.DARSHAN_EXCLUDED, _native.DARSHAN_INCLUDED
    return [os.fsdecode(p) for p in excluded], [os.fsdecode(p) for p in included]


class _Recording:
    """The process's one recording, shared by all handles."""

    def __init__(
        self, extended: bool, exclude: Sequence[str] | None, max_segments: int, max_files: int
    ) -> None:
        self.extended = extended
        self.excluded, self.included = _exclusions(extended, exclude)
        self.handles = 0
        self.pid = os.getpid()
        self.names: dict[int, list[str]] = {module: [] for module in range(len(_MODULES))}
        self._names_lock = threading.Lock()
        try:
            self.redirected = _native.start(
                None,
                _ARENA_CEILING,
                max_files,
                max_segments,
                extended,
                [os.fsencode(path) for path in self.excluded],
                [os.fsencode(path) for path in self.included],
            )
        except OSError as error:
            raise RecordingUnavailableError(
                f"no room for the recorder's memory in /dev/shm or $TMPDIR ({error}); "
                "free some space there, or point TMPDIR at a local disk"
            ) from error
        self.begin = _native.status()["begin"]

    def new_names(self, module: int, n: int) -> list[str]:
        """Names of the first `n` records of a module (they never change)."""
        with self._names_lock:
            known = self.names[module]
            if len(known) < n:
                known.extend(os.fsdecode(name) for name in _native.names(module, len(known)))
            return known


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
            "exclusions": recording.excluded,
            "inclusions": recording.included,
            "objects": redirected["objects"],
            "slots": redirected["slots"],
            "skipped_slots": redirected["skipped"],
            "skips": [[os.fsdecode(text) for text in skip] for skip in redirected["skips"]],
            "refused_files": status["refused"],
            "mapped_files": status["mappings"],
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

    def arrays(self, module: str, lately: bool = False) -> tuple[ModuleArrays, Int64Array]:
        """Records of a module and their places `[n] int64`, which never change.

        With `lately`, only those on which something happened since the last such call: the windows'
        own question, to be asked by one cutter.
        """
        recording, number = self._live(), _MODULES.index(module)
        layout = counters.LAYOUTS[module]
        places, ids, ints, floats = _native.records(number, lately)
        indices = np.frombuffer(places, np.uint32).astype(np.int64)
        names = recording.new_names(number, int(indices.max()) + 1 if len(indices) else 0)
        arrays = ModuleArrays(
            np.frombuffer(ids, np.uint64),
            tuple(map(names.__getitem__, indices.tolist())),
            np.frombuffer(ints, np.int64).reshape(-1, len(layout.counters)),
            np.frombuffer(floats, np.float64).reshape(-1, len(layout.fcounters)),
        )
        return arrays, indices

    def snapshot(self) -> Snapshot:
        """A copy of all records."""
        seconds = self.seconds()
        return Snapshot(seconds, {module: self.arrays(module)[0] for module in _MODULES})

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
        return np.frombuffer(b"".join(_native.drain_segments()), SEGMENT_DTYPE)

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
            newer C libraries, …), and leaves out `DEFAULT_EXCLUDED` and Python's own directories.
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
            exclude is not None and _exclusions(extended, exclude)[0] != _current.excluded
        ):
            raise ValueError("this process is being recorded with other settings; detach first")
        _current.handles += 1
        return Recorder(_current)
