"""The commands from the first run to the comparison, on real files and real recordings."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest

from tensorboard_plugin_darshan import cli, staging_cli, staging_plan, staging_probe
from tensorboard_plugin_darshan.dashboard.staging import Costs
from tensorboard_plugin_darshan.window import FILE_COLUMNS
from tests.support.real_runs import read_file, taping, write_files
from tests.support.recordings import write_recording

READING, OPENING = (
    FILE_COLUMNS.index("read_nanoseconds"),
    FILE_COLUMNS.index("metadata_nanoseconds"),
)
FAST = Costs(1e-5, 1e-6, 1e-10)


def slowed(window, directory):
    """The window as if files below a directory lay on a disk: 5 ms an open, 100 MB/s."""
    module = window.modules["POSIX"]
    values = module.files.values.copy()
    for place, key in enumerate(module.files.ids.tolist()):
        if os.path.realpath(window.names[key]).startswith(str(directory)):
            values[place, OPENING] = 5_000_000 * values[place, FILE_COLUMNS.index("opens")]
            values[place, READING] = 10 * values[place, FILE_COLUMNS.index("bytes_read")]
        else:
            values[place, OPENING] = 10_000 * values[place, FILE_COLUMNS.index("opens")]
            values[place, READING] = values[place, FILE_COLUMNS.index("bytes_read")] // 10
    files = dataclasses.replace(module.files, values=values)
    return dataclasses.replace(window, modules={"POSIX": dataclasses.replace(module, files=files)})


def record(log_dir, paths, slow):
    """A run that really reads the files; only their times are those of an invented disk."""
    with taping() as tape:
        for path in paths:
            read_file(path)
        tape.cut()
    write_recording(log_dir, [slowed(window, slow) for window in tape.windows])


@pytest.fixture
def data(tmp_path):
    root = tmp_path / "sets" / "data"
    write_files(root / "small", [20_000] * 60)
    write_files(root / "large", [3_000_000] * 6)
    return root


@pytest.fixture
def paths(tmp_path, data, monkeypatch):
    """The files of a whole staging, in a directory of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(staging_probe, "probe", lambda directory: FAST)
    record(tmp_path / "before", sorted(data.rglob("*.bin")), data)
    return tmp_path


def plan(tmp_path, budget="1300KB"):
    command = ["stage", "plan", "before", "--budget", budget, "--fast", str(tmp_path / "fast")]
    return cli.main(command)


def test_whole_way(paths, data, capsys):
    assert plan(paths) == 0
    said = capsys.readouterr().out
    assert "60 files below" in said
    made = staging_plan.load(Path("stage.json"))
    assert {Path(one.path).parts[0] for one in made.files} == {"small"}
    assert made.data == str(data)
    assert made.costs["/"]["open_seconds"] == pytest.approx(0.005, rel=0.01)
    assert made.costs["/"]["byte_seconds"] == pytest.approx(1e-8, rel=0.01)
    assert cli.main(["stage", "apply", "stage.json", "--reserve", "0"]) == 0
    assert f"train on {made.mirror} instead of {data}" in capsys.readouterr().out
    record(paths / "after", sorted(made.mirror.rglob("*.bin")), data)
    assert cli.main(["stage", "check", "stage.json", "before", "after"]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    small, large = 60 * (0.005 + 20_000e-8), 6 * (0.005 + 3_000_000e-8)
    copied = 60 * (1e-5 + 20_000e-10)
    more = round(100 * ((small + large) / (copied + large) - 1))
    assert f"predicted {more} % more, measured {more} % more" in line
    assert cli.main(["stage", "clean", "stage.json"]) == 0
    assert not Path(made.stage).exists()
    assert len(list(data.rglob("*.bin"))) == 66


def test_check_needs_a_run_on_the_mirror(paths, capsys):
    plan(paths)
    assert cli.main(["stage", "check", "stage.json", "before", "before"]) == 1
    assert "did not read from the mirror" in capsys.readouterr().err


def test_run_that_gains_nothing_gets_no_plan(paths, capsys, monkeypatch):
    monkeypatch.setattr(staging_probe, "probe", lambda directory: Costs(1.0, 1.0, 1.0))
    assert plan(paths) == 1
    assert "no file would be read faster" in capsys.readouterr().err
    assert not Path("stage.json").exists()


def test_data_all_over_the_machine_must_be_named(paths, capsys):
    record(paths / "all", [*paths.rglob("*.bin"), Path(__file__)], paths)
    command = ["stage", "plan", "all", "--budget", "1GiB", "--fast", "fast"]
    assert cli.main(command) == 1
    assert "--data DIR" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["plan.json"], ["before"]])
def test_missing_plan_is_told(paths, capsys, arguments):
    assert cli.main(["stage", "apply", *arguments]) == 1
    assert capsys.readouterr().err


def test_directory_without_a_run_is_told(paths, capsys):
    command = ["stage", "plan", "nowhere", "--budget", "1GiB", "--fast", "fast"]
    assert cli.main(command) == 1
    assert "no recorded run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "expected"),
    [("10GiB", 10 * 1024**3), ("1.5 M", 1.5 * 1024**2), ("4096", 4096), ("2TB", 2 * 1024**4)],
)
def test_sizes(text, expected):
    assert staging_cli.parse_size(text) == expected


def test_wrong_size_is_told(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["stage", "plan", "x", "--budget", "much", "--fast", "y"])
    assert ended.value.code == 2
    assert "10GiB" in capsys.readouterr().err


def test_probe_measures_and_leaves_nothing(tmp_path):
    costs = staging_probe.probe(tmp_path / "fast")
    assert 0 < costs.open_seconds < 1
    assert costs.of(np.array(0.0), np.array(1.0), np.array(1e6)) > 0
    assert list((tmp_path / "fast").iterdir()) == []
