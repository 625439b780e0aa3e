"""The JSON answer of `/insights`, as `http_api.md` describes it."""

from __future__ import annotations

from typing import Any

from tensorboard_plugin_darshan.dashboard import insights
from tensorboard_plugin_darshan.dashboard.answers import head
from tensorboard_plugin_darshan.dashboard.selection import Selection


def insights_answer(selection: Selection) -> dict[str, Any]:
    """Answer of `/insights`."""
    return {**head(selection, []), **insights.as_json(insights.insights(selection))}
