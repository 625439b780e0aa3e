from __future__ import annotations

import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import warnings
import weakref
from pathlib import Path

import pytest

from tensorboard_plugin_darshan.recording import worker
from tensorboard_plugin_darshan.recording.monitor import DarshanMonitor
from tests.support import events
from tests.support.fake_recorder import FakeSource, bytes_read
from tests.support.monitors import create, one_warning, wait_until


def test_recorder_that_cannot_attach_is_told_once(tmp_path):
    source = FakeSource(failure=RuntimeError("recording needs Linux"))
    with (
        one_warning("the training goes on: recording needs Linux"),
        create(tmp_path, source) as monitor,
        monitor.phase("train"),
    ):
        monitor.step()
    assert list(tmp_path.iterdir()) == []


def test_unwritable_log_dir_is_told_once(tmp_path, source):
    (tmp_path / "log").write_text("")
    with (
        one_warning("log is a file, not a directory; give"),
        create(tmp_path / "log", source) as monitor,
        monitor.phase("train"),
    ):
        monitor.step()
    assert not source.recorder.attached


def test_cutter_that_cannot_be_made_detaches(tmp_path, source):
    def fail(recorder):
        raise RuntimeError("no cutter")

    with one_warning("no cutter"):
        DarshanMonitor(tmp_path, attach=source, cutter=fail).start()
    assert not source.recorder.attached


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("odd")])
def test_failure_while_recording_ends_it_once(tmp_path, source, clock, error):
    with one_warning(f"the training goes on: {error}"), create(tmp_path, source) as monitor:
        monitor.step()
        source.recorder.cut_failure = error
        for _ in range(3):
            clock.now += 1
            with monitor.phase("train"):
                monitor.step()
    assert not source.recorder.attached
    wait_until(lambda: not source.recorder.cut_threads[0].is_alive())
    assert [job["finished"] for job in events.jobs(tmp_path)] == [False]


def test_failed_write_ends_the_recording_once(tmp_path, source, clock, monkeypatch):
    def full(descriptor, data):
        raise OSError(28, "No space left on device")

    with one_warning("No space left on device"), create(tmp_path, source) as monitor:
        monkeypatch.setattr(os, "write", full)
        clock.now += 1
        monitor.begin_phase("train")
        clock.now += 1
        monitor.end_phase()
        monkeypatch.undo()
    assert not source.recorder.attached
    assert len(events.files(tmp_path)) == 1


def test_failure_on_the_timer_ends_the_recording(tmp_path):
    source = FakeSource()
    with one_warning("odd"):
        monitor = create(tmp_path, source, flush_secs=0.05).start()
        source.recorder.cut_failure = ValueError("odd")
        wait_until(lambda: not source.recorder.attached)
        monitor.close()


def test_warnings_as_errors_do_not_reach_the_training(tmp_path, caplog):
    source = FakeSource(failure=RuntimeError("recording needs Linux"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with create(tmp_path, source) as monitor:
            monitor.step()
    assert "recording needs Linux" in caplog.text


def test_file_system_that_hangs_does_not_stop_the_training(tmp_path, source, clock, monkeypatch):
    monkeypatch.setattr(worker.Worker.run, "__defaults__", (0.2,))
    monitor = create(tmp_path, source).start()
    source.recorder.cut_gate = gate = threading.Event()
    clock.now += 1
    with one_warning("takes too long"):
        monitor.begin_phase("train")
        monitor.step()
        monitor.end_phase()
        monitor.close()
    assert not source.recorder.attached
    gate.set()
    wait_until(lambda: not source.recorder.cut_threads[0].is_alive())


def test_interrupt_of_the_main_thread_loses_no_window(tmp_path, source, clock, monkeypatch):
    def interrupted(self, timeout=None):
        raise KeyboardInterrupt

    monitor = create(tmp_path, source).start()
    source.recorder.count(read=5)
    clock.now += 1
    with monkeypatch.context() as patch:
        patch.setattr(threading.Event, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            monitor.begin_phase("train")
    monitor.close()
    assert sum(bytes_read(w) for w in events.windows(tmp_path)) == 5
    assert events.jobs(tmp_path)[-1]["finished"] is True


def test_close_by_a_finalizer_in_the_thread_itself(tmp_path, source):
    monitor = create(tmp_path, source).start()
    monitor._guard.run(lambda recording: monitor.close())
    monitor._guard._worker.join(20)
    assert not source.recorder.attached
    assert events.jobs(tmp_path)[-1]["finished"] is True


def test_close_may_be_called_again(tmp_path, source):
    monitor = create(tmp_path, source).start()
    monitor.close()
    written = events.values(tmp_path)
    monitor.close()
    monitor.start()
    monitor.step()
    monitor.begin_phase("train")
    monitor.pause()
    assert len(events.values(tmp_path)) == len(written)
    assert len(source.recorders) == 1


def test_forked_child_does_nothing(tmp_path, source, clock):
    monitor = create(tmp_path, source).start()
    clock.now += 1

    def child() -> None:
        monitor.step()
        with monitor.phase("child"):
            monitor.pause()
            monitor.start()
        monitor.close()

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(20)
    assert process.exitcode == 0
    assert len(events.values(tmp_path)) == 1
    clock.now += 1
    monitor.close()
    assert [w.phase for w in events.windows(tmp_path)] == [""]


def test_forked_child_may_record_for_itself(tmp_path, source):
    monitor = create(tmp_path, source).start()

    def child() -> None:
        with create(tmp_path, FakeSource()):
            pass

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(20)
    assert process.exitcode == 0
    monitor.close()
    names = sorted(path.name for path in (tmp_path / "darshan").iterdir())
    assert names == ["rank0", "rank0-2"]
    assert [job["finished"] for job in events.jobs(tmp_path)] == [False, True] * 2


@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "raise SystemExit"])
def test_exit_without_close_loses_nothing(tmp_path, ending):
    code = f"""
import os, sys
from tests.support.fake_recorder import FakeCutter, FakeSource
from tensorboard_plugin_darshan.recording.monitor import DarshanMonitor
source = FakeSource()
monitor = DarshanMonitor({str(tmp_path)!r}, attach=source, cutter=FakeCutter)
monitor.start()
monitor.begin_phase("train")
source.recorder.count(read=12)
if os.fork() == 0:
    sys.exit(0)
os.wait()
{ending}
"""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        timeout=60,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert sum(bytes_read(w) for w in events.windows(tmp_path)) == 12
    assert [job["finished"] for job in events.jobs(tmp_path)] == [False, True]


def test_closed_monitor_is_collected(tmp_path, source):
    monitor = create(tmp_path, source)
    with monitor:
        pass
    gone = weakref.ref(monitor)
    del monitor
    gc.collect()
    assert gone() is None


def test_second_monitor_ends_the_first(tmp_path, source):
    first = create(tmp_path / "a", source).start()
    with one_warning("another recording begins in this process"):
        second = create(tmp_path / "b", source).start()
        with first.phase("train"):
            first.step()
    assert [recorder.attached for recorder in source.recorders] == [False, True]
    assert events.jobs(tmp_path / "a")[-1]["finished"] is True
    second.close()
    assert not source.recorders[1].attached


def test_paused_monitor_makes_way_silently(tmp_path, source):
    first = create(tmp_path / "a", source).start()
    first.pause()
    second = create(tmp_path / "b", source)
    second.attach()
    assert [recorder.attached for recorder in source.recorders] == [False, True]
    assert first.is_displaced
    first.start()
    assert len(source.recorders) == 2
    second.close()


def test_monitors_made_ahead_begin_in_turn(tmp_path, source):
    monitors = [create(tmp_path / name, source) for name in "ab"]
    for monitor in monitors:
        monitor.attach()
    assert len(source.recorders) == 1
    for monitor in reversed(monitors):
        monitor.start()
        monitor.pause()
    assert [recorder.attached for recorder in source.recorders] == [False, False, True]
    for monitor in monitors:
        monitor.close()
    assert [job["finished"] for job in events.jobs(tmp_path / "a")] == [False, True]
    assert [job["finished"] for job in events.jobs(tmp_path / "b")] == [False, True]
    assert not any(recorder.attached for recorder in source.recorders)
