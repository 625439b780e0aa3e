"""Lanes of single accesses as a plotly figure: one bar an access, coloured by direction."""

from __future__ import annotations

import html
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.format import bandwidth, count, seconds, shorten, size
from tensorboard_plugin_darshan.dashboard.lanes import By, Lanes
from tensorboard_plugin_darshan.dashboard.theme import MONO, Figure, Theme, axis, layout, typed

Array = columns.Array

_DIRECTIONS: Final = ("read", "write")
_LANE_PIXELS: Final = 20
_FRAME_PIXELS: Final = 84
_LABEL_CHARACTERS: Final = 34
_BAR_HEIGHT: Final = 0.72
_NARROWEST_SHARE: Final = 1 / 2000
"""Of the stretch shown, what a bar takes at least, so that the shortest access can be seen."""


def lanes_figure(
    lanes: Lanes, by: By, span: tuple[float, float], theme: Theme, revision: str
) -> Figure:
    """The figure; see `http_api.md`.

    Args:
        lanes: what to show.
        by: what makes a lane.
        span: the stretch, in seconds on the run's axis.
        theme: the colours.
        revision: stays the same as long as zoom must be kept.
    """
    n = len(lanes.labels)
    if not n:
        return {"data": [], "layout": {}}
    labels = [html.escape(_one_line(label)) for label in lanes.labels]
    return {
        "data": [_bars(lanes, by, direction, span, theme) for direction in range(2)],
        "layout": layout(
            theme,
            revision,
            _FRAME_PIXELS + _LANE_PIXELS * n,
            margin={"l": 250, "r": 16, "t": 30, "b": 48},
            barmode="overlay",
            hovermode="closest",
            dragmode="zoom",
            xaxis=axis(theme, "time since the run began (s)", range=list(span), ticksuffix=" s"),
            yaxis=axis(
                theme,
                None,
                range=[n - 0.5, -0.5],
                fixedrange=True,
                tickvals=list(range(n)),
                ticktext=labels,
                tickfont={"family": MONO, "size": 11, "color": theme.muted},
            ),
        ),
    }


def _one_line(text: str) -> str:
    return shorten(text, _LABEL_CHARACTERS)


def _bars(
    lanes: Lanes, by: By, direction: int, span: tuple[float, float], theme: Theme
) -> dict[str, Any]:
    rows = np.flatnonzero(lanes.direction == direction)
    width = np.maximum(lanes.end[rows] - lanes.start[rows], _NARROWEST_SHARE * (span[1] - span[0]))
    name = _DIRECTIONS[direction]
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "base": typed(lanes.start[rows]),
        "x": typed(width),
        "y": typed(lanes.lane[rows], "i4"),
        "width": _BAR_HEIGHT,
        "hovertext": [_hover(lanes, i, by, name) for i in rows.tolist()],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {
            "color": theme.write if direction else theme.read,
            "line": {"width": 0},
        },
    }


def _hover(lanes: Lanes, i: int, by: By, name: str) -> str:
    n, moved, busy = int(lanes.count[i]), int(lanes.bytes[i]), float(lanes.busy[i])
    path = html.escape(shorten(lanes.paths[int(lanes.file[i])], 80))
    thread = html.escape(lanes.threads[int(lanes.thread[i])])
    speed = f", {bandwidth(moved / busy)}" if moved and busy > 0 else ""
    at = f"at {lanes.start[i]:.6f} s"
    if n == 1:
        where = f"{name} of {size(moved)} at offset {int(lanes.offset[i]):,}".replace(",", " ")
        return f"{where}<br>took {seconds(busy)}{speed}<br>{at}<br>{path}<br>{thread}"
    known = path if by == "file" else thread
    length = seconds(float(lanes.end[i] - lanes.start[i]))
    return (
        f"{count(n)} {name}s, {size(moved)} in {length}"
        f"<br>took {seconds(busy)} together{speed}<br>{at}<br>{known}"
        "<br>zoom in to see them one by one"
    )
