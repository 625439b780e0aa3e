"""What the callback adds to a training: time, batch hook, event bytes, jitter, workers.

Fits with and without the callback take turns in one process, after one of each to warm up.

    python benchmarks/fit.py [--pairs 10] [--only fit,bytes,jitter,workers] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tensorboard_plugin_darshan import DarshanMonitor

FIT_FILES, FIT_BYTES, EPOCHS = 2_000, 512 * 1024, 3
BYTES_SECONDS, BYTES_FILES = 90.0, 2_000
TRACKED_FILES, JITTER_SECONDS, FLUSH_SECONDS = 20_000, 10.0, 0.1
WORKERS = 2_000
GOALS = {
    "added_percent": 1.0,
    "batch_hook_us": 20.0,
    "mib_per_minute": 1.0,
    "jitter_p99_ms": 5.0,
    "kib_per_worker": 8.0,
}
"""Most that is asked for."""


def write_files(directory: Path, n: int, size: int) -> list[str]:
    directory.mkdir()
    data = os.urandom(size)
    paths = [str(directory / f"{i:06d}.raw") for i in range(n)]
    for path in paths:
        Path(path).write_bytes(data)
    return paths


def event_bytes(log_dir: Path) -> int:
    return sum(path.stat().st_size for path in log_dir.rglob("events.out.tfevents.*"))


class Training:
    """A fit that does little but read files and turn their bytes into numbers."""

    def __init__(self, paths: list[str]) -> None:
        import keras
        import tensorflow as tf

        def load(path: Any) -> tuple[Any, Any]:
            pixels = tf.io.decode_raw(tf.io.read_file(path), tf.uint8)
            image = tf.reshape(tf.cast(pixels, tf.float32) / 255, (64, -1))
            return tf.reduce_mean(image, axis=1), tf.cast(pixels[0] % 2, tf.int32)

        self._data = tf.data.Dataset.from_tensor_slices(paths).map(load).batch(16)
        self._data = self._data.prefetch(2)
        self._model = keras.Sequential(
            [keras.Input((64,)), keras.layers.Dense(2, activation="softmax")]
        )
        self._model.compile("sgd", "sparse_categorical_crossentropy")

    def seconds(self, log_dir: Path | None) -> tuple[float, float, float]:
        """Seconds of a fit, of all from the callback's making to its end, and of CPU in all."""
        from tensorboard_plugin_darshan import DarshanCallback

        gc.collect()
        begin, cpu = time.perf_counter(), time.process_time()
        callbacks = [] if log_dir is None else [DarshanCallback(log_dir)]
        fitted = time.perf_counter()
        self._model.fit(self._data, epochs=EPOCHS, verbose=0, callbacks=callbacks)
        end = time.perf_counter()
        for callback in callbacks:
            callback.close()
        return end - fitted, time.perf_counter() - begin, time.process_time() - cpu


def measure_fit(directory: Path, pairs: int) -> dict[str, float]:
    training = Training(write_files(directory / "data", FIT_FILES, FIT_BYTES))
    for log_dir in (directory / "warm", None):
        training.seconds(log_dir)
    fits, wholes, cpus, plain, added = [], [], [], [], []
    for pair in range(pairs):
        log_dir = directory / f"logs{pair}"
        sides: list[Path | None] = [log_dir, None] if pair % 2 else [None, log_dir]
        taken = {side is not None: training.seconds(side) for side in sides}
        with_fit, with_all, with_cpu = taken[True]
        bare_fit, bare_all, bare_cpu = taken[False]
        cpus.append(100 * (with_cpu / bare_cpu - 1))
        fits.append(100 * (with_fit / bare_fit - 1))
        wholes.append(100 * (with_all / bare_all - 1))
        plain.append(bare_fit)
        added.append(1e6 * (with_cpu - bare_cpu) / (EPOCHS * FIT_FILES))
    spread = statistics.stdev(fits) / len(fits) ** 0.5 if len(fits) > 1 else 0.0
    return {
        "fit_seconds": statistics.median(plain),
        "added_percent": statistics.median(fits),
        "added_percent_standard_error": spread,
        "added_cpu_with_attach_percent": statistics.median(cpus),
        "added_with_attach_percent": statistics.median(wholes),
        "added_cpu_us_per_file_read": statistics.median(added),
        "kib_per_epoch": event_bytes(directory / "logs0") / EPOCHS / 1024,
        "batch_hook_us": measure_hook(directory / "hook"),
    }


def measure_hook(log_dir: Path, n: int = 50_000) -> float:
    """Microseconds of the hook at the end of a batch, the best of five."""
    from tensorboard_plugin_darshan import DarshanCallback

    callback = DarshanCallback(log_dir)
    callback.on_train_begin()
    callback.on_epoch_begin(0)
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        for batch in range(n):
            callback.on_train_batch_end(batch)
        best = min(best, (time.perf_counter() - begin) / n)
    callback.on_train_end()
    callback.close()
    return best * 1e6


def measure_bytes(directory: Path) -> dict[str, float]:
    """Event bytes of a loop that reads 400 files a second, at default settings."""
    paths = write_files(directory / "some", BYTES_FILES, 1000)
    end = time.monotonic() + BYTES_SECONDS
    with DarshanMonitor(directory / "bytes") as monitor:
        while time.monotonic() < end:
            for first in range(0, BYTES_FILES, 20):
                read_files(paths[first : first + 20])
                monitor.step()
                time.sleep(0.05)
    return {"mib_per_minute": event_bytes(directory / "bytes") / 1024**2 / (BYTES_SECONDS / 60)}


def read_files(paths: list[str], stopping: threading.Event | None = None) -> None:
    for path in paths:
        if stopping is not None and stopping.is_set():
            return
        descriptor = os.open(path, os.O_RDONLY)
        os.read(descriptor, 100)
        os.close(descriptor)


def late_p99_ms() -> float:
    """How late a sleep of 1 ms ends, the 99th of a hundred, in milliseconds."""
    late = []
    end = time.perf_counter() + JITTER_SECONDS
    while (begin := time.perf_counter()) < end:
        time.sleep(0.001)
        late.append(time.perf_counter() - begin - 0.001)
    return 1e3 * sorted(late)[int(0.99 * len(late))]


def measure_jitter(directory: Path) -> dict[str, float]:
    """Jitter without a monitor, with one that tracks files, and while a thread reads them all."""
    paths = write_files(directory / "tracked", TRACKED_FILES, 100)
    found = {"jitter_bare_p99_ms": late_p99_ms()}
    with DarshanMonitor(directory / "jitter", flush_secs=FLUSH_SECONDS):
        read_files(paths)
        time.sleep(1.0)
        found["jitter_p99_ms"] = late_p99_ms()
    stopping = threading.Event()

    def busy() -> None:
        while not stopping.is_set():
            read_files(paths, stopping)
            stopping.wait(0.05)

    for name, record in (("jitter_reading_bare_p99_ms", False), ("jitter_reading_p99_ms", True)):
        stopping.clear()
        thread = threading.Thread(target=busy)
        monitor = DarshanMonitor(directory / "busy", flush_secs=FLUSH_SECONDS)
        if record:
            monitor.start()
        thread.start()
        found[name] = late_p99_ms()
        stopping.set()
        thread.join()
        monitor.close()
    return found


def resident_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def memory_files() -> set[str]:
    return {name for name in os.listdir("/dev/shm") if name.startswith("tensorboard-darshan-")}


def measure_workers(directory: Path) -> dict[str, float]:
    """What workers that ended leave behind, and what a window costs before and after them."""
    (path,) = write_files(directory / "one", 1, 1000)

    def generation(n: int) -> None:
        for _ in range(n):
            pid = os.fork()
            if pid == 0:
                read_files([path])
                os._exit(0)
            os.waitpid(pid, 0)

    def cut_ms(monitor: DarshanMonitor) -> float:
        def once() -> float:
            begin = time.perf_counter()
            monitor.begin_phase("x")
            monitor.end_phase()
            return time.perf_counter() - begin

        return 1e3 * statistics.median(once() for _ in range(20))

    with DarshanMonitor(directory / "workers", flush_secs=0.5) as monitor:
        generation(200)
        time.sleep(1.0)
        before, cut_before = resident_kib(), cut_ms(monitor)
        files_before = memory_files()
        begin = time.perf_counter()
        generation(WORKERS)
        seconds = time.perf_counter() - begin
        time.sleep(1.0)
        gc.collect()
        grown, cut_after = resident_kib() - before, cut_ms(monitor)
        left = len(memory_files() - files_before)
    begin = time.perf_counter()
    generation(WORKERS)
    bare = time.perf_counter() - begin
    return {
        "workers": WORKERS,
        "kib_per_worker": grown / WORKERS,
        "memory_files_left": left,
        "worker_ms": 1e3 * seconds / WORKERS,
        "worker_bare_ms": 1e3 * bare / WORKERS,
        "window_before_ms": cut_before,
        "window_after_ms": cut_after,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--only", default="fit,bytes,jitter,workers")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    chosen = options.only.split(",")
    measures: dict[str, Callable[[Path], dict[str, float]]] = {
        "workers": measure_workers,
        "jitter": measure_jitter,
        "bytes": measure_bytes,
        "fit": lambda directory: measure_fit(directory, options.pairs),
    }
    found: dict[str, float] = {}
    for name, measure in measures.items():
        if name in chosen:
            with tempfile.TemporaryDirectory() as directory:
                found |= measure(Path(directory))
    if options.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        goal = f"   asked for: {GOALS[name]:g}" if name in GOALS else ""
        print(f"{name:32} {value:10.3f}{goal}")


if __name__ == "__main__":
    main()
