"""The tab in a real browser: Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Frame, Page, Response, sync_playwright

DEADLINE_SECONDS = 60.0
ENTRY = "plugin_entry.html?name=darshan"

Answer = TypeVar("Answer")

FIGURES = """() => [...document.querySelectorAll('.js-plotly-plot')]
  .filter(figure => figure.checkVisibility())
  .map(figure => ({
    points: figure._fullData.reduce((sum, trace) => sum + (trace.x ?? []).length, 0),
    last: Math.max(...figure._fullData.flatMap(trace => [...(trace.x ?? [])].slice(-1))),
  }))"""
"""The figures that are visible in the tab: how many points they have, and the last `x`."""


def chromium() -> str:
    """Chromium's path."""
    for name in (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    raise AssertionError(
        "these tests need Chromium: install it (on Debian: apt-get install chromium), or give its "
        'path in the variable CHROMIUM, or leave them out with -m "not browser"'
    )


@contextmanager
def browser() -> Iterator[Browser]:
    """A running Chromium."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            yield started
        finally:
            started.close()


class Tab:
    """A page that shows the tab, and everything that went wrong in it.

    Args:
        page: a fresh page.
        port: where TensorBoard serves on this machine.

    Attributes:
        problems: errors on the console, uncaught exceptions, answers that are errors, requests to
            other hosts, what the content security policy refused.
    """

    def __init__(self, page: Page, port: int) -> None:
        self.page = page
        self.address = f"http://localhost:{port}/"
        self.problems: list[str] = []
        page.set_default_timeout(DEADLINE_SECONDS * 1000)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.problems.append(f"exception: {error}"))
        page.on("request", lambda request: self._see(request.url))
        page.on("response", self._answer)

    def open(self, state: str = "") -> Frame:
        """Opens the tab; `state` is the part of the address after `#darshan`."""
        self.page.goto(f"{self.address}#darshan{state}")
        frame = self.frame()
        frame.get_by_role("tab").first.wait_for()
        return frame

    def frame(self) -> Frame:
        """The frame that TensorBoard gave the plugin."""

        def find() -> Frame | None:
            return next((frame for frame in self.page.frames if ENTRY in frame.url), None)

        return self.wait_for(find, "TensorBoard does not show the plugin's frame")

    def wait_for(
        self, ask: Callable[[], Answer | None], what: str, seconds: float = DEADLINE_SECONDS
    ) -> Answer:
        """The first true answer; `what` is said when there is none in time."""
        deadline = time.monotonic() + seconds
        while True:
            answer = ask()
            if answer:
                return answer
            assert time.monotonic() < deadline, f"{what}; problems: {self.problems}"
            self.page.wait_for_timeout(100)

    def show(self, view: str) -> None:
        """Chooses a view by its tab, and waits for its figures and tables."""
        frame = self.frame()
        frame.get_by_role("tab", name=view, exact=True).click()
        self.wait_for(lambda: self.is_settled(view), f"the view {view} does not come to rest")

    def is_settled(self, view: str) -> bool:
        """Whether a view shows answers, and nothing in it is loading or being drawn."""
        panel = self.frame().get_by_role("tabpanel", name=view, exact=True)
        settled: bool = panel.evaluate(
            """panel => !panel.querySelector('[aria-busy="true"]') &&
              panel.innerText.trim().length > 0 &&
              [...panel.querySelectorAll('.js-plotly-plot')].every(f => f.querySelector('svg'))"""
        )
        return settled

    def figures(self) -> list[dict[str, Any]]:
        """What `FIGURES` says."""
        found: list[dict[str, Any]] = self.frame().evaluate(FIGURES)
        return found

    def _hear(self, message: ConsoleMessage) -> None:
        text = message.text
        if message.type == "error" or "Content Security Policy" in text:
            self.problems.append(f"console: {text} ({message.location.get('url')})")

    def _see(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob", "about") and not url.startswith(self.address):
            self.problems.append(f"request to another host: {url}")

    def _answer(self, response: Response) -> None:
        if response.status >= 400:
            self.problems.append(f"answer {response.status}: {response.url}")
