from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tensorboard_plugin_darshan import DarshanMonitor, counters
from tensorboard_plugin_darshan.window import FILE_COLUMNS
from tests.support import events
from tests.support.monitors import wait_until

READ, WRITTEN = FILE_COLUMNS.index("bytes_read"), FILE_COLUMNS.index("bytes_written")


def by_file(log_dir, column=READ, module="POSIX"):
    """(path, phase, epoch) → sum over windows."""
    names: dict[int, str] = {}
    found: dict[tuple[str, str, int], int] = {}
    for window in events.windows(log_dir):
        names.update(window.names)
        table = window.modules[module].files
        for key, row in zip(table.ids.tolist(), table.values[:, column].tolist(), strict=True):
            if row:
                place = (names[key], window.phase, window.epoch)
                found[place] = found.get(place, 0) + row
    return found


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"x" * 300_000)
    return path


def read(path, size):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, size)
    finally:
        os.close(descriptor)


def test_known_reads_and_writes_are_in_their_phases(tmp_path, data):
    log_dir, out = tmp_path / "logs", tmp_path / "out"
    with DarshanMonitor(log_dir, flush_secs=0.05) as monitor:
        for epoch in range(3):
            with monitor.phase("train", epoch):
                for _ in range(4):
                    read(data, 1000 + epoch)
                    time.sleep(0.03)
                with monitor.phase("validation"):
                    read(data, 70_000)
            with monitor.phase("checkpoint", epoch):
                out.write_bytes(b"y" * (epoch + 1))
    name = str(data)
    reads = {key: value for key, value in by_file(log_dir).items() if key[0] == name}
    expected = {(name, "train", epoch): 4 * (1000 + epoch) for epoch in range(3)}
    expected |= {(name, "validation", epoch): 70_000 for epoch in range(3)}
    assert reads == expected
    writes = {key: value for key, value in by_file(log_dir, WRITTEN).items() if key[0] == str(out)}
    assert writes == {(str(out), "checkpoint", epoch): epoch + 1 for epoch in range(3)}
    assert len(events.windows(log_dir)) > 9


def test_own_files_are_not_recorded_whatever_is_left_out(tmp_path, data):
    log_dir = tmp_path / "logs"
    with DarshanMonitor(log_dir, flush_secs=0.05, exclude=["/nothing"]) as monitor:
        read(data, 10)
        time.sleep(0.3)
        monitor.step()
    names = {name for window in events.windows(log_dir) for name in window.names.values()}
    assert str(data) in names
    own = [name for name in names if name.startswith((str(log_dir), "/proc"))]
    assert own == []


def test_threads_are_counted_while_windows_are_cut(tmp_path, data):
    log_dir = tmp_path / "logs"

    def work():
        for _ in range(500):
            read(data, 100)

    with DarshanMonitor(log_dir, flush_secs=0.01):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    total = sum(value for key, value in by_file(log_dir).items() if key[0] == str(data))
    assert total == 4 * 500 * 100
    place = counters.POSIX.index["POSIX_READS"]
    reads = sum(int(w.modules["POSIX"].counters[place]) for w in events.windows(log_dir))
    assert reads >= 2000


def test_recordings_after_each_other_do_not_mix(tmp_path, data):
    for name, size in (("a", 10), ("b", 2000)):
        with DarshanMonitor(tmp_path / name):
            read(data, size)
    for name, size in (("a", 10), ("b", 2000)):
        assert sum(v for k, v in by_file(tmp_path / name).items() if k[0] == str(data)) == size


LOOP = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it
from tensorboard_plugin_darshan import DarshanMonitor
log_dir, data, ending = sys.argv[1:]
monitor = DarshanMonitor(log_dir, flush_secs=0.05)
monitor.start()
monitor.begin_phase("train", 0)
for step in range(1, 100):
    with open(data, "rb", buffering=0) as file:
        file.read(1000)
    monitor.step(step)
if ending == "fork":
    pid = os.fork()
    if pid == 0:
        with open(data, "rb", buffering=0) as file:
            file.read(5)
        monitor.step()
        monitor.close()
        sys.exit(0)
    os.waitpid(pid, 0)
elif ending == "interrupt":
    print("ready", flush=True)
    time.sleep(60)
elif ending == "kill":
    time.sleep(0.5)
    os.kill(os.getpid(), 9)
"""


def start(tmp_path, data, ending):
    return subprocess.Popen(
        [sys.executable, "-c", LOOP, str(tmp_path / "logs"), str(data), ending],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


@pytest.mark.parametrize(
    ("ending", "status"), [("exit", 0), ("fork", 0), ("interrupt", -signal.SIGINT), ("kill", -9)]
)
def test_however_it_ends_nothing_is_lost(tmp_path, data, ending, status):
    process = start(tmp_path, data, ending)
    if ending == "interrupt":
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == status, errors
    assert "RuntimeWarning" not in errors
    of_child = 5 if ending == "fork" else 0
    assert by_file(tmp_path / "logs")[str(data), "train", 0] == 99_000 + of_child
    finished = [job["finished"] for job in events.jobs(tmp_path / "logs")]
    assert finished == ([False] if ending == "kill" else [False, True])
    assert len(list((tmp_path / "logs" / "darshan").iterdir())) == 1


def test_windows_are_readable_while_it_records(tmp_path, data):
    process = start(tmp_path, data, "interrupt")
    try:
        assert process.stdout.readline() == "ready\n"
        wait_until(lambda: len(events.windows(tmp_path / "logs")) > 5)
        assert events.jobs(tmp_path / "logs")[-1]["finished"] is False
    finally:
        process.kill()
        process.communicate()
