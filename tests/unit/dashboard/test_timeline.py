from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorboard_plugin_darshan.dashboard.timeline import timeline
from tensorboard_plugin_darshan.window import BIN_COLUMNS, BinSeries, ModuleWindow, Window
from tests.support.recordings import Recorder, Use
from tests.support.runs import recording, run, select

EMPTY = Recorder().window({"POSIX": []}).modules["POSIX"]


def with_bins(sequence: int, start: float, end: float, bins: BinSeries) -> Window:
    module: ModuleWindow = dataclasses.replace(EMPTY, bins=bins)
    return Window(sequence, start, end, modules={"POSIX": module})


def series(width: float, first: int, reads: list[int]) -> BinSeries:
    values = np.zeros((len(reads), len(BIN_COLUMNS)), np.int64)
    values[:, BIN_COLUMNS.index("reads")] = reads
    return BinSeries(width, first, values)


def test_bins_stay_where_they_were() -> None:
    windows = [
        with_bins(0, 0.0, 0.03, series(0.01, 0, [1, 2, 3])),
        with_bins(1, 0.03, 0.05, series(0.01, 3, [4, 5])),
    ]
    line = timeline(select(run(recording(windows))))
    assert line is not None
    assert line.bin_seconds == 0.01
    assert line.sums["reads"].tolist() == [1, 2, 3, 4, 5]
    assert line.edges == pytest.approx([0, 0.01, 0.02, 0.03, 0.04, 0.05])


def test_windows_that_share_a_bin_are_added() -> None:
    windows = [
        with_bins(0, 0.0, 0.025, series(0.01, 0, [1, 2, 3])),
        with_bins(1, 0.025, 0.05, series(0.01, 2, [10, 20, 30])),
    ]
    line = timeline(select(run(recording(windows))))
    assert line is not None
    assert line.sums["reads"].tolist() == [1, 2, 13, 20, 30]
    coarse = timeline(select(run(recording(windows))), max_bins=3)
    assert coarse is not None
    assert coarse.sums["reads"].tolist() == [3, 33, 30]


def test_wide_bins_are_spread_evenly() -> None:
    windows = [
        with_bins(0, 0.0, 0.04, series(0.04, 0, [8])),
        with_bins(1, 0.04, 0.06, series(0.01, 4, [1, 2])),
    ]
    line = timeline(select(run(recording(windows))))
    assert line is not None
    assert line.sums["reads"].tolist() == [2, 2, 2, 2, 1, 2]


def test_stretch_takes_just_its_bins() -> None:
    windows = [with_bins(0, 0.0, 0.05, series(0.01, 0, [1, 2, 3, 4, 5]))]
    line = timeline(select(run(recording(windows)), 0.01, 0.03))
    assert line is not None
    assert line.sums["reads"].tolist() == [2, 3]
    inside = timeline(select(run(recording(windows)), 0.015, 0.025))
    assert inside is not None
    assert inside.sums["reads"].tolist() == [2, 3]


def test_recordings_are_shifted_onto_one_axis() -> None:
    one = recording([with_bins(0, 0.0, 0.02, series(0.01, 0, [1, 2]))], begin=1000.0)
    two = recording([with_bins(0, 0.0, 0.02, series(0.01, 0, [4, 8]))], "b", begin=1000.01)
    line = timeline(select(run(one, two)))
    assert line is not None
    assert line.sums["reads"] == pytest.approx([1, 6, 8], abs=1e-4)
    assert line.recordings == 2


def test_last_bin_of_a_run_is_measured_by_what_lies_within_it() -> None:
    windows = [with_bins(0, 0.0, 0.015, series(0.01, 0, [10, 5]))]
    line = timeline(select(run(recording(windows))))
    assert line is not None
    assert line.seconds == pytest.approx([0.01, 0.005])
    assert line.calls == pytest.approx([1000, 1000])


def test_nothing_recorded_gives_none() -> None:
    assert timeline(select(run(recording([])))) is None
    windows = [with_bins(0, 0.0, 0.01, series(0.01, 0, [1]))]
    assert timeline(select(run(recording(windows)), 5.0, 6.0)) is None


def test_module_without_bins_gives_zeros() -> None:
    windows = [Recorder(window_seconds=0.1).window({"POSIX": [Use("/a", reads=1)]})]
    line = timeline(select(run(recording(windows)), module="STDIO"))
    assert line is not None
    assert not line.sums["reads"].any()


@settings(deadline=None, derandomize=True)
@given(
    counts=st.lists(st.integers(0, 2**40), min_size=1, max_size=60),
    cuts=st.lists(st.integers(1, 59), max_size=4),
    exponent=st.integers(0, 3),
    max_bins=st.integers(2, 80),
    offset=st.integers(0, 10**9),
)
def test_sums_are_kept_however_bins_fall(
    counts: list[int], cuts: list[int], exponent: int, max_bins: int, offset: int
) -> None:
    width = 0.01 * 2**exponent
    edges = sorted({0, *(cut for cut in cuts if cut < len(counts)), len(counts)})
    windows = [
        with_bins(i, low * width, high * width, series(width, low, counts[low:high]))
        for i, (low, high) in enumerate(itertools.pairwise(edges))
    ]
    late = recording(windows, "b", begin=1000.0 + offset / 1e9)
    early = recording([with_bins(0, 0.0, 0.01, series(0.01, 0, [3]))], begin=1000.0)
    line = timeline(select(run(early, late)), max_bins)
    assert line is not None
    assert len(line.edges) - 1 <= max_bins
    assert line.sums["reads"].sum() == pytest.approx(sum(counts) + 3, rel=1e-9)
    assert (line.sums["reads"] >= -1e-3).all()
