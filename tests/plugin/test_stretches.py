"""What is counted of a stretch of time, and of trainings that follow each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_darshan.window import Window
from tests.support.dashboard import Dashboard
from tests.support.recordings import BEGIN, Recorder, Use, write_recording

MIB = 1 << 20


def reading(
    n: int, recorder: Recorder | None = None, phase: str = "train", epoch: int = 0
) -> list[Window]:
    """Windows of 2 s that read 2 MiB each: 1 MiB/s."""
    recorder = recorder or Recorder(window_seconds=2.0)
    uses = {"POSIX": [Use("/a", reads=2, access_bytes=MIB)]}
    return [recorder.window(uses, phase=phase, epoch=epoch) for _ in range(n)]


def cards(answer: Any) -> dict[str, Any]:
    return {card["name"]: card for card in answer["cards"]}


@pytest.mark.parametrize("stretch", [(34.0, 34.01), (34.9, 35.1), (33, 39), (0, 1), (39.99, 60)])
def test_rates_divide_by_what_was_counted(tmp_path: Path, stretch: tuple[float, float]) -> None:
    write_recording(tmp_path / "a", reading(20))
    dashboard = Dashboard(tmp_path)
    start, end = stretch
    answer = dashboard.get("overview", run="a", start=start, end=end)
    found = cards(answer)
    assert found["read"]["detail"] == "1 MiB/s"
    assert found["calls"]["detail"] == "1.5/s"
    counted = answer["counted"]
    assert answer["counted_seconds"] == pytest.approx(counted["end"] - counted["start"])


def test_note_says_what_was_counted(tmp_path: Path) -> None:
    write_recording(tmp_path / "a", reading(20))
    dashboard = Dashboard(tmp_path)
    for route in ("overview", "file_bandwidth", "access_sizes", "files"):
        notes = dashboard.get(route, run="a", start=34.0, end=34.01)["notes"]
        assert any("from 00:34.0 to 00:36.0" in note for note in notes), route
        for exact in ({}, {"start": 2, "end": 6}):
            notes = dashboard.get(route, run="a", **exact)["notes"]
            assert not any("Whole windows" in note for note in notes), route


def test_script_started_again_has_rows_of_its_own(tmp_path: Path) -> None:
    write_recording(tmp_path / "a", reading(3), "darshan/rank0")
    write_recording(tmp_path / "a", reading(3), "darshan/rank0-2", begin=BEGIN + 100)
    answer = Dashboard(tmp_path).get("overview", run="a")
    rows = answer["phases"]
    assert [row["which"] for row in rows] == ["", "second recording"]
    assert [(row["start"], row["end"]) for row in rows] == [(0.0, 6.0), (100.0, 106.0)]
    assert [row["read_bandwidth"] for row in rows] == [MIB, MIB]
    assert cards(answer)["read"]["detail"] == "1 MiB/s"
    assert answer["counted_seconds"] == pytest.approx(12)
    assert answer["duration_seconds"] == pytest.approx(106)
    assert any(note.startswith("2 recordings one after the other") for note in answer["notes"])


def test_ranks_at_the_same_time_share_rows(tmp_path: Path) -> None:
    for rank in range(2):
        write_recording(tmp_path / "a", reading(3), f"darshan/rank{rank}", rank=rank)
    answer = Dashboard(tmp_path).get("overview", run="a")
    (row,) = answer["phases"]
    assert (row["which"], row["read_bandwidth"]) == ("", 2 * MIB)
    assert not any("one after the other" in note for note in answer["notes"])


def test_second_training_in_a_recording_has_rows_of_its_own(tmp_path: Path) -> None:
    recorder = Recorder(window_seconds=2.0)
    windows = []
    for _ in range(2):
        for epoch in range(2):
            windows += reading(1, recorder, "train", epoch)
            windows += reading(1, recorder, "validation", epoch)
            windows += reading(1, recorder, "train", epoch)
        windows += reading(1, recorder, "", -1)
    write_recording(tmp_path / "a", windows)
    rows = Dashboard(tmp_path).get("overview", run="a")["phases"]
    trains = [(row["epoch"], row["which"]) for row in rows if row["phase"] == "train"]
    assert trains == [(0, ""), (1, ""), (0, "second time"), (1, "second time")]
    assert all(row["read_bandwidth"] == MIB for row in rows)


def test_one_epoch_trained_twice_is_two_rows(tmp_path: Path) -> None:
    recorder = Recorder(window_seconds=2.0)
    windows = reading(2, recorder) + reading(1, recorder, "", -1) + reading(2, recorder)
    write_recording(tmp_path / "a", windows)
    rows = Dashboard(tmp_path).get("overview", run="a")["phases"]
    assert [(row["phase"], row["which"]) for row in rows] == [
        ("train", ""),
        ("", ""),
        ("train", "second time"),
    ]


def test_phase_says_what_lies_inside_it(tmp_path: Path) -> None:
    recorder = Recorder(window_seconds=2.0)
    windows = reading(1, recorder) + reading(1, recorder, "validation") + reading(1, recorder)
    write_recording(tmp_path / "a", windows)
    train, validation = Dashboard(tmp_path).get("overview", run="a")["phases"]
    assert train["inside"] == ["validation"]
    assert validation["inside"] == []


def test_medians_that_come_from_bins_say_so(tmp_path: Path) -> None:
    write_recording(tmp_path / "a", reading(2))
    dashboard = Dashboard(tmp_path)
    files = cards(dashboard.get("overview", run="a"))["files"]
    assert files["detail"] == "≈ 2.14 MiB median size"
    assert "± 12 %" in files["definition"]
    answer = dashboard.get("file_bandwidth", run="a")
    texts = [note["text"] for note in answer["figure"]["layout"]["annotations"]]
    assert any("median ≈ " in text for text in texts)
    assert any("± 12 %" in text for text in answer["definitions"])


def test_timeline_of_a_module_without_records_says_so(tmp_path: Path) -> None:
    write_recording(tmp_path / "a", reading(2))
    answer = Dashboard(tmp_path).get("timeline", run="a", module="STDIO")
    assert answer["figure"]["data"] == []
    assert answer["notes"] == ["No calls through STDIO in this run."]
