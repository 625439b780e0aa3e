"""Takes the pictures of the docs: each view of the recording in demo_logs, light and dark.

`make screenshots` runs it; pictures come to docs/images/<view>-<theme>.png.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Final, Literal

from PIL import Image
from playwright.sync_api import Browser

from tests.support.browser import Tab, browser
from tests.support.dashboard import tensorboard

ROOT: Final = Path(__file__).resolve().parents[1]
IMAGES: Final = ROOT / "docs" / "images"
VIEWS: Final = ("Overview", "Timeline", "Files", "Access sizes")
THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
WIDTH, HEIGHT = 1280, 860
COLOURS: Final = 128


def image_name(view: str, theme: str) -> str:
    """Name of a picture's file."""
    return f"{view.lower().replace(' ', '-')}-{theme}.png"


def take(chromium: Browser, port: int, theme: Literal["light", "dark"]) -> None:
    """Takes one picture of each view.

    Raises:
        RuntimeError: the browser complained; the pictures may be wrong.
    """
    with chromium.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=theme, reduced_motion="reduce"
    ) as context:
        tab = Tab(context.new_page(), port)
        tab.open()
        for view in VIEWS:
            tab.show(view)
            path = IMAGES / image_name(view, theme)
            with Image.open(io.BytesIO(tab.page.screenshot())) as picture:
                picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)
            print(path.relative_to(ROOT))
        if tab.problems:
            raise RuntimeError(f"the browser complained: {tab.problems}")


def main() -> None:
    """Takes all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tensorboard(ROOT / "demo_logs") as server, browser() as chromium:
        server.wait_for("runs", lambda answer: answer["runs"])
        for theme in THEMES:
            take(chromium, server.port, theme)


if __name__ == "__main__":
    main()
