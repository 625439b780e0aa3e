"""Takes the pictures of the docs: each view of the recording in demo_logs, light and dark.

`make screenshots` runs it; pictures come to docs/images/<view>-<theme>.png.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from PIL import Image
from playwright.sync_api import Browser

from tests.support.browser import Tab, browser
from tests.support.dashboard import tensorboard

ROOT: Final = Path(__file__).resolve().parents[1]
IMAGES: Final = ROOT / "docs" / "images"
CASES: Final = ROOT / "docs" / "case_studies"
RUN: Final = "small_cnn"
CASE_PICTURES: Final = (
    ("imagenet_like", "Insights"),
    ("imagenet_like", "Timeline"),
    ("malware_like_threads", "Insights"),
    ("malware_like_before", "Insights"),
    ("malware_like_after", "Files"),
)
VIEWS: Final = ("Overview", "Timeline", "Files", "Access sizes", "Insights")
THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
WIDTH, HEIGHT = 1280, 860
COLOURS: Final = 128


def image_name(view: str, theme: str) -> str:
    """Name of a picture's file."""
    return f"{view.lower().replace(' ', '-')}-{theme}.png"


def case_name(run: str, view: str) -> str:
    """Name of a case study's picture."""
    return f"{run.replace('_', '-')}-{view.lower().replace(' ', '-')}.png"


def take(
    chromium: Browser,
    port: int,
    theme: Literal["light", "dark"],
    pictures: Sequence[tuple[str, str, Path]],
) -> None:
    """Takes pictures: of a run, a view, into a file.

    Raises:
        RuntimeError: the browser complained; the pictures may be wrong.
    """
    with chromium.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=theme, reduced_motion="reduce"
    ) as context:
        tab = Tab(context.new_page(), port)
        for run, view, path in pictures:
            tab.open(f"&p.darshan.run={run}&p.darshan.live=off")
            tab.show(view)
            with Image.open(io.BytesIO(tab.page.screenshot())) as picture:
                picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)
            print(path.relative_to(ROOT))
        if tab.problems:
            raise RuntimeError(f"the browser complained: {tab.problems}")


def main() -> None:
    """Takes all pictures."""
    for directory in (IMAGES, CASES):
        directory.mkdir(exist_ok=True)
    with tensorboard(ROOT / "demo_logs") as server, browser() as chromium:
        server.wait_for("runs", lambda answer: len(answer["runs"]) >= 5)
        for theme in THEMES:
            views = [(RUN, view, IMAGES / image_name(view, theme)) for view in VIEWS]
            take(chromium, server.port, theme, views)
        cases = [(run, view, CASES / case_name(run, view)) for run, view in CASE_PICTURES]
        take(chromium, server.port, "light", cases)


if __name__ == "__main__":
    main()
