from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.support import browser as support


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with support.browser() as browser:
        yield browser
