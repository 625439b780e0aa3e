from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.window import FILE_COLUMNS
from tests.support import events

pytestmark = pytest.mark.tensorflow

EPOCHS = 3
OPENS, BYTES_READ, SIZE = (
    FILE_COLUMNS.index(name) for name in ("opens", "bytes_read", "size_bytes")
)


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    pytest.importorskip("tensorflow")
    directory = tmp_path_factory.mktemp("demo")
    result = subprocess.run(
        [
            *(sys.executable, "-m", "tensorboard_plugin_darshan.cli"),
            *("demo", "--logdir", str(directory), "--no-serve"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert result.returncode == 0, result.stderr
    assert "RuntimeWarning" not in result.stderr
    return directory


@pytest.fixture(scope="module")
def windows(logdir):
    return events.windows(logdir)


@pytest.fixture(scope="module")
def data_files(logdir):
    """Path → size of every data file, as the disk says."""
    return {str(path): path.stat().st_size for path in (logdir / "demo_data").rglob("*.bmp")}


def names(windows):
    return {key: name for window in windows for key, name in window.names.items()}


def test_bytes_read_are_file_sizes_times_epochs(windows, data_files):
    """By file, from the windows' lists: they hold all files, since there are fewer than 500."""
    known, found, opens = names(windows), Counter(), Counter()
    for window in windows:
        part = window.modules["POSIX"]
        assert len(part.folded.ids) == 0
        for key, row in zip(part.files.ids.tolist(), part.files.values, strict=True):
            if known[key] in data_files:
                found[known[key]] += int(row[BYTES_READ])
                opens[known[key]] += int(row[OPENS])
    assert len(data_files) == 340
    assert found == {path: EPOCHS * size for path, size in data_files.items()}
    assert opens == dict.fromkeys(data_files, EPOCHS)


def test_totals_by_epoch_and_phase_are_those_of_the_data_set(windows, data_files, logdir):
    """From Darshan's counters over all files, which have no list to be cut short."""
    place = counters.POSIX.index["POSIX_BYTES_READ"]
    read: Counter[tuple[str, int]] = Counter()
    for window in windows:
        read[window.phase, window.epoch] += int(window.modules["POSIX"].counters[place])
    for epoch in range(EPOCHS):
        for phase, split in (("train", "train"), ("validation", "validation")):
            folder = str(logdir / "demo_data" / split)
            total = sum(size for path, size in data_files.items() if path.startswith(folder))
            assert read[phase, epoch] == total


def test_file_of_reads_agrees_with_the_disk(logdir, data_files):
    listed = json.loads((logdir / "demo_data" / "reads.json").read_text())
    sizes = {str(logdir / "demo_data" / row["path"]): row["bytes"] for row in listed["files"]}
    assert sizes == data_files
    assert {row["reads"] for row in listed["files"]} == {EPOCHS} == {listed["epochs"]}


def test_checkpoints_are_written_in_the_training_s_phase(windows, logdir):
    known, phases = names(windows), Counter()
    column = FILE_COLUMNS.index("bytes_written")
    checkpoints = {str(path): path.stat().st_size for path in logdir.rglob("*.keras")}
    for window in windows:
        part = window.modules["POSIX"]
        for key, row in zip(part.files.ids.tolist(), part.files.values, strict=True):
            if known[key] in checkpoints and row[column]:
                phases[known[key], window.phase, window.epoch] += int(row[column])
    assert len(checkpoints) == EPOCHS
    assert {(phase, epoch) for _, phase, epoch in phases} == {("train", e) for e in range(EPOCHS)}
    for (path, _, _), written in phases.items():
        assert written >= checkpoints[path]


def test_own_event_file_is_not_recorded(windows):
    assert [name for name in names(windows).values() if "tfevents" in name] == []


def test_every_byte_that_the_kernel_saw_was_recorded(windows):
    """The data are nearly all of `rchar`; what is left over is excluded files and TensorFlow's."""
    place = counters.POSIX.index["POSIX_BYTES_READ"]
    read = sum(int(window.modules["POSIX"].counters[place]) for window in windows)
    assert 0.99 < read / sum(int(window.process_io[0]) for window in windows) <= 1


def test_recording_is_finished_and_small(logdir, windows):
    first, last = events.jobs(logdir)[0], events.jobs(logdir)[-1]
    assert (first["finished"], last["finished"]) == (False, True)
    assert (last["source"], last["backend"]) == ("builtin", "tensorflow")
    (path,) = events.files(logdir)
    minutes = max(1, (last["end"] - last["begin"]) / 60)
    assert path.stat().st_size < (1 + minutes) * 1024**2
    edges = [(window.start_seconds, window.end_seconds) for window in windows]
    assert all(end == start for (_, end), (start, _) in pairwise(edges))


def test_scalars_rise_with_the_training_step(logdir):
    steps = {tag: list(points) for tag, points in events.scalars(logdir).items()}
    assert len({tuple(points) for points in steps.values()}) == 1
    (points, *_) = steps.values()
    assert points == sorted(set(points))
    assert len(points) > EPOCHS
