from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support.dashboard import Dashboard
from tests.support.recordings import BEGIN, Recorder, RecordingFile, Use, job, write_recording


def windows(n: int = 3) -> list:
    recorder = Recorder()
    return [recorder.window({"POSIX": [Use("/data/a", reads=2)]}) for _ in range(n)]


def test_empty_log_directory_says_how_to_record(tmp_path: Path) -> None:
    answer = Dashboard(tmp_path).get("runs")
    assert answer["runs"] == []
    (note,) = answer["notes"]
    assert "DarshanCallback" in note
    assert "DarshanMonitor" in note


def test_finished_run(tmp_path: Path) -> None:
    write_recording(tmp_path / "resnet", windows(), notes=["Workers were not seen."])
    (run,) = Dashboard(tmp_path).get("runs")["runs"]
    assert run == {
        "name": "resnet",
        "kind": "recording",
        "begin": BEGIN,
        "end": BEGIN + 3,
        "duration_seconds": 3.0,
        "live": False,
        "recordings": 1,
        "source": "builtin",
        "modules": ["POSIX", "STDIO"],
        "processes": 1,
        "hostnames": ["node7"],
        "notes": ["Workers were not seen."],
    }


@pytest.mark.parametrize(
    ("directory", "name"),
    [
        ("darshan/rank0", "."),
        ("a/darshan/rank0", "a"),
        ("a/b c/ü/darshan/rank0-2", "a/b c/ü"),
        ("rank0", "."),
        ("a/rank0", "a"),
    ],
)
def test_run_is_named_by_its_parent(tmp_path: Path, directory: str, name: str) -> None:
    write_recording(tmp_path, windows(), name=directory)
    dashboard = Dashboard(tmp_path)
    (run,) = dashboard.get("runs")["runs"]
    assert run["name"] == name
    assert dashboard.get("overview", run=name)["modules"]["POSIX"]["reads"] == 6


def test_recordings_of_one_directory_are_one_run(tmp_path: Path) -> None:
    write_recording(tmp_path / "a", windows(3), begin=BEGIN)
    write_recording(tmp_path / "a", windows(2), "darshan/rank0-2", begin=BEGIN + 10, hostname="n8")
    write_recording(tmp_path / "b", windows(1), begin=BEGIN + 100)
    first, second = Dashboard(tmp_path).get("runs")["runs"]
    assert first["name"] == "b"
    assert second["name"] == "a"
    assert second["recordings"] == 2
    assert second["begin"] == BEGIN
    assert second["end"] == BEGIN + 12
    assert second["duration_seconds"] == 12.0
    assert second["hostnames"] == ["node7", "n8"]


def test_run_that_goes_on_is_live_until_it_falls_silent(tmp_path: Path) -> None:
    now = time.time()
    for name, begin in (("live", now - 2), ("silent", now - 7200)):
        file = RecordingFile(tmp_path / name, begin=begin)
        file.job(job(begin=begin))
        file.windows(windows(2))
    live, silent = Dashboard(tmp_path).get("runs")["runs"]
    assert (live["name"], live["live"], live["end"]) == ("live", True, None)
    assert (silent["name"], silent["live"], silent["end"]) == ("silent", False, None)
    assert silent["duration_seconds"] == pytest.approx(2.0)


def test_run_without_job_description_still_shows(tmp_path: Path) -> None:
    RecordingFile(tmp_path / "a").windows(windows(2))
    dashboard = Dashboard(tmp_path)
    (run,) = dashboard.get("runs")["runs"]
    assert (run["begin"], run["duration_seconds"], run["source"]) == (None, None, None)
    answer = dashboard.get("overview", run="a")
    assert answer["begin"] == pytest.approx(BEGIN)
    assert answer["duration_seconds"] == pytest.approx(2.0)
    assert answer["job"] == {}


def test_run_without_windows_yet_answers_everywhere(tmp_path: Path) -> None:
    now = time.time()
    RecordingFile(tmp_path / "a", begin=now).job(job(begin=now))
    dashboard = Dashboard(tmp_path)
    for route in ("overview", "timeline", "file_bandwidth", "access_sizes", "files"):
        answer = dashboard.get(route, run="a")
        assert answer["range"] is None
        assert "Nothing recorded yet" in answer["notes"][0]


def test_empty_run_that_ended_waits_for_nothing(tmp_path: Path) -> None:
    RecordingFile(tmp_path / "killed").job(job())
    write_recording(tmp_path / "finished", [])
    dashboard = Dashboard(tmp_path)
    for route in ("overview", "timeline", "files"):
        (first, *_) = dashboard.get(route, run="finished")["notes"]
        assert first == "Nothing was recorded: the recording ended without a window."
        (first, *_) = dashboard.get(route, run="killed")["notes"]
        assert "was not closed" in first
        assert "there is no data" in first


def test_recording_that_was_not_closed_is_told(tmp_path: Path) -> None:
    now = time.time()
    for name, begin in (("live", now - 2), ("silent", now - 7200)):
        file = RecordingFile(tmp_path / name, begin=begin)
        file.job(job(begin=begin))
        file.windows(windows(2))
    write_recording(tmp_path / "closed", windows(2))
    dashboard = Dashboard(tmp_path)
    assert dashboard.get("overview", run="silent")["notes"] == [
        "The recording was not closed: the process was killed or still hangs; data ends at 00:02.0."
    ]
    for name in ("live", "closed"):
        assert dashboard.get("overview", run=name)["notes"] == []


def test_one_of_two_recordings_that_was_not_closed_is_named(tmp_path: Path) -> None:
    write_recording(tmp_path / "a", windows(2), "darshan/rank0")
    file = RecordingFile(tmp_path / "a", "darshan/rank1")
    file.job(job(rank=1))
    file.windows(windows(2))
    (note,) = Dashboard(tmp_path).get("overview", run="a")["notes"]
    assert note.startswith("The recording a/darshan/rank1 was not closed")


@pytest.mark.parametrize("begin", ["yesterday", None, True, -1, 1e300, float("inf"), [1.0]])
def test_job_description_with_wrong_values_does_no_harm(tmp_path: Path, begin: object) -> None:
    wrong = {"begin": begin, "finished": "no", "notes": 3, "hostname": None}
    file = RecordingFile(tmp_path / "a")
    file.job(job(**wrong, flush_seconds=float("nan")))
    file.windows(windows(2))
    dashboard = Dashboard(tmp_path)
    (run,) = dashboard.get("runs")["runs"]
    assert run["begin"] is None
    assert run["notes"] == []
    answer = dashboard.get("overview", run="a")
    assert answer["job"]["flush_seconds"] is None
    assert answer["modules"]["POSIX"]["reads"] == 4
    assert answer["duration_seconds"] == pytest.approx(2.0)
    assert dashboard.get("timeline", run="a")["bins"] == 200


def test_plotly_url_names_the_version(tmp_path: Path) -> None:
    url = Dashboard(tmp_path).get("runs")["plotly"]
    assert url.startswith("plotly.min.js?v=")
