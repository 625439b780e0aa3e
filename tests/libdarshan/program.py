"""Does something under a real libdarshan, and says what was read of it while it ran.

Usage: program.py SOURCE WORKLOAD DIRECTORY RESULT [LIBRARY]

What comes after the last snapshot must not be recorded: RESULT is written past Darshan.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.ma  # NumPy reads it when it is first needed, which must not be in between

from tensorboard_plugin_darshan import attach
from tensorboard_plugin_darshan.recording.cutter import WindowCutter
from tensorboard_plugin_darshan.recording.recorder import Recorder

SEGMENTS_MAX = 1_000_000
THREADS = 8


def plain(directory: Path) -> None:
    """Python's and NumPy's own ways to files."""
    for i in range(5):
        path = directory / f"file{i}"
        with open(path, "wb") as file:
            for k in range(20):
                file.write(bytes(7919 * (k + 1)))
        with open(path, "rb") as file:
            file.seek(11)
            file.read(1000)
            file.read()
    np.arange(1000).tofile(directory / "array.bin")
    np.fromfile(directory / "array.bin")
    os.rename(directory / "file0", directory / "renamed")


def threads(directory: Path) -> None:
    """Eight threads, each with files of its own and one that all share."""
    (directory / "shared").write_bytes(bytes(1 << 20))

    def work(number: int) -> None:
        own = os.open(directory / f"own{number}", os.O_CREAT | os.O_RDWR)
        shared = os.open(directory / "shared", os.O_RDONLY)
        for k in range(3000):
            os.pwrite(own, bytes(512), 512 * k)
            os.pread(shared, 4096, 4096 * (k % 256))
        os.close(own)
        os.close(shared)

    running = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def training(directory: Path) -> None:
    """A Keras fit on files, with checkpoints."""
    import keras

    rng = np.random.default_rng(1)
    for i in range(40):
        np.save(directory / f"sample{i}.npy", rng.normal(size=(16, 8)))

    class Samples(keras.utils.PyDataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return 20

        def __getitem__(self, i: int) -> tuple[Any, Any]:
            x = np.concatenate([np.load(directory / f"sample{2 * i + k}.npy") for k in range(2)])
            return x, x.sum(axis=1)

    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile(loss="mse")
    checkpoint = keras.callbacks.ModelCheckpoint(str(directory / "model.keras"))
    model.fit(Samples(), epochs=2, verbose=0, callbacks=[checkpoint])


WORKLOADS: dict[str, Callable[[Path], None]] = {
    "plain": plain,
    "threads": threads,
    "training": training,
}


def run(workload: str, directory: Path) -> None:
    if workload in WORKLOADS:
        WORKLOADS[workload](directory)
    else:
        assert ctypes.CDLL(workload).run(os.fsencode(directory)) == 0


def pull_while(work: Callable[[], None], recorder: Recorder) -> list[list[int]]:
    """What adds up, asked for again and again while something is done."""
    pulls: list[list[int]] = []
    worker = threading.Thread(target=work)
    worker.start()
    while worker.is_alive():
        pulls.append([int(value) for value in recorder.own.totals("POSIX").sums])
    worker.join()
    return pulls


def write_unseen(path: str, data: bytes) -> None:
    """Writes past Darshan, which may take a new descriptor for that of a file that was closed."""
    libc = ctypes.CDLL(None)
    openat, write = {"x86_64": (257, 1), "aarch64": (56, 64)}[platform.machine()]
    at_current = -100
    fd = libc.syscall(openat, at_current, os.fsencode(path), os.O_CREAT | os.O_WRONLY, 0o600)
    assert fd >= 0
    while data:
        written = libc.syscall(write, fd, data, len(data))
        assert written > 0
        data = data[written:]


def described(window: Any) -> dict[str, Any]:
    return {
        "start": window.start_seconds,
        "end": window.end_seconds,
        "names": list(window.names.values()),
        "notes": list(window.notes),
        "bins": {m: its.bins.values.sum(axis=0).tolist() for m, its in window.modules.items()},
        "counters": {m: its.counters.tolist() for m, its in window.modules.items()},
    }


def main(source: str, workload: str, directory: str, result: str, library: str = "") -> None:
    os.umask(0o022)
    traces = "DXT_ENABLE_IO_TRACE" in os.environ
    recorder = attach(source, library=library or None, max_segments=SEGMENTS_MAX if traces else 0)
    cutter = None if traces else WindowCutter(recorder)  # it would take the segments
    found: dict[str, Any] = {"pid": os.getpid()}
    found["pulls"] = pull_while(lambda: run(workload, Path(directory)), recorder)
    found["window"] = None if cutter is None else described(cutter.cut())
    facts = recorder.facts()
    segments = recorder.segments()
    snapshot = recorder.snapshot()
    ids = snapshot.arrays("POSIX").ids
    offset = recorder.begin - facts.get("library_begin", recorder.begin)
    found["facts"] = facts
    found["segments"] = [
        [
            str(ids[s["record"]]),
            *(int(s[name]) for name in ("direction", "order", "offset", "length")),
            *(float(s[name]) / 1e9 + offset for name in ("start", "end")),
            int(s["thread"]),
        ]
        for s in segments
    ]
    found["records"] = {
        module: {
            str(int(key)): [*row, *frow]
            for key, row, frow in zip(
                arrays.ids, arrays.counters.tolist(), arrays.fcounters.tolist(), strict=True
            )
        }
        for module in snapshot.modules
        for arrays in [snapshot.arrays(module)]
    }
    found["names"] = {module: list(snapshot.arrays(module).names) for module in snapshot.modules}
    recorder.detach()
    write_unseen(result, json.dumps(found).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
