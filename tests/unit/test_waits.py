from __future__ import annotations

import dataclasses
import threading

import numpy as np

from tensorboard_plugin_darshan import payload, window
from tensorboard_plugin_darshan.recording import process
from tensorboard_plugin_darshan.recording.waits import UNKNOWN_SECONDS, WaitClock
from tensorboard_plugin_darshan.window import Window
from tests.support import events
from tests.support.monitors import create


def test_unknown_until_a_wait_begins(clock):
    waits = WaitClock(clock)
    assert waits.take() == UNKNOWN_SECONDS
    waits.begin()
    waits.end()
    assert waits.take() == 0.0


def test_waits_of_several_threads_count_once(clock):
    waits = WaitClock(clock)
    waits.begin()
    clock.now = 1.0
    other = threading.Thread(target=waits.begin)
    other.start()
    other.join()
    clock.now = 2.0
    waits.end()
    clock.now = 4.0
    waits.end()
    clock.now = 9.0
    waits.end()
    assert waits.take() == 4.0
    assert waits.take() == 0.0


def test_a_wait_that_goes_on_is_split_between_windows(clock):
    waits = WaitClock(clock)
    waits.begin()
    clock.now = 3.0
    assert waits.take() == 3.0
    clock.now = 5.0
    waits.end()
    assert waits.take() == 2.0


def test_windows_carry_the_wait(tmp_path, source):
    monitor = create(tmp_path, source)
    with monitor, monitor.phase("train", 0), monitor.wait():
        source.recorder.count(read=1)
    waited = [w.wait_seconds for w in events.windows(tmp_path)]
    assert sum(waited) > 0


def test_windows_without_waits_say_that_it_is_unknown(tmp_path, source):
    with create(tmp_path, source):
        source.recorder.count(read=1)
    assert {w.wait_seconds for w in events.windows(tmp_path)} == {UNKNOWN_SECONDS}


def test_wait_survives_encoding_and_older_data_lacks_it():
    recorded = dataclasses.replace(Window(0, 0.0, 1.0), wait_seconds=0.25)
    data = window.encode(recorded)
    assert window.decode(data).wait_seconds == 0.25
    meta, arrays = payload.decode(data)
    del meta["wait_seconds"]
    older = payload.encode(meta, {name: np.array(a) for name, a in arrays.items()})
    assert window.decode(older).wait_seconds == UNKNOWN_SECONDS


def test_memory_is_the_smaller_of_machine_and_container(tmp_path):
    table, limit = tmp_path / "meminfo", tmp_path / "memory.max"
    assert process.memory_bytes(table, limit) is None
    table.write_text("MemTotal:       1000 kB\nMemFree: 1 kB\n")
    assert process.memory_bytes(table, limit) == 1_024_000
    limit.write_text("max\n")
    assert process.memory_bytes(table, limit) == 1_024_000
    limit.write_text("500000\n")
    assert process.memory_bytes(table, limit) == 500_000
