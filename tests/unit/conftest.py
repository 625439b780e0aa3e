from __future__ import annotations

import pytest

from tests.support.fake_recorder import Clock, FakeSource


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def source(clock):
    return FakeSource(clock)
