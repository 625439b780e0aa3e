"""A real libdarshan that comes, goes, runs out of room, or forks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support import compiling
from tests.support.darshan import LIBRARY, environment, needs_libdarshan, read_log

pytestmark = needs_libdarshan


def run_code(code: str, tmp_path: Path, *, preload: bool, **more: str) -> str:
    logs = tmp_path / "logs"
    logs.mkdir(exist_ok=True)
    variables = environment(logs, preload, LIBDARSHAN=LIBRARY, **more)
    variables |= {} if preload else {"LD_PRELOAD": ""}
    done = compiling.run_python(code, tmp_path, environment=variables, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


COMMON = """
import os, sys, threading, time
from tensorboard_plugin_darshan import attach
from tensorboard_plugin_darshan.counters import POSIX
from tensorboard_plugin_darshan.recording import recorder as recorder_module
directory = sys.argv[1]
def write(name, n=100):
    with open(os.path.join(directory, name), "wb", buffering=0) as file:
        file.write(bytes(n))
def written(recorder):
    return int(recorder.own.totals("POSIX").sums[POSIX.index["POSIX_BYTES_WRITTEN"]])
"""


def test_detached_calls_are_not_recorded_any_more(tmp_path: Path) -> None:
    code = """
recorder = attach("libdarshan")
write("one")
assert written(recorder) == 100
recorder.detach()
write("two")
again = attach("libdarshan")
assert os.path.join(directory, "two") not in again.snapshot().records("POSIX")
assert written(again) == 0, "what was counted before"
write("three")
assert written(again) == 100
paths = again.snapshot().records("POSIX")
assert os.path.join(directory, "one") in paths and os.path.join(directory, "three") in paths
again.detach()
print(threading.active_count())
"""
    run_code(COMMON + code, tmp_path, preload=False)
    (log,) = (tmp_path / "logs").glob("*.darshan")
    assert len(read_log(log)["POSIX"]) >= 2


def test_modules_loaded_after_the_begin_are_recorded(tmp_path: Path) -> None:
    source = tmp_path / "late.c"
    source.write_text(
        "#include <fcntl.h>\n#include <unistd.h>\n"
        "long late(const char *path) { int fd = open(path, O_CREAT | O_WRONLY, 0600);"
        " long n = write(fd, path, 5); close(fd); return n; }\n"
    )
    compiling.build_shared(source, tmp_path / "late.so", ["-Wno-unused-result"])
    code = """
import ctypes
recorder = attach("libdarshan")
library = ctypes.CDLL(os.path.join(directory, "late.so"))
assert library.late(os.fsencode(os.path.join(directory, "data"))) == 5
assert written(recorder) == 5
"""
    run_code(COMMON + code, tmp_path, preload=False)


def test_both_sources_at_once_are_refused(tmp_path: Path) -> None:
    code = """
for first, second in (("builtin", "libdarshan"), ("libdarshan", "builtin")):
    recorder = attach(first)
    try:
        attach(second)
    except ValueError as error:
        assert "other settings" in str(error)
    else:
        raise AssertionError("counted twice")
    write("one")
    assert written(recorder) == 100, written(recorder)
    recorder.detach()
"""
    run_code(COMMON + code, tmp_path, preload=False)


def test_builtin_counts_once_under_a_preloaded_library(tmp_path: Path) -> None:
    code = """
recorder = attach("builtin")
write("one")
assert written(recorder) == 100
recorder.detach()
"""
    run_code(COMMON + code, tmp_path, preload=True)


def test_loaded_but_switched_off_library_leaves_the_field(tmp_path: Path) -> None:
    code = """
recorder = attach()
assert recorder.facts()["source"] == "builtin"
write("one")
assert written(recorder) == 100
recorder.detach()
try:
    attach("libdarshan")
except recorder_module.RecordingUnavailableError as error:
    assert "DARSHAN_DISABLE" in str(error)
else:
    raise AssertionError
"""
    run_code(COMMON + code, tmp_path, preload=True, DARSHAN_DISABLE="1")


def test_preloaded_library_that_waits_is_begun(tmp_path: Path) -> None:
    code = """
recorder = attach("libdarshan")
write("one")
assert written(recorder) == 100
"""
    logs = tmp_path / "logs"
    logs.mkdir()
    variables = environment(logs, True, LIBDARSHAN=LIBRARY)
    del variables["DARSHAN_ENABLE_NONMPI"]
    done = compiling.run_python(COMMON + code, tmp_path, environment=variables)
    assert done.returncode == 0, done.stderr
    assert len(list(logs.glob("*.darshan"))) == 1


@pytest.mark.parametrize("preload", [True, False])
def test_library_that_ends_while_it_is_read(preload: bool, tmp_path: Path) -> None:
    code = """
import ctypes
recorder = attach("auto" if %r else "libdarshan", max_segments=1000)
write("one", 1000)
kept = written(recorder)
stopping = threading.Event()
def pull():
    while not stopping.is_set():
        recorder.snapshot()
        assert written(recorder) >= kept
        recorder.own.drain_bins("POSIX")
def work():
    while not stopping.is_set():
        write("more", 10)
targets = (pull, pull, work, work, work)
threads = [threading.Thread(target=target) for target in targets]
for thread in threads:
    thread.start()
time.sleep(0.3)
library = ctypes.CDLL(os.environ["LIBDARSHAN"])
library.darshan_core_shutdown(1)
time.sleep(0.3)
stopping.set()
for thread in threads:
    thread.join()
assert recorder.own.log.ended
assert written(recorder) >= kept == 1000
assert os.path.join(directory, "one") in recorder.snapshot().records("POSIX")
assert any("stopped recording" in note for note in recorder.own.facts().notes)
recorder.segments()
recorder.detach()
"""
    run_code(COMMON + code % preload, tmp_path, preload=preload)


def test_room_that_runs_out_is_told(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("MAX_RECORDS 5 POSIX\n")
    code = """
recorder = attach("libdarshan")
for i in range(20):
    write(f"file{i}")
assert recorder.own.totals("POSIX").partial
assert recorder.facts()["partial_modules"] == ["POSIX"]
notes = recorder.own.facts().notes
assert any("MAX_RECORDS <number> POSIX" in n and "lower bounds" in n for n in notes), notes
"""
    run_code(COMMON + code, tmp_path, preload=False, DARSHAN_CONFIG_PATH=str(config))


def test_forked_children(tmp_path: Path) -> None:
    code = """
from tensorboard_plugin_darshan.recording.cutter import WindowCutter
recorder = attach("auto")
cutter = WindowCutter(recorder)
reading, writing = os.pipe()
again, ready = os.pipe()
child = os.fork()
if child == 0:
    write("child", 5000)
    os.write(writing, b"x")
    os.read(again, 1)
    write("later", 700)
    os._exit(0)
os.read(reading, 1)
windows = [cutter.cut()]
os.write(ready, b"x")
os.waitpid(child, 0)
windows += [cutter.cut(), cutter.cut()]
sums = [w.modules["POSIX"].counters[POSIX.index["POSIX_BYTES_WRITTEN"]] for w in windows]
notes = [note for w in windows for note in w.notes]
if recorder.facts()["mapped_log"]:
    assert sums == [5000, 700, 0], sums
    assert not notes
    assert windows[0].processes[:, 0].tolist() == [os.getpid(), child]
else:
    assert sums == [0, 0, 0], sums
    assert any("1 forked processes could not be read" in note for note in notes), notes
"""
    run_code(COMMON + code, tmp_path, preload=True)


def test_forks_while_it_is_read(tmp_path: Path) -> None:
    """A child must not inherit Darshan's lock from a thread that was reading."""
    code = """
recorder = attach("auto")
stopping = threading.Event()
def pull():
    while not stopping.is_set():
        recorder.snapshot()
threads = [threading.Thread(target=pull) for _ in range(2)]
for thread in threads:
    thread.start()
for i in range(60):
    child = os.fork()
    if child == 0:
        write(f"child{i}")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stopping.set()
for thread in threads:
    thread.join()
assert os.listdir(directory).count("child59") == 1
"""
    run_code(COMMON + code, tmp_path, preload=True)


def test_monitor_leaves_its_own_file_out(tmp_path: Path) -> None:
    code = """
from tensorboard_plugin_darshan import DarshanMonitor
from tensorboard_plugin_darshan.recording.cutter import WindowCutter
windows = []
class Keeping(WindowCutter):
    def cut(self, *arguments):
        windows.append(super().cut(*arguments))
        return windows[-1]
with DarshanMonitor(os.path.join(directory, "logs2"), cutter=Keeping, trace=False) as monitor:
    for epoch in range(3):
        with monitor.phase("train", epoch):
            write(f"file{epoch}", 1000)
            time.sleep(0.1)
            monitor.step()
names = [name for w in windows for name in w.names.values()]
assert any(name.endswith("file2") for name in names), names
assert not any("tfevents" in name for name in names), names
written = sum(int(w.modules["POSIX"].counters[POSIX.index["POSIX_BYTES_WRITTEN"]]) for w in windows)
assert written == 3000, written
"""
    run_code(COMMON + code, tmp_path, preload=True)


def test_doctor(tmp_path: Path) -> None:
    code = "from tensorboard_plugin_darshan import cli\nassert cli.main(['doctor']) == 0"
    found: Any = run_code(code, tmp_path, preload=True)
    assert "with the libdarshan source" in found
    assert LIBRARY in found
    found = run_code(code, tmp_path, preload=False)
    assert "with the builtin source" in found
    assert f"libdarshan could be loaded from {LIBRARY}" in found
