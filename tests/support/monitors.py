"""What tests of monitors share."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tensorboard_plugin_darshan.recording.monitor import DarshanMonitor
from tensorboard_plugin_darshan.window import Window
from tests.support import events
from tests.support.fake_recorder import FakeCutter, FakeSource, bytes_read


def create(log_dir: Any, attach: FakeSource, /, **options: Any) -> DarshanMonitor:
    """A monitor with a fake recorder, whose timer does not fire by itself."""
    options = {"flush_secs": 3600.0, **options}
    return DarshanMonitor(log_dir, attach=attach, cutter=FakeCutter, **options)


def lasting(log_dir: Path) -> list[Window]:
    """The windows without the last one of no length that `close` writes while the clock stands."""
    *windows, last = events.windows(log_dir)
    is_empty = last.end_seconds == last.start_seconds and bytes_read(last) == 0
    return windows if is_empty else [*windows, last]


def stretches(log_dir: Path) -> list[tuple[str, int, int]]:
    """Phase, epoch and bytes read of each lasting window."""
    return [(w.phase, w.epoch, bytes_read(w)) for w in lasting(log_dir)]


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Waits for another thread's doing."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


@contextmanager
def one_warning(message: str) -> Iterator[None]:
    """The block gives just one warning, a `RuntimeWarning` that holds this text."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield
    assert [warning.category for warning in seen] == [RuntimeWarning], seen
    assert message in str(seen[0].message)
