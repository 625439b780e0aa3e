"""What happens in the tab when somebody uses it, and when data comes in meanwhile."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, Frame, Page, expect

from tensorboard_plugin_darshan.window import Window
from tests.support.browser import Tab
from tests.support.dashboard import Server, tensorboard
from tests.support.recordings import Recorder, RecordingFile, Use, job, write_recording

pytestmark = pytest.mark.browser

expect.set_options(timeout=20_000)

VIEWS = ["Overview", "Timeline", "Files", "Access sizes", "Insights"]
N_FILES = 120
NAME = "lr=0.1, batch & more/été"
OpenTab = Callable[..., Frame]
DIRECTORY = "/scratch/project/datasets/flowers/a_long_way_down/train"


def windows(recorder: Recorder, epochs: int) -> Iterator[Window]:
    files = [
        Use(f"{DIRECTORY}/img_{i:05d}.jpg", reads=2, access_bytes=4096 + i, call_seconds=1e-4)
        for i in range(N_FILES)
    ]
    for epoch in range(epochs):
        yield recorder.window({"POSIX": files}, phase="train", epoch=epoch)
        yield recorder.window(
            {"POSIX": [Use("/home/model.keras", writes=9, access_bytes=1 << 20)]},
            phase="checkpoint",
            epoch=epoch,
        )


@pytest.fixture(scope="module")
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """One for all tests: TensorBoard's page then comes from the browser's cache."""
    with chromium.new_context(
        viewport={"width": 1280, "height": 860},
        permissions=["clipboard-read", "clipboard-write"],
    ) as context:
        yield context


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    yield page
    page.close()


@pytest.fixture
def open_tab(page: Page) -> Iterator[OpenTab]:
    """Opens the tab of a server with the state given as keywords; at the end nothing must have
    gone wrong.
    """
    tabs: list[Tab] = []

    def open_tab(server: Server, **state: object) -> Frame:
        tabs.append(Tab(page, server.port))
        parts = (f"&p.darshan.{key}={quote(str(value), safe='')}" for key, value in state.items())
        return tabs[-1].open("".join(parts))

    yield open_tab
    assert [problem for tab in tabs for problem in tab.problems] == []


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log_dir = tmp_path_factory.mktemp("logs")
    write_recording(log_dir / "older", windows(Recorder(), 2), begin=1_700_000_000.0)
    write_recording(log_dir / NAME, windows(Recorder(), 5), notes=["One.", "Two.", "Three."])
    with tensorboard(log_dir) as running:
        running.wait_for("runs", lambda answer: len(answer["runs"]) == 2)
        yield running


def address(page: Page) -> str:
    return str(page.evaluate("location.hash"))


def time_range(frame: Frame) -> tuple[float, float]:
    start, end = frame.evaluate(
        "document.querySelector('.figure.timeline')._fullLayout.xaxis.range.map(Number)"
    )
    return start, end


def drag_timeline(page: Page, frame: Frame, start: float, end: float) -> None:
    """Drags across the figure between two shares of its width."""
    box = frame.locator(".figure.timeline .nsewdrag").first.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * start, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * end, y, steps=4)
    page.mouse.up()


def test_tabs_have_their_names_and_keys(server: Server, page: Page, open_tab: OpenTab) -> None:
    frame = open_tab(server)
    tabs = frame.get_by_role("tab")
    expect(tabs).to_have_text(VIEWS)
    tabs.first.focus()
    for key, name in (("ArrowRight", "Timeline"), ("End", "Insights"), ("Home", "Overview")):
        page.keyboard.press(key)
        chosen = frame.get_by_role("tab", name=name, exact=True)
        expect(chosen).to_be_focused()
        expect(chosen).to_have_attribute("aria-selected", "true")
        expect(frame.get_by_role("tabpanel", name=name, exact=True)).to_be_visible()
    page.keyboard.press("2")
    expect(frame.get_by_role("tabpanel", name="Timeline")).to_be_visible()


def test_zooming_restricts_all_views_until_cleared(
    server: Server, page: Page, open_tab: OpenTab
) -> None:
    frame = open_tab(server, view="timeline")
    frame.wait_for_selector(".figure.timeline .nsewdrag")
    assert time_range(frame) == (0, 10)
    drag_timeline(page, frame, 0.12, 0.28)
    chip = frame.get_by_role("group", name="Time shown")
    expect(chip).to_contain_text(re.compile(r"00:01\.\d+ – 00:02\.\d+"))
    frame.get_by_role("tab", name="Overview").click()
    expected = server.get("overview", run=NAME, start=1.2, end=2.8)["cards"][0]["value"]
    whole = server.get("overview", run=NAME)["cards"][0]["value"]
    assert expected != whole
    expect(frame.locator(".card[data-key=read] .value")).to_have_text(expected)
    frame.get_by_role("button", name="Clear the time restriction").click()
    expect(frame.locator(".card[data-key=read] .value")).to_have_text(whole)
    assert "start" not in address(page)


def test_timeline_answers_double_click_and_buttons(
    server: Server, page: Page, open_tab: OpenTab
) -> None:
    frame = open_tab(server, view="timeline", start=4, end=6)
    frame.wait_for_selector(".figure.timeline .nsewdrag")
    assert time_range(frame) == (4, 6)
    frame.get_by_role("button", name="Later").click()
    expect(frame.locator(".chip-text")).to_have_text("00:05.0 – 00:07.0")
    frame.get_by_role("button", name="Zoom out").click()
    expect(frame.locator(".chip-text")).to_have_text("00:04.0 – 00:08.0")
    frame.locator(".figure.timeline .nsewdrag").first.dblclick()
    expect(frame.locator(".chip-text")).to_have_text("Whole run, 10\u00a0s")
    frame.wait_for_function(
        "document.querySelector('.figure.timeline')._fullLayout.xaxis.range[1] == 10"
    )


def test_files_are_searched_sorted_paged_and_copied(
    server: Server, page: Page, open_tab: OpenTab
) -> None:
    frame = open_tab(server, view="files")
    table = frame.get_by_role("region", name="Files", exact=True)
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(50)
    frame.get_by_role("button", name="Next page").click()
    expect(frame.locator(".pager")).to_contain_text("51–100 of 121")
    table.get_by_role("button", name="Path").click()
    expect(table.locator("th[aria-sort=ascending]")).to_have_text("Path")
    expect(frame.locator(".pager")).to_contain_text("1–50 of 121")
    expect(rows.first).to_contain_text("/home/model.keras")
    table.get_by_role("button", name="Path").click()
    expect(rows.first).to_contain_text("img_00119.jpg")
    expect(rows.first).to_contain_text("/scratch/…/")
    frame.get_by_role("searchbox", name="Search").fill("IMG_00042")
    expect(rows).to_have_count(1)
    rows.get_by_role("button").click()
    expect(frame.locator("[aria-live]")).to_have_text("Path copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"{DIRECTORY}/img_00042.jpg"
    frame.get_by_role("searchbox", name="Search").fill("no such file")
    expect(frame.get_by_text("No path contains “no such file”.")).to_be_visible()


def test_run_is_found_by_typing(server: Server, page: Page, open_tab: OpenTab) -> None:
    frame = open_tab(server, start=2, end=4)
    field = frame.get_by_role("combobox", name="Run")
    field.fill("OLD")
    expect(frame.get_by_role("listbox").get_by_role("option")).to_have_text(re.compile("^older"))
    page.keyboard.press("Escape")
    expect(field).to_have_value(NAME)
    field.fill("OLD")
    page.keyboard.press("Enter")
    expect(frame.locator(".chip-text")).to_have_text("Whole run, 4\u00a0s")
    assert "run=older" in address(page)
    assert "start" not in address(page)


def test_notes_are_folded_after_the_second(server: Server, open_tab: OpenTab) -> None:
    notes = open_tab(server).locator(".notes")
    expect(notes.locator(".note")).to_have_count(2)
    notes.get_by_role("button", name=re.compile("more note")).click()
    expect(notes.get_by_text("Three.")).to_be_visible()


def test_module_restricts_and_an_empty_answer_leads_back(server: Server, open_tab: OpenTab) -> None:
    frame = open_tab(server, view="access_sizes", module="STDIO")
    frame.get_by_role("button", name="Show all modules").click()
    expect(frame.get_by_role("combobox", name="Module")).to_have_value("")
    expect(frame.locator(".figure.sizes .main-svg").first).to_be_visible()
    sizes = frame.get_by_role("region", name="Most common sizes").locator("tbody tr")
    expect(sizes.first).to_contain_text("1 MiB")


def test_help_defines_the_numbers(server: Server, page: Page, open_tab: OpenTab) -> None:
    frame = open_tab(server)
    frame.get_by_role("button", name="Help").click()
    dialog = frame.get_by_role("dialog", name="What the numbers mean")
    expect(dialog).to_contain_text("Bytes read (or written) ÷ the seconds")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(frame.get_by_role("button", name="Help")).to_be_focused()


def test_unknown_run_leads_to_the_newest(server: Server, open_tab: OpenTab) -> None:
    frame = open_tab(server, run="gone")
    expect(frame.get_by_text("There is no run called “gone”")).to_be_visible()
    frame.get_by_role("button", name="Show the newest run").click()
    expect(frame.get_by_role("combobox", name="Run")).to_have_value(NAME)
    expect(frame.locator(".card")).to_have_count(5)


def test_hidden_tab_asks_nothing(server: Server, page: Page, open_tab: OpenTab) -> None:
    frame = open_tab(server, view="files")
    expect(frame.locator(".block").last).to_be_attached()
    expect(frame.locator(".size-files")).to_have_attribute("data-state", "ready")
    page.evaluate("location.hash = location.hash.replace('#darshan', '#timeseries')")
    page.wait_for_timeout(1_000)  # what was under way when the tab was left
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(6_000)
    assert [url for url in asked if "/plugin/darshan/" in url] == []
    with page.expect_request(re.compile("/plugin/darshan/runs")):
        page.evaluate("location.hash = location.hash.replace('#timeseries', '#darshan')")


def test_run_begins_and_grows_without_touching_what_the_user_does(
    tmp_path: Path, page: Page, open_tab: OpenTab
) -> None:
    begin = time.time()
    to_come = windows(Recorder(), 10)
    with tensorboard(tmp_path) as running:
        running.wait_for("runs", lambda answer: answer["runs"] == [])
        frame = open_tab(running)
        expect(frame.get_by_text("pip install tensorboard-plugin-darshan")).to_be_visible()
        expect(frame.get_by_text("callbacks=[DarshanCallback(log_dir)]")).to_be_visible()

        file = RecordingFile(tmp_path, begin=begin)
        file.job(job(begin=begin))
        file.windows([next(to_come) for _ in range(4)])
        running.wait_for("runs", lambda answer: answer["runs"])
        frame.get_by_role("button", name="Check again").click()
        expect(frame.locator(".status")).to_have_text("recording")
        expect(frame.locator(".chip-text")).to_have_text("Whole run, 4\u00a0s")
        frame.locator("summary").first.click()
        frame.evaluate("document.querySelector('.view').scrollTop = 60")
        phase = frame.get_by_role("button", name="train").first
        phase.evaluate("button => button.focus({preventScroll: true})")
        file.windows([next(to_come) for _ in range(6)])
        expect(frame.locator(".chip-text")).to_have_text("Whole run, 10\u00a0s", timeout=20_000)
        rows = frame.get_by_role("region", name="Epochs and phases").locator("tbody tr")
        expect(rows).to_have_count(10)
        expect(phase).to_be_focused()
        expect(frame.locator("details").first).to_have_attribute("open", "")
        assert frame.evaluate("document.querySelector('.view').scrollTop") == 60

        frame.get_by_role("tab", name="Timeline").click()
        frame.wait_for_selector(".figure.timeline .nsewdrag")
        frame.wait_for_function(
            "document.querySelector('.figure.timeline')._fullLayout.xaxis.range[1] == 10"
        )
        frame.get_by_role("switch", name="Live").click()
        file.windows([next(to_come) for _ in range(2)])
        running.wait_for("runs", lambda answer: answer["runs"][0]["duration_seconds"] == 12)
        page.wait_for_timeout(6_000)
        assert time_range(frame) == (0, 10)
        frame.get_by_role("button", name="Reload", exact=True).click()
        expect(frame.locator(".chip-text")).to_have_text("Whole run, 12\u00a0s")
