"""Rules about the course of reading, on real runs that trigger them or must not."""

from __future__ import annotations

import dataclasses
import threading
import time

import numpy as np
import pytest

from tensorboard_plugin_darshan.counters import POSIX
from tensorboard_plugin_darshan.dashboard import insights_course as rules
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tests.support.real_runs import SlowFiles, read_file, run_of, write_files

BLOCK = 32 * 1024


def facts_of(tape, **job):
    run = run_of(tape.recording(**job))
    return Facts(Selection(run, modules=run.modules))


def together(reads):
    threads = [threading.Thread(target=read) for read in reads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_one_reader(tape, tmp_path):
    slow = SlowFiles(tape, tmp_path, BLOCK, lambda readers: 0.03)
    slow.read(slow.create("a"), 20)
    tape.cut()
    finding = rules.one_reader(facts_of(tape))
    assert finding is not None
    assert finding.severity == "high"


def test_not_one_reader_when_four_read(tape, tmp_path):
    slow = SlowFiles(tape, tmp_path, BLOCK, lambda readers: 0.01)
    paths = [slow.create(str(i)) for i in range(4)]
    together([lambda path=path: slow.read(path, 15) for path in paths])
    tape.cut()
    assert rules.one_reader(facts_of(tape)) is None


def test_not_one_reader_when_files_are_hardly_read(tape, tmp_path):
    with tape.muted():
        (path,) = write_files(tmp_path, [1 << 20])
    read_file(path)
    time.sleep(0.6)
    tape.cut()
    assert rules.one_reader(facts_of(tape)) is None


def read_with(tape, tmp_path, pause):
    slow = SlowFiles(tape, tmp_path, BLOCK, pause)
    slow.read(slow.create("alone"), 40)
    paths = [slow.create(str(i)) for i in range(6)]
    together([lambda path=path: slow.read(path, 10) for path in paths])
    tape.cut()
    return rules.more_readers(facts_of(tape))


def test_more_readers_lower_the_bandwidth(tape, tmp_path):
    finding = read_with(tape, tmp_path, lambda readers: 0.01 * readers)
    assert finding is not None
    assert "in flight than with 1" in finding.title


def test_more_readers_do_not_harm(tape, tmp_path):
    assert read_with(tape, tmp_path, lambda readers: 0.02 / readers) is None


def with_device_bytes(tape, share):
    """The kernel's counts as if this share of the reads had come from the device; which it is
    depends on the machine's page cache.
    """
    for place, window in enumerate(tape.windows):
        moved = int(window.modules["POSIX"].counters[POSIX.index["POSIX_BYTES_READ"]])
        io = np.array([moved, 0, int(share * moved), 0])
        tape.windows[place] = dataclasses.replace(window, process_io=io)


def epochs(tape, tmp_path, n=3):
    with tape.muted():
        paths = write_files(tmp_path, [1 << 20] * 4)
    for epoch in range(n):
        for path in paths:
            read_file(path)
        tape.cut(epoch=epoch)


def test_data_that_would_fit_into_memory(tape, tmp_path):
    epochs(tape, tmp_path)
    with_device_bytes(tape, 0.9)
    finding = rules.rereads_storage(facts_of(tape, memory_bytes=1 << 30))
    assert finding is not None
    assert (finding.code, finding.severity) == ("fits-memory", "high")
    assert "it would fit" in finding.evidence[1]


@pytest.mark.parametrize("job", [{"memory_bytes": 5 << 20}, {}])
def test_data_that_would_not_fit_or_nobody_knows(tape, tmp_path, job):
    epochs(tape, tmp_path)
    with_device_bytes(tape, 0.9)
    finding = rules.rereads_storage(facts_of(tape, **job))
    assert finding is not None
    assert finding.code == "rereads-storage"


def test_data_from_the_page_cache_needs_no_cache(tape, tmp_path):
    epochs(tape, tmp_path)
    with_device_bytes(tape, 0.1)
    assert rules.rereads_storage(facts_of(tape, memory_bytes=1 << 30)) is None


def test_one_epoch_rereads_nothing(tape, tmp_path):
    epochs(tape, tmp_path, n=1)
    with_device_bytes(tape, 1.0)
    assert rules.rereads_storage(facts_of(tape, memory_bytes=1 << 30)) is None


def paced_epochs(tape, tmp_path, *pauses):
    pause = 0.0
    slow = SlowFiles(tape, tmp_path, BLOCK, lambda readers: pause)
    path = slow.create("a")
    for epoch, pause in enumerate(pauses):  # noqa: B007 the lambda reads it
        slow.read(path, 20)
        tape.cut(epoch=epoch)
    return facts_of(tape)


def test_cold_first_epoch(tape, tmp_path):
    facts = paced_epochs(tape, tmp_path, 0.04, 0.005)
    finding = rules.cold_epoch(facts)
    assert finding is not None
    assert finding.severity == "info"
    assert rules.slower_later(facts) is None


def test_same_file_slower_later(tape, tmp_path):
    facts = paced_epochs(tape, tmp_path, 0.005, 0.04)
    finding = rules.slower_later(facts)
    assert finding is not None
    assert finding.files == (str(tmp_path / "a"),)
    assert rules.cold_epoch(facts) is None


def test_not_slower_later_when_more_read_at_once(tape, tmp_path):
    slow = SlowFiles(tape, tmp_path, BLOCK, lambda readers: 0.01)
    paths = [slow.create(str(i)) for i in range(6)]
    for path in paths:
        slow.read(path, 6)
    tape.cut(epoch=0)
    together([lambda path=path: slow.read(path, 6) for path in paths])
    tape.cut(epoch=1)
    assert rules.slower_later(facts_of(tape)) is None


def test_validation_reads_more(tape, tmp_path):
    with tape.muted():
        small, large = write_files(tmp_path, [1 << 20, 3 << 20])
    read_file(small)
    tape.cut("train")
    read_file(large)
    tape.cut("validation")
    assert rules.validation_reads(facts_of(tape)) is not None


def test_validation_reads_less(tape, tmp_path):
    with tape.muted():
        small, large = write_files(tmp_path, [1 << 20, 3 << 20])
    read_file(large)
    tape.cut("train")
    read_file(small)
    tape.cut("validation")
    assert rules.validation_reads(facts_of(tape)) is None
