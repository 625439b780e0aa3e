"""`Worker`: one background thread that does a recording's work, in order and on a timer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

_TIMEOUT_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.5

_Result = TypeVar("_Result")


class Worker:
    """Runs actions one after another in a daemon thread, and a tick when none came for a while.

    RATIONALE: with all of a recording's work in one thread it needs no lock; an interrupt (Ctrl-C)
    in the main thread never falls into a half-written window; a file system that hangs makes the
    training wait for a limited time only; and `post` and `run` may be called from anywhere, even
    from a finalizer that happens to run in the thread itself.

    Args:
        wait_seconds: how long to wait for an action before the next tick; None for ever.
        tick: what to do then.
        failed: told of an exception of an action or a tick; called in the thread.

    Raises:
        RuntimeError: the system refuses another thread.
    """

    def __init__(
        self,
        wait_seconds: Callable[[], float | None],
        tick: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._wait_seconds = wait_seconds
        self._tick = tick
        self._failed = failed
        self._tasks: SimpleQueue[tuple[Callable[[], None], threading.Event | None]] = SimpleQueue()
        self._stopping = False
        self._thread = threading.Thread(target=self._loop, name="darshan-monitor", daemon=True)
        self._thread.start()

    def run(self, action: Callable[[], None], timeout: float = _TIMEOUT_SECONDS) -> bool:
        """Has `action` done and waits for it.

        In the thread itself it does not wait: the action then follows the present one.

        Returns:
            Whether it was done (or will be, in the thread itself). When it was not done in time it
            is still done later.
        """
        done = threading.Event()
        self._tasks.put((action, done))
        if threading.current_thread() is self._thread:
            return True
        while timeout > 0 and self._thread.is_alive():
            if done.wait(min(timeout, _LOOK_SECONDS)):
                return True
            timeout -= _LOOK_SECONDS
        return done.is_set()

    def post(self, action: Callable[[], None]) -> None:
        """Has `action` done without waiting for it."""
        self._tasks.put((action, None))

    def stop(self) -> None:
        """Ends the thread after the actions it was given so far."""
        self._tasks.put((self._stop, None))

    def join(self, timeout: float) -> None:
        """Waits for the thread's end, unless it is the one that asks."""
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _stop(self) -> None:
        self._stopping = True

    def _loop(self) -> None:
        while not self._stopping:
            try:
                action, done = self._tasks.get(timeout=self._guarded(self._wait_seconds))
            except Empty:
                action, done = self._tick, None
            self._guarded(action)
            if done is not None:
                done.set()

    def _guarded(self, call: Callable[[], _Result]) -> _Result | None:
        try:
            return call()
        except Exception as error:  # whatever it is, the training must go on
            self._failed(error)
            return None
