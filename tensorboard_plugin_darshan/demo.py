"""The demo: a small Keras training on real files, recorded."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tensorboard_plugin_darshan import demo_data
from tensorboard_plugin_darshan.recording import recorder

EPOCHS: Final = 3
READS_FILE: Final = "reads.json"
DATA_DIRECTORY: Final = "demo_data"

_PIXELS: Final = 96
_BATCH: Final = 16
_SEED: Final = 7


class DemoUnavailableError(RuntimeError):
    """The demo cannot run here; the message says what to do."""


def run(logdir: Path, say: Callable[[str], None]) -> Path:
    """Writes the data set where it is missing, trains on it, and records that.

    Args:
        logdir: gets the data set (`demo_data/`, with `reads.json`: how often the training reads
            each file), and a directory named by the time for this run: events and checkpoints.
        say: told what goes on, a line at a time.

    Returns:
        The run's directory.

    Raises:
        DemoUnavailableError: TensorFlow or Keras is missing, or nothing can be recorded here.
        OSError: `logdir` cannot be written, or the disk is full.
    """
    started = time.monotonic()
    logdir = logdir.absolute()
    _check_recording()
    keras, tf = _frameworks()
    images = demo_data.plan(logdir / DATA_DIRECTORY)
    total = sum(image.file_bytes for image in images)
    say(f"Data set: {len(images)} images, {total / 1024**2:.0f} MiB, in {logdir / DATA_DIRECTORY}")
    demo_data.write(images)
    demo_data.forget(images)
    run_directory = _create_run_directory(logdir)
    say(f"Training: {EPOCHS} epochs on {tf.__name__} {tf.__version__}, Keras {keras.__version__}")
    _train(keras, tf, images, run_directory, say)
    _write_reads(logdir / DATA_DIRECTORY, images)
    say(f"Done in {time.monotonic() - started:.0f} s; recorded in {run_directory}")
    return run_directory


def _check_recording() -> None:
    """The callback would only warn; a demo without a recording shows nothing."""
    try:
        recorder.attach().detach()
    except recorder.RecordingUnavailableError as error:
        raise DemoUnavailableError(str(error)) from error


def _frameworks() -> tuple[Any, Any]:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["KERAS_BACKEND"] = "tensorflow"
    try:
        import keras
        import tensorflow as tf
    except ImportError as error:
        raise DemoUnavailableError(
            f"the demo needs TensorFlow and Keras ({error}); install them with: "
            "pip install 'tensorboard-plugin-darshan[demo]'"
        ) from error
    return keras, tf


def _create_run_directory(logdir: Path) -> Path:
    """A new directory named by the time."""
    name = time.strftime("%Y%m%d-%H%M%S")
    for attempt in range(1, 1000):
        path = logdir / (name if attempt == 1 else f"{name}-{attempt}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        return path
    raise FileExistsError(f"{logdir} holds too many runs of this second")


def _train(
    keras: Any, tf: Any, images: list[demo_data.Image], directory: Path, say: Callable[[str], None]
) -> None:
    # Imported here since it imports Keras.
    from tensorboard_plugin_darshan.recording.keras_callback import DarshanCallback

    keras.utils.set_random_seed(_SEED)
    model = _create_model(keras)
    (directory / "checkpoints").mkdir()
    callbacks = [
        keras.callbacks.ModelCheckpoint(directory / "checkpoints" / "epoch-{epoch}.keras"),
        keras.callbacks.LambdaCallback(
            on_epoch_end=lambda epoch, logs: say(
                f"  epoch {epoch + 1}: accuracy {logs['accuracy']:.2f}, "
                f"in validation {logs['val_accuracy']:.2f}"
            )
        ),
        DarshanCallback(directory, flush_secs=1),
    ]
    model.fit(
        _dataset(tf, [image for image in images if image.split == "train"], shuffle=True),
        validation_data=_dataset(tf, [image for image in images if image.split == "validation"]),
        epochs=EPOCHS,
        callbacks=callbacks,
        shuffle=False,  # the data set does so itself
        verbose=0,
    )


def _create_model(keras: Any) -> Any:
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((_PIXELS, _PIXELS, 3)),
            layers.Rescaling(1 / 255),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(64, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(len(demo_data.CLASSES), activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def _dataset(tf: Any, images: list[demo_data.Image], shuffle: bool = False) -> Any:
    """Batches of images and labels. Each file is read once an epoch, whole."""

    def load(path: Any, label: Any) -> tuple[Any, Any]:
        image = tf.io.decode_bmp(tf.io.read_file(path), channels=3)
        step = tf.maximum(1, tf.shape(image)[0] // _PIXELS)
        image = tf.ensure_shape(image[::step, ::step], (None, None, 3))
        return tf.image.resize(image, (_PIXELS, _PIXELS)), label

    paths = [str(image.path) for image in images]
    dataset = tf.data.Dataset.from_tensor_slices((paths, [image.label for image in images]))
    if shuffle:
        dataset = dataset.shuffle(len(images), seed=_SEED)
    return dataset.map(load, num_parallel_calls=2).batch(_BATCH).prefetch(2)


def _write_reads(directory: Path, images: list[demo_data.Image]) -> None:
    """Says how often the training read each file: once an epoch."""
    files = [
        {"path": str(image.path.relative_to(directory)), "bytes": image.file_bytes, "reads": EPOCHS}
        for image in images
    ]
    text = json.dumps({"epochs": EPOCHS, "files": files}, indent=1)
    (directory / READS_FILE).write_text(text + "\n")
