"""A browser, and pages that fail a test when the browser has a complaint."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Frame,
    Page,
    Request,
    expect,
    sync_playwright,
)

from tests.support.dashboard import Server

OpenTab = Callable[..., Frame]

expect.set_options(timeout=20_000)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield chromium
        chromium.close()


class Complaints(list[str]):
    """What must not happen on a page: errors, blocked content, requests to other hosts."""

    def __init__(self, page: Page, address: str) -> None:
        self._address = address
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.append(str(error)))
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        # TensorBoard's own page warns about a library of its own.
        if message.type == "error" or (
            message.type == "warning" and "plugin" in message.location["url"]
        ):
            self.append(message.text)

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self._address, "data:", "blob:")):
            self.append(f"request to {request.url}")


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One for all tests of a module: TensorBoard's page comes from the browser's cache."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    context.set_default_timeout(20_000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    page.set_viewport_size({"width": 1280, "height": 860})
    yield page
    page.close()


@pytest.fixture
def open_tab(page: Page) -> Iterator[OpenTab]:
    """Opens the tab of a server, its state given as keywords, and returns its frame."""
    found: list[Complaints] = []

    def open_tab(server: Server, **state: object) -> Frame:
        address = f"http://localhost:{server.port}/"
        found.append(Complaints(page, address))
        parts = [f"p.darshan.{key}={quote(str(value), safe='')}" for key, value in state.items()]
        page.goto(f"{address}#{'&'.join(['darshan', *parts])}")
        handle = page.wait_for_selector("iframe[src*=darshan]", state="attached")
        assert handle is not None
        frame = handle.content_frame()
        assert frame is not None
        frame.wait_for_selector("main")
        return frame

    yield open_tab
    assert [complaint for complaints in found for complaint in complaints] == []
