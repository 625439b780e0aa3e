"""Makes the recorded run `demo_logs/workers`: two ranks with three forked workers each.

Both read half of 120 files in each of four epochs, from the disk in the first. After two epochs
the training stops and is resumed three seconds later. In the third epoch a worker is killed.

    python docs/make_workers_run.py LOG_DIR DATA_DIR
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from tensorboard_plugin_darshan import DarshanMonitor

FILES, RANKS, WORKERS = 120, 2, 3
KILLED = (1, 2, 0)
"""Rank, epoch and worker of the one that is killed."""


def path(directory: str, i: int) -> str:
    """Where a file lies."""
    return f"{directory}/img_{i:04d}.raw"


def write_files(directory: str) -> None:
    """Writes the files, and drops them from the page cache."""
    os.makedirs(directory, exist_ok=True)
    for i in range(FILES):
        with open(path(directory, i), "wb") as file:
            file.write(os.urandom(200_000 * (1 + i % 3)))
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def work(directory: str, places: Sequence[int], is_killed: bool) -> None:
    """A worker's share of an epoch."""
    for n, i in enumerate(places):
        with open(path(directory, i), "rb", buffering=0) as file:
            while file.read(65536):
                pass
        time.sleep(0.02)
        if is_killed and n == len(places) // 2:
            os.kill(os.getpid(), signal.SIGKILL)


def train(log_dir: str, directory: str, epochs: Sequence[int]) -> None:
    """One rank's training."""
    rank = int(os.environ["RANK"])
    mine = range(rank, FILES, RANKS)
    fork = multiprocessing.get_context("fork")
    with DarshanMonitor(log_dir, flush_secs=0.25, trace=False) as monitor:
        for epoch in epochs:
            with monitor.phase("train", epoch):
                workers = [
                    fork.Process(
                        target=work,
                        args=(directory, mine[n::WORKERS], (rank, epoch, n) == KILLED),
                    )
                    for n in range(WORKERS)
                ]
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join()
            if rank == 0:
                with (
                    monitor.phase("checkpoint", epoch),
                    open(f"{directory}/model.ckpt", "wb", buffering=0) as file,
                ):
                    for _ in range(20):
                        file.write(bytes(200_000))
                        time.sleep(0.005)
            monitor.step(10 * (epoch + 1))


def launch(log_dir: str, directory: str, epochs: Sequence[str]) -> None:
    """Runs both ranks to their end."""
    ranks = [
        subprocess.Popen(
            [sys.executable, __file__, log_dir, directory, *epochs],
            env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(RANKS)},
        )
        for rank in range(RANKS)
    ]
    for process in ranks:
        if process.wait() != 0:
            raise SystemExit("a rank failed")


def main() -> None:
    """Makes the run, or is one of its ranks."""
    log_dir, directory, *epochs = sys.argv[1:]
    if epochs:
        train(log_dir, directory, [int(epoch) for epoch in epochs])
        return
    write_files(directory)
    launch(log_dir, directory, ["0", "1"])
    time.sleep(3)
    launch(log_dir, directory, ["2", "3"])


if __name__ == "__main__":
    main()
