from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_darshan.window import Window
from tests.support.dashboard import Dashboard
from tests.support.recordings import BEGIN, Recorder, Use, write_recording

MODULE_KEYS = {
    *("bytes_read", "bytes_written", "reads", "writes", "opens", "files"),
    *("read_seconds", "write_seconds", "metadata_seconds"),
}


def training() -> list[Window]:
    """Two epochs of two seconds training and one second validation."""
    recorder = Recorder()
    windows = []
    for epoch in range(2):
        for second in range(3):
            name = "train" if second < 2 else "validation"
            uses = [Use(f"/{name}/{i}", reads=10, access_bytes=4096) for i in range(5)]
            windows.append(
                recorder.window(
                    {"POSIX": uses, "STDIO": [Use("/log", writes=1, access_bytes=100)]},
                    phase=name,
                    epoch=epoch,
                    process_io=np.array([5 * 40960, 100, 40960, 0]),
                )
            )
    return windows


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Dashboard:
    log_dir = tmp_path_factory.mktemp("logs")
    write_recording(log_dir / "a", training(), notes=["One worker was not seen."])
    return Dashboard(log_dir)


def test_totals_of_the_whole_run(dashboard: Dashboard) -> None:
    answer = dashboard.get("overview", run="a")
    assert answer["duration_seconds"] == 6.0
    assert answer["modules"].keys() == {"POSIX", "STDIO"}
    posix = answer["modules"]["POSIX"]
    assert posix.keys() == MODULE_KEYS
    assert posix["bytes_read"] == 6 * 5 * 10 * 4096
    assert (posix["reads"], posix["writes"], posix["opens"]) == (300, 0, 30)
    assert posix["files"] == 10
    assert posix["read_seconds"] == pytest.approx(0.3)
    assert answer["modules"]["STDIO"]["bytes_written"] == 600
    assert answer["notes"] == ["One worker was not seen."]
    assert answer["job"]["hostname"] == "node7"
    assert answer["begin"] == BEGIN


def test_stretch_counts_the_windows_it_overlaps(dashboard: Dashboard) -> None:
    answer = dashboard.get("overview", run="a", start=0.5, end=1.5)
    assert answer["range"] == {"start": 0.5, "end": 1.5}
    assert answer["counted"] == {"start": 0.0, "end": 2.0}
    assert answer["duration_seconds"] == 1.0
    assert answer["modules"]["POSIX"]["reads"] == 100
    assert answer["modules"]["POSIX"]["files"] == 5


def test_stretch_that_ends_where_a_window_begins_leaves_it_out(dashboard: Dashboard) -> None:
    answer = dashboard.get("overview", run="a", start=1, end=2)
    assert answer["counted"] == {"start": 1.0, "end": 2.0}


def test_stretches_add_up_to_the_run(dashboard: Dashboard) -> None:
    whole = dashboard.get("overview", run="a")["modules"]["POSIX"]
    parts = [
        dashboard.get("overview", run="a", start=start, end=end)["modules"]["POSIX"]
        for start, end in ((0, 2), (2, 5), (5, 100))
    ]
    for key in MODULE_KEYS - {"files"}:
        assert sum(part[key] for part in parts) == pytest.approx(whole[key])


def test_module_restricts_the_answer(dashboard: Dashboard) -> None:
    answer = dashboard.get("overview", run="a", module="STDIO")
    assert answer["modules"].keys() == {"STDIO"}
    read, written, calls, *_ = answer["cards"]
    assert read["value"] == "0 B"
    assert written["value"] == "600 B"
    assert calls["value"] == "12"


def test_phases_have_one_row_each(dashboard: Dashboard) -> None:
    rows = dashboard.get("overview", run="a")["phases"]
    assert [(row["phase"], row["epoch"]) for row in rows] == [
        ("train", 0),
        ("validation", 0),
        ("train", 1),
        ("validation", 1),
    ]
    train = rows[2]
    assert (train["start"], train["end"], train["duration_seconds"]) == (3.0, 5.0, 2.0)
    assert train["bytes_read"] == 2 * 5 * 10 * 4096
    assert train["read_bandwidth"] == pytest.approx(5 * 10 * 4096)
    assert train["bytes_written"] == 200
    assert train["opens"] == 12
    assert train["busy_share"] == pytest.approx(train["busy_seconds"] / 2)
    assert train["cache_share"] is None


def test_seen_and_cache_share(dashboard: Dashboard) -> None:
    seen = dashboard.get("overview", run="a")["seen"]
    assert seen["kernel"] == {
        "rchar": 6 * 5 * 40960,
        "wchar": 600,
        "read_bytes": 6 * 40960,
        "write_bytes": 0,
    }
    assert seen["share"] == pytest.approx(1.0)
    assert seen["cache_share"] == pytest.approx(0.8)


def test_seen_is_about_all_modules(dashboard: Dashboard) -> None:
    whole = dashboard.get("overview", run="a")["seen"]
    assert dashboard.get("overview", run="a", module="STDIO")["seen"] == whole


def test_kernel_that_did_not_say_is_unknown_not_zero(tmp_path: Path) -> None:
    recorder = Recorder()
    write_recording(tmp_path / "a", [recorder.window({"POSIX": [Use("/a", reads=1)]})])
    answer = Dashboard(tmp_path).get("overview", run="a")
    assert answer["seen"]["share"] is None
    assert answer["seen"]["cache_share"] is None
    assert answer["seen"]["kernel"] is None
    assert answer["cards"][-1]["value"] == "–"


def test_cards_are_ready_to_show(dashboard: Dashboard) -> None:
    cards = {card["name"]: card for card in dashboard.get("overview", run="a")["cards"]}
    assert list(cards) == ["read", "written", "calls", "files", "seen"]
    assert cards["read"]["value"] == "1.17 MiB"
    assert cards["read"]["detail"] == "200 KiB/s"
    assert cards["read"]["caption"] == "3.91 MiB/s while in calls"
    assert cards["files"]["value"] == "11"
    assert cards["seen"]["value"] == "100 %"
    for card in cards.values():
        assert card["title"]
        assert card["definition"].endswith(".")


def test_sparklines_hold_what_was_moved(dashboard: Dashboard) -> None:
    lines = dashboard.get("overview", run="a")["sparklines"]
    assert 30 <= len(lines["read_bandwidth"]) <= 60
    steady = np.array(lines["read_bandwidth"])
    assert steady == pytest.approx(np.full(len(steady), 204800), rel=0.02)
    assert max(lines["busy"]) <= 1


def test_recordings_lie_on_one_axis(tmp_path: Path) -> None:
    def part(path: str) -> list[Window]:
        recorder = Recorder()
        return [
            recorder.window({"POSIX": [Use(path, reads=2)]}, phase="train", epoch=0)
            for _ in range(4)
        ]

    write_recording(tmp_path / "a", part("/x"), "darshan/rank0", begin=BEGIN, rank=0)
    write_recording(tmp_path / "a", part("/y"), "darshan/rank1", begin=BEGIN + 2, rank=1)
    dashboard = Dashboard(tmp_path)
    answer = dashboard.get("overview", run="a")
    assert answer["duration_seconds"] == 6.0
    assert answer["modules"]["POSIX"]["reads"] == 16
    assert answer["modules"]["POSIX"]["files"] == 2
    (phase,) = answer["phases"]
    assert (phase["start"], phase["end"], phase["duration_seconds"]) == (0.0, 6.0, 4.0)
    assert [(r["rank"], r["begin"], r["end"]) for r in answer["recordings"]] == [
        (0, 0.0, 4.0),
        (1, 2.0, 6.0),
    ]
    late = dashboard.get("overview", run="a", start=4.5)
    assert late["modules"]["POSIX"]["reads"] == 4
    assert late["counted"] == {"start": 4.0, "end": 6.0}


def test_files_of_a_stretch_with_folded_ones_are_a_lower_bound(tmp_path: Path) -> None:
    recorder = Recorder(listed=2)
    windows = [
        recorder.window({"POSIX": [Use(f"/d/{i}", reads=i + 1) for i in range(second, second + 4)]})
        for second in range(4)
    ]
    write_recording(tmp_path / "a", windows)
    dashboard = Dashboard(tmp_path)
    whole = dashboard.get("overview", run="a")
    assert whole["modules"]["POSIX"]["files"] == 7
    assert not any("lower bound" in note for note in whole["notes"])
    part = dashboard.get("overview", run="a", start=1, end=3)
    assert 4 <= part["modules"]["POSIX"]["files"] <= 5
    assert any("lower bound" in note for note in part["notes"])
    single = dashboard.get("overview", run="a", start=1, end=2)
    assert single["modules"]["POSIX"]["files"] == 4
    assert not any("lower bound" in note for note in single["notes"])


def test_partial_records_and_window_notes_are_told(tmp_path: Path) -> None:
    recorder = Recorder()
    window = recorder.window({"POSIX": [Use("/a", reads=1)]}, notes=("A child was killed.",))
    module: Any = dataclasses.replace(window.modules["POSIX"], partial=True)
    window = dataclasses.replace(window, modules={"POSIX": module})
    write_recording(tmp_path / "a", [window])
    notes = Dashboard(tmp_path).get("overview", run="a")["notes"]
    assert "A child was killed." in notes
    assert any("ran out of records for POSIX" in note for note in notes)


def test_module_without_any_record_does_not_show(tmp_path: Path) -> None:
    recorder = Recorder()
    window = recorder.window({"POSIX": [Use("/a", reads=1)], "STDIO": []})
    write_recording(tmp_path / "a", [window])
    dashboard = Dashboard(tmp_path)
    assert dashboard.get("overview", run="a")["modules"].keys() == {"POSIX"}
    assert dashboard.get("access_sizes", run="a")["notes"] == []


def test_calls_that_moved_nothing_are_told(tmp_path: Path) -> None:
    recorder = Recorder()
    uses = [Use("/a", reads=3, access_bytes=500), Use("/b", reads=1, access_bytes=0)]
    write_recording(tmp_path / "a", [recorder.window({"POSIX": uses}) for _ in range(2)])
    answer = Dashboard(tmp_path).get("overview", run="a")
    assert answer["zero_byte_calls"] == 2
    calls = next(card for card in answer["cards"] if card["name"] == "calls")
    assert calls["caption"] == "375 B per read or write, 25 % 0 B"


def test_rare_sizes_leave_calls_that_moved_nothing_unknown(tmp_path: Path) -> None:
    recorder = Recorder()
    uses = [Use(f"/{n}", reads=n, access_bytes=n) for n in range(1, 50)]
    write_recording(tmp_path / "a", [recorder.window({"POSIX": uses})])
    assert Dashboard(tmp_path).get("overview", run="a")["zero_byte_calls"] is None
