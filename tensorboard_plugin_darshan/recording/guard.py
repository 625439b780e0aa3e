"""`Guard`: runs a recording so that nothing that happens in it can harm the training."""

from __future__ import annotations

import atexit
import logging
import os
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from tensorboard_plugin_darshan.recording.live import Recording
from tensorboard_plugin_darshan.recording.worker import Worker

_JOIN_SECONDS: Final = 5.0

_logger = logging.getLogger(__name__)
_present: weakref.ref[Guard] | None = None


class Guard:
    """A recording, its thread, and what to do when either fails.

    Any failure ends the recording with one `RuntimeWarning`; no exception leaves this class. A
    forked child inherits the object without its thread: there every method does nothing. The
    recording is ended at exit when nobody ended it before.

    A process has one recording at a time. The one that starts last goes on; what it displaces ends
    if it had begun (with a warning unless it was paused), and attaches anew when it starts if not.

    Args:
        create: attaches and gives the recording.

    Attributes:
        recording: the recording, once attached.
        is_displaced: ended by another recording while it was paused.
    """

    def __init__(self, create: Callable[[], Recording]) -> None:
        self.recording: Recording | None = None
        self.is_displaced = False
        self._create = create
        self._worker: Worker | None = None
        self._closed = False
        self._pid = os.getpid()

    @property
    def usable(self) -> bool:
        """Whether there is, or may be, something to record: neither ended nor forked."""
        return not self._closed and os.getpid() == self._pid

    @property
    def started(self) -> bool:
        """Whether the thread was started."""
        return self._worker is not None

    def attach(self, patiently: bool = False) -> None:
        """Begins to count, unless it was done.

        Args:
            patiently: leave it for later while another recording goes on or is about to begin.
        """
        if self.recording is not None or not self.usable:
            return
        global _present
        present = _present() if _present is not None else None
        if present is not None and present.usable and present.recording is not None:
            if patiently and not present.recording.is_paused:
                return
            present.make_way()
        _present = weakref.ref(self)
        try:
            self.recording = self._create()
        except Exception as error:  # whatever it is, the training must go on
            self._give_up(error)

    def start(self) -> None:
        """Attaches and starts the thread, unless it was done."""
        self.attach()
        if self.recording is None or self.started or not self.usable:
            return
        try:
            self._worker = Worker(self.recording.wait_seconds, self.recording.tick, self._give_up)
        except RuntimeError as error:
            self._give_up(error)
        else:
            atexit.register(self.close)

    def run(self, action: Callable[[Recording], None]) -> None:
        """Does something with the recording in its thread, and waits for it."""
        recording, worker = self.recording, self._worker
        if recording is None or worker is None or not self.usable:
            return
        if not worker.run(lambda: action(recording)) and not self._closed:
            self._abandon(worker, recording)

    def post(self, action: Callable[[Recording], None]) -> None:
        """Does something with the recording in its thread, without waiting for it."""
        recording, worker = self.recording, self._worker
        if recording is not None and worker is not None and self.usable:
            worker.post(lambda: action(recording))

    def close(self) -> None:
        """Finishes the recording and detaches."""
        if not self.usable:
            return
        if self._worker is None:
            with suppress(Exception):
                self._end()
            return
        self.run(self._finish)
        self._worker.join(_JOIN_SECONDS)

    def make_way(self) -> None:
        """Another recording begins in this process."""
        recording = self.recording
        if recording is None or not self.usable:
            return
        if not recording.has_begun:
            self.recording = None
            with suppress(Exception):
                recording.release()
            return
        self.is_displaced = recording.is_paused
        if not recording.is_paused:
            warn("another recording begins in this process; the one before it ends here")
        self.close()

    def _finish(self, recording: Recording) -> None:
        if not self._closed:
            recording.finish()
            self._end()

    def _end(self) -> None:
        self._closed = True
        atexit.unregister(self.close)
        if self._worker is not None:
            self._worker.stop()
        if self.recording is not None:
            self.recording.release()

    def _give_up(self, error: Exception) -> None:
        """Ends the recording after a failure; in the thread, or before there is one."""
        if not self._closed:
            with suppress(Exception):
                self._end()
            warn(f"file access is not recorded from here on, the training goes on: {error}")

    def _abandon(self, worker: Worker, recording: Recording) -> None:
        """Ends the recording while its thread hangs, most likely in the log directory's file
        system: the file belongs to the thread, which closes it if it ever comes back.
        """
        self._closed = True
        atexit.unregister(self.close)
        worker.post(recording.release)
        worker.stop()
        with suppress(Exception):
            recording.recorder.detach()
        warn(
            "file access is not recorded from here on, the training goes on: writing to the log "
            "directory takes too long"
        )


def warn(sentence: str) -> None:
    """Tells the user something, even where warnings are errors: the training must go on."""
    try:
        warnings.warn(sentence, RuntimeWarning, stacklevel=3)
    except RuntimeWarning:
        _logger.warning("%s", sentence)
