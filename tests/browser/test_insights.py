"""The view Insights in a real browser, on a real recorded run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import Tab
from tests.support.dashboard import Server, tensorboard
from tests.support.real_runs import SlowFiles, read_file, taping, write_files
from tests.support.recordings import write_recording

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A training that waits for a slow file and reads many tiny ones."""
    root = tmp_path_factory.mktemp("insights")
    paths = write_files(root / "data", [3000] * 150)
    with taping() as tape:
        slow = SlowFiles(tape, root / "slow", 32 * 1024, lambda readers: 0.04)
        slow.read(slow.create("a"), 20)
        for path in paths:
            read_file(path)
        tape.cut(wait=0.5)
    write_recording(root / "logs" / "run", tape.windows)
    with tensorboard(root / "logs") as running:
        running.wait_for("runs", lambda answer: len(answer["runs"]) == 1)
        yield running


def test_verdict_leads_from_the_overview_to_the_findings(server: Server, chromium: Browser) -> None:
    context = chromium.new_context()
    tab = Tab(context.new_page(), server.port)
    frame = tab.open()
    line = frame.locator(".verdict-line")
    expect(line).to_contain_text("Waiting for input")
    line.get_by_role("button", name="Insights").click()
    panel = frame.get_by_role("tabpanel", name="Insights", exact=True)
    expect(panel).to_be_visible()
    expect(panel.locator(".verdict h2")).to_contain_text("(measured)")
    expect(panel.locator(".verdict .evidence li").first).to_contain_text("the training waited")
    codes = panel.locator(".finding").evaluate_all("all => all.map(one => one.dataset.key)")
    assert {"one-reader", "tiny-files", "zero-byte-reads"} <= set(codes)
    one = panel.locator(".finding[data-key='one-reader']")
    expect(one.get_by_label("Snippet for tf.data", exact=True)).to_contain_text(
        "num_parallel_calls"
    )
    one.get_by_role("button", name="Copy the snippet for tf.data").click()
    expect(frame.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
    staging = panel.get_by_role("region", name="Staging")
    expect(staging).to_contain_text("tensorboard-darshan stage plan RUN --budget")
    expect(staging.locator(".js-plotly-plot")).to_contain_text("knee:")
    staging.scroll_into_view_if_needed()
    assert tab.problems == []
    context.close()
