from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tensorboard_plugin_darshan import all_files, packing, payload, segments
from tensorboard_plugin_darshan.window import FILE_COLUMNS


def make(n, n_files=7, seed=1):
    random = np.random.default_rng(seed)
    start = np.sort(random.integers(0, 10**12, n))
    return segments.Segments(
        3,
        random.integers(0, 2**64, n_files, np.uint64),
        np.array([[41, 2**64 - 1], [42, 7]], np.uint64),
        random.integers(0, n_files, n),
        random.integers(0, 2, n),
        random.integers(0, 2**50, n),
        random.integers(0, 2**31, n),
        start,
        start + random.integers(0, 10**9, n),
        random.integers(0, 2, n),
        5,
    )


@pytest.mark.parametrize("n", [0, 1, 2, 10_000])
def test_segments_come_back_as_they_were(n):
    made = make(n)
    found = segments.decode(segments.encode(made))
    assert (found.sequence, found.dropped, len(found)) == (3, 5, n)
    for name in ("files", "threads", "file", "offset", "length", "start", "end", "thread"):
        np.testing.assert_array_equal(getattr(found, name), getattr(made, name), name)
    np.testing.assert_array_equal(found.direction, made.direction)


def test_consecutive_accesses_of_many_files_take_few_bytes():
    """As in a training that reads whole files in parts of equal size."""
    n, per_file = 20_000, 10
    random = np.random.default_rng(2)
    file = np.arange(n) // per_file
    start = np.cumsum(random.integers(2_000, 30_000, n))
    made = replace(
        make(n),
        files=random.integers(0, 2**64, n // per_file, np.uint64),
        file=file,
        direction=np.zeros(n, np.int64),
        offset=np.arange(n) % per_file * 4096,
        length=np.full(n, 4096),
        start=start,
        end=start + random.integers(1_000, 9_000, n),
        thread=np.zeros(n, np.int64),
    )
    data = segments.encode(made)
    assert len(data) < 6 * n
    np.testing.assert_array_equal(segments.decode(data).offset, made.offset)


@pytest.mark.parametrize(
    "wrong",
    [
        {"file": np.array([7])},
        {"file": np.array([-1])},
        {"thread": np.array([2])},
        {"direction": np.array([2])},
        {"length": np.array([-1])},
        {"length": np.array([1, 2])},
        {"threads": np.zeros((2, 3), np.uint64)},
    ],
)
def test_impossible_segments_are_refused(wrong):
    made = replace(make(1), **wrong)
    if len(made.length) != 1:
        made = replace(made, file=np.array([0, 0]), offset=np.array([0, 0]))
    with pytest.raises(payload.PayloadError, match="not segments"):
        segments.decode(segments.encode(made))


def test_other_payloads_are_refused():
    with pytest.raises(payload.PayloadError):
        segments.decode(payload.encode({}, {}))
    with pytest.raises(payload.PayloadError):
        all_files.decode(payload.encode({"sequence": 0, "end_seconds": 0, "folded": {"A": 0}}, {}))


def test_integers_survive_packing():
    extremes = np.array([0, 1, -1, 255, -256, 2**63 - 1, -(2**63)])
    np.testing.assert_array_equal(packing.unpack(packing.pack(extremes)), extremes)
    np.testing.assert_array_equal(packing.unpack_steps(packing.pack_steps(extremes)), extremes)
    assert packing.pack(np.zeros(5)).shape == (0, 5)
    assert packing.pack(np.array([127, -128])).shape == (1, 2)
    with pytest.raises(ValueError, match="planes"):
        packing.unpack(np.zeros((9, 2), np.uint8))


def test_table_of_all_files_comes_back_as_it_was():
    random = np.random.default_rng(3)
    values = random.integers(0, 2**40, (3, len(FILE_COLUMNS)))
    paths = ("/data/a", "/data/caf\udce9", "/rest/")
    made = all_files.AllFiles(9, 12.5, {"POSIX": all_files.ModuleFiles(paths, values, 17)})
    found = all_files.decode(all_files.encode(made))
    assert (found.sequence, found.end_seconds) == (9, 12.5)
    assert found.modules["POSIX"].paths == paths
    assert found.modules["POSIX"].n_folded == 17
    np.testing.assert_array_equal(found.modules["POSIX"].values, values)
