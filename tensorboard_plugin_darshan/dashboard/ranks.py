"""Which rank moved how much when: a grid of ranks × time, and its figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.format import bandwidth
from tensorboard_plugin_darshan.dashboard.log_run import LogRun
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.dashboard.theme import (
    Figure,
    Theme,
    axis,
    byte_decades,
    layout,
    typed,
)

Array = columns.Array

MAX_ROWS: Final = 256
MAX_BINS: Final = 500


@dataclass(frozen=True)
class RankGrid:
    """Bytes read and written together.

    Attributes:
        start: seconds on the run's axis at which the first bin begins.
        bin_seconds: width of a bin.
        ranks_per_row: ranks that one row stands for.
        own: `[rows, bins] int64` of the ranks' own records.
        shared: `[bins] int64` of the records that all ranks share.
        processes: number of ranks.
    """

    start: float
    bin_seconds: float
    ranks_per_row: int
    own: Array
    shared: Array
    processes: int


def rank_grid(selection: Selection) -> RankGrid | None:
    """The grid over the stretch, or None for a single process or without any byte in it."""
    run, span = selection.run, selection.range
    if not isinstance(run, LogRun) or span is None or run.processes < 2:
        return None
    finest = max((meta["rank_seconds"] for meta in run.metas), default=1.0)
    width = finest * max(1, int(np.ceil((span[1] - span[0]) / MAX_BINS / finest)))
    per_row = max(*(meta["ranks_per_row"] for meta in run.metas), -(-run.processes // MAX_ROWS), 1)
    n_rows, n_bins = -(-run.processes // per_row), max(1, int(np.ceil((span[1] - span[0]) / width)))
    own, shared = np.zeros(n_rows * n_bins), np.zeros(n_bins)
    first_rank = 0
    for place, (recording, meta) in enumerate(zip(run.recordings, run.metas, strict=True)):
        for name in selection.base:
            cells = run.ranks(place, name)
            middle = (cells[:, 1] + 0.5) * meta["rank_seconds"] + run.offset(recording)
            bins = np.floor((middle - span[0]) / width).astype(np.int64)
            ranks = cells[:, 0] * meta["ranks_per_row"]
            inside = (bins >= 0) & (bins < n_bins)
            is_own = inside & (ranks < meta["processes"])
            moved = cells[:, 2] + cells[:, 3]
            rows = (first_rank + ranks) // per_row
            own += np.bincount(
                rows[is_own] * n_bins + bins[is_own], moved[is_own], minlength=own.size
            )
            rest = inside & ~is_own
            shared += np.bincount(bins[rest], moved[rest], minlength=n_bins)
        first_rank += int(meta["processes"])
    if not own.any() and not shared.any():
        return None
    whole = own.reshape(n_rows, n_bins).astype(np.int64)
    return RankGrid(span[0], width, per_row, whole, shared.astype(np.int64), run.processes)


def rank_figure(grid: RankGrid, span: tuple[float, float], theme: Theme, revision: str) -> Figure:
    """The grid as a heatmap: colour is bandwidth on a log scale, paper colour where nothing moved.
    What all ranks share has a row of its own on top.
    """
    scale = _Scale(grid, theme)
    shared, own = grid.shared.any(), grid.own.any()
    data, axes = [], {}
    if own:
        data.append(_cells(grid, grid.own, scale, "ranks", "y") | {"showscale": True})
        reach = [-0.5, grid.processes - 0.5]
        domain = [0.0, 0.88] if shared else [0.0, 1.0]
        axes["yaxis"] = axis(
            theme, "rank", range=reach, domain=domain, fixedrange=True, tickformat="d", nticks=6
        )
    if shared:
        name = "y2" if own else "y"
        row = _cells(grid, grid.shared[None, :], scale, "shared", name)
        data.append(row | {"showscale": not own})
        axes["yaxis2" if own else "yaxis"] = axis(
            theme,
            "shared" if own else "all ranks together",
            domain=[0.92, 1.0] if own else [0.0, 1.0],
            showticklabels=False,
            fixedrange=True,
            showgrid=False,
        )
    return {
        "data": data,
        "layout": layout(
            theme,
            revision,
            360 if own else 160,
            xaxis=axis(
                theme,
                "time since the run began (s)",
                range=list(span),
                ticksuffix=" s",
                anchor="y",
            ),
            **axes,
        ),
    }


class _Scale:
    """Colours of bandwidths: log10 of bytes per second, from one step below the smallest."""

    def __init__(self, grid: RankGrid, theme: Theme) -> None:
        rates = np.concatenate([grid.own.reshape(-1), grid.shared]) / grid.bin_seconds
        positive = np.log10(rates[rates > 0])
        self.low = max(float(positive.min()), float(positive.max()) - 6.0)
        self.high = max(float(positive.max()), self.low + 0.1)
        span = max(self.high - self.low, 1.0)
        self.nothing = self.low - 0.05 * span
        ticks, texts = byte_decades(10**self.low, 10**self.high)
        self.bar = {
            "tickvals": ticks,
            "ticktext": texts,
            "thickness": 12,
            "outlinewidth": 0,
            "tickfont": {"color": theme.muted},
        }
        pale = 0.05 * span / (self.high - self.nothing)
        self.colours = [
            [0.0, theme.card],
            [pale * 0.99, theme.card],
            [pale, theme.grid],
            [1.0, theme.read],
        ]


def _cells(grid: RankGrid, moved: Array, scale: _Scale, name: str, y: str) -> dict[str, Any]:
    rate = moved / grid.bin_seconds
    z = np.full(rate.shape, scale.nothing)
    np.log10(rate, out=z, where=rate > 0)
    z = np.where(rate > 0, np.maximum(z, scale.low), scale.nothing)
    rows, bins = moved.shape
    who = "all ranks together" if name == "shared" else "rank %{y}"
    several = " and its neighbours" if name != "shared" and grid.ranks_per_row > 1 else ""
    return {
        "type": "heatmap",
        "name": name,
        "x0": grid.start + grid.bin_seconds / 2,
        "dx": grid.bin_seconds,
        "y0": (grid.ranks_per_row - 1) / 2 if name != "shared" else 0,
        "dy": grid.ranks_per_row,
        "z": typed(z, "f4") | {"shape": f"{rows}, {bins}"},
        "text": [[bandwidth(value) for value in row] for row in rate.tolist()],
        "hovertemplate": f"{who}{several}, at %{{x:.3~g}} s: %{{text}}<extra></extra>",
        "zmin": scale.nothing,
        "zmax": scale.high,
        "colorscale": scale.colours,
        "colorbar": scale.bar,
        "yaxis": y,
    }
