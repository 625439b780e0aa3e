"""Single reads and writes, and the table of all files, in real recordings."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time

import numpy as np
import pytest

from tensorboard_plugin_darshan import DarshanMonitor, metadata, summary
from tests.support import events


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(bytes(100_000))
    return path


def accesses(log_dir, path=None):
    """(path, direction, offset, length, start, end, process, thread) of all, by start."""
    names: dict[int, str] = {}
    for window in events.windows(log_dir):
        names.update(window.names)
    found = []
    for tag, _, value in events.values(log_dir):
        if not tag.startswith(metadata.SEGMENTS_TAG_PREFIX):
            continue
        its = summary.parse_segments(value)
        for i in range(len(its)):
            row = (
                names[int(its.files[its.file[i]])],
                *(int(x[i]) for x in (its.direction, its.offset, its.length, its.start, its.end)),
                *its.threads[its.thread[i]].tolist(),
            )
            found.append(row)
    return sorted((row for row in found if path in (None, row[0])), key=lambda row: row[4])


def tables(log_dir):
    return [
        summary.parse_files(value)
        for tag, _, value in events.values(log_dir)
        if tag.startswith(metadata.FILES_TAG_PREFIX)
    ]


def read(path, *sizes):
    descriptor = os.open(path, os.O_RDONLY)
    for size in sizes:
        os.read(descriptor, size)
    os.close(descriptor)


def test_each_access_is_kept_as_it_was(tmp_path, data):
    out = tmp_path / "out"
    with DarshanMonitor(tmp_path / "logs", flush_secs=0.05) as monitor, monitor.phase("train", 0):
        before = time.monotonic()
        read(data, 10, 20, 30)
        time.sleep(0.15)
        descriptor = os.open(data, os.O_RDONLY)
        os.pread(descriptor, 40, 99_980)
        os.close(descriptor)
        took = time.monotonic() - before
        out.write_bytes(b"x" * 70)
    reads = accesses(tmp_path / "logs", str(data))
    assert [row[1:4] for row in reads] == [(0, 0, 10), (0, 10, 20), (0, 30, 30), (0, 99_980, 20)]
    assert all(0 < row[4] <= row[5] for row in reads)
    assert 0.15 <= (reads[3][4] - reads[2][5]) / 1e9 <= took
    assert {row[6] for row in reads} == {os.getpid()}
    (write,) = accesses(tmp_path / "logs", str(out))
    assert write[1:4] == (1, 0, 70)
    job = events.jobs(tmp_path / "logs")[-1]
    assert job["segments"] == {"kept": len(accesses(tmp_path / "logs")), "dropped": 0}
    assert not [note for note in job["notes"] if "one by one" in note]


def test_accesses_of_files_that_appear_during_a_cut_are_not_lost(tmp_path):
    paths = [tmp_path / f"file{i}" for i in range(3000)]
    for path in paths:
        path.write_bytes(b"x" * 10)

    def work(k):
        for path in paths[k::3]:
            read(path, 4, 4, 4)

    with DarshanMonitor(tmp_path / "logs", update_freq="batch") as monitor:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            monitor.step()
            time.sleep(0.002)
    rows = [row for row in accesses(tmp_path / "logs") if row[0].startswith(str(tmp_path / "file"))]
    assert len(rows) == 3 * len(paths)
    assert {row[0] for row in rows} == {str(path) for path in paths}
    assert len({row[7] for row in rows}) == 3
    assert len(events.windows(tmp_path / "logs")) > 3


def test_nothing_is_kept_without_trace(tmp_path, data):
    with DarshanMonitor(tmp_path / "logs", trace=False):
        read(data, 10)
    with DarshanMonitor(tmp_path / "none", max_segments=0):
        read(data, 10)
    assert accesses(tmp_path / "logs") == accesses(tmp_path / "none") == []


@pytest.mark.parametrize(("trace", "kept"), [((3, 4), [3, 4]), ((1, 1), [1]), ((6, 9), [])])
def test_only_the_steps_asked_for_are_kept(tmp_path, data, trace, kept):
    with DarshanMonitor(tmp_path / "logs", trace=trace, flush_secs=0.02) as monitor:
        for step in range(1, 6):
            read(data, 100 + step)
            time.sleep(0.01)
            monitor.step()
    assert [row[3] for row in accesses(tmp_path / "logs", str(data))] == [100 + s for s in kept]
    assert events.jobs(tmp_path / "logs")[-1]["segments"] == {"kept": len(kept), "dropped": 0}


def _child(path):
    read(path, 5, 6)
    os._exit(0)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_accesses_of_children_are_kept(tmp_path, data, method):
    with DarshanMonitor(tmp_path / "logs", flush_secs=0.05):
        read(data, 4)
        child = multiprocessing.get_context(method).Process(target=_child, args=(data,))
        child.start()
        child.join()
    rows = accesses(tmp_path / "logs", str(data))
    assert [(row[2], row[3], row[6] == os.getpid()) for row in rows] == [
        (0, 4, True),
        (0, 5, False),
        (5, 6, False),
    ]
    assert rows[1][6] == child.pid


def test_what_is_not_kept_is_counted_and_told(tmp_path, data):
    with DarshanMonitor(tmp_path / "logs", max_segments=50, flush_secs=3600):
        read(data, *range(1, 121))
    rows = accesses(tmp_path / "logs", str(data))
    assert [row[3] for row in rows] == list(range(1, 51))
    job = events.jobs(tmp_path / "logs")[-1]
    assert job["segments"]["kept"] == 50
    assert job["segments"]["dropped"] >= 70
    (note,) = [note for note in job["notes"] if "one by one" in note]
    assert "max_segments" in note
    assert "trace=(first_step, last_step)" in note
    assert str(job["segments"]["dropped"]) in note


def test_recording_stays_small_however_many_accesses(tmp_path, data):
    """The first MiB is for the first minute, half of it for accesses."""
    random = np.random.default_rng(1)
    offsets = random.integers(0, 90_000, 100_000).tolist()
    with DarshanMonitor(tmp_path / "logs", flush_secs=0.2):
        descriptor = os.open(data, os.O_RDONLY)
        for offset in offsets:
            os.pread(descriptor, 7, offset)
        os.close(descriptor)
    size = sum(path.stat().st_size for path in events.files(tmp_path / "logs"))
    segments = events.jobs(tmp_path / "logs")[-1]["segments"]
    assert segments["kept"] + segments["dropped"] >= 100_000
    assert segments["dropped"] > 0
    assert segments["kept"] > 20_000
    assert size < 1024**2


def test_table_holds_all_files(tmp_path):
    paths = [tmp_path / f"file{i:04d}" for i in range(700)]
    for path in paths:
        path.write_bytes(b"x" * 50)
    with DarshanMonitor(tmp_path / "logs", flush_secs=3600) as monitor, monitor.phase("train", 0):
        for i, path in enumerate(paths):
            read(path, *[1] * (i % 4 + 1))
    table = tables(tmp_path / "logs")[-1].modules["POSIX"]
    reads = dict(zip(table.paths, table.values[:, 1].tolist(), strict=True))
    assert {str(path): i % 4 + 1 for i, path in enumerate(paths)}.items() <= reads.items()
    assert table.n_folded == 0


def test_table_folds_what_max_files_leaves_out(tmp_path):
    paths = [tmp_path / f"file{i:04d}" for i in range(40)]
    for path in paths:
        path.write_bytes(b"x" * 50)
    with DarshanMonitor(tmp_path / "logs", max_files=10):
        for path in paths:
            read(path, 1, 2)
    table = tables(tmp_path / "logs")[-1].modules["POSIX"]
    listed = [name for name in table.paths if not name.endswith("/")]
    assert len(listed) == 10
    assert table.n_folded == 30
    assert table.values[:, 1].sum() == 80
    (note,) = [n for n in events.jobs(tmp_path / "logs")[-1]["notes"] if "max_files" in n]
    assert "folds 30" in note
