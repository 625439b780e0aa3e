"""The JSON answer of `/insights`, as `http_api.md` describes it."""

from __future__ import annotations

from typing import Any

from tensorboard_plugin_darshan.dashboard import insights, staging
from tensorboard_plugin_darshan.dashboard.answers import head, revision
from tensorboard_plugin_darshan.dashboard.figures import empty_figure
from tensorboard_plugin_darshan.dashboard.format import percent, seconds, size
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.dashboard.staging_figure import staging_figure
from tensorboard_plugin_darshan.dashboard.theme import THEMES


def insights_answer(selection: Selection, theme: str) -> dict[str, Any]:
    """Answer of `/insights`."""
    found = insights.insights(selection)
    helps = found.verdict.for_files or found.verdict.state == "unknown"
    return {
        **head(selection, []),
        **insights.as_json(found),
        "staging": _staging(selection, theme) if helps else _nothing(),
    }


def _nothing() -> dict[str, Any]:
    return {"figure": empty_figure(), "sentence": "", "command": ""}


def _staging(selection: Selection, theme: str) -> dict[str, Any]:
    """What copies on a tier that costs nothing would save at most, and how to make them."""
    choice = staging.choose(staging.candidates(Facts(selection)), staging.FREE)
    curve = staging.curve(choice)
    copied, saved = float(curve.bytes_copied[-1]), float(curve.seconds_saved[-1])
    if not copied or not saved:
        return _nothing()
    knee_bytes = float(curve.bytes_copied[curve.knee])
    knee_seconds = float(curve.seconds_saved[curve.knee])
    return {
        "figure": staging_figure(curve, THEMES[theme], revision(selection)),
        "sentence": f"Copying the files that gain most, {size(knee_bytes)} "
        f"({percent(knee_bytes / copied)} of the bytes), to a faster tier would save at most "
        f"{seconds(knee_seconds)} of {seconds(float(choice.candidates.seconds.sum()))} in opens "
        "and reads (all threads together); beyond that each byte brings less.",
        "command": "tensorboard-darshan stage plan RUN --budget "
        f"{max(1, round(knee_bytes / 1024**2 + 0.5))}MiB --fast DIR",
    }
