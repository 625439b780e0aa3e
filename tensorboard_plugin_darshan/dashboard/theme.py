"""Colours, fonts and the frame that all figures share, light and dark."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.format import size

Array = columns.Array
Figure = dict[str, Any]

FONT: Final = "Roboto, system-ui, sans-serif"
MONO: Final = "'Roboto Mono', ui-monospace, monospace"


@dataclass(frozen=True)
class Theme:
    """What each meaning looks like; the same colour means the same everywhere."""

    read: str
    write: str
    metadata: str
    text: str
    muted: str
    grid: str
    card: str
    on_colour: str
    bands: tuple[str, ...]
    shades: tuple[str, ...]


THEMES: Final[Mapping[str, Theme]] = MappingProxyType(
    {
        "light": Theme(
            read="#0072b2",
            write="#c25400",
            metadata="#7b4fa3",
            text="#202124",
            muted="#5f6368",
            grid="#dadce0",
            card="#ffffff",
            on_colour="#ffffff",
            bands=("#e8eaed", "#f5f5f5", "#d5d9de"),
            shades=("rgba(95,99,104,0.07)", "rgba(95,99,104,0.0)", "rgba(95,99,104,0.13)"),
        ),
        "dark": Theme(
            read="#56b4e9",
            write="#f0a04b",
            metadata="#c39be0",
            text="#e8eaed",
            muted="#9aa0a6",
            grid="#4a4d51",
            card="#2b2b2b",
            on_colour="#202124",
            bands=("#3f4347", "#34373a", "#4d5257"),
            shades=("rgba(154,160,166,0.09)", "rgba(154,160,166,0.0)", "rgba(154,160,166,0.17)"),
        ),
    }
)


def layout(theme: Theme, revision: str, height: int, **more: Any) -> dict[str, Any]:
    """Layout of a figure; `revision` stays the same as long as zoom must be kept."""
    return {
        "autosize": True,
        "height": height,
        "uirevision": revision,
        "paper_bgcolor": theme.card,
        "plot_bgcolor": theme.card,
        "font": {"family": FONT, "size": 12, "color": theme.text},
        "margin": {"l": 76, "r": 16, "t": 30, "b": 48},
        "showlegend": False,
        "bargap": 0.0,
        "hoverlabel": {
            "bgcolor": theme.card,
            "bordercolor": theme.grid,
            "align": "left",
            "font": {"family": FONT, "size": 12, "color": theme.text},
        },
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)",
            "color": theme.muted,
            "activecolor": theme.text,
        },
        **more,
    }


def axis(theme: Theme, title: str | None, **more: Any) -> dict[str, Any]:
    """An axis; `title` names quantity and unit."""
    return {
        "title": {"text": title or "", "font": {"size": 12, "color": theme.muted}},
        "gridcolor": theme.grid,
        "linecolor": theme.grid,
        "zeroline": False,
        "zerolinecolor": theme.muted,
        "tickfont": {"color": theme.muted},
        "automargin": False,
        **more,
    }


def label(theme: Theme, text: str, x: float, y: float, **more: Any) -> dict[str, Any]:
    """A text that stands in the figure instead of a legend; paper coordinates."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "font": {"size": 12, "color": theme.text},
        **more,
    }


def typed(values: Array | Sequence[float], dtype: str = "f8") -> dict[str, str]:
    """An array as plotly.py sends it: base64 of its bytes.

    Raises:
        ValueError: it holds NaN or infinity.
    """
    array = np.ascontiguousarray(values, f"<{dtype}")
    if not np.isfinite(array).all():
        raise ValueError("a figure must not hold NaN or infinity")
    return {"dtype": dtype, "bdata": base64.b64encode(array.tobytes()).decode("ascii")}


def nice_step(largest: float, ticks: int, base: float = 10.0) -> float:
    """A round step that puts about `ticks` steps below `largest`; `base` 1024 for bytes."""
    if largest <= 0:
        return 1.0
    raw = largest / ticks
    unit = base ** math.floor(math.log(raw, base))
    ladder = (1, 2, 5, 10) if base == 10.0 else (1, 2, 5, 10, 20, 50, 100, 200, 500, 1024)
    return next(float(unit * step) for step in ladder if unit * step >= raw * 0.999)


def byte_ticks(largest: float, ticks: int = 3, suffix: str = "/s") -> tuple[list[float], list[str]]:
    """Ticks from 0 to `largest` bytes at round IEC values, and their texts."""
    step = nice_step(largest, ticks, 1024.0)
    values = [i * step for i in range(int(largest / step * 1.001) + 1)]
    return values, [f"{size(value)}{suffix}" for value in values]


def byte_decades(low: float, high: float, suffix: str = "/s") -> tuple[list[float], list[str]]:
    """Ticks at 1, 10 and 100 of each IEC unit between two values, as log10, and their texts."""
    values = [10.0**k * 1024.0**unit for unit in range(6) for k in range(3)]
    chosen = [value for value in values if low * 0.999 <= value <= high * 1.001]
    return [math.log10(value) for value in chosen], [f"{size(value)}{suffix}" for value in chosen]
