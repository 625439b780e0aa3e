"""Accesses → equal bins of time: bytes spread evenly over the time that an access took."""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns

Array = columns.Array

MAX_BINS: Final = 2**16
"""Bins of a log's timeline; zooming shows them all."""

NANO: Final = 1_000_000_000
"""Nanoseconds in a second."""

_SMALLEST: Final = 78_125
"""Width in nanoseconds: 10 ms halved seven times, which is whole."""


def bin_nanoseconds(duration: float, most: int = MAX_BINS) -> int:
    """Width in nanoseconds of bins that cover a duration with at most `most` of them."""
    width = _SMALLEST
    while duration * 1e9 > width * most:
        width *= 2
    return width


def spread(row: Array, start: Array, end: Array, amount: Array, shape: tuple[int, int]) -> Array:
    """Amounts spread over a grid `shape` = rows × bins; `[rows, bins] float64`.

    Args:
        row: `[n] int64`, the row of each.
        start: `[n] float64` in widths of a bin; what lies outside counts at the edge.
        end: `[n] float64` likewise.
        amount: `[n]`, how much.
        shape: rows and bins.
    """
    rows, bins = shape
    start = np.clip(start, 0.0, bins - 1e-9)
    end = np.clip(end, start, bins - 1e-9)
    first, last = np.floor(start).astype(np.int64), np.floor(end).astype(np.int64)
    amount = amount.astype(np.float64)
    within = first == last
    place = row * bins + first
    total = np.zeros(rows * bins)
    total += np.bincount(place[within], amount[within], minlength=rows * bins)
    if not within.all():
        over = ~within
        first, last, start, end = first[over], last[over], start[over], end[over]
        rate, offset = amount[over] / (end - start), row[over] * bins
        total += np.bincount(offset + first, rate * (first + 1 - start), minlength=rows * bins)
        total += np.bincount(offset + last, rate * (end - last), minlength=rows * bins)
        total += _between(row[over], first + 1, last, rate, shape).reshape(-1)
    return total.reshape(shape)


def _between(row: Array, first: Array, last: Array, rate: Array, shape: tuple[int, int]) -> Array:
    """Adds `rate` to the bins `first` to `last - 1` of each row."""
    rows, bins = shape
    some = last > first
    place = row[some] * (bins + 1)
    change = np.zeros(rows * (bins + 1))
    change += np.bincount(place + first[some], rate[some], minlength=rows * (bins + 1))
    change -= np.bincount(place + last[some], rate[some], minlength=rows * (bins + 1))
    inside: Array = np.cumsum(change.reshape(rows, bins + 1), axis=1)[:, :-1]
    running = np.bincount(place + first[some], minlength=rows * (bins + 1))
    running -= np.bincount(place + last[some], minlength=rows * (bins + 1))
    covered = np.cumsum(running.reshape(rows, bins + 1), axis=1)[:, :-1] > 0
    return np.where(covered, np.maximum(inside, 0.0), 0.0)


def whole(values: Array) -> Array:
    """The same amounts `[..., bins]` as int64, with the sum of each row kept to one unit."""
    edges = np.rint(np.cumsum(values, axis=-1)).astype(np.int64)
    whole_values: Array = np.diff(edges, axis=-1, prepend=0)
    return whole_values


def union(start: Array, end: Array) -> tuple[Array, Array]:
    """The stretches in which at least one access was in flight, in order, without overlap."""
    if not start.size:
        return start, end
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    opens = np.concatenate([[True], start[1:] > end[:-1]])
    closes = np.concatenate([opens[1:], [True]])
    return start[opens], end[closes]
