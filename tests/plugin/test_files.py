from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.dashboard import Dashboard
from tests.support.recordings import BEGIN, Recorder, Use, write_recording


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Dashboard:
    log_dir = tmp_path_factory.mktemp("logs")
    recorder = Recorder()
    images = [Use(f"/data/Img_{i:03}.jpg", reads=i, access_bytes=1000) for i in range(1, 151)]
    modules = {
        "POSIX": [*images, Use("/ckpt/w", writes=3, access_bytes=10**6)],
        "STDIO": [Use("/log.txt", writes=5, access_bytes=10)],
    }
    write_recording(log_dir / "a", [recorder.window(modules) for _ in range(3)])
    return Dashboard(log_dir)


def test_rows_add_up_over_windows(dashboard: Dashboard) -> None:
    answer = dashboard.get("files", run="a")
    assert answer["total"] == 152
    assert len(answer["rows"]) == 100
    assert answer["rows"][0] == {
        "path": "/ckpt/w",
        "module": "POSIX",
        "folded": False,
        "opens": 3,
        "reads": 0,
        "writes": 9,
        "metadata_calls": 3,
        "bytes": 9 * 10**6,
        "bytes_read": 0,
        "bytes_written": 9 * 10**6,
        "read_seconds": 0.0,
        "write_seconds": pytest.approx(0.009),
        "metadata_seconds": pytest.approx(3e-6),
        "size_bytes": 3 * 10**6,
        "processes": 1,
        "read_bandwidth": None,
        "write_bandwidth": pytest.approx(1e9),
    }
    assert answer["notes"] == []


def test_pages_follow_each_other_without_gap(dashboard: Dashboard) -> None:
    pages = [dashboard.get("files", run="a", limit=50, offset=o)["rows"] for o in (0, 50, 100, 150)]
    assert [len(page) for page in pages] == [50, 50, 50, 2]
    paths = [row["path"] for page in pages for row in page]
    assert len(set(paths)) == 152
    assert dashboard.get("files", run="a", offset=152) | {"rows": []} == dashboard.get(
        "files", run="a", offset=10**9
    )


@pytest.mark.parametrize("search", ["img_01", "IMG_01", "/data/Img_01"])
def test_search_ignores_case_and_counts_its_hits(dashboard: Dashboard, search: str) -> None:
    answer = dashboard.get("files", run="a", search=search)
    assert answer["total"] == 10
    assert all("Img_01" in row["path"] for row in answer["rows"])


def test_search_is_text_not_a_pattern(dashboard: Dashboard) -> None:
    assert dashboard.get("files", run="a", search=".*")["total"] == 0


@pytest.mark.parametrize(
    "column",
    [
        *("path", "module", "opens", "reads", "writes", "metadata_calls", "bytes", "bytes_read"),
        *("bytes_written", "read_seconds", "write_seconds", "metadata_seconds", "size_bytes"),
        *("processes",),
        *("read_bandwidth", "write_bandwidth"),
    ],
)
def test_sorts_by_every_column_with_unknown_values_last(dashboard: Dashboard, column: str) -> None:
    def values(sort: str) -> list[Any]:
        rows = dashboard.get("files", run="a", sort=sort, limit=1000)["rows"]
        assert len(rows) == 152
        known = [row[column] for row in rows if row[column] is not None]
        assert [row[column] for row in rows][: len(known)] == known
        return known

    up, down = values(column), values(f"-{column}")
    assert up == sorted(up)
    assert down == sorted(up, reverse=True)


def test_rows_without_a_value_are_last_both_ways(dashboard: Dashboard) -> None:
    for sort in ("read_bandwidth", "-read_bandwidth"):
        rows = dashboard.get("files", run="a", sort=sort, limit=1000)["rows"]
        assert {row["path"] for row in rows[-2:]} == {"/ckpt/w", "/log.txt"}


def test_module_and_stretch_restrict(dashboard: Dashboard) -> None:
    (row,) = dashboard.get("files", run="a", module="STDIO", start=1, end=2)["rows"]
    assert (row["path"], row["writes"]) == ("/log.txt", 5)


def test_folded_directories_are_marked_and_explained(tmp_path: Path) -> None:
    recorder = Recorder(listed=1)
    uses = [Use(f"/d/{i}", reads=i) for i in (1, 2, 3)]
    write_recording(tmp_path / "a", [recorder.window({"POSIX": uses})])
    answer = Dashboard(tmp_path).get("files", run="a", sort="path")
    assert [(r["path"], r["folded"], r["reads"]) for r in answer["rows"]] == [
        ("/d/", True, 3),
        ("/d/3", False, 3),
    ]
    assert "end in a slash" in answer["notes"][0]


def test_same_path_of_several_recordings_is_one_row(tmp_path: Path) -> None:
    for rank in range(3):
        recorder = Recorder()
        window = recorder.window({"POSIX": [Use("/shared", reads=rank + 1, size_bytes=rank + 10)]})
        write_recording(tmp_path / "a", [window], f"darshan/rank{rank}", begin=BEGIN + rank)
    (row,) = Dashboard(tmp_path).get("files", run="a")["rows"]
    assert (row["reads"], row["opens"], row["size_bytes"]) == (6, 3, 12)


def test_paths_that_are_no_text_survive(tmp_path: Path) -> None:
    recorder = Recorder()
    path = b"/d/\xff<script>\n".decode("utf-8", "surrogateescape")
    write_recording(tmp_path / "a", [recorder.window({"POSIX": [Use(path, reads=1)]})])
    (row,) = Dashboard(tmp_path).get("files", run="a")["rows"]
    assert row["path"] == path
