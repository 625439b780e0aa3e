"""SIGKILL at a random instant: event files stay readable, and hold all but the last moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tensorboard_plugin_darshan import counters
from tests.support import events

ROOT = Path(__file__).parents[2]
FLUSH_SECONDS = 0.2
SLACK_SECONDS = 0.5
"""For a machine on which the thread that writes does not run when it wants to."""

LOOP = f"""
import os, sys, time
from tensorboard_plugin_darshan import DarshanMonitor

log_dir, data = sys.argv[1:]
with DarshanMonitor(log_dir, flush_secs={FLUSH_SECONDS}) as monitor:
    monitor.begin_phase("train", 0)
    while True:
        descriptor = os.open(data, os.O_RDONLY)
        os.read(descriptor, 1000)
        os.close(descriptor)
        os.write(1, f"{{time.time()}}\\n".encode())
        monitor.step()
        time.sleep(0.002)
"""


@pytest.mark.parametrize("seed", range(20))
def test_a_killed_training_leaves_all_but_the_last_moment(tmp_path: Path, seed: int) -> None:
    data = tmp_path / "data"
    data.write_bytes(bytes(1000))
    output = tmp_path / "said"
    with output.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-c", LOOP, str(tmp_path / "logs"), str(data)],
            stdout=said,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        try:
            deadline = time.monotonic() + 60
            while not output.stat().st_size:
                assert time.monotonic() < deadline
                assert process.poll() is None
                time.sleep(0.01)
            time.sleep(random.Random(seed).uniform(0.0, 1.0))
        finally:
            process.send_signal(signal.SIGKILL)
            killed = time.time()
            process.wait(60)
    reads = [
        float(line)
        for line in output.read_text().splitlines()
        if line.endswith(tuple("0123456789"))
    ]
    windows = events.windows(tmp_path / "logs")
    jobs = events.jobs(tmp_path / "logs")
    assert jobs[0]["finished"] is False
    assert [window.sequence for window in windows] == list(range(len(windows)))
    place = counters.POSIX.index["POSIX_BYTES_READ"]
    recorded = sum(int(w.modules["POSIX"].counters[place]) for w in windows) // 1000
    end = jobs[0]["begin"] + (windows[-1].end_seconds if windows else 0.0)
    assert killed - end <= FLUSH_SECONDS + SLACK_SECONDS
    # a read lies a moment before it was said, so the one at the window's end may lie on either side
    before = sum(moment <= end for moment in reads)
    assert before <= recorded <= before + 1
    assert len(reads) + 1 >= recorded
    old = sum(moment <= killed - FLUSH_SECONDS - SLACK_SECONDS for moment in reads)
    assert recorded >= old
