"""The timeline as a plotly figure: rows over one time axis, phases named on top."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.format import bandwidth, count, percent, rate, significant
from tensorboard_plugin_darshan.dashboard.phases import Stretch
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
from tensorboard_plugin_darshan.dashboard.timeline import Timeline

Array = columns.Array

_BANDWIDTH: Final = (0.46, 0.93)
_CALLS: Final = (0.23, 0.42)
_IN_FLIGHT: Final = (0.0, 0.19)
_BAND: Final = (0.95, 1.0)
"""Heights of the rows, and of the band with the phases' names, in shares of the plot."""

_MIN_SIDE: Final = 0.25
_MAX_BANDS: Final = 300
_MIN_BAND_SHARE: Final = 1 / 1000
_CHARACTER_SHARE: Final = 0.0085
"""Share of the plot's width that a character of a label takes on a narrow screen."""


def timeline_figure(
    line: Timeline,
    stretches: Sequence[Stretch],
    span: tuple[float, float],
    theme: Theme,
    revision: str,
) -> Figure:
    """Bandwidth (read up, write down), calls per second and calls in flight over time.

    Args:
        line: the bins.
        stretches: the phases.
        span: what to show, in seconds on the run's axis.
        theme: the colours.
        revision: stays the same as long as zoom must be kept.
    """
    shapes, annotations = _bands(stretches, span, theme)
    read, write = line.read_bandwidth, line.write_bandwidth
    bandwidth_axes, scales_differ = _bandwidth_axes(float(read.max()), float(write.max()), theme)
    annotations += _row_labels(scales_differ, theme)
    data = [
        _row(line, read, [bandwidth(v) for v in read.tolist()], "read", "y", theme.read),
        _row(line, write, [bandwidth(v) for v in write.tolist()], "write", "y4", theme.write),
        _row(line, line.calls, [rate(v) for v in line.calls.tolist()], "calls", "y2", theme.muted),
        _row(line, line.in_flight, _in_flight_texts(line), "in flight", "y3", theme.muted),
    ]
    return {
        "data": data,
        "layout": layout(
            theme,
            revision,
            520,
            hovermode="x unified",
            hoversubplots="axis",
            dragmode="zoom",
            shapes=shapes,
            annotations=annotations,
            xaxis=axis(
                theme,
                "time since the run began (s)",
                range=list(span),
                anchor="y3",
                ticksuffix=" s",
                hoverformat=_time_format(line.bin_seconds),
                showspikes=True,
                spikemode="across",
                spikethickness=1,
                spikecolor=theme.muted,
                spikedash="dot",
            ),
            yaxis2=_quantity_axis(float(line.calls.max()), "calls/s", _CALLS, theme),
            yaxis3=_quantity_axis(float(line.in_flight.max()), "in flight", _IN_FLIGHT, theme),
            **bandwidth_axes,
        ),
    }


def _row(
    line: Timeline, values: Array, texts: list[str], name: str, y: str, colour: str
) -> dict[str, Any]:
    """A filled step line; the last bin is drawn to its end."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": typed(line.edges),
        "y": typed(np.append(values, values[-1]), "f4"),
        "text": [*texts, texts[-1]],
        "hovertemplate": f"{name} %{{text}}<extra></extra>",
        "line": {"shape": "hv", "width": 1, "color": colour},
        "fill": "tozeroy",
        "yaxis": y,
    }


def _in_flight_texts(line: Timeline) -> list[str]:
    if not line.busy_is_known:
        return [significant(calls) for calls in line.in_flight.tolist()]
    return [
        f"{significant(calls)}, busy {percent(busy)}"
        for calls, busy in zip(line.in_flight.tolist(), line.busy.tolist(), strict=True)
    ]


def _bandwidth_axes(up: float, down: float, theme: Theme) -> tuple[dict[str, Any], bool]:
    """Axes of read, upwards, and of write, downwards from the same zero line, and whether their
    scales differ: each has at least a quarter of the height, so that reads stay visible beside
    the bursts of checkpoints. Labels are positive on both sides.
    """
    bottom, top = _BANDWIDTH
    share = up / (up + down) if up + down else 1.0
    given = share if share in (0.0, 1.0) else min(max(share, _MIN_SIDE), 1.0 - _MIN_SIDE)
    zero = bottom + (1.0 - given) * (top - bottom)
    axes = {}
    for key, name, largest, domain in (
        ("yaxis", "read ↑", up, [zero, top]),
        ("yaxis4", "write ↓", down, [bottom, zero]),
    ):
        values, texts = byte_ticks(largest, 3 if largest >= down else 2)
        first = int(key == "yaxis4")
        reach = [0.0, 1.05 * max(largest, 1.0)]
        axes[key] = axis(
            theme,
            name,
            domain=domain if domain[0] < domain[1] else [bottom, bottom + 1e-3],
            tickvals=values[first:],
            ticktext=texts[first:],
            range=reach if key == "yaxis" else reach[::-1],
            zeroline=True,
            fixedrange=True,
            visible=largest > 0.0 or key == "yaxis",
        )
    return axes, abs(given - share) > 1e-9


def _quantity_axis(
    largest: float, title: str, domain: tuple[float, float], theme: Theme
) -> dict[str, Any]:
    """An axis of counts from zero on."""
    step = nice_step(largest, 3)
    ticks = [i * step for i in range(int(largest / step * 1.001) + 1)]
    return axis(
        theme,
        title,
        domain=domain,
        tickvals=ticks,
        ticktext=[count(tick) for tick in ticks],
        range=[0.0, 1.08 * largest or 1.0],
        fixedrange=True,
    )


def _row_labels(scales_differ: bool, theme: Theme) -> list[dict[str, Any]]:
    differ = ", read and write on different scales" if scales_differ else ""
    return [
        label(theme, text, 0.0, top, xanchor="left", yanchor="top", font=font)
        for text, top in (
            (f"bandwidth in bytes per second{differ}", _BANDWIDTH[1]),
            ("calls per second", _CALLS[1]),
            ("calls in flight", _IN_FLIGHT[1]),
        )
        for font in [{"size": 11, "color": theme.muted}]
    ]


def _time_format(bin_seconds: float) -> str:
    """Decimals that tell two bins apart."""
    decimals = next((d for d in range(4) if bin_seconds >= 10.0**-d), 3)
    return f".{decimals}f"


def _bands(
    stretches: Sequence[Stretch], span: tuple[float, float], theme: Theme
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Shapes that shade the phases, and their names where these have room."""
    length = span[1] - span[0]
    looks = {name: i for i, name in enumerate(dict.fromkeys(s.phase for s in stretches))}
    wide = [s for s in stretches if s.end - s.start >= _MIN_BAND_SHARE * length]
    wide = sorted(wide, key=lambda s: s.start - s.end)[:_MAX_BANDS]
    shapes: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    for stretch in sorted(wide, key=lambda s: s.start):
        start, end = max(stretch.start, span[0]), min(stretch.end, span[1])
        look = looks[stretch.phase] % len(theme.bands)
        for fill, heights, line in (
            (theme.shades[look], (0.0, _BAND[0]), 0),
            (theme.bands[look], _BAND, 1),
        ):
            shapes.append(
                {
                    "type": "rect",
                    "layer": "below",
                    "xref": "x",
                    "yref": "paper",
                    "x0": stretch.start,
                    "x1": stretch.end,
                    "y0": heights[0],
                    "y1": heights[1],
                    "fillcolor": fill,
                    "line": {"width": line, "color": theme.card},
                }
            )
        text = _fitting(stretch, (end - start) / length)
        if text:
            names.append(
                label(theme, html.escape(text), (start + end) / 2, sum(_BAND) / 2)
                | {"xref": "x", "xanchor": "center", "yanchor": "middle"}
                | {"font": {"size": 11, "color": theme.text}}
            )
    return shapes, names


def _fitting(stretch: Stretch, share: float) -> str:
    """The longest name of a phase that fits into its share of the width; may be empty. People
    count epochs from 1, as Keras prints them.
    """
    room, names = share / _CHARACTER_SHARE, [stretch.phase]
    if stretch.epoch >= 0:
        epoch = stretch.epoch + 1
        names = [f"{stretch.phase}, epoch {epoch}", f"epoch {epoch}", stretch.phase]
        if stretch.phase != "train":
            del names[1]
    return next((text for text in names if len(text) <= room), "")
