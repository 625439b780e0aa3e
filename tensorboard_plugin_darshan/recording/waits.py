"""`WaitClock`: how long the training waited for its next input."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

UNKNOWN_SECONDS: Final = -1.0
"""What stands where nobody said when the training waits."""


class WaitClock:
    """Adds up the time in which at least one wait goes on; any thread may call it.

    Args:
        clock: gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open = 0
        self._since = 0.0
        self._seconds = UNKNOWN_SECONDS

    def begin(self) -> None:
        """A wait begins."""
        with self._lock:
            now = self._clock()
            if self._seconds < 0:
                self._seconds = 0.0
            if self._open == 0:
                self._since = now
            self._open += 1

    def end(self) -> None:
        """A wait ends. Without effect when none goes on."""
        with self._lock:
            if self._open == 0:
                return
            self._open -= 1
            if self._open == 0:
                self._seconds += self._clock() - self._since

    def take(self) -> float:
        """Seconds waited since the last call, a wait that goes on included; `UNKNOWN_SECONDS` when
        no wait ever began.
        """
        with self._lock:
            if self._seconds < 0:
                return UNKNOWN_SECONDS
            taken, self._seconds = self._seconds, 0.0
            if self._open:
                now = self._clock()
                taken, self._since = taken + now - self._since, now
            return taken
