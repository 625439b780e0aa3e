"""Lanes and the table of all files, of real recordings through TensorBoard."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from tensorboard_plugin_darshan import DarshanMonitor, metadata, segments, summary
from tensorboard_plugin_darshan.segments import Segments
from tests.support import figures
from tests.support.dashboard import Dashboard
from tests.support.recordings import BEGIN, Recorder, RecordingFile, Use, job, write_recording

FILES = 620


def read(path: Path, *sizes: int) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    for size in sizes:
        os.read(descriptor, size)
    os.close(descriptor)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def dashboard(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Dashboard:
    log_dir = tmp_path_factory.mktemp("logs")
    for i in range(FILES):
        (data / f"file{i:04d} <b>").write_bytes(bytes(100))
    with DarshanMonitor(log_dir / "a", flush_secs=3600) as monitor, monitor.phase("train", 0):
        for i in range(FILES):
            read(data / f"file{i:04d} <b>", 60, 60)
        thread = threading.Thread(target=read, args=(data / "file0000 <b>", 7))
        thread.start()
        thread.join()
        (data / "out").write_bytes(bytes(33))
    with DarshanMonitor(log_dir / "untraced", trace=False):
        read(data / "file0001 <b>", 60)
    write_recording(log_dir / "old", [Recorder().window({"POSIX": [Use("/a", reads=2)]})])
    return Dashboard(log_dir)


def test_lanes_of_a_file(dashboard: Dashboard, data: Path) -> None:
    answer = dashboard.get("lanes", run="a", search="file0000")
    assert answer["lanes"] == {"shown": 1, "total": 1}
    assert answer["segments"]["shown"] == 3
    assert answer["segments"]["recorded"] == 2 * FILES + 2
    read_bars, write_bars = answer["figure"]["data"]
    assert (read_bars["name"], write_bars["name"]) == ("read", "write")
    first, second, third = read_bars["hovertext"]
    assert first.startswith("read of 60 B at offset 0<br>took ")
    assert second.startswith("read of 40 B at offset 60<br>")
    assert third.startswith("read of 7 B at offset 0<br>")
    assert f"{data}/file0000 &lt;b&gt;" in first
    assert f"process {os.getpid()}, thread 1" in first
    assert f"process {os.getpid()}, thread 2" in third
    assert write_bars["hovertext"] == []
    starts = figures.array(read_bars["base"])
    assert list(starts) == sorted(starts)
    assert "<b>" not in str(answer["figure"])


def test_lanes_by_thread_and_direction(dashboard: Dashboard) -> None:
    answer = dashboard.get("lanes", run="a", by="thread")
    assert answer["lanes"] == {"shown": 2, "total": 2}
    read_bars, write_bars = answer["figure"]["data"]
    assert read_bars["marker"]["color"] != write_bars["marker"]["color"]
    assert len(write_bars["hovertext"]) == 1
    assert "write of 33 B" in write_bars["hovertext"][0]


def test_lanes_of_a_stretch(dashboard: Dashboard) -> None:
    whole = dashboard.get("lanes", run="a", lanes=200)
    assert whole["lanes"] == {"shown": 200, "total": FILES + 1}
    starts = np.sort(figures.array(whole["figure"]["data"][0]["base"]))
    half = dashboard.get("lanes", run="a", start=float(starts[len(starts) // 2]))
    assert 0 < half["lanes"]["total"] < FILES


def test_run_without_accesses_says_so(dashboard: Dashboard) -> None:
    for run in ("untraced", "old"):
        answer = dashboard.get("lanes", run=run)
        assert answer["figure"]["data"] == []
        assert answer["segments"]["recorded"] == 0
        assert any("trace=True" in note for note in answer["notes"])


def test_accesses_are_of_posix(dashboard: Dashboard) -> None:
    answer = dashboard.get("lanes", run="a", module="STDIO")
    assert answer["figure"]["data"] == []
    assert any("POSIX" in note for note in answer["notes"])


@pytest.mark.parametrize(
    "wrong", [{"by": "rank"}, {"lanes": 0}, {"lanes": 201}, {"lanes": "x"}, {"theme": "blue"}]
)
def test_impossible_parameters_are_told(dashboard: Dashboard, wrong: dict[str, object]) -> None:
    status, sentence = dashboard.error("lanes", run="a", **wrong)
    assert status == 400
    assert next(iter(wrong)) in sentence


def test_table_of_the_whole_run_lists_every_file(dashboard: Dashboard, data: Path) -> None:
    answer = dashboard.get("files", run="a", search=str(data), limit=1000)
    assert answer["total"] == FILES + 1
    assert not any(row["folded"] for row in answer["rows"])
    assert not any("busiest" in note for note in answer["notes"])
    reads = {row["path"]: row["reads"] for row in answer["rows"]}
    assert reads[f"{data}/file0000 <b>"] == 3
    assert all(reads[f"{data}/file{i:04d} <b>"] == 2 for i in range(1, FILES))
    written = next(row for row in answer["rows"] if row["path"] == f"{data}/out")
    assert written["bytes_written"] == 33


def test_lanes_follow_a_recording_and_tell_of_damage(tmp_path: Path) -> None:
    file = RecordingFile(tmp_path / "a")
    file.job(job())
    recorder = Recorder()
    ids = np.array([Use("/a").record_id], np.uint64)

    def write(sequence: int, n: int, tag: int) -> None:
        file.windows([recorder.window({"POSIX": [Use("/a", reads=n)]})])
        start = np.arange(n) * 1000 + sequence * 10**9
        zeros = np.zeros(n, np.int64)
        made = Segments(
            *(sequence, ids, np.array([[1, 2]], np.uint64), zeros, zeros, zeros, zeros + 10),
            *(start, start + 500, zeros, 2),
        )
        data = segments.encode(made)
        pb = summary.segments_pb(metadata.segments_tag(tag), data)
        file.summary(pb, sequence, BEGIN + sequence + 1)

    write(0, 3, 0)
    dashboard = Dashboard(tmp_path)
    assert dashboard.get("lanes", run="a")["segments"]["recorded"] == 3
    for sequence, tag in ((1, 0), (2, 1)):
        write(sequence, 4, tag)
    dashboard.reload()
    answer = dashboard.get("lanes", run="a")
    assert answer["segments"] == {
        "recorded": 11,
        "dropped": 6,
        "shown": 11,
        "bars": 11,
        "merged": False,
    }
    assert any("6 of 17" in note for note in answer["notes"])
    assert "/a<br>" in answer["figure"]["data"][0]["hovertext"][0]
    file.summary(summary.segments_pb(metadata.segments_tag(1), b"x"), 3, BEGIN + 4)
    dashboard.reload()
    answer = dashboard.get("lanes", run="a")
    assert answer["segments"]["recorded"] == 11
    assert any("not a payload" in note for note in answer["notes"])
