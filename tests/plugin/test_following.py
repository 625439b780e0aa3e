"""Runs that grow, that TensorBoard thins out, and that this version cannot read in full."""

from __future__ import annotations

import shutil
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tensorboard import context

from tensorboard_plugin_darshan import metadata, payload, summary
from tensorboard_plugin_darshan.dashboard import events
from tensorboard_plugin_darshan.window import Window
from tests.support.dashboard import Dashboard
from tests.support.recordings import BEGIN, Recorder, RecordingFile, Use, job, write_recording


def windows(n: int, recorder: Recorder | None = None) -> list[Window]:
    recorder = recorder or Recorder(window_seconds=0.1)
    return [recorder.window({"POSIX": [Use("/data/a", reads=1)]}) for _ in range(n)]


def reads(dashboard: Dashboard, run: str = "a") -> int:
    return int(dashboard.get("overview", run=run)["modules"]["POSIX"]["reads"])


class ReadCounter:
    """What the plugin asked the provider for."""

    def __init__(self, dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tags: list[str] = []
        self.parsed = 0
        read, parse = dashboard.provider.read_tensors, summary.parse_window

        def counting_read(*args: Any, run_tag_filter: Any, **kwargs: Any) -> Any:
            self.tags += sorted(run_tag_filter.tags)
            return read(*args, run_tag_filter=run_tag_filter, **kwargs)

        def counting_parse(tensor: Any) -> Window:
            self.parsed += 1
            return parse(tensor)

        monkeypatch.setattr(dashboard.provider, "read_tensors", counting_read)
        monkeypatch.setattr(summary, "parse_window", counting_parse)

    def take(self) -> tuple[list[str], int]:
        found = self.tags, self.parsed
        self.tags, self.parsed = [], 0
        return found


def test_growing_run_is_read_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(window_seconds=0.1)
    file = RecordingFile(tmp_path / "a", windows_per_tag=10)
    file.job(job())
    file.windows(windows(15, recorder))
    dashboard = Dashboard(tmp_path)
    counter = ReadCounter(dashboard, monkeypatch)
    assert reads(dashboard) == 15
    assert counter.take() == (["job", "window/0", "window/1"], 15)
    assert reads(dashboard) == 15
    assert counter.take() == ([], 0)
    file.windows(windows(3, recorder))
    dashboard.reload()
    assert reads(dashboard) == 18
    assert counter.take() == (["window/1"], 3)
    file.windows(windows(5, recorder))
    file.job(job(end=BEGIN + 2.3, finished=True), BEGIN + 2.3)
    dashboard.reload()
    assert reads(dashboard) == 23
    assert counter.take() == (["job", "window/1", "window/2"], 5)
    answer = dashboard.get("overview", run="a")
    assert answer["duration_seconds"] == pytest.approx(2.3)
    assert answer["recordings"][0]["finished"] is True
    assert dashboard.get("files", run="a")["rows"][0]["reads"] == 23


def test_new_recording_joins_the_run(tmp_path: Path) -> None:
    write_recording(tmp_path / "a", windows(2))
    dashboard = Dashboard(tmp_path)
    assert reads(dashboard) == 2
    write_recording(tmp_path / "a", windows(3), "darshan/rank1")
    dashboard.reload()
    assert reads(dashboard) == 5


def test_5000_windows_are_all_kept(tmp_path: Path) -> None:
    write_recording(tmp_path / "a", windows(5000), windows_per_tag=2000)
    dashboard = Dashboard(tmp_path)
    answer = dashboard.get("overview", run="a")
    assert answer["modules"]["POSIX"]["reads"] == 5000
    assert answer["recordings"][0]["windows"] == 5000
    assert answer["notes"] == []


def test_thinned_out_windows_are_told(tmp_path: Path) -> None:
    write_recording(tmp_path / "a", windows(100))
    dashboard = Dashboard(tmp_path, samples=10)
    for route in ("overview", "timeline", "file_bandwidth", "access_sizes", "files"):
        notes = dashboard.get(route, run="a")["notes"]
        assert any("left out 90 of 100 windows" in n and "darshan=0" in n for n in notes), route
    assert reads(dashboard) == 10


def test_thinned_out_run_that_grows_is_read_afresh(tmp_path: Path) -> None:
    recorder = Recorder(window_seconds=0.1)
    file = RecordingFile(tmp_path / "a")
    file.job(job())
    file.windows(windows(40, recorder))
    dashboard = Dashboard(tmp_path, samples=10)
    assert reads(dashboard) == 10
    file.windows(windows(400, recorder))
    dashboard.reload()
    assert reads(dashboard) == 10
    (note,) = dashboard.get("timeline", run="a")["notes"]
    assert "left out 430 of 440 windows" in note


def newer(data: bytes) -> bytes:
    return data[:4] + struct.pack("<I", payload.VERSION + 1) + data[8:]


@pytest.fixture
def newer_encoding(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Everything written meanwhile carries the next data version."""
    encode = payload.encode
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(payload, "encode", lambda *args: newer(encode(*args)))
        yield patch


def test_newer_version_is_told_everywhere(
    tmp_path: Path, newer_encoding: pytest.MonkeyPatch
) -> None:
    write_recording(tmp_path / "a", windows(3))
    newer_encoding.undo()
    dashboard = Dashboard(tmp_path)
    (run,) = dashboard.get("runs")["runs"]
    assert (run["name"], run["begin"], run["live"]) == ("a", None, False)
    assert "newer version" in run["notes"][0]
    for route in ("overview", "timeline", "file_bandwidth", "access_sizes", "files"):
        answer = dashboard.get(route, run="a")
        assert "a/darshan/rank0: written by a newer version" in answer["notes"][0]
        assert "update the package where TensorBoard runs" in answer["notes"][0]
        assert answer.get("figure", {"data": []})["data"] == []


def test_other_recordings_show_beside_a_newer_one(
    tmp_path: Path, newer_encoding: pytest.MonkeyPatch
) -> None:
    write_recording(tmp_path / "a", windows(3), "darshan/rank1")
    newer_encoding.undo()
    write_recording(tmp_path / "a", windows(4), "darshan/rank0")
    dashboard = Dashboard(tmp_path)
    answer = dashboard.get("overview", run="a")
    assert answer["modules"]["POSIX"]["reads"] == 4
    assert "a/darshan/rank1: written by a newer version" in answer["notes"][0]
    assert answer["duration_seconds"] == pytest.approx(0.4)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-5],
        lambda data: data[:40],
        lambda data: b"",
        lambda data: b"DSHN" + data[4:8] + b"\xff\xff\xff\xff" + data[12:],
        lambda data: data[:30] + b"\0" * 20 + data[50:],
        lambda data: payload.encode({}, {}),
        lambda data: payload.encode({"begin": 1.0}, {}),
    ],
)
def test_damaged_window_is_told_and_the_others_show(tmp_path: Path, damage: Any) -> None:
    file = RecordingFile(tmp_path / "a")
    file.job(job())
    first, second, third = windows(3)
    file.windows([first])
    broken = summary.window_pb(metadata.window_tag(0), second)
    broken.value[0].tensor.string_val[0] = damage(broken.value[0].tensor.string_val[0])
    file.summary(broken, 1, BEGIN + 0.2)
    file.summary(summary.window_pb(metadata.window_tag(0), third), 2, BEGIN + 0.3)
    dashboard = Dashboard(tmp_path)
    answer = dashboard.get("overview", run="a")
    assert answer["modules"]["POSIX"]["reads"] == 2
    note = answer["notes"][0]
    assert note.startswith("1 window of the recording a/darshan/rank0 could not be read")
    assert "missing from all numbers" in note
    assert "copy them again" in note
    assert "bytes declared" not in note


def test_foreign_tensor_under_our_tag_is_told(tmp_path: Path) -> None:
    file = RecordingFile(tmp_path / "a")
    file.job(job())
    foreign = summary.scalar_pb("window/0", 1.0)
    foreign.value[0].metadata.CopyFrom(metadata.create_summary_metadata())
    file.summary(foreign, 0, BEGIN)
    answer = Dashboard(tmp_path).get("timeline", run="a")
    assert answer["figure"]["data"] == []
    assert "could not be read" in answer["notes"][0]


def test_copied_event_file_does_not_count_twice(tmp_path: Path) -> None:
    file = write_recording(tmp_path / "a", windows(5))
    shutil.copy(file.path, file.path.with_name(file.path.name + ".copy"))
    assert reads(Dashboard(tmp_path)) == 5


def test_recordings_without_our_data_are_not_runs(tmp_path: Path) -> None:
    file = RecordingFile(tmp_path / "other")
    file.summary(summary.scalar_pb("loss", 1.0), 0, BEGIN)
    write_recording(tmp_path / "a", windows(1))
    dashboard = Dashboard(tmp_path)
    assert [run["name"] for run in dashboard.get("runs")["runs"]] == ["a"]
    assert dashboard.error("overview", run="other")[0] == 404


def test_cache_drops_what_was_not_looked_at_for_longest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        write_recording(tmp_path / name, windows(20))
    dashboard = Dashboard(tmp_path)
    size = events.RunStore(dashboard.provider).load(context.RequestContext(), "", "a").nbytes
    store = events.RunStore(dashboard.provider, max_bytes=int(2.5 * size))
    monkeypatch.setattr(dashboard.plugin, "_store", store)
    counter = ReadCounter(dashboard, monkeypatch)
    for name in ("a", "b", "a", "c"):
        assert reads(dashboard, name) == 20
    counter.take()
    for name in ("a", "c"):
        assert reads(dashboard, name) == 20
    assert counter.take() == ([], 0)
    assert reads(dashboard, "b") == 20
    assert counter.take() == (["window/0"], 20)


def test_run_larger_than_the_bound_is_still_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_recording(tmp_path / "a", windows(20))
    dashboard = Dashboard(tmp_path)
    monkeypatch.setattr(
        dashboard.plugin, "_store", events.RunStore(dashboard.provider, max_bytes=1)
    )
    counter = ReadCounter(dashboard, monkeypatch)
    assert reads(dashboard) == 20
    counter.take()
    assert reads(dashboard) == 20
    assert counter.take() == ([], 0)


def test_many_threads_read_a_growing_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_recording(tmp_path / "a", windows(200), windows_per_tag=50)
    dashboard = Dashboard(tmp_path)
    counter = ReadCounter(dashboard, monkeypatch)
    routes = ("overview", "timeline", "file_bandwidth", "access_sizes", "files", "runs") * 3
    found: list[int] = []
    start = threading.Barrier(len(routes))

    def ask(route: str) -> None:
        start.wait()
        found.append(dashboard.response(route, run="a").status_code)

    threads = [threading.Thread(target=ask, args=(route,)) for route in routes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [200] * len(routes)
    assert counter.parsed == 200
    assert reads(dashboard) == 200
