"""Answers → plotly figures, as the plain dicts that plotly.js draws.

Built without plotly's classes, which cost a third of a second to import and check; a test checks
every figure with them.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.distributions import (
    DIRECTIONS,
    AccessSizes,
    Histograms,
    bucket_label,
)
from tensorboard_plugin_darshan.dashboard.format import (
    about,
    bandwidth,
    count,
    percent,
    plural,
    ratio,
    shorten,
)
from tensorboard_plugin_darshan.dashboard.theme import (
    Figure,
    Theme,
    axis,
    byte_decades,
    label,
    layout,
    nice_step,
    typed,
)
from tensorboard_plugin_darshan.window import BINS_PER_DECADE, HISTOGRAM_EDGES, HISTOGRAMS

Array = columns.Array

_PATTERN_NAMES: Final = (
    ("consecutive", 1.0, "begin where the previous access of the file ended"),
    ("sequential", 0.65, "begin behind the end of the previous access"),
    ("other", 0.35, "begin before the end of the previous access"),
)
"""What patterns are called, how dark they are, and what they mean."""


def empty_figure() -> Figure:
    """What stands for a figure when there is nothing to draw; a note says why."""
    return {"data": [], "layout": {}}


def file_bandwidth_figure(found: Histograms, theme: Theme, revision: str) -> Figure:
    """Histogram of per-file bandwidth: read above, write below, one count a file."""
    shown = [d for d in range(2) if found.files(f"{DIRECTIONS[d]}_bandwidth")]
    if not shown:
        return empty_figure()
    counts = [found.counts[HISTOGRAMS.index(f"{name}_bandwidth")] for name in DIRECTIONS]
    used = np.flatnonzero(counts[0] + counts[1])
    first = int(used[0]) // BINS_PER_DECADE * BINS_PER_DECADE
    last = -(-int(used[-1] + 1) // BINS_PER_DECADE) * BINS_PER_DECADE
    if last - first < 2 * BINS_PER_DECADE:
        last = first + 2 * BINS_PER_DECADE
    ticks, texts = byte_decades(10.0 ** (first / BINS_PER_DECADE), 10.0 ** (last / BINS_PER_DECADE))
    domains = [[0.0, 1.0]] if len(shown) == 1 else [[0.56, 1.0], [0.0, 0.44]]
    figure: Figure = {"data": [], "layout": layout(theme, revision, 360)}
    figure["layout"]["annotations"] = []
    for domain, direction in zip(domains, shown, strict=True):
        name = DIRECTIONS[direction]
        y = "y" if domain is domains[0] else "y2"
        figure["data"].append(
            _histogram_bars(found, direction, counts[direction], used, theme) | {"yaxis": y}
        )
        upside_down = len(shown) == 2 and direction == 1
        figure["layout"]["yaxis" if y == "y" else "yaxis2"] = axis(
            theme,
            f"files {'written' if direction else 'read'}",
            domain=domain,
            **_count_axis(int(counts[direction].max()), upside_down),
        )
        figure["layout"]["annotations"].append(
            _direction_label(
                theme,
                direction,
                f"{name}: {plural(found.files(f'{name}_bandwidth'), 'file', 'files')}, "
                f"median {about(bandwidth(found.median(f'{name}_bandwidth')))}",
                x=0.0,
                y=domain[1],
            )
        )
    figure["layout"]["xaxis"] = axis(
        theme,
        "bandwidth of a file (bytes per second, log scale)",
        tickvals=ticks,
        ticktext=texts,
        range=[first / BINS_PER_DECADE, last / BINS_PER_DECADE],
        anchor="y2" if len(shown) == 2 else "y",
        automargin=True,
    )
    return figure


def _count_axis(largest: int, upside_down: bool) -> dict[str, Any]:
    """Range and whole-numbered ticks of an axis that counts files."""
    step = max(1.0, nice_step(largest, 3))
    ticks = [i * step for i in range(int(largest / step) + 1)]
    reach = [0.0, 1.08 * largest]
    return {
        "tickvals": ticks,
        "ticktext": [count(tick) for tick in ticks],
        "range": reach[::-1] if upside_down else reach,
        "fixedrange": True,
    }


def _histogram_bars(
    found: Histograms, direction: int, counts: Array, used: Array, theme: Theme
) -> dict[str, Any]:
    places = used[counts[used] > 0]
    name = DIRECTIONS[direction]
    texts = [_bin_text(found, direction, int(place), int(counts[place])) for place in places]
    return {
        "type": "bar",
        "name": name,
        "x": typed((places + 0.5) / BINS_PER_DECADE),
        "y": typed(counts[places], "f8"),
        "width": 0.92 / BINS_PER_DECADE,
        "hovertext": texts,
        "hoverinfo": "text",
        "marker": _marker(name, theme),
    }


def _direction_label(
    theme: Theme, direction: int, text: str, x: float = 0.0, y: float = 1.0
) -> dict[str, Any]:
    """What stands for a legend, above a plot: at its left end for `x` 0, at its right end for 1."""
    return label(
        theme,
        text,
        x,
        y,
        xanchor="right" if x else "left",
        yanchor="bottom",
        font={"size": 12, "color": getattr(theme, DIRECTIONS[direction])},
    )


def _marker(name: str, theme: Theme, opacity: float = 1.0) -> dict[str, Any]:
    """Bars of a direction; those of writes are hatched too, so that hue is not all."""
    colour = getattr(theme, name)
    marker = {"color": colour, "opacity": opacity, "line": {"width": 0}}
    if name == "write":
        marker["pattern"] = {
            "shape": "/",
            "fillmode": "overlay",
            "fgcolor": theme.card,
            "fgopacity": 0.35,
            "size": 6,
        }
    return marker


def _bin_text(found: Histograms, direction: int, place: int, n: int) -> str:
    low, high = HISTOGRAM_EDGES[place], HISTOGRAM_EDGES[place + 1]
    verb = "written" if direction else "read"
    lines = [
        f"<b>{plural(n, 'file', 'files')}</b> {verb} at "
        f"{bandwidth(float(low))} to {bandwidth(float(high))}"
    ]
    slow = found.slow.get((direction, place), [])
    if slow:
        lines.append("slowest:")
        lines += [f"{html.escape(shorten(f.path))} {bandwidth(f.bandwidth)}" for f in slow]
    return "<br>".join(lines)


def access_sizes_figure(sizes: AccessSizes, theme: Theme, revision: str) -> Figure:
    """Mirrored bars over Darshan's ten ranges: reads above, writes below one zero line."""
    if not sizes.counts.any():
        return empty_figure()
    labels = [bucket_label(place) for place in range(sizes.counts.shape[1])]
    data = [
        {
            "type": "bar",
            "name": name,
            "x": labels,
            "y": typed(sign * sizes.counts[direction]),
            "text": [count(n) if n else "" for n in sizes.counts[direction].tolist()],
            "textposition": "outside",
            "textfont": {"color": theme.text},
            "cliponaxis": False,
            "hovertext": _size_texts(sizes.counts[direction], labels, name),
            "hoverinfo": "text",
            "marker": _marker(name, theme),
        }
        for direction, (name, sign) in enumerate((("read", 1), ("write", -1)))
        if sizes.counts[direction].any()
    ]
    largest = [int(counts.max()) for counts in sizes.counts]
    span = max(largest)
    step = max(1.0, nice_step(span, 3))
    ticks = [i * step for i in range(-int(largest[1] / step), int(largest[0] / step) + 1)]
    reach = [-(largest[1] + 0.15 * span) if largest[1] else 0.0, largest[0] + 0.15 * span]
    return {
        "data": data,
        "layout": layout(
            theme,
            revision,
            320,
            barmode="overlay",
            bargap=0.25,
            xaxis=axis(
                theme,
                "size of an access (bytes, Darshan's ranges)",
                type="category",
                automargin=True,
            ),
            yaxis=axis(
                theme,
                "calls (reads above, writes below)",
                tickvals=ticks,
                ticktext=[count(abs(tick)) for tick in ticks],
                range=reach,
                zeroline=True,
                fixedrange=True,
            ),
            annotations=_call_labels(sizes, theme),
        ),
    }


def _call_labels(sizes: AccessSizes, theme: Theme) -> list[dict[str, Any]]:
    return [
        _direction_label(theme, place, f"{name}: {count(int(n))} calls", x=float(place))
        for place, (name, n) in enumerate(zip(DIRECTIONS, sizes.counts.sum(axis=1), strict=True))
        if n
    ]


def _size_texts(counts: Array, labels: Sequence[str], name: str) -> list[str]:
    total = int(counts.sum())
    return [
        f"<b>{plural(n, name, f'{name}s')}</b> of {text}: {percent(ratio(n, total))} of all {name}s"
        for n, text in zip(counts.tolist(), labels, strict=True)
    ]


def pattern_figure(sizes: AccessSizes, theme: Theme, revision: str) -> Figure:
    """How accesses follow each other: one stacked bar for reads, one for writes."""
    shown = [d for d in range(2) if sizes.patterns[d].total]
    if not shown:
        return empty_figure()
    data = []
    for direction in shown:
        pattern, verb = sizes.patterns[direction], f"{DIRECTIONS[direction]}s"
        for name, opacity, meaning in _PATTERN_NAMES:
            n = getattr(pattern, name)
            share = ratio(n, pattern.total) or 0.0
            data.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": name,
                    "y": [verb],
                    "x": [100 * share],
                    "text": [f"{name} {percent(share)}" if share >= 0.12 else ""],
                    "textposition": "inside",
                    "insidetextanchor": "middle",
                    "textangle": 0,
                    "constraintext": "none",
                    "textfont": {"color": theme.on_colour if opacity == 1.0 else theme.text},
                    "hovertext": [f"<b>{count(n)} {name} {verb}</b>, {percent(share)}: {meaning}"],
                    "hoverinfo": "text",
                    "marker": _marker("write" if direction else "read", theme, opacity)
                    | {"pattern": {"shape": ""}},
                }
            )
    return {
        "data": data,
        "layout": layout(
            theme,
            revision,
            96 + 36 * len(shown),
            barmode="stack",
            bargap=0.3,
            xaxis=axis(theme, "share of calls (%)", range=[0, 100], fixedrange=True),
            yaxis=axis(theme, None, autorange="reversed", fixedrange=True, type="category"),
        ),
    }
