"""Runs of real I/O: the recorder counts what a test does, windows are cut where it says."""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from tensorboard_plugin_darshan.dashboard.insights import Insights, insights
from tensorboard_plugin_darshan.dashboard.run import Recording, Run
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.recording.cutter import WindowCutter
from tensorboard_plugin_darshan.recording.recorder import attach
from tensorboard_plugin_darshan.window import Window
from tests.support import runs


class Tape:
    """Windows of this process from now on."""

    def __init__(self, max_listed_files: int = 500) -> None:
        self._recorder = attach(source="builtin", children=False)
        with self._recorder.muted():
            self._cutter = WindowCutter(self._recorder, max_listed_files)
        self.windows: list[Window] = []

    def cut(self, phase: str = "train", epoch: int = 0, wait: float = -1.0) -> None:
        """What happened since the last cut is a window; `wait` in seconds."""
        with self._recorder.muted():
            window = self._cutter.cut(phase, epoch, len(self.windows))
        self.windows.append(dataclasses.replace(window, wait_seconds=wait))

    def recording(self, name: str = "a/darshan/rank0", **job: Any) -> Recording:
        """The windows so far as a recording."""
        return runs.recording(self.windows, name, **job)

    def muted(self) -> AbstractContextManager[None]:
        """What this thread does inside is not counted."""
        return self._recorder.muted()

    def close(self) -> None:
        """Ends the recording."""
        self._recorder.detach()


@contextmanager
def taping(max_listed_files: int = 500) -> Iterator[Tape]:
    """A tape that runs inside the block."""
    tape = Tape(max_listed_files)
    try:
        yield tape
    finally:
        tape.close()


def run_of(*recordings: Recording) -> Run:
    """A run of these recordings."""
    return Run("a", recordings)


def judge(run: Run) -> Insights:
    """Insights of a whole run."""
    return insights(Selection(run, modules=run.modules))


def codes(found: Insights) -> set[str]:
    """Codes of all findings, those that do not matter too."""
    return {finding.code for finding in (*found.findings, *found.observations)}


def write_files(directory: Path, sizes: Sequence[int], ending: str = ".bin") -> list[Path]:
    """Files of these sizes."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for place, size in enumerate(sizes):
        path = directory / f"{place:05d}{ending}"
        path.write_bytes(b"x" * size)
        paths.append(path)
    return paths


def read_file(path: Path, piece: int = 1 << 20, tail: bool = True) -> int:
    """Reads a file as most readers do, until nothing comes; without `tail` as far as its size."""
    fd = os.open(path, os.O_RDONLY)
    try:
        left = os.fstat(fd).st_size
        moved = 0
        while tail or moved < left:
            data = os.read(fd, piece)
            moved += len(data)
            if not data:
                break
        return moved
    finally:
        os.close(fd)


class SlowFiles:
    """Named pipes that a thread of this process feeds: files whose speed the test decides.

    Args:
        tape: does not count what the thread does.
        directory: where they come to lie.
        block: bytes a read gets.
        pause: seconds before each block, given how many readers wait.
    """

    def __init__(
        self, tape: Tape, directory: Path, block: int, pause: Callable[[int], float]
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._tape = tape
        self._directory, self._block, self._pause = directory, block, pause
        self._waiting = 0
        self._lock = threading.Lock()
        self._device = threading.Lock()

    def create(self, name: str) -> Path:
        """One of them."""
        path = self._directory / name
        os.mkfifo(path)
        return path

    def read(self, path: Path, blocks: int) -> int:
        """Opens it, reads so many blocks through the recorder, and closes it."""
        feeder = threading.Thread(target=self._feed, args=(path, blocks))
        feeder.start()
        moved = 0
        fd = os.open(path, os.O_RDONLY)
        try:
            while moved < blocks * self._block:
                moved += len(os.read(fd, self._block))
        finally:
            os.close(fd)
            feeder.join()
        return moved

    def _feed(self, path: Path, blocks: int) -> None:
        with self._lock:
            self._waiting += 1
        data = b"x" * self._block
        with self._tape.muted(), open(path, "wb", buffering=0) as pipe:
            for _ in range(blocks):
                with self._device:
                    time.sleep(self._pause(self._waiting))
                    pipe.write(data)
        with self._lock:
            self._waiting -= 1
