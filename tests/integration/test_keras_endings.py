"""Keras trainings that end in one way or another: data up to the last call is on disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tensorboard.backend.event_processing import plugin_event_multiplexer

from tests.integration.test_monitor_recording import by_file
from tests.support import events

pytestmark = pytest.mark.tensorflow

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it
import keras
import numpy as np
from tensorboard_plugin_darshan import DarshanCallback

log_dir, data, ending = sys.argv[1:]

class Reading(keras.callbacks.Callback):
    batches = 0

    def on_train_batch_end(self, batch, logs=None):
        with open(data, "rb", buffering=0) as file:
            file.read(1000)
        self.batches += 1
        if self.batches == 7 and ending == "exception":
            raise ValueError("a failure of the training")
        if self.batches == 7 and ending == "interrupt":
            print("ready", flush=True)
            time.sleep(60)

x, y = np.ones((20, 2), np.float32), np.ones((20, 1), np.float32)
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
beside = [keras.callbacks.TensorBoard(log_dir)] if ending == "beside" else []
callback = DarshanCallback(log_dir)
model.fit(
    x, y, batch_size=4, epochs=3, shuffle=False, verbose=0, callbacks=[*beside, callback, Reading()]
)
"""


def start(tmp_path: Path, ending: str) -> subprocess.Popen[str]:
    data = tmp_path / "data"
    data.write_bytes(bytes(2000))
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "logs"), str(data), ending],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "KERAS_BACKEND": "tensorflow"},
    )


@pytest.mark.parametrize(
    ("ending", "message"),
    [("exception", "ValueError: a failure of the training"), ("interrupt", "KeyboardInterrupt")],
)
def test_what_was_read_before_the_end_is_on_disk(tmp_path: Path, ending: str, message: str) -> None:
    process = start(tmp_path, ending)
    if ending == "interrupt":
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode in (1, -signal.SIGINT), errors
    assert message in errors
    assert "RuntimeWarning" not in errors
    found = by_file(tmp_path / "logs")
    name = str(tmp_path / "data")
    assert found[name, "train", 0] == 5000
    assert found[name, "train", 1] == 2000
    assert [job["finished"] for job in events.jobs(tmp_path / "logs")] == [False, True]


def test_beside_keras_own_callback_in_the_same_directory(tmp_path: Path) -> None:
    """Both write their own; neither TensorBoard nor we lose anything of either."""
    process = start(tmp_path, "beside")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    log_dir = tmp_path / "logs"
    recording = log_dir / "darshan" / "rank0"
    found = by_file(recording)
    read = {key[1:]: value for key, value in found.items() if key[0] == str(tmp_path / "data")}
    assert read == {("train", epoch): 5000 for epoch in range(3)}
    multiplexer = plugin_event_multiplexer.EventMultiplexer()
    multiplexer.AddRunsFromDirectory(str(log_dir))
    multiplexer.Reload()
    tags = {
        run: set(multiplexer.GetAccumulator(run).Tags()["tensors"]) for run in multiplexer.Runs()
    }
    assert "epoch_loss" in tags["train"]
    assert any(tag.startswith("window/") for tag in tags["darshan/rank0"])
    assert len(multiplexer.Tensors("train", "epoch_loss")) == 3
