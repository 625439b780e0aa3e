from __future__ import annotations

import copy
import gc
import pickle

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
    predict,
)

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def source():
    """One with a real clock."""
    return FakeSource()


@pytest.mark.parametrize("is_first", [True, False])
def test_fit_is_recorded_by_phase_and_epoch(tmp_path, source, is_first):
    """A checkpoint belongs to its epoch, in whatever order the callbacks are given."""
    callbacks = [create(tmp_path, source), Reading(source, checkpoint=1000)]
    fit(create_model(), callbacks if is_first else callbacks[::-1], epochs=2, validate=True)
    assert by_phase(tmp_path) == {
        ("train", 0): BATCHES + 1000,
        ("validation", 0): 100 * BATCHES,
        ("train", 1): BATCHES + 1000,
        ("validation", 1): 100 * BATCHES,
    }
    assert [job["finished"] for job in events.jobs(tmp_path)] == [False, True]
    assert events.jobs(tmp_path)[0]["keras"] == keras.__version__
    assert events.windows(tmp_path)[-1].step == 2 * BATCHES


class Peeked(keras.utils.PyDataset):
    """Keras takes batches of it before training begins."""

    def __init__(self, source):
        super().__init__()
        self.source, self.taken = source, 0

    def __len__(self):
        return BATCHES

    def __getitem__(self, i):
        self.source.recorder.count(read=1)
        self.taken += 1
        return np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)


def test_reads_before_training_begins_are_counted(tmp_path, source):
    callback = create(tmp_path, source)
    assert list(tmp_path.iterdir()) == []
    dataset = Peeked(source)
    create_model().fit(dataset, callbacks=[callback], verbose=0)
    found = by_phase(tmp_path)
    assert sum(found.values()) == dataset.taken > BATCHES
    assert found[("", -1)] == dataset.taken - found[("train", 0)] > 0


def test_recorder_goes_with_the_callback(tmp_path, source):
    fit(create_model(), [create(tmp_path, source)])
    gc.collect()
    assert not source.recorder.attached


def test_recorder_goes_with_a_callback_that_was_never_used(tmp_path, source):
    create(tmp_path, source)
    gc.collect()
    assert not source.recorder.attached
    assert list(tmp_path.iterdir()) == []


def test_second_fit_goes_on_in_the_same_recording(tmp_path, source):
    callback, model = create(tmp_path, source), create_model()
    for _ in range(2):
        fit(model, [callback, Reading(source)])
        source.recorder.count(read=5000)
    assert by_phase(tmp_path) == {("train", 0): 2 * BATCHES, ("", -1): 5000}
    assert [job["finished"] for job in events.jobs(tmp_path)] == [False, True, False, True]
    assert len(list((tmp_path / "darshan").iterdir())) == 1
    assert events.windows(tmp_path)[-1].step == 2 * BATCHES
    assert source.recorder.attached
    callback.close()
    assert not source.recorder.attached


def test_callbacks_used_in_turn_record_each_for_itself(tmp_path, source):
    callbacks = {name: create(tmp_path / name, source) for name in "ab"}
    model = create_model()
    for name in ("a", "b", "a"):
        fit(model, [callbacks[name], Reading(source)])
    assert by_phase(tmp_path / "a") == {("train", 0): 2 * BATCHES}
    assert by_phase(tmp_path / "b") == {("train", 0): BATCHES}
    names = sorted(path.name for path in (tmp_path / "a" / "darshan").iterdir())
    assert names == ["rank0", "rank0-2"]
    callbacks.clear()
    gc.collect()
    assert [recorder.attached for recorder in source.recorders] == [False] * 3


def test_callback_in_a_variable_that_is_used_again(tmp_path, source):
    """As in a notebook whose cell runs twice: the new one is made before the old one is gone."""
    for name in "ab":
        callback = create(tmp_path / name, source)
        fit(create_model(), [callback, Reading(source)])
    assert by_phase(tmp_path / "a") == by_phase(tmp_path / "b") == {("train", 0): BATCHES}
    callback.close()


def test_evaluate_and_predict_have_their_own_phases(tmp_path, source):
    callback, model = create(tmp_path, source), create_model()
    evaluate(model, [callback, Reading(source)])
    predict(model, [callback, Reading(source)])
    assert by_phase(tmp_path) == {
        ("evaluate", -1): 100 * BATCHES,
        ("predict", -1): 10_000 * BATCHES,
    }


def test_interrupted_fit_leaves_the_recording_usable(tmp_path, source):
    callback, model = create(tmp_path, source), create_model()
    with pytest.raises(KeyboardInterrupt):
        fit(model, [callback, Reading(source, fail_in="test")], validate=True)
    evaluate(model, [callback, Reading(source)])
    fit(model, [callback, Reading(source)])
    assert by_phase(tmp_path) == {
        ("train", 0): 2 * BATCHES,
        ("validation", 0): 100,
        ("evaluate", -1): 100 * BATCHES,
    }
    assert events.jobs(tmp_path)[-1]["finished"] is True


def test_exceptions_of_the_training_are_unchanged(tmp_path, source):
    x, _ = data()

    def failure(callbacks):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            create_model().fit(x, np.ones((3, 7)), callbacks=callbacks, verbose=0)
        return type(caught.value), str(caught.value)

    assert failure([create(tmp_path, source)]) == failure([])


def test_training_gives_the_same_with_and_without(tmp_path, source):
    def result(callbacks):
        model = create_model()
        return fit(model, callbacks, epochs=3, validate=True).history, model.get_weights()

    logs, weights = result([create(tmp_path, source)])
    plain_logs, plain_weights = result([])
    assert logs == plain_logs
    for ours, plain in zip(weights, plain_weights, strict=True):
        np.testing.assert_array_equal(ours, plain)


class EvaluateWithin(keras.callbacks.Callback):
    """Evaluates with the same callbacks while a training goes on."""

    def __init__(self, callbacks):
        super().__init__()
        self.callbacks = callbacks

    def on_epoch_end(self, epoch, logs=None):
        evaluate(self.model, self.callbacks)


def test_evaluate_of_another_callback_does_not_end_the_training(tmp_path, source):
    callbacks = [create(tmp_path, source), Reading(source)]
    fit(create_model(), [EvaluateWithin(callbacks), *callbacks], epochs=2)
    assert by_phase(tmp_path) == {
        ("train", 0): BATCHES,
        ("evaluate", -1): 2 * 100 * BATCHES,
        ("train", 1): BATCHES,
    }
    assert events.jobs(tmp_path)[-1]["finished"] is True
    assert events.windows(tmp_path)[-1].step == 2 * BATCHES


def test_steps_per_execution_are_counted(tmp_path, source):
    callback, model = create(tmp_path, source), create_model()
    model.compile("sgd", "mse", steps_per_execution=BATCHES)
    fit(model, [callback], epochs=2)
    assert events.windows(tmp_path)[-1].step == 2 * BATCHES


def test_windows_of_batches(tmp_path, source):
    fit(create_model(), [create(tmp_path, source, update_freq="batch")], epochs=3)
    steps = [window.step for window in events.windows(tmp_path)]
    assert steps == sorted(steps)
    assert len(set(steps)) > 4


class SharedSource(FakeSource):
    """Stays the same object when it is copied, as a function does."""

    def __reduce__(self):
        return "shared_source"


shared_source = SharedSource()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
@pytest.mark.parametrize("is_begun", [True, False])
def test_copies_record_for_themselves(tmp_path, duplicate, is_begun):
    callback = create(tmp_path, shared_source)
    if is_begun:
        callback.on_train_begin()
        callback.on_train_end()
    clone = duplicate(callback)
    fit(create_model(), [clone, Reading(shared_source)])
    names = sorted(path.name for path in (tmp_path / "darshan").iterdir())
    assert names == (["rank0", "rank0-2"] if is_begun else ["rank0"])
    assert by_phase(tmp_path) == {("train", 0): BATCHES}
    callback.close()
    clone.close()
    assert not any(recorder.attached for recorder in shared_source.recorders)
