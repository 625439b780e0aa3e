"""Which logs are found, how they are named and grouped, and that finding them never blocks."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_darshan.dashboard import log_process, log_scan
from tensorboard_plugin_darshan.dashboard.log_cache import LogCache
from tensorboard_plugin_darshan.dashboard.logs import LogStore, roots
from tests.support.dashboard import Dashboard
from tests.support.logs import need_shared, packaged
from tests.support.recordings import Recorder, Use, write_recording


def log(name: str = "example.darshan") -> Path:
    return next(path for path in packaged() if path.name == name)


def names(dashboard: Dashboard) -> list[str]:
    return sorted(run["name"] for run in dashboard.get("runs")["runs"])


def wait_for_names(dashboard: Dashboard, wanted: list[str]) -> None:
    """Asks as a page that follows does, until the runs are these."""
    deadline = time.monotonic() + 30
    while names(dashboard) != wanted:
        assert time.monotonic() < deadline, names(dashboard)
        time.sleep(0.1)


def test_logs_are_named_by_their_paths_and_stand_beside_recordings(tmp_path: Path) -> None:
    windows = [Recorder().window({"POSIX": [Use("/data/a", reads=2)]})]
    write_recording(tmp_path / "resnet", windows)
    (tmp_path / "a" / "b").mkdir(parents=True)
    shutil.copy(log(), tmp_path / "top.darshan")
    shutil.copy(log("noposix.darshan"), tmp_path / "a" / "b" / "ü x.darshan")
    (tmp_path / "a" / "not.darshan.txt").write_text("no")
    dashboard = Dashboard(tmp_path)
    assert names(dashboard) == ["a/b/ü x.darshan", "resnet", "top.darshan"]
    assert dashboard.get("overview", run="resnet")["kind"] == "recording"
    answer = dashboard.get("overview", run="a/b/ü x.darshan")
    assert answer["kind"] == "log"
    assert "STDIO" in answer["modules"]
    assert "POSIX" not in answer["modules"]


def test_links_are_followed_and_cycles_survived(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "logs"
    outside.mkdir()
    inside.mkdir()
    shutil.copy(log(), outside / "x.darshan")
    (inside / "linked").symlink_to(outside)
    (inside / "direct.darshan").symlink_to(log())
    (inside / "again").symlink_to(inside)
    (outside / "up").symlink_to(inside)
    found = log_scan.LogScan({"": inside}).scan()
    assert found is not None
    assert [one.name for one in found] == ["direct.darshan", "linked/x.darshan"]


def test_logs_that_come_change_or_go_are_noticed(tmp_path: Path) -> None:
    shutil.copy(log(), tmp_path / "a.darshan")
    dashboard = Dashboard(tmp_path)
    assert names(dashboard) == ["a.darshan"]
    (tmp_path / "later").mkdir()
    shutil.copy(log("dxt.darshan"), tmp_path / "later" / "b.darshan")
    wait_for_names(dashboard, ["a.darshan", "later/b.darshan"])
    before = dashboard.get("overview", run="a.darshan")
    shutil.copy(log("dxt.darshan"), tmp_path / "a.darshan")
    after = dashboard.get("overview", run="a.darshan")
    assert after["modules"]["POSIX"] != before["modules"]["POSIX"]
    (tmp_path / "a.darshan").unlink()
    wait_for_names(dashboard, ["later/b.darshan"])


def test_tab_is_active_with_logs_alone(tmp_path: Path) -> None:
    shutil.copy(log(), tmp_path / "a.darshan")
    plugin: Any = Dashboard(tmp_path).plugin
    deadline = time.monotonic() + 30
    while not plugin.is_active():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_tab_is_inactive_without_anything(tmp_path: Path) -> None:
    dashboard = Dashboard(tmp_path)
    assert names(dashboard) == []
    assert not dashboard.plugin.is_active()


def test_logs_of_one_job_in_one_folder_are_one_run_too(tmp_path: Path) -> None:
    source = need_shared("dlio_logs")
    files = sorted(source.iterdir())[:3]
    folder = tmp_path / "job"
    folder.mkdir()
    for path in files:
        (folder / path.name).symlink_to(path)
    (tmp_path / "alone.darshan").symlink_to(files[0])
    dashboard = Dashboard(tmp_path)
    singly = [f"job/{path.name}" for path in files]
    assert names(dashboard) == sorted(["alone.darshan", "job/job-3116902", *singly])
    whole = dashboard.get("overview", run="job/job-3116902")
    parts = [dashboard.get("overview", run=name) for name in singly]
    assert len(whole["recordings"]) == 3
    for quantity in ("bytes_read", "bytes_written", "reads", "writes", "opens"):
        of_parts = sum(part["modules"]["POSIX"][quantity] for part in parts)
        assert whole["modules"]["POSIX"][quantity] == of_parts
    (run,) = [r for r in dashboard.get("runs")["runs"] if r["name"] == "job/job-3116902"]
    assert (run["recordings"], run["processes"]) == (3, 3)


def test_five_thousand_logs_are_listed_without_waiting(tmp_path: Path) -> None:
    data = log("noposix.darshan").read_bytes()
    for i in range(5000):
        folder = tmp_path / f"{i % 50}"
        folder.mkdir(exist_ok=True)
        (folder / f"{i}.darshan").write_bytes(data)
    os.utime(tmp_path / "0" / "0.darshan", (0, 0))
    store = LogStore({"": tmp_path}, LogCache(tmp_path / "cache"))
    begin = time.perf_counter()
    store.has_any  # noqa: B018  (asks for the first look)
    assert time.perf_counter() - begin < 0.05
    deadline = time.monotonic() + 120
    while len(store.entries()) < 5000:
        assert time.monotonic() < deadline
    took = []
    for _ in range(20):
        begin = time.perf_counter()
        store.entries()
        assert store.has_any
        took.append(time.perf_counter() - begin)
    assert min(took) < 0.05


def test_listing_again_reads_no_settled_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(log(), tmp_path / "a.darshan")
    os.utime(tmp_path / "a.darshan", (1e9, 1e9))
    scan = log_scan.LogScan({"": tmp_path})
    assert [found.name for found in scan.scan() or []] == ["a.darshan"]

    def refuse(path: object) -> None:
        raise AssertionError(path)

    monkeypatch.setattr(log_scan, "read_header", refuse)
    assert scan.scan() is None


def test_what_was_read_is_kept_and_bounded(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "a.darshan"
    shutil.copy(log(), path)
    store = LogCache()
    first = log_process.read_logs([path], store)[path]
    (entry,) = cache.iterdir()
    written = entry.stat().st_ino
    second = log_process.read_logs([path], store)[path]
    assert not isinstance(first, Exception)
    assert not isinstance(second, Exception)
    assert first[0] == second[0]
    assert entry.stat().st_ino == written
    assert [file.name for file in tmp_path.iterdir()] == ["a.darshan"]
    shutil.copy(log("dxt.darshan"), path)
    log_process.read_logs([path], store)
    assert len(list(cache.iterdir())) == 2
    small = LogCache(max_bytes=1)
    small.prune()
    assert list(cache.iterdir()) == []


def test_cache_that_cannot_be_written_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    path = log()
    assert not isinstance(log_process.read_logs([path], LogCache())[path], Exception)


def test_child_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_process, "START_SECONDS", 0.0)
    monkeypatch.setattr(log_process, "LOG_SECONDS", 0.05)
    path = log()
    found = log_process.read_logs([path], LogCache(tmp_path))[path]
    assert "could not be read within" in str(found)


@pytest.mark.parametrize(
    ("logdir", "spec", "expected"),
    [
        ("/a/b", None, {"": "/a/b"}),
        ("", "x:/a,y:/b,/c", {"x": "/a", "y": "/b", "": "/c"}),
        ("gs://bucket/logs", None, {}),
        ("", "x:gs://bucket,/c", {"": "/c"}),
        ("", None, {}),
    ],
)
def test_local_directories_only(logdir: str, spec: str | None, expected: dict[str, str]) -> None:
    class Context:
        flags = type("Flags", (), {"logdir": logdir, "logdir_spec": spec})

    assert {name: str(path) for name, path in roots(Context()).items()} == expected
