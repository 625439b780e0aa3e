from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_darshan import payload
from tensorboard_plugin_darshan.dashboard import checks
from tensorboard_plugin_darshan.window import BinSeries, FileTable, SlowFiles, Window
from tests.support.recordings import Recorder, Use


def good() -> Window:
    return Recorder().window({"POSIX": [Use("/a", reads=1)]})


def test_good_window_passes() -> None:
    checks.check_window(good())
    checks.check_window(Window(0, 0.0, 0.0))


@pytest.mark.parametrize(
    "change",
    [
        {"sequence": -1},
        {"sequence": 1.5},
        {"sequence": 2**63},
        {"start_seconds": 2.0},
        {"start_seconds": -1.0},
        {"end_seconds": float("nan")},
        {"end_seconds": float("inf")},
        {"end_seconds": "1"},
        {"phase": None},
        {"epoch": "3"},
        {"step": None},
        {"notes": (3,)},
        {"process_io": np.zeros(3, np.int64)},
        {"process_io": np.zeros(4)},
    ],
)
def test_impossible_window_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(payload.PayloadError, match="damaged"):
        checks.check_window(dataclasses.replace(good(), **change))


@pytest.mark.parametrize(
    "change",
    [
        {"counters": np.zeros(68, np.int64)},
        {"counters": np.zeros(69)},
        {"fcounters": np.full(17, np.nan)},
        {"files_active": 1.0},
        {"partial": 1},
        {"bins": BinSeries(0.0)},
        {"bins": BinSeries(0.01, -1)},
        {"bins": BinSeries(0.01, 10**15)},
        {"bins": BinSeries(0.01, 0, np.zeros((3, 6), np.int64))},
        {"files": FileTable(np.zeros(2, np.uint64), np.zeros((1, 10), np.int64))},
        {"files": FileTable(np.zeros(1, np.int64), np.zeros((1, 10), np.int64))},
        {"folded": FileTable(np.zeros(1, np.uint64), np.zeros((1, 10)))},
        {"histograms": np.zeros((6, 139), np.int64)},
        {"histograms_total": np.zeros(840, np.int64)},
        {"slow": SlowFiles(np.zeros(1, np.uint64), np.array([[2, 0]]), np.ones(1))},
        {"slow": SlowFiles(np.zeros(1, np.uint64), np.array([[0, 140]]), np.ones(1))},
        {"slow": SlowFiles(np.zeros(1, np.uint64), np.array([[0, 0]]), np.full(1, np.inf))},
        {"common_sizes": np.zeros((2, 3), np.int64)},
    ],
)
def test_impossible_module_is_refused(change: dict[str, Any]) -> None:
    window = good()
    module = dataclasses.replace(window.modules["POSIX"], **change)
    with pytest.raises(payload.PayloadError, match="POSIX"):
        checks.check_window(dataclasses.replace(window, modules={"POSIX": module}))


def test_module_that_is_not_known_is_not_judged() -> None:
    window = good()
    module = dataclasses.replace(window.modules["POSIX"], counters=np.zeros(3, np.int64))
    checks.check_window(dataclasses.replace(window, modules={"OF A LATER DARSHAN": module}))
