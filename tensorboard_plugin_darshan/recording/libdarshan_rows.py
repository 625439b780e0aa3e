"""Darshan's records as arrays, and what they come to together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.counters import ModuleLayout
from tensorboard_plugin_darshan.window import Float64Array, Int64Array, UInt64Array

NOT_COUNTED: Final = -1
"""What Darshan writes into a counter of something that it does not count."""
_COMMON_SIZES: Final = 64


@dataclass(frozen=True)
class Rows:
    """Records as they lie in memory.

    Attributes:
        ids: `[n] uint64`.
        counters: `[n, n_counters] int64`.
        fcounters: `[n, n_fcounters] float64`.
    """

    ids: UInt64Array
    counters: Int64Array
    fcounters: Float64Array

    def __len__(self) -> int:
        return len(self.ids)


def no_rows(names: ModuleLayout) -> Rows:
    """No record of a module."""
    return Rows(
        np.zeros(0, np.uint64),
        np.zeros((0, len(names.counters)), np.int64),
        np.zeros((0, len(names.fcounters))),
    )


def padded(rows: Rows, n: int) -> tuple[Int64Array, Float64Array]:
    """Counters of `rows` and of as many empty records as make them `n`."""
    missing = ((0, n - len(rows)), (0, 0))
    return np.pad(rows.counters, missing), np.pad(rows.fcounters, missing)


def common_sizes(names: ModuleLayout, values: Int64Array, before: Int64Array) -> Int64Array:
    """Access size and count `[n, 2]` over all records, from the few that each record shows, less
    what was there `before`.
    """
    sizes, counts = [], []
    for i in range(1, counters.COMMON_VALUES + 1):
        place = names.index.get(f"{names.prefix}ACCESS{i}_ACCESS")
        if place is not None:
            count = names.index[f"{names.prefix}ACCESS{i}_COUNT"]
            sizes += [values[:, place], before[:, place]]
            counts += [values[:, count], -before[:, count]]
    if not sizes:
        return np.zeros((0, 2), np.int64)
    kinds, inverse = np.unique(np.concatenate(sizes), return_inverse=True)
    sums = np.zeros(len(kinds), np.int64)
    np.add.at(sums, inverse, np.concatenate(counts))
    order = np.lexsort((kinds, -sums))
    order = order[sums[order] > 0][:_COMMON_SIZES]
    return np.stack([kinds[order], sums[order]], axis=1)
