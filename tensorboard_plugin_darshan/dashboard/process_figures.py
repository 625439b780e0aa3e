"""Ranks and processes as plotly figures: bars a rank, rows over time, the page cache over time."""

from __future__ import annotations

import html
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.format import bandwidth, seconds, size
from tensorboard_plugin_darshan.dashboard.heatmap import Heatmap, Shares
from tensorboard_plugin_darshan.dashboard.rank_lanes import Span
from tensorboard_plugin_darshan.dashboard.rank_totals import Rank
from tensorboard_plugin_darshan.dashboard.theme import (
    Figure,
    Theme,
    axis,
    byte_ticks,
    label,
    layout,
    nice_step,
    typed,
)

Array = columns.Array

_ROW_HEIGHT: Final = 18
_ZOOM: Final = {"dragmode": "zoom"}


def heatmap_figure(found: Heatmap, span: Span, theme: Theme, revision: str) -> Figure:
    """Rows over time, darker the more bytes a second; grey where nothing was recorded."""
    moved = found.read + found.written
    largest = float(moved.max())
    n = len(found.labels)
    ticks, texts = byte_ticks(largest or 1.0, 2)
    middle = (found.edges[1:] + found.edges[:-1]) / 2
    return {
        "data": [
            {
                "type": "heatmap",
                "name": "bytes per second",
                "x": typed(middle),
                "y": [html.escape(text) for text in found.labels],
                "z": _cells(moved, found.known),
                "customdata": _texts(found),
                "hovertemplate": "%{y}, %{x:.2f} s: %{customdata}<extra></extra>",
                "hoverongaps": False,
                "zmin": 0.0,
                "zmax": largest or 1.0,
                "colorscale": [[0.0, theme.card], [0.55, theme.read], [1.0, theme.text]],
                "xgap": 0,
                "ygap": 1,
                "colorbar": {
                    "title": {"text": "bytes/s", "font": {"size": 11, "color": theme.muted}},
                    "tickvals": ticks,
                    "ticktext": texts,
                    "tickfont": {"size": 11, "color": theme.muted},
                    "thickness": 10,
                    "outlinewidth": 0,
                },
            }
        ],
        "layout": layout(
            theme,
            revision,
            96 + _ROW_HEIGHT * max(2, n),
            plot_bgcolor=theme.bands[2],
            margin={"l": 116, "r": 16, "t": 16, "b": 48},
            xaxis=axis(theme, "time since the run began (s)", range=list(span), ticksuffix=" s"),
            yaxis=axis(
                theme, None, type="category", autorange="reversed", fixedrange=True, dtick=1
            ),
            **_ZOOM,
        ),
    }


def _cells(values: Array, known: Array) -> list[list[float | None]]:
    """Rows of a heatmap to four digits, None where nothing is known."""
    return [
        [float(f"{value:.4g}") if is_known else None for value, is_known in zip(*row, strict=True)]
        for row in zip(values.tolist(), known.tolist(), strict=True)
    ]


def _texts(found: Heatmap) -> list[list[str]]:
    return [
        [
            f"read {bandwidth(read)}, write {bandwidth(written)}" if is_known else ""
            for read, written, is_known in zip(*row, strict=True)
        ]
        for row in zip(
            found.read.tolist(), found.written.tolist(), found.known.tolist(), strict=True
        )
    ]


def rank_figure(ranks: list[Rank], theme: Theme, revision: str) -> Figure:
    """Bytes of each rank (read up, written down), and below them its time in calls."""
    names = [rank.name for rank in ranks]
    read = [float(rank.bytes_read) for rank in ranks]
    written = [float(rank.bytes_written) for rank in ranks]
    times = [rank.call_seconds for rank in ranks]
    up, down = max(read), max(written)
    step = byte_ticks(max(up, down, 1.0), 2, "")[0][1]
    ticks = [i * step for i in range(-int(down / step * 1.001), int(up / step * 1.001) + 1)]
    time_step = nice_step(max(times), 2)
    time_ticks = [i * time_step for i in range(int(max(times) / time_step * 1.001) + 1)]
    return {
        "data": [
            _bars(names, read, [size(v) for v in read], "read", theme.read),
            _bars(names, [-v for v in written], [size(v) for v in written], "write", theme.write),
            _bars(names, times, [seconds(v) for v in times], "in calls", theme.muted)
            | {"yaxis": "y2"},
        ],
        "layout": layout(
            theme,
            revision,
            300,
            barmode="overlay",
            bargap=0.25,
            xaxis=axis(theme, "rank", type="category", anchor="y2", fixedrange=True),
            yaxis=axis(
                theme,
                "bytes",
                domain=[0.42, 0.95],
                tickvals=ticks,
                ticktext=[size(abs(tick)) for tick in ticks],
                zeroline=True,
                fixedrange=True,
            ),
            yaxis2=axis(
                theme,
                "time in calls",
                domain=[0.0, 0.3],
                tickvals=time_ticks,
                ticktext=[seconds(tick) for tick in time_ticks],
                fixedrange=True,
            ),
            annotations=[
                label(theme, text, 0.0, top, xanchor="left", yanchor="bottom", font=font)
                for text, top in (
                    ("bytes read, and written below zero", 0.95),
                    ("time in calls, all threads added", 0.3),
                )
                for font in [{"size": 11, "color": theme.muted}]
            ],
        ),
    }


def _bars(
    names: list[str], values: list[float], texts: list[str], name: str, colour: str
) -> dict[str, Any]:
    return {
        "type": "bar",
        "name": name,
        "x": names,
        "y": typed(values),
        "hovertext": [f"rank {n}: {text} {name}" for n, text in zip(names, texts, strict=True)],
        "hoverinfo": "text",
        "marker": {"color": colour, "line": {"width": 0}},
    }


def page_cache_figure(found: Shares, span: Span, theme: Theme, revision: str) -> Figure:
    """Shares over time: of bytes read from the page cache, and of the kernel's bytes seen."""
    middle = (found.edges[1:] + found.edges[:-1]) / 2
    return {
        "data": [
            {
                "type": "bar",
                "name": "from page cache",
                "x": typed(middle),
                "y": _percents(found.cache),
                "width": float(found.edges[1] - found.edges[0]),
                "hovertemplate": "from page cache %{y:.3~g} %<extra></extra>",
                "marker": {"color": theme.read, "opacity": 0.55, "line": {"width": 0}},
            },
            {
                "type": "scatter",
                "mode": "lines",
                "name": "seen",
                "x": typed(middle),
                "y": _percents(found.seen),
                "hovertemplate": "seen %{y:.3~g} %<extra></extra>",
                "connectgaps": False,
                "line": {"shape": "hvh", "width": 1, "color": theme.muted, "dash": "dot"},
            },
        ],
        "layout": layout(
            theme,
            revision,
            170,
            hovermode="x unified",
            xaxis=axis(theme, "time since the run began (s)", range=list(span), ticksuffix=" s"),
            yaxis=axis(theme, "share (%)", range=[0.0, 104.0], fixedrange=True, dtick=50),
            annotations=[
                label(
                    theme,
                    "filled: read from page cache; dotted: seen by the recorder",
                    0.0,
                    1.0,
                    xanchor="left",
                    yanchor="bottom",
                    font={"size": 11, "color": theme.muted},
                )
            ],
            **_ZOOM,
        ),
    }


def _percents(values: Array) -> list[float | None]:
    """Shares in percent, to a tenth; None where there is none."""
    return [None if np.isnan(value) else round(100.0 * value, 1) for value in values.tolist()]


def gap_shapes(gaps: list[Span], theme: Theme) -> list[dict[str, Any]]:
    """Shades of the stretches of a timeline in which nothing was recorded."""
    return [
        {
            "type": "rect",
            "layer": "below",
            "xref": "x",
            "yref": "paper",
            "x0": start,
            "x1": end,
            "y0": 0.0,
            "y1": 1.0,
            "fillcolor": theme.bands[2],
            "line": {"width": 0},
            "label": {
                "text": "not recorded",
                "textposition": "top center",
                "font": {"size": 11, "color": theme.muted},
            },
        }
        for start, end in gaps
    ]
