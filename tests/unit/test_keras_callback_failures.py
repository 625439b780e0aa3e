from __future__ import annotations

import pytest

from tests.support.fake_recorder import FakeSource
from tests.support.keras_training import create, create_model, fit
from tests.support.monitors import one_warning

pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"update_freq": "epochs"}, "update_freq must be"),
        ({"anonymize": True}, "anonymize=True is not available"),
        ({"flush_secs": None}, "flush_secs must be a number"),
    ],
)
def test_impossible_argument_is_told_once_and_training_goes_on(tmp_path, source, options, message):
    with one_warning(message):
        callback = create(tmp_path, source, **options)
        fit(create_model(), [callback], epochs=2)
        fit(create_model(), [callback])
    assert list(tmp_path.iterdir()) == []
    assert source.recorders == []


def test_unwritable_log_dir_is_told_once_and_training_goes_on(tmp_path, source):
    (tmp_path / "log").write_text("")
    with one_warning("is a file, not a directory"):
        callback = create(tmp_path / "log", source)
        fit(create_model(), [callback], epochs=2)
        fit(create_model(), [callback])
    assert not source.recorder.attached


def test_recorder_that_is_not_available_is_told_once_and_training_goes_on(tmp_path):
    source = FakeSource(failure=RuntimeError("recording needs Linux"))
    with one_warning("recording needs Linux"):
        fit(create_model(), [create(tmp_path, source)], epochs=2)
