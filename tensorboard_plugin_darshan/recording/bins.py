"""Time bins of several processes as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tensorboard_plugin_darshan.window import BIN_COLUMNS, BinSeries


def merge_bins(series: Sequence[BinSeries]) -> BinSeries:
    """Adds up the bins of several processes, at the width of the widest.

    The widths are 10 ms times powers of two, so that bins of one are whole bins of the other. In
    `busy_nanoseconds` the processes' shares of a bin are taken as independent.
    """
    filled = [one for one in series if len(one.values)]
    if len(filled) <= 1:
        return filled[0] if filled else BinSeries()
    width = max(one.width_seconds for one in filled)
    ratios = [round(width / one.width_seconds) for one in filled]
    first = min(one.first // ratio for one, ratio in zip(filled, ratios, strict=True))
    end = max(
        (one.first + len(one.values) - 1) // ratio + 1
        for one, ratio in zip(filled, ratios, strict=True)
    )
    values = np.zeros((end - first, len(BIN_COLUMNS)), np.int64)
    idle = np.ones(end - first)
    for one, ratio in zip(filled, ratios, strict=True):
        part = np.zeros_like(values)
        places = (one.first + np.arange(len(one.values))) // ratio - first
        np.add.at(part, places, one.values)
        values += part
        idle *= np.clip(1.0 - part[:, -1] / (width * 1e9), 0.0, 1.0)
    values[:, -1] = np.rint((1.0 - idle) * width * 1e9).astype(np.int64)
    return BinSeries(width, first, values)
