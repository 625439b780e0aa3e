from __future__ import annotations

import itertools
from dataclasses import fields

import numpy as np
import pytest

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.run import Windows, build_windows, concatenate
from tensorboard_plugin_darshan.window import Window
from tests.support.recordings import Recorder, Use


@pytest.mark.parametrize(
    ("largest", "dtype"),
    [(0, np.uint8), (255, np.uint8), (256, np.uint16), (65536, np.uint32), (2**32, np.int64)],
)
def test_narrow_takes_the_smallest_type_that_holds_all(largest: int, dtype: type) -> None:
    values = np.array([0, largest], np.int64)
    assert columns.narrow(values).dtype == dtype
    assert (columns.narrow(values) == values).all()


def test_narrow_keeps_negative_values() -> None:
    values = np.array([-1, 300], np.int64)
    assert columns.narrow(values).dtype == np.int64
    assert (columns.narrow(values) == values).all()


def test_file_index_only_grows_and_learns_names_late() -> None:
    index = columns.FileIndex()
    assert index.places(np.array([7, 3, 7], np.uint64)).tolist() == [1, 0, 1]
    index.name({3: "/three"})
    assert index.places(np.array([9, 3], np.uint64)).tolist() == [2, 0]
    assert index.paths == ["/three", "record 7", "record 9"]
    assert index.places(np.zeros(0, np.uint64)).tolist() == []


def mixed_windows() -> list[Window]:
    """Windows of which some lack a module or do nothing."""
    recorder = Recorder(listed=3)
    posix = [Use(f"/d/{i}", reads=i, writes=1, access_bytes=10**i) for i in range(6)]
    uses = [
        {"POSIX": posix},
        {},
        {"STDIO": [Use("/log", writes=2)]},
        {"POSIX": posix[:2], "STDIO": [Use("/log", writes=1)]},
        {"POSIX": posix[4:]},
    ]
    return [
        recorder.window(
            u,
            phase=f"p{i}",
            epoch=i,
            processes=np.array([[7, 1, 0, i, 0, 1, 1], [8, 7, i % 2, 0, i, 1, 1]][: 1 + i % 2]),
        )
        for i, u in enumerate(uses)
    ]


def assert_same(first: Windows, second: Windows) -> None:
    assert first.modules.keys() == second.modules.keys()
    for item in fields(Windows):
        if item.name == "processes":
            assert first.processes.keys() == second.processes.keys()
            for column, values in first.processes.items():
                np.testing.assert_array_equal(values, second.processes[column], column)
        elif item.name not in ("modules", "notes", "unknown_modules"):
            left, right = getattr(first, item.name), getattr(second, item.name)
            np.testing.assert_array_equal(left, right, item.name)
    for name, left in first.modules.items():
        for item in fields(left):
            one, two = getattr(left, item.name), getattr(second.modules[name], item.name)
            if isinstance(one, dict):
                assert one.keys() == two.keys()
                for column in one:
                    np.testing.assert_array_equal(one[column], two[column], column)
            else:
                np.testing.assert_array_equal(one, two, item.name)


@pytest.mark.parametrize("cuts", [(1,), (2,), (1, 2, 3, 4), (3, 4)])
def test_pieces_make_the_same_columns_as_all_at_once(cuts: tuple[int, ...]) -> None:
    windows = mixed_windows()
    whole = build_windows(windows, columns.FileIndex())
    index = columns.FileIndex()
    edges = [0, *cuts, len(windows)]
    pieces = [build_windows(windows[low:high], index) for low, high in itertools.pairwise(edges)]
    assert_same(concatenate(pieces), whole)


@pytest.mark.parametrize("wanted", [[], [0], [2, 3], [0, 1, 2, 3, 4], [0, 4], [1]])
def test_rows_of_windows(wanted: list[int]) -> None:
    table = build_windows(mixed_windows(), columns.FileIndex()).modules["POSIX"].bins
    mask = np.isin(np.arange(5), wanted)
    rows = columns.rows_of(table, mask)
    np.testing.assert_array_equal(
        np.arange(len(table["window"]))[rows], np.flatnonzero(np.isin(table["window"], wanted))
    )
