"""Processes and ranks in a real browser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import Tab
from tests.support.dashboard import tensorboard
from tests.support.recordings import BEGIN, Recorder, Use, write_recording

pytestmark = pytest.mark.browser


def write_ranks(log_dir: Path) -> None:
    """Two ranks, each with a main process and ten workers; one worker of rank 1 is killed."""
    for rank in range(2):
        recorder, windows = Recorder(), []
        for second in range(4):
            rows = [[100 * (rank + 1), 1, 0, 10, 0, 1, 1000]]
            rows += [
                [
                    100 * (rank + 1) + 1 + worker,
                    100 * (rank + 1),
                    (2 if rank == 1 and worker == 9 else 1) if second == 3 else 0,
                    10_000 * (worker + 1),
                    0,
                    10,
                    (worker + 1) * 10**6,
                ]
                for worker in range(10)
            ]
            uses = [Use("/data", reads=100 * (rank + 1), access_bytes=1000)]
            windows.append(
                recorder.window(
                    {"POSIX": uses},
                    phase="train",
                    epoch=second // 2,
                    processes=np.array(rows, np.int64),
                    process_io=np.array([10**6, 0, 10**6 if second < 2 else 0, 0]),
                )
            )
        write_recording(log_dir / "a", windows, f"darshan/rank{rank}", begin=BEGIN, rank=rank)


def test_processes_and_ranks_are_shown(chromium: Browser, tmp_path: Path) -> None:
    write_ranks(tmp_path)
    expect.set_options(timeout=30_000)
    with tensorboard(tmp_path) as server:
        server.wait_for("processes", lambda answer: answer["counts"]["ranks"] == 2, run="a")
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        tab = Tab(page, server.port)
        frame = tab.open("&p.darshan.run=a")
        tab.show("Overview")
        expect(frame.get_by_text("2 main processes and 20 workers, in 2 ranks.")).to_be_visible()
        expect(frame.get_by_text("1 process ended badly")).to_be_visible()
        expect(frame.get_by_text("Slowest rank 1")).to_be_visible()
        table = frame.get_by_role("region", name="Busiest processes")
        rows = table.get_by_role("row")
        expect(rows).to_have_count(9)
        expect(rows.nth(1)).to_contain_text("worker 210")
        expect(rows.nth(1)).to_contain_text("ended badly")
        frame.get_by_text("22 processes in all").click()
        others = frame.get_by_role("region", name="Other processes")
        expect(others.get_by_role("row")).to_have_count(15)
        tab.show("Timeline")
        for by, labels in (("rank", 2), ("process", 22)):
            frame.get_by_label("Show", exact=True).select_option(by)
            figure = frame.get_by_role("group", name="Rows over time")
            expect(figure.locator("g.ytick")).to_have_count(labels)
            assert f"by={by}" in page.evaluate("location.hash")
        frame.get_by_label("Show", exact=True).select_option("")
        expect(figure).to_be_hidden()
        assert tab.problems == []
        page.close()
