"""The recipe of `docs/steering.md`, on storage that likes many readers and on one that does not."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest

from tensorboard_plugin_darshan import attach
from tests.support.real_runs import SlowFiles

PAGE = Path(__file__).resolve().parents[2] / "docs" / "steering.md"
BLOCK = 16 * 1024


@pytest.fixture(scope="module")
def recipe():
    """What the page's code defines."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(blocks[0], str(PAGE), "exec"), names)
    return names


class _Muted:
    def __init__(self, recorder):
        self.muted = recorder.muted


def best_threads(recipe, tmp_path, pause, shared):
    """What the recipe finds for pipes that deliver at a pace that depends on their readers."""
    recorder = attach(source="builtin", children=False)
    readers = 0
    lock = threading.Lock()
    try:
        serial = iter(range(1000))

        def work(threads, stop):
            def read():
                while not stop.is_set():
                    directory = tmp_path / str(next(serial))
                    slow = SlowFiles(_Muted(recorder), directory, BLOCK, lambda n: pause(readers))
                    if not shared:
                        slow.read(slow.create("a"), 4)
                    else:
                        slow._device = lock
                        slow.read(slow.create("a"), 4)

            nonlocal readers
            readers = threads
            pool = [threading.Thread(target=read) for _ in range(threads)]
            for thread in pool:
                thread.start()
            stop.wait(30)
            for thread in pool:
                thread.join()

        return recipe["best_threads"](recorder, work, (1, 2, 4, 8), seconds=0.5)
    finally:
        recorder.detach()


def test_many_threads_for_storage_with_latency(recipe, tmp_path):
    assert best_threads(recipe, tmp_path, lambda readers: 0.02, shared=False) >= 4


def test_one_thread_for_a_device_that_suffers(recipe, tmp_path):
    assert best_threads(recipe, tmp_path, lambda readers: 0.004 * readers, shared=True) == 1


def test_meter_counts_what_was_read(recipe, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 1000)
    recorder = attach(source="builtin", children=False)
    try:
        meter = recipe["Meter"](recorder)
        path.read_bytes()
        time.sleep(0.01)
        moved, seconds = meter.read()
        assert moved == 1000
        assert seconds > 0.009
        assert meter.read()[0] == 0
    finally:
        recorder.detach()
