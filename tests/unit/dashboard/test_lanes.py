from __future__ import annotations

import numpy as np
import pytest

from tensorboard_plugin_darshan.dashboard.lanes import MAX_BARS, Source, build_lanes
from tensorboard_plugin_darshan.dashboard.traces import build_trace
from tensorboard_plugin_darshan.segments import Segments

NAMES = {11: "/data/a", 12: "/data/b", 13: "/out/c"}


def piece(rows, sequence=0, files=(11, 12, 13), threads=((100, 1), (100, 2)), dropped=0):
    """Rows of file, direction, offset, length, start and end in seconds, thread."""
    columns = np.array(rows, np.float64).reshape(-1, 7).T
    whole = [columns[k].astype(np.int64) for k in (0, 1, 2, 3)]
    times = [np.rint(columns[k] * 1e9).astype(np.int64) for k in (4, 5)]
    return Segments(
        sequence,
        np.array(files, np.uint64),
        np.array(threads, np.uint64),
        *whole,
        *times,
        columns[6].astype(np.int64),
        dropped,
    )


def source(*pieces, offset=0.0, prefix=""):
    return Source(build_trace(pieces), offset, NAMES.__getitem__, prefix)


ROWS = [
    (0, 0, 0, 100, 1.0, 1.5, 0),
    (1, 0, 0, 10, 2.0, 2.1, 1),
    (0, 0, 100, 100, 3.0, 3.5, 1),
    (2, 1, 0, 70, 4.0, 4.3, 0),
]


def test_each_access_is_a_bar_in_the_lane_of_its_file():
    found = build_lanes([source(piece(ROWS))], (0.0, 10.0), "file")
    assert found.labels == ["/data/a", "/out/c", "/data/b"]  # by time in calls
    assert (found.total, found.segments, found.merged) == (3, 4, False)
    np.testing.assert_allclose(found.start, [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(found.end, [1.5, 2.1, 3.5, 4.3])
    assert found.lane.tolist() == [0, 2, 0, 1]
    assert found.direction.tolist() == [0, 0, 0, 1]
    assert found.bytes.tolist() == [100, 10, 100, 70]
    assert found.offset.tolist() == [0, 0, 100, 0]


def test_lanes_by_thread_name_process_and_thread():
    found = build_lanes([source(piece(ROWS), prefix="rank 1, ")], (0.0, 10.0), "thread")
    assert found.labels == ["rank 1, process 100, thread 1", "rank 1, process 100, thread 2"]
    assert found.lane.tolist() == [0, 1, 1, 0]


def test_stretch_holds_what_reaches_into_it():
    found = build_lanes([source(piece(ROWS))], (1.2, 2.05), "file")
    np.testing.assert_allclose(found.start, [1.0, 2.0])
    assert build_lanes([source(piece(ROWS))], (5.0, 6.0), "file").labels == []
    shifted = build_lanes([source(piece(ROWS), offset=10.0)], (11.2, 12.05), "file")
    np.testing.assert_allclose(shifted.start, [11.0, 12.0])


def test_search_and_limit_choose_lanes():
    found = build_lanes([source(piece(ROWS))], (0.0, 10.0), "file", "DATA", 1)
    assert found.labels == ["/data/a"]
    assert (found.total, found.segments) == (2, 2)
    assert build_lanes([source(piece(ROWS))], (0.0, 10.0), "file", "nothing").total == 0


def test_recordings_share_the_lane_of_a_file_but_not_of_a_thread():
    both = [source(piece(ROWS)), source(piece(ROWS), offset=5.0)]
    assert build_lanes(both, (0.0, 20.0), "file").total == 3
    assert build_lanes(both, (0.0, 20.0), "thread").total == 4


def test_pieces_with_tables_of_their_own_are_one_trace():
    other = piece([(0, 1, 5, 6, 6.0, 6.5, 0)], 1, (13,), ((100, 2),), dropped=4)
    trace = build_trace([piece(ROWS, dropped=3), other])
    assert trace.dropped == 7
    found = build_lanes([Source(trace, 0.0, NAMES.__getitem__)], (5.0, 9.0), "file")
    assert found.labels == ["/out/c"]
    assert found.threads[found.thread[0]] == "process 100, thread 2"


@pytest.mark.parametrize("by", ["file", "thread"])
def test_many_accesses_become_few_bars_and_nothing_is_lost(by):
    random = np.random.default_rng(1)
    n = 200_000
    start = np.sort(random.random(n) * 100)
    rows = np.stack(
        [
            random.integers(0, 3, n),
            random.integers(0, 2, n),
            random.integers(0, 1000, n),
            random.integers(1, 1000, n),
            start,
            start + 1e-4,
            random.integers(0, 2, n),
        ],
        axis=1,
    )
    found = build_lanes([source(piece(rows))], (0.0, 101.0), by)
    assert 500 < len(found.lane) <= MAX_BARS
    assert found.merged
    assert found.count.sum() == found.segments == n
    assert found.bytes.sum() == rows[:, 3].sum()
    assert found.busy.sum() == pytest.approx(n * 1e-4, rel=1e-5)
    for direction in (0, 1):
        assert found.count[found.direction == direction].sum() == (rows[:, 1] == direction).sum()
    near = build_lanes([source(piece(rows))], (50.0, 50.5), by)
    assert not near.merged


def test_nothing_recorded_is_no_lane():
    found = build_lanes([], (0.0, 0.0), "file")
    assert (found.labels, found.total, len(found.lane)) == ([], 0, 0)
