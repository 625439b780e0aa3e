"""How long large Darshan logs take to open and to zoom, and how much memory that needs.

`python benchmarks/logs.py` writes a log with a million traced accesses in 10,000 files into a
temporary directory, opens it through the plugin, and prints a table. More logs may be named.
"""

from __future__ import annotations

import os
import resource
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.dashboard import log_writer
from tensorboard_plugin_darshan.dashboard.answers import overview, timeline
from tensorboard_plugin_darshan.dashboard.log_cache import LogCache
from tensorboard_plugin_darshan.dashboard.logs import LogStore
from tensorboard_plugin_darshan.dashboard.selection import Selection

FILES, SEGMENTS, JOB_SECONDS, RANKS = 10_000, 1_000_000, 600.0, 64
_SEGMENT = np.dtype([("offset", "<i8"), ("length", "<i8"), ("start", "<f8"), ("end", "<f8")])


def large_log(path: Path, files: int = FILES, segments: int = SEGMENTS) -> Path:
    """Writes a log of `files` files with `segments` traced reads."""
    chance = np.random.default_rng(1)
    each = segments // files
    start = np.sort(chance.uniform(0, JOB_SECONDS - 1, (files, each)), axis=1)
    took = chance.exponential(1e-3, (files, each))
    names = {i + 1: f"/data/train/{i:06d}.bin" for i in range(files)}
    index, findex = counters.POSIX.index, counters.POSIX.findex

    def records() -> Iterator[bytes]:
        for i in range(files):
            ints, floats = np.zeros(len(index), "<i8"), np.zeros(len(findex), "<f8")
            ints[[index["POSIX_OPENS"], index["POSIX_READS"]]] = 1, each
            ints[index["POSIX_BYTES_READ"]] = each * 65536
            ints[index["POSIX_SIZE_READ_10K_100K"]] = each
            floats[findex["POSIX_F_READ_START_TIMESTAMP"]] = start[i, 0]
            floats[findex["POSIX_F_READ_END_TIMESTAMP"]] = (start[i] + took[i]).max()
            floats[findex["POSIX_F_READ_TIME"]] = took[i].sum()
            yield struct.pack("<Qq", i + 1, i % RANKS) + ints.tobytes() + floats.tobytes()

    def traces() -> Iterator[bytes]:
        for i in range(files):
            rows = np.zeros(each, _SEGMENT)
            rows["offset"], rows["length"] = np.arange(each) * 65536, 65536
            rows["start"], rows["end"] = start[i], start[i] + took[i]
            head = struct.pack("<Qqq64sqq", i + 1, i % RANKS, 0, b"node", 0, each)
            yield head + rows.tobytes()

    log_writer.write_log(
        path,
        log_writer.JobFacts(1.7e9, 1.7e9 + JOB_SECONDS, RANKS, job_id=1, command="benchmark"),
        [("/", "ext4")],
        names,
        {log_writer.POSIX: records(), log_writer.DXT_POSIX: traces()},
    )
    return path


def _timed(ask: Any) -> float:
    begin = time.perf_counter()
    ask()
    return time.perf_counter() - begin


def measure(path: Path, cache: Path) -> dict[str, float]:
    """Seconds to open, to open again and to zoom; MiB of the child and of this process."""
    store = LogStore({"": path.parent}, LogCache(cache))
    while not store.knows(path.name):
        time.sleep(0.01)
    found: dict[str, float] = {}

    def select(start: float | None = None, end: float | None = None) -> Selection:
        run = store.load(path.name)
        return Selection(run, start, end, run.modules)

    found["first figure, s"] = _timed(lambda: timeline(select(), "light"))
    found["overview, s"] = _timed(lambda: overview(select(), 0.0))
    span = store.load(path.name).duration
    zooms = [
        _timed(lambda z=z: timeline(select(span / 3, span / 3 + span / z), "light"))
        for z in (2, 10, 100, 1000, 10000)
    ]
    found["slowest zoom, ms"] = 1000 * max(zooms)
    again = LogStore({"": path.parent}, LogCache(cache))
    again.entries()
    found["opened again, s"] = _timed(lambda: again.load(path.name))
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    found["child, MiB"] = child / 1024
    found["here, MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["children left"] = float(_children())
    return found


def _children() -> int:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return 0
    return 1


def main() -> None:
    """Prints a line for each figure of each log."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "logs")
        place.mkdir()
        paths = [Path(name).resolve() for name in sys.argv[1:]]
        paths = paths or [large_log(place / "large.darshan")]
        for path in paths:
            print(f"{path.name}, {path.stat().st_size / 1024**2:.3g} MiB")
            for name, value in measure(path, Path(folder, "cache")).items():
                print(f"  {name:20} {value:.3g}")


if __name__ == "__main__":
    main()
