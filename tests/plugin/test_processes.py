"""Processes, ranks and the page cache, as the routes answer them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_darshan.window import PROCESS_STATES, Window
from tests.support import figures
from tests.support.dashboard import Dashboard
from tests.support.recordings import BEGIN, Recorder, RecordingFile, Use, job, write_recording

RUNNING, ENDED, BADLY = range(len(PROCESS_STATES))
MIB = 1024**2


def row(pid: int, state: int, read: int = 0, parent: int = 100, milliseconds: int = 1) -> list[int]:
    return [pid, parent, state, read, 0, 2, milliseconds * 10**6]


def window(
    recorder: Recorder, rows: Sequence[Sequence[int]], reads: int = 10, **more: Any
) -> Window:
    uses = [Use("/data", reads=reads, access_bytes=1000)]
    return recorder.window({"POSIX": uses}, processes=np.array(rows, np.int64), **more)


@pytest.fixture
def workers(tmp_path: Path) -> Dashboard:
    """A main process; a worker that ends, one that is killed, and a new one with the same id."""
    recorder = Recorder()
    windows = [
        window(recorder, [row(100, RUNNING, 5, 1), row(101, RUNNING, 1000), row(102, RUNNING, 7)]),
        window(recorder, [row(100, RUNNING, 5, 1), row(101, ENDED, 2000), row(102, BADLY, 8)]),
        window(recorder, [row(100, RUNNING, 5, 1), row(101, RUNNING, 400)]),
        window(recorder, [row(100, RUNNING, 5, 1), row(101, ENDED, 40)]),
    ]
    write_recording(tmp_path / "a", windows, hostname="node7")
    return Dashboard(tmp_path)


def test_processes_are_told_with_what_they_did_and_how_they_ended(workers: Dashboard) -> None:
    answer = workers.get("processes", run="a")
    found = {
        (p["pid"], p["start"]): (p["kind"], p["state"], p["bytes_read"], p["end"], p["parent"])
        for p in answer["processes"]
    }
    assert found == {
        (100, 0.0): ("main", "ended", 20, 4.0, 1),
        (101, 0.0): ("worker", "ended", 3000, 2.0, 100),
        (102, 0.0): ("worker", "ended badly", 15, 2.0, 100),
        (101, 2.0): ("worker", "ended", 440, 4.0, 100),
    }
    assert answer["counts"] == {
        "main": 1,
        "workers": 3,
        "ranks": 1,
        "running": 0,
        "ended": 3,
        "ended_badly": 1,
    }
    assert answer["processes"][0]["pid"] == 100, "the busiest comes first"
    assert answer["figure"]["data"] == []
    assert answer["slowest"] is None


def test_a_stretch_has_the_processes_of_its_windows(workers: Dashboard) -> None:
    answer = workers.get("processes", run="a", start=2)
    assert {(p["pid"], p["bytes_read"]) for p in answer["processes"]} == {(100, 10), (101, 440)}


def test_processes_over_time(workers: Dashboard) -> None:
    answer = workers.get("heatmap", run="a", by="process")
    assert answer["rows"] == ["main 100", "worker 101", "worker 102", "worker 101"]
    figure = answer["figure"]
    figures.check(figure)
    (trace,) = figure["data"]
    cells = trace["z"]
    middle = figures.array(trace["x"])
    width = middle[1] - middle[0]
    known = [[value is not None for value in line] for line in cells]
    assert known[1] == [m < 2 for m in middle]
    assert known[3] == [m > 2 for m in middle]
    sums = [sum(value or 0 for value in line) * width for line in cells]
    assert sums == pytest.approx([20, 3000, 15, 440], rel=1e-3)


def test_many_processes_share_the_last_row(tmp_path: Path) -> None:
    recorder = Recorder()
    rows = [row(100, RUNNING, 1, 1, 1000)]
    rows += [row(1000 + i, ENDED, 1000 + i, 100, 1000 - i) for i in range(150)]
    write_recording(tmp_path / "a", [window(recorder, rows)])
    dashboard = Dashboard(tmp_path)
    answer = dashboard.get("heatmap", run="a", by="process")
    assert len(answer["rows"]) == 61
    assert answer["rows"][-1] == "91 others"
    (trace,) = answer["figure"]["data"]
    width = np.diff(figures.array(trace["x"]))[0]
    total = sum(sum(value or 0 for value in line) for line in trace["z"]) * width
    assert total == pytest.approx(1 + sum(1000 + i for i in range(150)), rel=1e-3)


def test_more_processes_than_windows_list_are_told(tmp_path: Path) -> None:
    recorder = Recorder()
    rows = [row(100 + i, ENDED) for i in range(200)]
    write_recording(tmp_path / "a", [window(recorder, rows)])
    notes = Dashboard(tmp_path).get("processes", run="a")["notes"]
    assert any("200 busiest processes" in note for note in notes)


def test_a_main_process_that_was_killed_ended_badly(tmp_path: Path) -> None:
    recorder = Recorder()
    file = RecordingFile(tmp_path / "a")
    file.job(job())
    file.windows([window(recorder, [row(100, RUNNING), row(101, RUNNING)])])
    states = {
        p["pid"]: p["state"] for p in Dashboard(tmp_path).get("processes", run="a")["processes"]
    }
    assert states == {100: "ended badly", 101: "end not seen"}


def test_recordings_that_do_not_tell_processes_apart(tmp_path: Path) -> None:
    recorder = Recorder()
    write_recording(tmp_path / "a", [recorder.window({"POSIX": [Use("/a", reads=1)]})])
    dashboard = Dashboard(tmp_path)
    answer = dashboard.get("processes", run="a")
    assert answer["processes"] == []
    heatmap = dashboard.get("heatmap", run="a", by="process")
    assert heatmap["figure"]["data"] == []
    assert heatmap["notes"]


def ranks(log_dir: Path) -> Dashboard:
    """Three ranks: rank 1 reads three times as much; rank 0 was stopped and resumed."""
    for name, rank, begin, reads, seconds in (
        ("rank0", 0, 0.0, 10, 4),
        ("rank0-2", 0, 10.0, 10, 4),
        ("rank1", 1, 0.0, 30, 4),
        ("rank2", 2, 0.5, 20, 4),
    ):
        recorder = Recorder()
        windows = [
            window(recorder, [row(100 + rank, RUNNING, reads * 1000, 1)], reads, phase="train")
            for _ in range(seconds)
        ]
        write_recording(
            log_dir / "a",
            windows,
            f"darshan/{name}",
            begin=BEGIN + begin,
            rank=rank,
            hostname=f"node{rank}",
        )
    return Dashboard(log_dir)


def test_ranks_of_one_run(tmp_path: Path) -> None:
    answer = ranks(tmp_path).get("processes", run="a")
    assert answer["counts"]["ranks"] == 3
    found = {r["rank"]: r for r in answer["ranks"]}
    assert {rank: r["bytes_read"] for rank, r in found.items()} == {
        "0": 80_000,
        "1": 120_000,
        "2": 80_000,
    }
    assert found["0"]["recordings"] == ["a/darshan/rank0", "a/darshan/rank0-2"]
    assert found["0"]["gaps"] == [{"start": 4.0, "end": 10.0}]
    assert found["1"]["gaps"] == []
    assert found["1"]["call_seconds"] == pytest.approx(0.12 + 4e-6)
    assert (answer["slowest"], answer["fastest"]) == ("1", "2")
    assert any("Rank 0 was resumed" in note for note in answer["notes"])
    figures.check(answer["figure"])
    reads = figures.array(figures.trace(answer["figure"], "read")["y"])
    assert reads.tolist() == [80_000, 120_000, 80_000]


def test_ranks_over_time_show_the_gap(tmp_path: Path) -> None:
    answer = ranks(tmp_path).get("heatmap", run="a", by="rank")
    assert answer["rows"] == ["rank 0", "rank 1", "rank 2"]
    figures.check(answer["figure"])
    (trace,) = answer["figure"]["data"]
    middle = figures.array(trace["x"])
    width = middle[1] - middle[0]
    first = trace["z"][0]
    assert all(v is None for v, m in zip(first, middle, strict=True) if 4.1 < m < 9.9)
    assert all(v is not None for v, m in zip(first, middle, strict=True) if m < 4 or 10 < m < 14)
    assert sum(value or 0 for value in trace["z"][1]) * width == pytest.approx(120_000, rel=1e-3)


def test_timeline_shades_what_was_not_recorded(tmp_path: Path) -> None:
    shapes = ranks(tmp_path).get("timeline", run="a")["figure"]["layout"]["shapes"]
    found = [s for s in shapes if s.get("label", {}).get("text") == "not recorded"]
    assert [(s["x0"], s["x1"]) for s in found] == [(4.5, 10.0)]


def test_processes_of_one_rank_at_the_same_time_are_apart(tmp_path: Path) -> None:
    for name in ("rank0", "rank0-2"):
        recorder = Recorder()
        write_recording(
            tmp_path / "a", [window(recorder, [row(1, ENDED)]) for _ in range(3)], f"darshan/{name}"
        )
    answer = Dashboard(tmp_path).get("processes", run="a")
    assert [rank["rank"] for rank in answer["ranks"]] == ["0", "0 (2)"]
    assert [rank["gaps"] for rank in answer["ranks"]] == [[], []]


def test_a_resumed_training_has_rows_of_its_own(tmp_path: Path) -> None:
    """Ranks beside each other spent the longest; what was resumed begins a new row."""
    phases = ranks(tmp_path).get("overview", run="a")["phases"]
    assert [(p["start"], p["end"], p["duration_seconds"]) for p in phases] == [
        (0.0, 4.5, 4.0),
        (10.0, 14.0, 4.0),
    ]


def test_page_cache_over_time_tells_cold_from_warm_epochs(tmp_path: Path) -> None:
    recorder = Recorder()
    windows = [
        window(
            recorder,
            [row(100, RUNNING)],
            1000,
            epoch=epoch,
            phase="train",
            process_io=np.array([MIB, 0, MIB if epoch == 0 else 0, 0]),
        )
        for epoch in (0, 0, 1, 1)
    ]
    write_recording(tmp_path / "a", windows)
    dashboard = Dashboard(tmp_path)
    figure = dashboard.get("page_cache", run="a")["figure"]
    figures.check(figure)
    trace = figures.trace(figure, "from page cache")
    middle = figures.array(trace["x"])
    cold = [v for v, m in zip(trace["y"], middle, strict=True) if m < 1.99]
    warm = [v for v, m in zip(trace["y"], middle, strict=True) if m > 2.01]
    assert set(cold) == {0.0}
    assert set(warm) == {100.0}
    seen = figures.trace(figure, "seen")["y"]
    assert seen == pytest.approx([100 * 1_000_000 / MIB] * len(seen), abs=0.1)
    shares = [phase["cache_share"] for phase in dashboard.get("overview", run="a")["phases"]]
    assert shares == [0.0, 1.0]


def test_kernel_that_did_not_say_has_no_page_cache(tmp_path: Path) -> None:
    recorder = Recorder()
    write_recording(tmp_path / "a", [window(recorder, [row(100, ENDED)])])
    answer = Dashboard(tmp_path).get("page_cache", run="a")
    assert answer["figure"]["data"] == []
    assert answer["notes"]


@pytest.mark.parametrize("by", [None, "file", ""])
def test_rows_that_there_are_not(workers: Dashboard, by: str | None) -> None:
    parameters = {} if by is None else {"by": by}
    status, text = workers.error("heatmap", run="a", **parameters)
    assert status == 400
    assert "rank, process" in text


def test_impossible_processes_are_damage(tmp_path: Path) -> None:
    recorder = Recorder()
    good = window(recorder, [row(100, RUNNING)])
    bad = window(recorder, [row(os.getpid(), 9)])
    write_recording(tmp_path / "a", [good, bad])
    notes = Dashboard(tmp_path).get("processes", run="a")["notes"]
    assert any("damaged" in note for note in notes), notes
