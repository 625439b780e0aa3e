"""A recorder whose counts and clock the test decides; `attach` and `FakeCutter` go with it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.all_files import AllFiles
from tensorboard_plugin_darshan.window import BIN_COLUMNS, BinSeries, ModuleWindow, Window


class Clock:
    """Stands still unless told otherwise."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class FakeRecorder:
    """Counts what the test says was read and written."""

    begin = 1_700_000_000.0

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        start = time.monotonic()
        self._clock = clock or (lambda: time.monotonic() - start)
        self._lock = threading.Lock()
        self._pending = np.zeros(4, np.int64)
        self.attached = True
        self.is_muted = False
        self.process_io = (-1, -1, -1, -1)
        self.cut_failure: BaseException | None = None
        self.cut_threads: list[threading.Thread] = []
        self.cut_gate: threading.Event | None = None

    def seconds(self) -> float:
        if not self.attached:
            raise RuntimeError("this recorder was detached")
        return self._clock()

    def facts(self) -> dict[str, Any]:
        return {"source": "fake", "source_version": "1", "notes": ["a note of the source"]}

    @contextmanager
    def muted(self) -> Iterator[None]:
        before, self.is_muted = self.is_muted, True
        try:
            yield
        finally:
            self.is_muted = before

    def detach(self) -> None:
        self.attached = False

    def count(self, read: int = 0, written: int = 0, opens: int = 0, busy: float = 0.0) -> None:
        """Something happened: bytes, bytes, metadata calls, seconds."""
        with self._lock:
            self._pending += (read, written, opens, round(busy * 1e9))

    def take(self) -> np.ndarray[Any, Any]:
        with self._lock:
            taken, self._pending = self._pending, np.zeros(4, np.int64)
        return taken


class FakeCutter:
    """Windows of POSIX with what was counted since the last cut."""

    def __init__(self, recorder: FakeRecorder, max_listed_files: int = 500) -> None:
        self._recorder = recorder
        self._sequence = 0
        self._last = recorder.seconds()

    def cut(self, phase: str = "", epoch: int = -1, step: int = -1) -> Window:
        self._recorder.cut_threads.append(threading.current_thread())
        if self._recorder.cut_gate is not None:
            self._recorder.cut_gate.wait(60)
        if self._recorder.cut_failure is not None:
            raise self._recorder.cut_failure
        read, written, opens, busy = self._recorder.take().tolist()
        values = np.zeros(len(counters.POSIX.counters), np.int64)
        values[counters.POSIX.index["POSIX_BYTES_READ"]] = read
        values[counters.POSIX.index["POSIX_BYTES_WRITTEN"]] = written
        bins = np.zeros((1, len(BIN_COLUMNS)), np.int64)
        bins[0, BIN_COLUMNS.index("metadata_calls")] = opens
        bins[0, BIN_COLUMNS.index("busy_nanoseconds")] = busy
        start, self._last = self._last, self._recorder.seconds()
        part = ModuleWindow(
            values, np.zeros(len(counters.POSIX.fcounters)), bins=BinSeries(values=bins)
        )
        sequence, self._sequence = self._sequence, self._sequence + 1
        return Window(
            sequence,
            start,
            self._last,
            phase,
            epoch,
            step,
            {"POSIX": part},
            process_io=np.array(self._recorder.process_io, np.int64),
        )

    def take_traced(self) -> None:
        return None

    def names_for_window(self, names: dict[int, str]) -> dict[int, str]:
        return names

    def all_files(self, max_files: int) -> AllFiles:
        return AllFiles(self._sequence - 1, self._last)


def bytes_read(window: Window) -> int:
    return int(window.modules["POSIX"].counters[counters.POSIX.index["POSIX_BYTES_READ"]])


class FakeSource:
    """What a monitor gets as `attach`; keeps the recorders that it attached."""

    def __init__(
        self, clock: Callable[[], float] | None = None, failure: Exception | None = None
    ) -> None:
        self._clock = clock
        self._failure = failure
        self.recorders: list[FakeRecorder] = []
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> FakeRecorder:
        self.calls.append((args, kwargs))
        if self._failure is not None:
            raise self._failure
        self.recorders.append(FakeRecorder(self._clock))
        return self.recorders[-1]

    @property
    def recorder(self) -> FakeRecorder:
        (recorder,) = self.recorders
        return recorder
