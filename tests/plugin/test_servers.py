"""Whole `tensorboard` processes: both loaders must give the same numbers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.dashboard import Server, tensorboard
from tests.support.recordings import (
    BEGIN,
    Recorder,
    RecordingFile,
    Use,
    job,
    repeat,
    write_recording,
)

LOADERS = ("--load_fast=true", "--load_fast=false")
ROUTES = ("overview", "timeline", "file_bandwidth", "access_sizes", "files")
N_WINDOWS = 5000


@pytest.fixture(scope="module")
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 5,000 windows with many files, and one of two recordings."""
    directory = tmp_path_factory.mktemp("logs")
    chance = random.Random(1)
    recorder = Recorder(window_seconds=0.05, listed=5)
    windows = [
        recorder.window(
            {
                "POSIX": [
                    Use(f"/data/{chance.randrange(40)}/{i}", chance.randrange(9), i, 10**i)
                    for i in range(7)
                ],
                "STDIO": [Use("/log", writes=1)],
            },
            phase="train" if place < 80 else "validation",
            epoch=0,
            process_io=np.array([10**6, 10**6, 10**5, 0]),
        )
        for place in range(100)
    ]
    write_recording(directory / "long", repeat(windows, N_WINDOWS), windows_per_tag=900)
    for rank in range(2):
        one = Recorder()
        windows = [one.window({"POSIX": [Use("/shared", reads=rank + 1)]}) for _ in range(3)]
        write_recording(
            directory / "two", windows, f"darshan/rank{rank}", begin=BEGIN + rank, rank=rank
        )
    return directory


def collect(server: Server) -> dict[str, Any]:
    """All answers once everything is loaded."""
    names = {"long", "two"}
    server.wait_for("runs", lambda a: {run["name"] for run in a["runs"]} == names)
    server.wait_for("overview", lambda a: a["recordings"][0]["windows"] == N_WINDOWS, run="long")
    server.wait_for("overview", lambda a: len(a["recordings"]) == 2, run="two")
    answers = {"runs": server.get("runs")}
    for run in sorted(names):
        for route in ROUTES:
            answers[f"{run} {route}"] = server.get(route, run=run)
            answers[f"{run} {route} part"] = server.get(route, run=run, start=1.01, end=2.52)
    return answers


def test_both_loaders_keep_every_window_and_give_the_same_numbers(log_dir: Path) -> None:
    found = []
    for loader in LOADERS:
        with tensorboard(log_dir, loader) as server:
            found.append(collect(server))
    fast, legacy = found
    assert fast.keys() == legacy.keys()
    for key in fast:
        assert fast[key] == legacy[key], key
    assert fast["long overview"]["modules"]["STDIO"]["writes"] == N_WINDOWS
    assert fast["long overview"]["notes"] == []
    assert fast["two overview"]["modules"]["POSIX"]["reads"] == 9


def test_samples_that_the_user_asked_for_are_respected_and_told(log_dir: Path) -> None:
    with tensorboard(log_dir, "--load_fast=true", "--samples_per_plugin", "darshan=20") as server:
        answer = server.wait_for(
            "overview", lambda a: a["recordings"][0]["windows"] >= 100, run="long"
        )
    kept = answer["recordings"][0]["windows"]
    assert kept <= 6 * 20
    assert any("TensorBoard left out" in note for note in answer["notes"])


@pytest.mark.parametrize("loader", LOADERS)
def test_running_training_grows_in_the_answers(tmp_path: Path, loader: str) -> None:
    recorder = Recorder()
    file = RecordingFile(tmp_path / "a", windows_per_tag=4)
    file.job(job())

    def grow(n: int) -> None:
        uses = {"POSIX": [Use("/a", reads=1)]}
        file.windows([recorder.window(uses) for _ in range(n)])

    grow(3)
    with tensorboard(tmp_path, loader) as server:

        def wait(n: int) -> Any:
            return server.wait_for(
                "overview",
                lambda a: a["modules"].get("POSIX", {"reads": 0})["reads"] == n,
                run="a",
            )

        assert wait(3)["duration_seconds"] == 3.0
        grow(5)
        assert wait(8)["duration_seconds"] == 8.0
        file.job(job(end=BEGIN + 8.5, finished=True), BEGIN + 8.5)
        (run,) = server.wait_for("runs", lambda a: a["runs"][0]["end"] is not None)["runs"]
        assert run["duration_seconds"] == 8.5
