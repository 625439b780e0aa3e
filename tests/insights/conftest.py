from __future__ import annotations

import pytest

from tests.support.real_runs import taping


@pytest.fixture
def tape():
    with taping() as running:
        yield running
