"""What the tab says of runs without data, of ended ones, and of names that hide something."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import Tab
from tests.support.dashboard import tensorboard
from tests.support.recordings import Recorder, Use, write_recording

pytestmark = pytest.mark.browser


def test_empty_run_and_hidden_names(chromium: Browser, tmp_path: Path) -> None:
    write_recording(tmp_path / "empty", [])
    uses = {"POSIX": [Use("/a/\u202egpj.exe", reads=1, access_bytes=1536)]}
    write_recording(tmp_path / "names", [Recorder().window(uses, phase="train", epoch=0)])
    with tensorboard(tmp_path) as server:
        server.wait_for("runs", lambda answer: len(answer["runs"]) == 2)
        context = chromium.new_context(viewport={"width": 1400, "height": 900})
        tab = Tab(context.new_page(), server.port)
        frame = tab.open("&p.darshan.run=empty&p.darshan.module=NONSENSE")
        message = frame.locator(".message").first
        expect(message).to_contain_text("Nothing was recorded", timeout=30_000)
        expect(message).to_contain_text("Not counted: files below /proc /sys")
        expect(frame.get_by_role("switch")).to_have_text("Live, run ended")
        expect(frame.locator("#module")).to_have_value("")
        context.close()
        assert tab.problems == []

        context = chromium.new_context(viewport={"width": 1400, "height": 900})
        tab = Tab(context.new_page(), server.port)
        frame = tab.open("&p.darshan.run=names&p.darshan.view=files")
        row = frame.get_by_role("region", name="Files", exact=True).locator("tbody tr")
        expect(row).to_contain_text("/a/\\u202egpj.exe", timeout=30_000)
        expect(row.get_by_title("1\u00a0536\u00a0bytes").first).to_have_text("1.5\u00a0KiB")
        assert tab.problems == []
        context.close()
