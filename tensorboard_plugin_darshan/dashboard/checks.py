"""Which windows the columns can hold: a damaged or foreign event must not take the tab down."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan import counters, modules, payload
from tensorboard_plugin_darshan.window import (
    BIN_COLUMNS,
    FILE_COLUMNS,
    HISTOGRAMS,
    N_HISTOGRAM_BINS,
    PROCESS_COLUMNS,
    PROCESS_IO,
    PROCESS_STATES,
    FileTable,
    ModuleWindow,
    Window,
)

_MAX_SECONDS: Final = 1e9
_MAX_INTEGER: Final = 2**62


def check_window(window: Window) -> None:
    """Accepts only windows whose values have the types, shapes and ranges that columns need.

    Raises:
        payload.PayloadError: it has not; the data is damaged.
    """
    if not (_integer(window.sequence) and window.sequence >= 0):
        raise payload.PayloadError("damaged: impossible sequence number")
    if not (_integer(window.epoch) and _integer(window.step) and isinstance(window.phase, str)):
        raise payload.PayloadError("damaged: impossible phase")
    times = (window.start_seconds, window.end_seconds)
    if not (all(_number(t) for t in times) and 0 <= times[0] <= times[1] < _MAX_SECONDS):
        raise payload.PayloadError("damaged: impossible times")
    if not all(isinstance(note, str) for note in window.notes):
        raise payload.PayloadError("damaged: impossible notes")
    if not _array(window.process_io, np.int64, len(PROCESS_IO)):
        raise payload.PayloadError("damaged: impossible counts of the kernel")
    if not _processes_fit(window.processes):
        raise payload.PayloadError("damaged: impossible processes")
    for name, module in window.modules.items():
        layout = modules.SHOWN.get(name)
        if layout is not None and not _fits(layout, module):
            raise payload.PayloadError(f"damaged: impossible values of {name}")


def _fits(layout: counters.ModuleLayout, module: ModuleWindow) -> bool:
    histograms = (len(HISTOGRAMS), N_HISTOGRAM_BINS)
    common = module.common_sizes
    return (
        _array(module.counters, np.int64, len(layout.counters))
        and _array(module.fcounters, np.float64, len(layout.fcounters))
        and bool(np.isfinite(module.fcounters).all())
        and _integer(module.files_active)
        and _integer(module.files_total)
        and isinstance(module.partial, bool)
        and _bins_fit(module.bins)
        and _table_fits(module.files)
        and _table_fits(module.folded)
        and _array(module.histograms, np.int64, *histograms)
        and _array(module.histograms_total, np.int64, *histograms)
        and _slow_fits(module.slow)
        and _array(common, np.int64, len(common), 2)
    )


def _processes_fit(processes: Any) -> bool:
    if not _array(processes, np.int64, len(processes), len(PROCESS_COLUMNS)):
        return False
    states = processes[:, PROCESS_COLUMNS.index("state")]
    return bool(((states >= 0) & (states < len(PROCESS_STATES))).all() and (processes >= 0).all())


def _bins_fit(bins: Any) -> bool:
    return (
        _number(bins.width_seconds)
        and 1e-6 <= bins.width_seconds < 1e6
        and _integer(bins.first)
        and 0 <= bins.first * bins.width_seconds < _MAX_SECONDS
        and _array(bins.values, np.int64, len(bins.values), len(BIN_COLUMNS))
    )


def _table_fits(table: FileTable) -> bool:
    n = len(table.ids)
    return _array(table.ids, np.uint64, n) and _array(table.values, np.int64, n, len(FILE_COLUMNS))


def _slow_fits(slow: Any) -> bool:
    n, bins = len(slow.ids), slow.bins
    shapes_fit = (
        _array(slow.ids, np.uint64, n)
        and _array(bins, np.int64, n, 2)
        and _array(slow.values, np.float64, n)
    )
    if not shapes_fit or n == 0:
        return shapes_fit
    return bool(
        np.isfinite(slow.values).all()
        and bins.min() >= 0
        and bins[:, 0].max() < 2
        and bins[:, 1].max() < N_HISTOGRAM_BINS
    )


def _array(value: Any, dtype: Any, *shape: int) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == dtype and value.shape == shape


def _integer(value: Any) -> bool:
    return type(value) is int and -_MAX_INTEGER < value < _MAX_INTEGER


def _number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
