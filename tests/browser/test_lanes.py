"""Lanes of single reads and writes in a real browser, of a real recording."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, expect

from tensorboard_plugin_darshan import DarshanMonitor
from tests.support.browser import Tab
from tests.support.dashboard import tensorboard

pytestmark = pytest.mark.browser

FILES = 40
DRAWN = """() => {
  const plot = document.querySelector('.figure.lanes');
  const bars = plot.data.map(trace => ({
    name: trace.name, texts: trace.hovertext,
  }));
  return {bars, labels: [...plot.querySelectorAll('.ytick text')].map(text => text.textContent),
          drawn: plot.querySelectorAll('.barlayer .point').length};
}"""


def record(log_dir: Path, data: Path) -> None:
    data.mkdir()
    for i in range(FILES):
        (data / f"part{i:02d} <img src=x onerror=alert(1)>").write_bytes(bytes(100))
    with DarshanMonitor(log_dir / "a", flush_secs=3600) as monitor, monitor.phase("train", 0):
        for path in sorted(data.iterdir()):
            descriptor = os.open(path, os.O_RDONLY)
            os.read(descriptor, 60)
            os.read(descriptor, 60)
            os.close(descriptor)
        (data / "out").write_bytes(bytes(10))
    with DarshanMonitor(log_dir / "untraced", trace=False):
        (data / "out").write_bytes(bytes(10))


def drawn(frame: Frame) -> Any:
    return frame.evaluate(DRAWN)


def test_lanes_are_drawn_searched_and_restricted(chromium: Browser, tmp_path: Path) -> None:
    record(tmp_path / "logs", tmp_path / "data")
    expect.set_options(timeout=30_000)
    with tensorboard(tmp_path / "logs") as server:
        answer = server.wait_for("lanes", lambda a: a["segments"]["recorded"], run="a")
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        tab = Tab(page, server.port)
        frame = tab.open("&p.darshan.run=a")
        tab.show("Timeline")
        expect(frame.get_by_text("The 30 busiest of 41 files")).to_be_visible()
        shown = drawn(frame)
        assert len(shown["labels"]) == 30
        assert all("<img src=x" in text or text.endswith("/out") for text in shown["labels"])
        assert shown["drawn"] == answer["segments"]["bars"]

        frame.get_by_label("Search", exact=True).and_(frame.locator("#lanes-search")).fill("part07")
        expect(frame.get_by_text("1 file: 2 reads and writes.")).to_be_visible()
        tab.wait_for(lambda: drawn(frame)["drawn"] == 2, "the search does not reach the figure")
        (reads, writes) = drawn(frame)["bars"]
        assert [text.split("<br>")[0] for text in reads["texts"]] == [
            "read of 60 B at offset 0",
            "read of 40 B at offset 60",
        ]
        assert writes["texts"] == []
        assert "p.darshan.lane=part07" in page.url

        frame.locator("#lanes-search").fill("")
        frame.get_by_label("Lanes", exact=True).select_option("by thread")
        expect(frame.get_by_text("1 thread: 81 reads and writes.")).to_be_visible()
        assert "p.darshan.lanes=thread" in page.url
        assert tab.problems == []

        frame = tab.open("&p.darshan.run=untraced&p.darshan.view=timeline")
        page.reload()
        frame = tab.frame()
        expect(frame.locator(".figure.timeline .plot-container").first).to_be_attached()
        expect(frame.locator("#lanes-search")).to_be_hidden()
        assert tab.problems == []
