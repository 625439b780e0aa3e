"""Which files the bandwidth histogram counts in a stretch of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.dashboard import Dashboard
from tests.support.recordings import BEGIN, Recorder, Use, write_recording

NOTE = "A file counts once for each window"
WHOLE_WINDOWS = "Whole windows were counted, from"


def make(tmp_path: Path, listed: int, n_files: int = 30, n_windows: int = 4) -> Dashboard:
    """Every window reads the same files."""
    recorder = Recorder(listed=listed)
    uses = [Use(f"/data/{i:03}", reads=i + 1, access_bytes=100 * (i + 1)) for i in range(n_files)]
    write_recording(tmp_path / "a", [recorder.window({"POSIX": uses}) for _ in range(n_windows)])
    return Dashboard(tmp_path)


def test_whole_run_counts_every_file_though_few_are_listed(tmp_path: Path) -> None:
    dashboard = make(tmp_path, listed=3, n_files=3000, n_windows=2)
    answer = dashboard.get("file_bandwidth", run="a")
    assert answer["files"]["read"] == 3000
    assert answer["notes"] == []


def test_from_the_begin_counts_each_file_once(tmp_path: Path) -> None:
    answer = make(tmp_path, listed=3).get("file_bandwidth", run="a", end=2.5)
    assert answer["files"]["read"] == 30
    (note,) = answer["notes"]
    assert note.startswith(WHOLE_WINDOWS)


def test_one_window_counts_each_file_once(tmp_path: Path) -> None:
    answer = make(tmp_path, listed=3).get("file_bandwidth", run="a", start=1.2, end=1.8)
    assert answer["files"]["read"] == 30
    (note,) = answer["notes"]
    assert note.startswith(WHOLE_WINDOWS)


def test_several_windows_with_complete_lists_count_each_file_once(tmp_path: Path) -> None:
    answer = make(tmp_path, listed=500).get("file_bandwidth", run="a", start=1, end=3)
    assert answer["files"]["read"] == 30
    assert answer["notes"] == []
    whole = make(tmp_path, listed=500).get("file_bandwidth", run="a")
    assert answer["figure"]["data"] == whole["figure"]["data"]


def test_several_windows_with_folded_files_say_so(tmp_path: Path) -> None:
    answer = make(tmp_path, listed=3).get("file_bandwidth", run="a", start=1, end=3)
    assert answer["files"]["read"] == 60
    (note,) = answer["notes"]
    assert note.startswith(NOTE)


def test_modules_and_recordings_are_added(tmp_path: Path) -> None:
    for rank in range(2):
        recorder = Recorder()
        uses = [Use(f"/rank{rank}/{i}", reads=1) for i in range(5)]
        window = recorder.window({"POSIX": uses, "STDIO": [Use("/log", writes=1)]})
        write_recording(tmp_path / "a", [window], f"darshan/rank{rank}", begin=BEGIN)
    dashboard = Dashboard(tmp_path)
    assert dashboard.get("file_bandwidth", run="a")["files"] == {"read": 10, "write": 2}
    only = dashboard.get("file_bandwidth", run="a", module="STDIO")
    assert only["files"] == {"read": 0, "write": 2}


@pytest.mark.parametrize("module", ["POSIX", "STDIO"])
def test_module_that_the_run_lacks_is_no_error(tmp_path: Path, module: str) -> None:
    recorder = Recorder()
    other = {"POSIX": "STDIO", "STDIO": "POSIX"}[module]
    write_recording(tmp_path / "a", [recorder.window({other: [Use("/a", reads=1)]})])
    dashboard = Dashboard(tmp_path)
    for route in ("timeline", "file_bandwidth", "access_sizes", "files"):
        answer = dashboard.get(route, run="a", module=module)
        assert any(module in note for note in answer["notes"]), route
    assert dashboard.get("overview", run="a", module=module)["modules"] == {}
