from __future__ import annotations

import pytest

from tensorboard_plugin_darshan import metadata
from tests.support import events
from tests.support.monitors import create

MIB = 1024**2


def test_scalars_have_the_training_step(tmp_path, source, clock):
    read, write, busy, calls = metadata.SCALAR_TAGS
    with create(tmp_path, source) as monitor:
        monitor.step(0)
        for step in (0, 0, 4, 4, 9):
            monitor.step(step)
            source.recorder.count(read=3 * MIB, written=MIB, opens=8, busy=0.5)
            clock.now += 2
            with monitor.phase("x"):
                clock.now += 2
    # Windows end at 2, 4, …, 20 s; the step rises in those that end at 2, 10 and 18 s.
    found = events.scalars(tmp_path)
    assert [list(points) for points in found.values()] == [[0, 4, 9]] * 4
    assert found[read] == pytest.approx({0: 3 / 2, 4: 6 / 8, 9: 6 / 8})
    assert found[write] == pytest.approx({0: 1 / 2, 4: 2 / 8, 9: 2 / 8})
    assert found[busy] == pytest.approx({0: 25.0, 4: 12.5, 9: 12.5})
    assert found[calls] == pytest.approx({0: 4.0, 4: 2.0, 9: 2.0})


def test_scalars_without_steps_have_the_seconds(tmp_path, source, clock):
    read = metadata.SCALAR_TAGS[0]
    with create(tmp_path, source) as monitor:
        for second in (30.0, 61.0, 61.5, 70.2):
            source.recorder.count(read=MIB)
            clock.now = second
            with monitor.phase("x"):
                pass
    found = events.scalars(tmp_path)[read]
    assert found == pytest.approx({61: 2 / 61.0, 70: 2 / 9.2})


def test_short_recording_without_steps_has_one_point(tmp_path, source, clock):
    with create(tmp_path, source):
        source.recorder.count(read=MIB)
        clock.now = 4.0
    assert events.scalars(tmp_path)[metadata.SCALAR_TAGS[0]] == {4: 0.25}
