"""The whole way: a Keras training, its event files, TensorBoard, and the tab in a browser."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.support import live_training
from tests.support.browser import Tab
from tests.support.dashboard import tensorboard

pytestmark = [pytest.mark.browser, pytest.mark.tensorflow]

START_SECONDS = 180.0
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def training(data: Path, log_dir: Path, go_on: Path, said: Path) -> Iterator[subprocess.Popen[str]]:
    """A training in a process of its own; what it says comes to `said`."""
    command = [sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.support.live_training"]
    with said.open("w") as output:
        process = subprocess.Popen(
            [*command, str(data), str(log_dir), str(go_on)],
            cwd=ROOT,
            env=os.environ | {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        print(f"The training said:\n{said.read_text()}")


def test_timeline_grows_before_the_training_ends(tmp_path: Path, chromium: Browser) -> None:
    data, log_dir, go_on = tmp_path / "data", tmp_path / "logs", tmp_path / "go_on"
    live_training.write_data(data)
    log_dir.mkdir()
    with (
        training(data, log_dir / "run", go_on, tmp_path / "said.txt") as process,
        tensorboard(log_dir) as server,
        chromium.new_context() as context,
    ):
        _wait_for_recording(process, log_dir)
        server.wait_for("runs", lambda answer: answer["runs"])
        tab = Tab(context.new_page(), server.port)
        frame = tab.open()
        names = [name.strip() for name in frame.get_by_role("tab").all_inner_texts()]
        assert names[:4] == ["Overview", "Timeline", "Files", "Access sizes"]

        tab.show("Timeline")
        last = _last_second(tab)
        for _ in range(2):
            before = last
            last = tab.wait_for(
                lambda before=before: _last_second(tab) > before and _last_second(tab),  # type: ignore[misc]
                f"the timeline does not grow beyond {before} s",
            )
            assert process.poll() is None, "the training ended before the timeline grew"

        tab.show("Files")
        assert "/data/000.raw" in frame.get_by_role("tabpanel", name="Files").inner_text()
        assert server.get("runs")["runs"][0]["live"]
        assert process.poll() is None

        go_on.touch()
        assert process.wait(timeout=60) == 0
        done = server.wait_for("runs", lambda answer: not answer["runs"][0]["live"])
        assert done["runs"][0]["duration_seconds"] > last
        overview = server.get("overview", run="run")
        posix = overview["modules"]["POSIX"]
        assert posix["bytes_read"] >= live_training.N_FILES * live_training.FILE_BYTES
        assert tab.problems == []


def _wait_for_recording(process: subprocess.Popen[str], log_dir: Path) -> None:
    """Waits until the training writes events: TensorFlow takes its time to start."""
    deadline = time.monotonic() + START_SECONDS
    while not list(log_dir.rglob("events.out.tfevents.*")):
        assert process.poll() is None, "the training ended before it began to record"
        assert time.monotonic() < deadline, f"nothing recorded after {START_SECONDS} s"
        time.sleep(0.1)


def _last_second(tab: Tab) -> float:
    """Where the timeline ends, in seconds since the run began; 0 while it is not drawn."""
    return max((figure["last"] for figure in tab.figures()), default=0.0)
