from __future__ import annotations

import errno
import multiprocessing
import os
import resource
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tensorboard.util import tensor_util

from tensorboard_plugin_darshan import metadata, summary
from tensorboard_plugin_darshan.recording import event_file
from tensorboard_plugin_darshan.recording.event_file import EventFile, LogDirectoryError
from tests.support import events


def scalar(value, tag="a"):
    return summary.scalar_pb(tag, value)


def test_frame_gives_known_bytes():
    made_by_tensorflow = bytes.fromhex("0500000000000000eab2043e68656c6c6fbb1f1c19")
    assert event_file.frame(b"hello") == made_by_tensorflow


def test_events_are_read_back_by_tensorboard(tmp_path):
    writer = EventFile(tmp_path)
    writer.write(0, summary.job_pb({"pid": 7}), wall_time=1.5)
    writer.write(3, scalar(0.25))
    writer.close()
    first, job, point = events.load(writer.path)
    assert first.file_version == "brain.Event:2"
    assert (job.step, job.wall_time) == (0, 1.5)
    assert job.summary.value[0].metadata.plugin_data.plugin_name == metadata.PLUGIN_NAME
    assert summary.parse_job(tensor_util.make_ndarray(job.summary.value[0].tensor)) == {"pid": 7}
    assert point.step == 3
    assert tensor_util.make_ndarray(point.summary.value[0].tensor) == np.float32(0.25)


def test_every_checksum_is_right(tmp_path):
    writer = EventFile(tmp_path)
    for step in range(50):
        writer.write(step, summary.job_pb({"x": "y" * step}))
    assert len(events.records(writer.path.read_bytes())) == 51


def test_an_event_is_in_the_file_before_write_returns(tmp_path):
    writer = EventFile(tmp_path)
    for step in range(5):
        writer.write(step, scalar(1.0))
        assert writer.path.stat().st_size == writer.bytes_written
        assert len(events.load(writer.path)) == step + 2


def test_directories_are_exclusive(tmp_path):
    writers = [
        EventFile(tmp_path),
        EventFile(tmp_path),
        EventFile(tmp_path),
        EventFile(tmp_path, 1),
    ]
    names = [writer.directory.relative_to(tmp_path).as_posix() for writer in writers]
    assert names == ["darshan/rank0", "darshan/rank0-2", "darshan/rank0-3", "darshan/rank1"]


def test_missing_parents_are_made_and_text_is_a_path(tmp_path):
    writer = EventFile(str(tmp_path / "a" / "b"), rank=3)
    assert writer.path.parent == tmp_path / "a" / "b" / "darshan" / "rank3"


def test_relative_log_dir_survives_chdir(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    writer = EventFile("logs")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    break_file(writer)
    with pytest.raises(OSError, match="Bad file descriptor"):
        writer.write(0, scalar(1.0))
    writer.write(1, scalar(1.0))
    assert len(events.files(tmp_path / "logs")) == 2


def test_log_dir_that_is_a_file_is_explained(tmp_path):
    path = tmp_path / "log"
    path.write_text("")
    with pytest.raises(LogDirectoryError, match=f"{path} is a file, not a directory; give"):
        EventFile(path)
    with pytest.raises(LogDirectoryError, match=f"{path} is a file, not a directory; give"):
        EventFile(path / "run1")


def test_log_dir_that_cannot_be_made_is_explained():
    with pytest.raises(
        LogDirectoryError, match="cannot write event files to /proc/nowhere/darshan"
    ):
        EventFile("/proc/nowhere")


def test_log_dir_without_permission_is_explained(tmp_path):
    """In a process that gave up root's privileges, since root may write everywhere."""
    tmp_path.chmod(0o555)
    code = f"""
import os
from tensorboard_plugin_darshan.recording.event_file import EventFile, LogDirectoryError
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    EventFile({str(tmp_path / "x")!r})
except LogDirectoryError as error:
    print(error)
"""
    parents = [tmp_path, *tmp_path.parents]
    modes = {path: path.stat().st_mode for path in parents if path.stat().st_uid == os.getuid()}
    try:
        for path in modes:
            path.chmod(stat.S_IMODE(modes[path]) | 0o555)
        result = run(code)
    finally:
        for path, mode in modes.items():
            path.chmod(stat.S_IMODE(mode))
    assert "Permission denied; give log_dir a directory that this process may write" in result


@pytest.mark.parametrize("place", ["gs://bucket/logs", "s3://bucket", "hdfs://host/x"])
def test_remote_log_dir_is_refused(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LogDirectoryError, match="remote store, which is not supported yet; give"):
        EventFile(place)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", [4, 3, -1])
def test_step_that_does_not_rise_is_refused(tmp_path, step):
    writer = EventFile(tmp_path)
    writer.write(4, scalar(1.0))
    size = writer.bytes_written
    with pytest.raises(ValueError, match=rf"step {step} of tag 'a' does not rise: the last was 4"):
        writer.write(step, scalar(2.0))
    assert writer.bytes_written == size
    writer.write(0, scalar(1.0, tag="b"))
    writer.write(5, scalar(3.0))
    assert [event.step for event in events.load(writer.path)[1:]] == [4, 0, 5]


@pytest.mark.parametrize("wall_time", [float("nan"), float("inf"), -float("inf"), None])
def test_wall_time_is_always_finite(tmp_path, wall_time):
    writer = EventFile(tmp_path)
    writer.write(0, scalar(1.0), wall_time=wall_time)
    version, point = events.load(writer.path)
    assert point.wall_time == pytest.approx(version.wall_time, abs=60)


def break_file(writer: EventFile) -> None:
    """Its next write fails, as on a stale file handle."""
    os.close(writer._descriptor)


def test_after_a_failed_write_a_new_file_is_begun(tmp_path):
    writer = EventFile(tmp_path)
    writer.write(0, scalar(0.0))
    first = writer.path
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (first.stat().st_size + 100, hard))
        with pytest.raises(OSError, match="File too large") as caught:
            writer.write(1, summary.job_pb({"x": "y" * 5000}))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.errno == errno.EFBIG
    torn = first.read_bytes()
    with pytest.raises(AssertionError):
        events.records(torn)
    writer.write(1, scalar(1.0))
    writer.write(2, scalar(2.0))
    assert first.read_bytes() == torn
    assert writer.path != first
    assert writer.path.name > first.name
    assert [(tag, step) for tag, step, _ in events.values(tmp_path)] == [
        ("a", 0),
        ("a", 1),
        ("a", 2),
    ]
    assert len(events.records(writer.path.read_bytes())) == 3


def test_a_file_that_was_removed_is_noticed(tmp_path):
    writer = EventFile(tmp_path)
    writer.write(0, scalar(1.0))
    writer.path.unlink()
    with pytest.raises(OSError, match="was removed while it was being written"):
        writer.write(1, scalar(1.0))


def test_interrupted_write_begins_a_new_file(tmp_path, monkeypatch):
    writer = EventFile(tmp_path)
    first, real_write = writer.path, os.write

    def half(descriptor, data):
        real_write(descriptor, data[: len(data) // 2])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(KeyboardInterrupt):
            writer.write(0, scalar(1.0))
    writer.write(0, scalar(1.0))
    assert writer.path != first
    assert len(events.load(writer.path)) == 2


def test_short_writes_are_continued(tmp_path, monkeypatch):
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real_write(descriptor, data[:7]))
    writer = EventFile(tmp_path)
    writer.write(0, summary.job_pb({"x": "y" * 100}))
    assert len(events.records(writer.path.read_bytes())) == 2


def test_file_names_are_unique_and_never_reused(tmp_path):
    writer = EventFile(tmp_path)
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o666 & ~current_umask()
    assert f".{os.getpid()}.0." in writer.path.name
    assert writer.path.name.startswith("events.out.tfevents.")


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_file_is_opened_muted(tmp_path):
    seen: list[str] = []

    @contextmanager
    def muted():
        seen.append("in")
        yield
        seen.append("out")

    writer = EventFile(tmp_path, muted=muted)
    writer.write(0, scalar(1.0))
    assert seen == ["in", "out"]


def test_forked_child_writes_nothing(tmp_path):
    writer = EventFile(tmp_path)
    writer.write(0, scalar(1.0))
    before = writer.path.read_bytes()

    def child() -> None:
        writer.write(1, scalar(2.0))
        writer.close()
        writer.write(2, scalar(2.0))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == 0
    assert events.files(tmp_path) == [writer.path]
    assert writer.path.read_bytes() == before
    writer.write(1, scalar(3.0))
    assert [step for _, step, _ in events.values(tmp_path)] == [0, 1]


def test_killed_process_loses_nothing(tmp_path):
    code = f"""
import os, signal
from tensorboard_plugin_darshan import summary
from tensorboard_plugin_darshan.recording.event_file import EventFile
writer = EventFile({str(tmp_path)!r})
for step in range(100):
    writer.write(step, summary.scalar_pb("a", step))
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert run(code, expected=-signal.SIGKILL) == ""
    assert [step for _, step, _ in events.values(tmp_path)] == list(range(100))


def run(code: str, expected: int = 0) -> str:
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd="/"
    )
    assert result.returncode == expected, result.stderr
    return result.stdout
