"""What the views say of logs: sources of time, ranks, shared files, what is incomplete."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_darshan import modules
from tensorboard_plugin_darshan.dashboard import log_bins, log_header
from tests.support import figures
from tests.support.dashboard import Dashboard
from tests.support.logs import link, need_shared, packaged

OLD_MODULE_VERSIONS_AT = 296


def only(tmp_path: Path, log: Path) -> tuple[Dashboard, str]:
    return Dashboard(link(tmp_path / "logs", log)), log.name


def package_log(name: str) -> Path:
    return next(path for path in packaged() if path.name == name)


def notes(answer: Any) -> str:
    return " ".join(answer["notes"])


@pytest.mark.parametrize("name", list(modules.SHOWN))
def test_counters_have_pydarshans_names(name: str) -> None:
    from darshan.backend import cffi_backend

    layout = modules.SHOWN[name]
    assert list(layout.counters) == cffi_backend.counter_names(name)
    assert list(layout.fcounters) == cffi_backend.fcounter_names(name)


def test_time_comes_from_traces_and_adds_up(tmp_path: Path) -> None:
    dashboard, name = only(tmp_path, package_log("dxt.darshan"))
    answer = dashboard.get("timeline", run=name, module="POSIX")
    assert "traced accesses (DXT)" in notes(answer)
    overview = dashboard.get("overview", run=name)
    trace = figures.trace(answer["figure"], "read")
    edges = np.minimum(figures.array(trace["x"]), overview["duration_seconds"])
    read = (figures.array(trace["y"])[:-1] * np.diff(edges)).sum()
    assert read == pytest.approx(overview["modules"]["POSIX"]["bytes_read"], rel=1e-3)
    start, end = 100.0, 100.5
    zoomed = dashboard.get("timeline", run=name, module="POSIX", start=start, end=end)
    assert zoomed["bin_seconds"] < answer["bin_seconds"] / 10


def test_seconds_of_threads_are_no_share_of_the_job(tmp_path: Path) -> None:
    dashboard, name = only(tmp_path, package_log("dxt.darshan"))
    answer = dashboard.get("overview", run=name)
    assert answer["modules"]["POSIX"]["metadata_seconds"] > 10_000 > answer["duration_seconds"]
    assert answer["busy_seconds"] is None or answer["busy_seconds"] <= answer["duration_seconds"]
    assert answer["phases"] == []
    assert all(0 <= share <= 1 for share in answer["sparklines"]["busy"])
    assert "no share of it" in answer["definitions"]["read_seconds"]


def test_time_comes_from_heatmaps(tmp_path: Path) -> None:
    log = need_shared("e3sm_io_heatmaps_and_dxt/e3sm_io_heatmap_only.darshan")
    dashboard, name = only(tmp_path, log)
    answer = dashboard.get("timeline", run=name)
    assert "heatmap" in notes(answer)
    assert "APMPI, which is not shown" in notes(answer)
    grid = figures.trace(answer["rank_figure"], "ranks")
    rows, bins = (int(n) for n in grid["z"]["shape"].split(","))
    assert rows == 256  # two ranks a row of 512
    assert 100 <= bins <= 500
    figures.check(answer["rank_figure"])


def test_time_comes_from_timestamps_at_last(tmp_path: Path) -> None:
    dashboard, name = only(tmp_path, package_log("sample-badost.darshan"))
    answer = dashboard.get("timeline", run=name)
    assert "only first and last access" in notes(answer)
    assert figures.array(figures.trace(answer["figure"], "write")["y"]).max() > 0


def test_job_of_65536_ranks_tells_fastest_and_slowest(tmp_path: Path) -> None:
    dashboard, name = only(tmp_path, need_shared("skew_io/skew-app.darshan"))
    answer = dashboard.get("overview", run=name)
    assert answer["processes"] == 65536
    (table,) = [table for table in answer["tables"] if table["name"] == "shared_files"]
    posix = next(row for row in table["rows"] if row[1] == "POSIX")
    assert posix[2:4] == ["2", 0]
    assert posix[4] == pytest.approx(0.0899, rel=1e-2)
    assert posix[5:7] == ["0", 43637372528]
    assert posix[7] == pytest.approx(264.24, rel=1e-4)
    figure = dashboard.get("timeline", run=name)["rank_figure"]
    assert [trace["name"] for trace in figure["data"]] == ["shared"]


def test_daos_has_its_own_operations_and_sizes(tmp_path: Path) -> None:
    dashboard, name = only(tmp_path, need_shared("ior_daos/ior-DFS_id4681120-53379.darshan"))
    answer = dashboard.get("overview", run=name)
    (table,) = [table for table in answer["tables"] if table["name"] == "operations"]
    assert ["GLOBAL_OPENS", "DFS", 30] in table["rows"]
    assert ["ARRAY_READS", "DAOS", 64] in table["rows"]
    sizes = dashboard.get("access_sizes", run=name, module="DFS")
    assert [row["reads"] for row in sizes["sizes"] if row["reads"]] == [64]
    whole = dashboard.get("overview", run=name)["cards"][0]["value"]
    assert whole == "16 MiB"  # DFS once, not DAOS again
    files = dashboard.get("files", run=name, module="DAOS")["rows"]
    assert {row["path"] for row in files} >= {"/"}
    assert all(row["path"] for row in files)


@pytest.mark.parametrize(
    ("name", "setting"),
    [("DXT_POSIX", "MAX_RECORDS <n> DXT_POSIX"), ("DXT_MPIIO", "MAX_RECORDS <n> DXT_MPIIO")],
)
def test_incomplete_traces_are_said_with_what_helps(
    tmp_path: Path, name: str, setting: str
) -> None:
    dashboard, run = only(tmp_path, need_shared("partial_data_dxt/partial_data_dxt.darshan"))
    for route in ("overview", "timeline", "files"):
        said = notes(dashboard.get(route, run=run))
        assert f"{name} is incomplete" in said
        assert setting in said


def test_incomplete_records_are_said_with_what_helps(tmp_path: Path) -> None:
    data = bytearray(package_log("noposix.darshan").read_bytes())
    partial = struct.unpack_from("<I", data, 20)[0]
    stdio = 7 if data[:4] == b"3.10" else 8
    struct.pack_into("<I", data, 20, partial | 1 << stdio)
    (tmp_path / "partial.darshan").write_bytes(data)
    answer = Dashboard(tmp_path).get("overview", run="partial.darshan")
    assert "STDIO is incomplete" in notes(answer)
    assert all(word in notes(answer) for word in ("MODMEM", "NAMEMEM", "MAX_RECORDS"))


def test_traces_that_pydarshan_drops_are_told(tmp_path: Path) -> None:
    log = package_log("dxt.darshan")
    header = log_header.read_header(log)
    place = list(log_header._MODULES[3, 20]).index("DXT_POSIX")
    if header.format_version < "3.20":
        place -= 1
    data = bytearray(log.read_bytes())
    at = OLD_MODULE_VERSIONS_AT + 4 * place
    assert struct.unpack_from("<I", data, at) == (1,)
    struct.pack_into("<I", data, at, 2)
    (tmp_path / "newer.darshan").write_bytes(data)
    dashboard = Dashboard(tmp_path)
    answer = dashboard.get("timeline", run="newer.darshan", module="POSIX")
    assert "DXT_POSIX has records of version 2, newer than the installed PyDarshan" in notes(answer)
    assert "only first and last access" in notes(answer)
    assert dashboard.get("overview", run="newer.darshan")["modules"]["POSIX"]["files"] > 0


def test_log_without_modules_says_that_nothing_was_recorded(tmp_path: Path) -> None:
    dashboard, name = only(tmp_path, need_shared("empty_log/empty_log.darshan"))
    answer = dashboard.get("overview", run=name)
    assert "This job recorded no file I/O" in notes(answer)
    assert answer["job"]["processes"] == 4


def test_names_that_are_no_paths_stay_what_they_are(tmp_path: Path) -> None:
    dashboard, name = only(tmp_path, need_shared("noposixopens.darshan"))
    rows = dashboard.get("files", run=name)["rows"]
    assert len(rows) == 4
    assert all(isinstance(row["path"], str) and not row["folded"] for row in rows)


def test_spreading_keeps_amounts_and_places() -> None:
    chance = np.random.default_rng(7)
    n, shape = 5000, (3, 400)
    row = chance.integers(0, 3, n)
    start = chance.uniform(-5, 405, n)
    end = start + chance.exponential(20, n) * chance.integers(0, 2, n)
    amount = chance.integers(0, 10**9, n)
    found = log_bins.spread(row, start, end, amount, shape)
    assert found.sum(axis=1) == pytest.approx(np.bincount(row, amount), rel=1e-9)
    assert (found >= 0).all()
    one = log_bins.spread(*(np.array([v]) for v in (1, 2.5, 4.25, 7.0)), (2, 6))
    assert one.tolist() == [[0.0] * 6, [0.0, 0.0, 2.0, 4.0, 1.0, 0.0]]
    assert log_bins.whole(np.array([0.4, 0.4, 0.4, 0.8])).tolist() == [0, 1, 0, 1]


def test_union_counts_overlap_once() -> None:
    start, end = np.array([5.0, 0.0, 1.0, 9.0]), np.array([6.0, 2.0, 3.0, 9.0])
    first, last = log_bins.union(start, end)
    assert first.tolist() == [0.0, 5.0, 9.0]
    assert last.tolist() == [3.0, 6.0, 9.0]
