"""A tiny Keras training with a fake recorder."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tests.support import events
from tests.support.fake_recorder import FakeCutter, bytes_read

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
keras = pytest.importorskip("keras")
keras_callback = pytest.importorskip("tensorboard_plugin_darshan.recording.keras_callback")

BATCHES = 3


def create(log_dir, attach, /, **options):
    options = {"flush_secs": 3600.0, **options}
    return keras_callback.DarshanCallback(log_dir, attach=attach, cutter=FakeCutter, **options)


def create_model():
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
    return model


class Reading(keras.callbacks.Callback):
    """Reads in every batch: 1 byte in training, 100 in a test, 10,000 in a prediction."""

    def __init__(self, source, checkpoint=0, fail_in=""):
        super().__init__()
        self.source, self.checkpoint, self.fail_in = source, checkpoint, fail_in

    def on_train_batch_begin(self, batch, logs=None):
        self.source.recorders[-1].count(read=1)

    def on_epoch_end(self, epoch, logs=None):
        self.source.recorders[-1].count(read=self.checkpoint)

    def on_test_batch_begin(self, batch, logs=None):
        self.source.recorders[-1].count(read=100)
        if self.fail_in == "test":
            raise KeyboardInterrupt

    def on_predict_batch_begin(self, batch, logs=None):
        self.source.recorders[-1].count(read=10_000)


def data():
    return np.ones((BATCHES * 4, 2), np.float32), np.ones((BATCHES * 4, 1), np.float32)


def fit(model, callbacks, epochs=1, validate=False):
    x, y = data()
    validation = {"validation_data": (x, y), "validation_batch_size": 4} if validate else {}
    return model.fit(
        x, y, batch_size=4, epochs=epochs, callbacks=callbacks, verbose=0, **validation
    )


def evaluate(model, callbacks):
    return model.evaluate(*data(), batch_size=4, callbacks=callbacks, verbose=0)


def predict(model, callbacks):
    return model.predict(data()[0], batch_size=4, callbacks=callbacks, verbose=0)


def by_phase(log_dir):
    total: dict[tuple[str, int], int] = {}
    for window in events.windows(log_dir):
        key = (window.phase, window.epoch)
        total[key] = total.get(key, 0) + bytes_read(window)
    return {key: count for key, count in total.items() if count}
