"""The curve of seconds saved over bytes copied, as the plain dict that plotly.js draws."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_darshan.dashboard.format import seconds, size
from tensorboard_plugin_darshan.dashboard.staging import Curve
from tensorboard_plugin_darshan.dashboard.theme import (
    Figure,
    Theme,
    axis,
    byte_ticks,
    layout,
    typed,
)

HEIGHT: Final = 260


def staging_figure(found: Curve, theme: Theme, revision: str) -> Figure:
    """The curve with its knee marked; empty when copies save nothing."""
    largest = float(found.bytes_copied[-1])
    if not largest or not found.seconds_saved[-1]:
        return {"data": [], "layout": {}}
    knee = (float(found.bytes_copied[found.knee]), float(found.seconds_saved[found.knee]))
    texts = [
        f"{size(copied)} copied: at most {seconds(saved)} saved"
        for copied, saved in zip(
            found.bytes_copied.tolist(), found.seconds_saved.tolist(), strict=True
        )
    ]
    ticks, labels = byte_ticks(largest, 5, "")
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "saved",
        "x": typed(found.bytes_copied),
        "y": typed(found.seconds_saved),
        "text": texts,
        "hovertemplate": "%{text}<extra></extra>",
        "line": {"color": theme.read, "width": 2},
    }
    mark = {
        "type": "scatter",
        "mode": "markers+text",
        "name": "knee",
        "x": [knee[0]],
        "y": [knee[1]],
        "text": [f"knee: {size(knee[0])}, {seconds(knee[1])}"],
        "textposition": "bottom right",
        "textfont": {"color": theme.text},
        "hoverinfo": "skip",
        "cliponaxis": False,
        "marker": {"color": theme.read, "size": 10},
    }
    return {
        "data": [line, mark],
        "layout": layout(
            theme,
            revision,
            HEIGHT,
            showlegend=False,
            xaxis=axis(theme, "bytes copied", tickvals=ticks, ticktext=labels, rangemode="tozero"),
            yaxis=axis(theme, "seconds saved", rangemode="tozero"),
        ),
    }
