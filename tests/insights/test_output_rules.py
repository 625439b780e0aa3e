"""Rules about what is written and not seen, on real runs that trigger them or must not."""

from __future__ import annotations

import dataclasses
import mmap
import os
import threading
import time

import numpy as np

from tensorboard_plugin_darshan.dashboard import insights_output as rules
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tests.support.real_runs import read_file, run_of, write_files


def facts_of(tape, **job):
    run = run_of(tape.recording(**job))
    return Facts(Selection(run, modules=run.modules))


def write(path, pieces, piece, sync=False):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    for _ in range(pieces):
        os.write(fd, b"x" * piece)
        if sync:
            os.fsync(fd)
    os.close(fd)


class SlowSink:
    """A pipe that takes what is written at the pace of a slow disk."""

    def __init__(self, tape, path):
        os.mkfifo(path)
        self.path, self._tape = path, tape

    def drain(self, n_bytes):
        with self._tape.muted(), open(self.path, "rb", buffering=0) as pipe:
            while n_bytes > 0:
                time.sleep(0.02)
                n_bytes -= len(pipe.read(64 * 1024))


def test_checkpoint_stalls(tape, tmp_path):
    sink = SlowSink(tape, tmp_path / "model.ckpt")
    drainer = threading.Thread(target=sink.drain, args=(1 << 20,))
    drainer.start()
    write(sink.path, 16, 1 << 16)
    drainer.join()
    tape.cut()
    finding = rules.checkpoint_stalls(facts_of(tape))
    assert finding is not None
    assert finding.about == "output"
    assert finding.files == (str(sink.path),)


def test_checkpoint_that_does_not_stall(tape, tmp_path):
    write(tmp_path / "model.ckpt", 1, 1 << 20)
    time.sleep(0.5)
    tape.cut()
    assert rules.checkpoint_stalls(facts_of(tape)) is None


def test_small_writes(tape, tmp_path):
    write(tmp_path / "log", 1500, 80)
    tape.cut()
    assert rules.small_writes(facts_of(tape)) is not None


def test_no_small_writes_in_large_pieces(tape, tmp_path):
    write(tmp_path / "log", 1500, 8192)
    tape.cut()
    assert rules.small_writes(facts_of(tape)) is None


def test_fsync_storm(tape, tmp_path):
    write(tmp_path / "metrics.db", 60, 500, sync=True)
    tape.cut()
    finding = rules.fsync_storm(facts_of(tape))
    assert finding is not None
    assert finding.title.startswith("60 fsyncs")


def test_no_fsync_storm_with_one_fsync(tape, tmp_path):
    write(tmp_path / "model.ckpt", 100, 500)
    write(tmp_path / "model2.ckpt", 1, 500, sync=True)
    tape.cut()
    assert rules.fsync_storm(facts_of(tape)) is None


def test_mapped_files(tape, tmp_path):
    with tape.muted():
        (path,) = write_files(tmp_path, [1 << 20])
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        assert data[:1] == b"x"
    tape.cut()
    assert rules.mapped_files(facts_of(tape)) is not None


def test_no_mapped_files_when_read(tape, tmp_path):
    with tape.muted():
        (path,) = write_files(tmp_path, [1 << 20])
    read_file(path)
    tape.cut()
    assert rules.mapped_files(facts_of(tape)) is None


def seen_of(tape, tmp_path, muted_files):
    with tape.muted():
        paths = write_files(tmp_path, [8 << 20] * 4)
    for path in paths[muted_files:]:
        read_file(path)
    with tape.muted():
        for path in paths[:muted_files]:
            read_file(path)
    tape.cut()
    moved = sum(path.stat().st_size for path in paths)
    io = np.array([moved, 0, 0, 0])
    tape.windows[-1] = dataclasses.replace(tape.windows[-1], process_io=io)
    return rules.incomplete(facts_of(tape))


def test_incomplete_when_the_kernel_counted_more(tape, tmp_path):
    finding = seen_of(tape, tmp_path, muted_files=3)
    assert finding is not None
    assert "25 %" in finding.evidence[0]


def test_complete_when_the_kernel_counted_the_same(tape, tmp_path):
    assert seen_of(tape, tmp_path, muted_files=0) is None
