"""A recorded run as a Darshan log, read back with Darshan's own tools."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tensorboard_plugin_darshan.cli import main
from tests.support.dashboard import Dashboard
from tests.support.recordings import Recorder, Use, write_recording


def recorded(folder: Path) -> None:
    recorder = Recorder()
    windows = [
        recorder.window(
            {
                "POSIX": [
                    Use("/data/ä.bin", reads=20, access_bytes=4096),
                    Use(f"/data/{i}", reads=3, writes=2, access_bytes=70000),
                ],
                "STDIO": [Use("/data/log.txt", writes=5)],
            }
        )
        for i in range(4)
    ]
    write_recording(folder / "run", windows)


def test_counters_are_those_of_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import darshan

    recorded(tmp_path)
    out = tmp_path / "OUT.darshan"
    assert main(["export", str(tmp_path / "run"), str(out), "--format", "darshan"]) == 0
    assert "wrote" in capsys.readouterr().out
    report = darshan.DarshanReport(str(out), read_all=True)
    shown = Dashboard(tmp_path / "run").get("overview", run=".")
    assert set(report.modules) == {"POSIX", "STDIO", "HEATMAP"}
    for module, totals in shown["modules"].items():
        frames = report.records[module].to_df()
        for quantity in ("opens", "reads", "writes", "bytes_read", "bytes_written"):
            assert frames["counters"][f"{module}_{quantity.upper()}"].sum() == totals[quantity]
        for kind in ("read", "write", "meta"):
            seconds = totals["metadata_seconds" if kind == "meta" else f"{kind}_seconds"]
            found = frames["fcounters"][f"{module}_F_{kind.upper()}_TIME"].sum()
            assert found == pytest.approx(seconds, abs=1e-6)
        sizes = [c for c in frames["counters"] if "_SIZE_READ_" in c]
        if sizes:
            assert frames["counters"][sizes].to_numpy().sum() == totals["reads"]
    names = set(report.name_records.values())
    assert {"/data/ä.bin", "/data/0", "/data/3", "/data/log.txt"} <= names
    assert report.metadata["job"]["nprocs"] == 1
    heat = report.heatmaps["POSIX"].to_df(["read"]).to_numpy().sum()
    assert heat == shown["modules"]["POSIX"]["bytes_read"]


def test_exported_log_is_a_run_with_the_same_totals(tmp_path: Path) -> None:
    recorded(tmp_path)
    assert main(["export", str(tmp_path / "run"), str(tmp_path / "same.darshan")]) == 0
    dashboard = Dashboard(tmp_path)
    first, second = (dashboard.get("overview", run=n)["modules"] for n in ("run", "same.darshan"))
    for module, totals in first.items():
        for quantity in ("opens", "reads", "writes", "bytes_read", "bytes_written"):
            assert second[module][quantity] == totals[quantity]


def test_pydarshans_summary_reads_it(tmp_path: Path) -> None:
    recorded(tmp_path)
    out = tmp_path / "OUT.darshan"
    assert main(["export", str(tmp_path / "run"), str(out)]) == 0
    page = tmp_path / "summary.html"
    command = [sys.executable, "-m", "darshan", "summary", "--output", str(page), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "POSIX" in page.read_text()


def test_mistakes_are_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path), str(tmp_path / "x.darshan")]) == 1
    assert "no recorded run" in capsys.readouterr().err
    recorded(tmp_path / "a")
    recorded(tmp_path / "b")
    assert main(["export", str(tmp_path), str(tmp_path / "x.darshan")]) == 1
    assert "give the directory of one of them: a/run, b/run" in capsys.readouterr().err
    assert not (tmp_path / "x.darshan").exists()
