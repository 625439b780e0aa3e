"""What a callback does over unusual lives of trainings; each test states what is right."""

from __future__ import annotations

import copy
import gc
import pickle
import threading

import numpy as np
import pytest

from tests.support import events
from tests.support.fake_recorder import FakeSource
from tests.support.keras_training import (
    BATCHES,
    Reading,
    by_phase,
    create,
    create_model,
    data,
    evaluate,
    fit,
    keras,
)
from tests.support.monitors import one_warning

pytestmark = pytest.mark.tensorflow


class SharedSource(FakeSource):
    """Stays the same object when it is copied, as a function does."""

    def __reduce__(self):
        return "shared_source"


shared_source = SharedSource()


@pytest.fixture
def source():
    """One with a real clock."""
    return FakeSource()


def recordings(log_dir):
    return sorted(path.name for path in (log_dir / "darshan").iterdir())


def finished(log_dir, name="rank0"):
    return [job["finished"] for job in events.jobs(log_dir / "darshan" / name)]


def with_cloudpickle(callback):
    cloudpickle = pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    return pickle.loads(cloudpickle.dumps(callback))


COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda callback: pickle.loads(pickle.dumps(callback)),
    "cloudpickle": with_cloudpickle,
}


class CopyWithin(keras.callbacks.Callback):
    """Copies a callback in the middle of a training."""

    def __init__(self, callback, duplicate):
        super().__init__()
        self.callback, self.duplicate, self.clone = callback, duplicate, None

    def on_train_batch_end(self, batch, logs=None):
        if batch == 1:
            self.clone = self.duplicate(self.callback)


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("when", ["before", "during", "after"])
def test_a_copy_neither_disturbs_nor_shares_the_recording(tmp_path, duplicate, when):
    callback = create(tmp_path, shared_source)
    clone = None
    if when == "before":
        clone = duplicate(callback)
    copying = CopyWithin(callback, duplicate)
    extra = [copying] if when == "during" else []
    fit(create_model(), [callback, Reading(shared_source), *extra])
    assert by_phase(tmp_path) == {("train", 0): BATCHES}
    assert recordings(tmp_path) == ["rank0"]
    if when == "after":
        clone = duplicate(callback)
    clone = clone or copying.clone
    fit(create_model(), [clone, Reading(shared_source)])
    assert recordings(tmp_path) == ["rank0", "rank0-2"]
    for name in ("rank0", "rank0-2"):
        assert by_phase(tmp_path / "darshan" / name) == {("train", 0): BATCHES}
    callback.close()
    clone.close()
    assert not any(recorder.attached for recorder in shared_source.recorders)


def test_two_callbacks_in_one_fit_record_once(tmp_path, source):
    """The one that begins last records all of it; the other steps aside, and says so."""
    callbacks = [create(tmp_path / name, source) for name in "ab"]
    model = create_model()
    with one_warning("another recording begins in this process"):
        fit(model, [*callbacks, Reading(source)])
    assert by_phase(tmp_path / "b") == {("train", 0): BATCHES}
    assert by_phase(tmp_path / "a") == {}
    assert finished(tmp_path / "a")[-1] is True
    assert finished(tmp_path / "b")[-1] is True
    callbacks.clear()
    gc.collect()
    assert not any(recorder.attached for recorder in source.recorders)


def test_stop_on_nan_is_an_end_like_any_other(tmp_path, source):
    class Spoil(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 1:
                logs["loss"] = np.nan

    stop = keras.callbacks.TerminateOnNaN()
    x, y = data()
    y = y * np.nan
    model = create_model()
    model.fit(
        x,
        y,
        batch_size=4,
        epochs=5,
        callbacks=[create(tmp_path, source), Reading(source), stop],
        verbose=0,
    )
    assert by_phase(tmp_path) == {("train", 0): 1}
    assert finished(tmp_path) == [False, True]


def test_initial_epoch_names_the_epochs(tmp_path, source):
    callback, model = create(tmp_path, source), create_model()
    x, y = data()
    model.fit(
        x,
        y,
        batch_size=4,
        initial_epoch=3,
        epochs=5,
        callbacks=[callback, Reading(source)],
        verbose=0,
    )
    assert by_phase(tmp_path) == {("train", 3): BATCHES, ("train", 4): BATCHES}


def test_five_fits_with_one_callback_are_one_recording(tmp_path, source):
    callback, model = create(tmp_path, source), create_model()
    for _ in range(5):
        fit(model, [callback, Reading(source)])
    assert recordings(tmp_path) == ["rank0"]
    assert by_phase(tmp_path) == {("train", 0): 5 * BATCHES}
    assert finished(tmp_path) == [False, True] * 5
    assert events.windows(tmp_path)[-1].step == 5 * BATCHES


def test_five_fits_with_a_callback_each_are_five_recordings(tmp_path, source):
    model = create_model()
    for _ in range(5):
        fit(model, [create(tmp_path, source), Reading(source)])
    gc.collect()
    assert recordings(tmp_path) == ["rank0", *(f"rank0-{i}" for i in range(2, 6))]
    assert by_phase(tmp_path) == {("train", 0): 5 * BATCHES}
    assert not any(recorder.attached for recorder in source.recorders)


def test_start_twice_stop_twice_and_stop_first(tmp_path, source):
    callback = create(tmp_path, source)
    callback.on_train_end()
    callback.on_test_end()
    assert not tmp_path.exists() or not list(tmp_path.iterdir())
    callback.on_train_begin()
    callback.on_train_begin()
    source.recorders[-1].count(read=7)
    callback.on_train_end()
    callback.on_train_end()
    assert sum(by_phase(tmp_path).values()) == 7
    assert finished(tmp_path)[-1] is True
    callback.close()
    callback.close()
    assert not any(recorder.attached for recorder in source.recorders)


def run_in_threads(*works):
    failures = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert failures == []


def test_fit_in_a_thread_is_recorded_as_in_the_main_one(tmp_path, source):
    callback, model = create(tmp_path, source), create_model()
    run_in_threads(lambda: fit(model, [callback, Reading(source)], epochs=2, validate=True))
    assert by_phase(tmp_path) == {
        ("train", 0): BATCHES,
        ("validation", 0): 100 * BATCHES,
        ("train", 1): BATCHES,
        ("validation", 1): 100 * BATCHES,
    }
    evaluate(model, [callback, Reading(source)])
    assert by_phase(tmp_path)[("evaluate", -1)] == 100 * BATCHES


class Step(keras.callbacks.Callback):
    """Tells that the training began, and waits for the other before its first batch."""

    def __init__(self, told, awaited):
        super().__init__()
        self.told, self.awaited = told, awaited

    def on_train_begin(self, logs=None):
        self.told.set()
        assert self.awaited.wait(60)


def test_two_models_in_two_threads_go_into_one_recording(tmp_path, source):
    """A process has one recording at a time: the one that begins last has what both read."""
    first, second = threading.Event(), threading.Event()
    callbacks = {name: create(tmp_path / name, source) for name in "ab"}
    models = {name: create_model() for name in "ab"}

    def train(name, told, awaited, begin):
        assert begin is None or begin.wait(60)
        fit(models[name], [callbacks[name], Step(told, awaited), Reading(source)])

    with one_warning("another recording begins in this process"):
        run_in_threads(
            lambda: train("a", first, second, None),
            lambda: train("b", second, first, first),
        )
    callbacks["b"].close()
    assert by_phase(tmp_path / "a") == {}
    assert sum(by_phase(tmp_path / "b").values()) == 2 * BATCHES
    for ours, other in zip(models["a"].get_weights(), models["b"].get_weights(), strict=True):
        np.testing.assert_array_equal(ours, other)
    callbacks.clear()
    gc.collect()
    assert not any(recorder.attached for recorder in source.recorders)
