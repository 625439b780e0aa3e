"""`Recording`: decides when a window is cut, which phase it belongs to, and writes it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tensorboard_plugin_darshan.recording.options import Options
from tensorboard_plugin_darshan.recording.tracing import TracedSteps
from tensorboard_plugin_darshan.recording.waits import WaitClock
from tensorboard_plugin_darshan.recording.writer import RecordingWriter

if TYPE_CHECKING:
    from tensorboard_plugin_darshan.recording.cutter import WindowCutter
    from tensorboard_plugin_darshan.recording.recorder import Recorder

_SHORTEST_PHASE_SECONDS: Final = 0.001
_SHORTEST_GAP_SECONDS: Final = 0.05
"""A shorter stretch outside all phases joins the phase that follows; cutting takes a few
milliseconds itself."""


@dataclass(frozen=True, eq=False)
class Phase:
    """A named stretch of a training.

    Attributes:
        name: e.g. `train`; empty outside all phases.
        epoch: from 0, or -1.
    """

    name: str = ""
    epoch: int = -1


NO_PHASE: Final = Phase()


class Recording:
    """One process from attach to detach.

    All methods are called by one thread, the monitor's worker. `step` may be set by any.

    Args:
        recorder: counts.
        cutter: cuts windows from it.
        log_dir: where TensorBoard looks; nothing is made there before `begin`.
        options: settings.
        waits: how long the training waited for input.

    Attributes:
        recorder: as given.
    """

    def __init__(
        self,
        recorder: Recorder,
        cutter: WindowCutter,
        log_dir: str,
        options: Options,
        waits: WaitClock,
    ) -> None:
        self.recorder = recorder
        self._step = -1
        self._traced_steps = TracedSteps(options.trace)
        self._cutter = cutter
        self._log_dir = log_dir
        self._options = options
        self._waits = waits
        self._writer: RecordingWriter | None = None
        self._paused = True
        self._is_owing = False
        self._phase = NO_PHASE
        self._since = self._cut_at = recorder.seconds()
        self._due = 0.0
        self._spent: dict[tuple[str, int], float] = {}

    @property
    def step(self) -> int:
        """The training step that ended last, or -1."""
        return self._step

    @step.setter
    def step(self, step: int) -> None:
        self._step = step
        if self._traced_steps.waits_for(step):
            with suppress(RuntimeError):  # detached meanwhile
                self._traced_steps.step_ended(step, self.recorder.seconds())

    @property
    def has_begun(self) -> bool:
        """Whether anything was written."""
        return self._writer is not None

    @property
    def is_paused(self) -> bool:
        """Whether it was begun and nothing is written at present."""
        return self.has_begun and self._paused

    def begin(self, phase: Phase) -> None:
        """Begins to write, or goes on after a pause; what was counted before is a window.

        Raises:
            LogDirectoryError: nothing can be written to the log directory.
        """
        if not self._paused:
            return
        shortest = _SHORTEST_PHASE_SECONDS
        if self._writer is None:
            with self.recorder.muted():
                self._writer = RecordingWriter(self._log_dir, self._options, self.recorder)
            shortest = _SHORTEST_GAP_SECONDS
        self._writer.write_job(finished=False)
        self._paused = False
        self._due = self.recorder.seconds() + self._writer.interval_seconds()
        self._switch(phase, shortest)

    def pause(self) -> None:
        """Writes what is left and a finished job; what follows is counted, but not yet cut."""
        if self._paused or self._writer is None:
            return
        now = self.recorder.seconds()
        self._account(now)
        self._is_owing = not self._writer.may_write(now)
        if not self._is_owing:
            self._cut(self._writer, pauses=True)
            self._write_files(self._writer, last=True)
        self._phase = NO_PHASE
        self._writer.write_job(finished=True)
        self._paused = True

    def finish(self) -> None:
        """Writes the last window and a finished job, and detaches. What was counted in a pause
        that nothing followed is left out: the recording ended with it.
        """
        try:
            if self._writer is not None and (self._is_owing or not self._paused):
                self._account(self.recorder.seconds())
                self._cut(self._writer, last=True)
                self._write_files(self._writer, last=True)
                self._writer.write_job(finished=True)
        finally:
            self.release()

    def release(self) -> None:
        """Detaches and closes the file, without writing."""
        writer, self._writer = self._writer, None
        self._paused = True
        try:
            self.recorder.detach()
        finally:
            if writer is not None:
                writer.close()

    def switch(self, phase: Phase) -> None:
        """A phase began or ended: `phase` follows."""
        self._switch(phase, _SHORTEST_PHASE_SECONDS if self._phase.name else _SHORTEST_GAP_SECONDS)

    def _switch(self, phase: Phase, shortest: float) -> None:
        now = self.recorder.seconds()
        self._account(now)
        is_end = bool(self._phase.name)
        self._phase = phase
        if self._writer is None or self._paused:
            return
        if now - self._cut_at >= shortest and self._writer.may_write(now):
            self._cut(self._writer)
            if is_end:
                self._write_files(self._writer)

    def tick(self) -> None:
        """Cuts a window because it is time."""
        if self._writer is None or self._paused:
            return
        now = self.recorder.seconds()
        self._account(now)
        self._due = now + self._writer.interval_seconds()
        if self._writer.may_write(now):
            self._cut(self._writer)

    def wait_seconds(self) -> float | None:
        """How long to wait before the next `tick`; None while nothing is written."""
        if self._writer is None or self._paused or not self.recorder.attached:
            return None
        return max(0.0, self._due - self.recorder.seconds())

    def _account(self, seconds: float) -> None:
        """Notes how long the present phase took, for a window that covers several."""
        key = (self._phase.name, self._phase.epoch)
        self._spent[key] = self._spent.get(key, 0.0) + max(0.0, seconds - self._since)
        self._since = max(self._since, seconds)

    def _cut(self, writer: RecordingWriter, last: bool = False, pauses: bool = False) -> None:
        name, epoch = max(self._spent, key=lambda key: (bool(key[0]), self._spent[key]))
        with self.recorder.muted():
            window = self._cutter.cut(name, epoch, self.step)
        self._spent = {}
        self._cut_at = self._since = max(self._since, window.end_seconds)
        self._due = self._cut_at + writer.interval_seconds()
        window = replace(window, wait_seconds=self._waits.take())
        traced, names = self._cutter.take_traced(), dict[int, str]()
        if traced is not None:
            steps = self._traced_steps
            traced = traced.within(steps.begin_seconds, steps.end_seconds)
            traced = writer.traces.choose(traced, window.end_seconds)
            ids = traced.segments.files.tolist()
            names = self._cutter.names_for_window(dict(zip(ids, traced.names, strict=True)))
        writer.write_window(replace(window, names={**window.names, **names}), last)
        if traced is not None:
            writer.traces.write(traced, list(names.values()), last or pauses)

    def _write_files(self, writer: RecordingWriter, last: bool = False) -> None:
        writer.files.write(self._cutter.all_files, self._cut_at, last)
