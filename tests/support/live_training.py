"""A training on real files that goes on until it is told to end.

Run as a program: `python -m tests.support.live_training DATA LOG_DIR GO_ON`. It trains on the files
in DATA, in many small steps, and ends at the first step after the file GO_ON appeared.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

STEPS_PER_EPOCH = 100
DEADLINE_SECONDS = 300.0
FILE_BYTES = 64 * 1024
N_FILES = 64


def write_data(directory: Path) -> None:
    """Writes the files that the training reads."""
    directory.mkdir()
    for i in range(N_FILES):
        (directory / f"{i:03d}.raw").write_bytes(bytes([i]) * FILE_BYTES)


def train(data: Path, log_dir: Path, go_on: Path) -> None:
    """Trains until `go_on` exists.

    Raises:
        TimeoutError: it did not appear in time.
    """
    import keras
    import tensorflow as tf

    from tensorboard_plugin_darshan import DarshanCallback

    class Brake(keras.callbacks.Callback):  # type: ignore[misc]
        deadline = time.monotonic() + DEADLINE_SECONDS

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            time.sleep(0.01)
            if go_on.exists():
                self.model.stop_training = True
            elif time.monotonic() > self.deadline:
                raise TimeoutError(f"{go_on} did not appear")

    def load(path: Any) -> tuple[Any, Any]:
        pixels = tf.io.decode_raw(tf.io.read_file(path), tf.uint8)
        return tf.cast(pixels[:256], tf.float32) / 255, tf.cast(pixels[0] % 2, tf.int32)

    paths = sorted(str(path) for path in data.glob("*.raw"))
    dataset = tf.data.Dataset.from_tensor_slices(paths).repeat().map(load).batch(4).prefetch(1)
    model = keras.Sequential([keras.Input((256,)), keras.layers.Dense(2, activation="softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy")
    model.fit(
        dataset,
        steps_per_epoch=STEPS_PER_EPOCH,
        epochs=1_000_000,
        verbose=0,
        callbacks=[DarshanCallback(log_dir, flush_secs=0.5), Brake()],
    )


if __name__ == "__main__":
    train(*map(Path, sys.argv[1:]))
