"""Each view in both themes, wide and narrow: nothing lies on something else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from playwright.sync_api import Browser

from tests.support.browser import Tab
from tests.support.dashboard import Server, tensorboard
from tests.support.recordings import Recorder, Use, write_recording

pytestmark = pytest.mark.browser

VIEWS = ("Overview", "Timeline", "Files", "Access sizes", "Insights")
WIDE, NARROW = 1400, 400

TEXTS = r"""() => {
  const clip = (element, {left, right, top, bottom}) => {
    for (let box = element; box && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (style.overflowX === 'visible' && style.overflowY === 'visible') continue;
      const edge = box.getBoundingClientRect();
      left = Math.max(left, edge.left);
      right = Math.min(right, edge.right);
      top = Math.max(top, edge.top);
      bottom = Math.min(bottom, edge.bottom);
    }
    return {left, right, top, bottom};
  };
  const isShown = (element) =>
    element.checkVisibility({opacityProperty: true, visibilityProperty: true}) &&
    !element.closest('script, style, option, .sr-only');
  const texts = [];
  const add = (text, corners) => {
    const xs = corners.map(({x}) => x), ys = corners.map(({y}) => y);
    if (Math.max(...xs) - Math.min(...xs) > 1 && Math.max(...ys) - Math.min(...ys) > 1) {
      texts.push({text, corners: corners.map(({x, y}) => [x, y])});
    }
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.ownerSVGElement || !isShown(parent)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const whole of range.getClientRects()) {
      const {left, right, top, bottom} = clip(parent, whole);
      if (right < left || bottom < top) continue;
      const corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
      add(node.data.trim(), corners.map(([x, y]) => ({x, y})));
    }
  }
  for (const element of document.querySelectorAll('svg text')) {
    if (!isShown(element)) continue;
    const {x, y, width, height} = element.getBBox();
    const matrix = element.getScreenCTM();
    const corners = [[x, y], [x + width, y], [x + width, y + height], [x, y + height]];
    add(element.textContent, corners.map(([x, y]) => new DOMPoint(x, y).matrixTransform(matrix)));
  }
  return texts;
}"""
"""Every piece of visible text and the corners of its box, which may be turned; without what
scrolling containers hide.
"""

Text = dict[str, Any]
Box = npt.NDArray[np.float64]


def write_training(log_dir: Path) -> None:
    """A recording like that of a training of three epochs, with long paths and many sizes."""
    chance = random.Random(5)
    recorder = Recorder()
    windows = []
    for second in range(60):
        phase = "validation" if second % 20 >= 16 else "train" if second > 1 else ""
        reads = [
            Use(
                f"/scratch/project/images/class_{i % 7}/{'very_long_' * (i % 4)}{i:05d}.jpg",
                reads=chance.randrange(1, 9),
                access_bytes=int(10 ** chance.uniform(2, 6.5)),
                call_seconds=10 ** chance.gauss(-3.5, 0.5),
            )
            for i in chance.sample(range(900), 25)
        ]
        if second % 20 == 19:
            reads.append(Use("/scratch/project/model.keras", writes=40, access_bytes=1 << 20))
        windows.append(
            recorder.window(
                {"POSIX": reads, "STDIO": [Use("/scratch/project/log.txt", writes=2)]},
                phase=phase,
                epoch=second // 20 if phase else -1,
                step=second,
                process_io=np.array([10**8, 10**7, 10**6, 10**6]),
                notes=("A note of a window, long enough to need a second line on a telephone.",),
            )
        )
    write_recording(log_dir / "resnet50-imagenet-with-a-name-that-is-rather-long", windows)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log_dir = tmp_path_factory.mktemp("logs")
    write_training(log_dir)
    with tensorboard(log_dir) as started:
        started.wait_for("runs", lambda answer: answer["runs"])
        yield started


def overlaps(texts: list[Text]) -> list[tuple[str, str]]:
    """Pairs of texts that lie on each other."""
    boxes = [shrunk(np.array(text["corners"])) for text in texts]
    return [
        (texts[i]["text"], texts[j]["text"])
        for i, j in combinations(range(len(texts)), 2)
        if are_one_on_another(boxes[i], boxes[j])
    ]


def shrunk(box: Box) -> Box:
    """The box `[4, 2]` about the letters in a box of a line, which is higher than they are."""
    middle = box.mean(axis=0)
    along, across = box[1] - box[0], box[3] - box[0]
    along = along * max(0.0, 1 - 2 / np.linalg.norm(along))
    across = across * 0.7
    return np.array(
        [middle + (a * along + b * across) / 2 for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    )


def are_one_on_another(one: Box, other: Box) -> bool:
    """Whether two turned boxes `[4, 2]` share a point: no side of theirs separates them."""
    for box in (one, other):
        for side in (box[1] - box[0], box[3] - box[0]):
            first, second = one @ side, other @ side
            if first.max() <= second.min() or second.max() <= first.min():
                return False
    return True


def test_boxes_are_compared_as_they_are_turned() -> None:
    def box(x: float, y: float, degrees: float) -> Box:
        angle = np.radians(degrees)
        along = 40 * np.array([np.cos(angle), np.sin(angle)])
        across = 10 * np.array([-np.sin(angle), np.cos(angle)])
        corner = np.array([x, y])
        return np.array([corner, corner + along, corner + along + across, corner + across])

    assert are_one_on_another(box(0, 0, 0), box(30, 5, 0))
    assert not are_one_on_another(box(0, 0, 0), box(0, 11, 0))
    assert not are_one_on_another(box(0, 0, 45), box(20, 0, 45))
    assert are_one_on_another(box(0, 0, 45), box(0, 30, -45))
    assert overlaps(
        [{"text": "a", "corners": box(0, 0, 0)}, {"text": "b", "corners": box(30, 5, 0)}]
    ) == [("a", "b")]


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_views_draw_without_overlap(
    chromium: Browser, server: Server, theme: Any, width: int
) -> None:
    with chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme
    ) as context:
        tab = Tab(context.new_page(), server.port)
        frame = tab.open()
        views = [name.strip() for name in frame.get_by_role("tab").all_inner_texts()]
        assert {"Overview", "Timeline", "Files", "Access sizes"} <= set(views)
        for view in views:
            tab.show(view)
            assert frame.evaluate("document.documentElement.dataset.theme") == theme
            texts = frame.evaluate(TEXTS)
            assert len(texts) > 20, view
            assert overlaps(texts) == [], view
            too_far = [
                text["text"]
                for text in texts
                if any(not -1 <= x <= width + 1 for x, _ in text["corners"])
            ]
            assert too_far == [], view
            assert frame.evaluate(
                "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            ), f"{view} scrolls sideways"
            assert view != "Access sizes" or len(tab.figures()) == 2
        assert tab.problems == []
