"""`DarshanMonitor`: records any training loop and writes what it saw as TensorBoard events."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Final

from tensorboard_plugin_darshan.recording import recorder as recorder_module
from tensorboard_plugin_darshan.recording.cutter import WindowCutter
from tensorboard_plugin_darshan.recording.guard import Guard
from tensorboard_plugin_darshan.recording.live import NO_PHASE, Phase, Recording
from tensorboard_plugin_darshan.recording.options import (
    Options,
    Source,
    Trace,
    UpdateFrequency,
    checked_exclude,
    checked_log_dir,
)
from tensorboard_plugin_darshan.recording.recorder import Recorder
from tensorboard_plugin_darshan.recording.tracing import MAX_WAITING
from tensorboard_plugin_darshan.recording.waits import WaitClock

_LAST_EPOCH: Final = 2**31 - 1


class DarshanMonitor:
    """Records the file access of this process while it is open.

    Whatever goes wrong while recording is told once in a `RuntimeWarning`; the recording then
    ends and the training goes on unchanged. In a forked child nothing is written. A process has one
    recording at a time: a second one ends the first.

    Example:
        with DarshanMonitor("logs/run1") as monitor:
            for epoch in range(3):
                with monitor.phase("train", epoch):
                    for batch in batches:
                        train(batch)
                        monitor.step()

    Args:
        log_dir: where TensorBoard looks; events come to `<log_dir>/darshan/rank<R>`.
        source: what records: `builtin`, `libdarshan`, or `auto` for libdarshan when the process
            has it loaded already, else the built-in source.
        update_freq: besides every `flush_secs` and at each begin and end of a phase, write after
            every step (`batch`), every so many steps (a number), or not (`epoch`).
        flush_secs: time between two windows. After 2,000 windows it doubles.
        trace: which single reads and writes to keep: as many as keep the recording small, the
            first of each window (True), none, or all in steps `(first, last)`, counted from 1.
        max_segments: most single accesses to keep; a larger one than the default lets the
            recording grow in proportion.
        max_files: most files by name in the table of all files, likewise.
        children: whether to record forked children, and Pythons that are started, too.
        extended: whether to see also the calls that Darshan 3.5.0 does not wrap.
        exclude: directories and files to leave out, instead of the source's own list.
        anonymize: whether to store no readable path; True is refused in this version.
        attach: what attaches a recorder; for sources of other kinds.
        cutter: what cuts windows from it.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument makes no sense.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        *,
        source: Source = "auto",
        update_freq: UpdateFrequency = "epoch",
        flush_secs: float = 5.0,
        trace: Trace = True,
        max_segments: int = 2_000_000,
        max_files: int = 200_000,
        children: bool = True,
        extended: bool = True,
        exclude: Sequence[str | os.PathLike[str]] | None = None,
        anonymize: bool = False,
        attach: Callable[..., Recorder] = recorder_module.attach,
        cutter: Callable[[Recorder], WindowCutter] = WindowCutter,
    ) -> None:
        self._log_dir = checked_log_dir(log_dir)
        self._options = Options(
            source=source,
            update_freq=update_freq,
            flush_secs=flush_secs,
            trace=trace,
            max_segments=max_segments,
            max_files=max_files,
            children=children,
            extended=extended,
            exclude=checked_exclude(exclude),
            anonymize=anonymize,
        )
        self._attach_recorder = attach
        self._create_cutter = cutter
        self._waits = WaitClock()
        self._guard = Guard(self._create_recording)
        self._phases: list[Phase] = []
        self._step = -1
        self._step_asked = 0

    @property
    def is_displaced(self) -> bool:
        """Whether another recording of this process began while this one was paused, and ended it:
        a new monitor could record again.
        """
        return self._guard.is_displaced

    def attach(self) -> None:
        """Begins to count without writing anything yet; otherwise `start` does so. While another
        recording of this process goes on or is about to begin, that is left to `start`.
        """
        self._guard.attach(patiently=True)

    def start(self) -> DarshanMonitor:
        """Begins to record, or goes on after `pause`."""
        self._guard.start()
        phase = self._innermost()
        self._guard.run(lambda recording: recording.begin(phase))
        return self

    def pause(self) -> None:
        """Writes what is left and says that the recording is finished, but goes on counting.

        All phases end. `start` goes on in the same recording, `close` ends it.
        """
        self._phases.clear()
        self._guard.run(Recording.pause)

    def close(self) -> None:
        """Writes what is left, ends the recording and detaches. May be called again."""
        self._guard.close()

    def begin_phase(self, name: str, epoch: int = -1) -> None:
        """A phase begins; it lies within those that have begun and not ended.

        A monitor that was not started yet is started.

        Args:
            name: e.g. `train`.
            epoch: from 0; -1 for that of the phase around it.

        Raises:
            TypeError: an argument has the wrong type.
            ValueError: `name` is empty.
        """
        self._enter(name, epoch)

    def end_phase(self) -> None:
        """The innermost phase ends. Without effect outside all phases."""
        if self._phases:
            self._leave(self._phases[-1])

    @contextmanager
    def phase(self, name: str, epoch: int = -1) -> Iterator[None]:
        """A context that is a phase: `begin_phase` and `end_phase`, see there."""
        phase = self._enter(name, epoch)
        try:
            yield
        finally:
            self._leave(phase)

    @contextmanager
    def wait(self) -> Iterator[None]:
        """A context in which the training waits for its next input, e.g. round `next(batches)`.

        With it the tab says which share of the time was waited; without it that is an estimate.
        """
        self.begin_wait()
        try:
            yield
        finally:
            self.end_wait()

    def begin_wait(self) -> None:
        """The training begins to wait for input; `wait` is this and `end_wait`."""
        self._waits.begin()

    def end_wait(self) -> None:
        """The wait that began last ends. Without effect when none goes on."""
        self._waits.end()

    def step(self, n: int | None = None) -> None:
        """A training step ends. A monitor that was not started yet is started.

        Args:
            n: its number, from 1; one more than before, when left out.

        Raises:
            TypeError: `n` is not a whole number.
        """
        if not self._guard.usable:
            return
        self._step = max(self._step, 0) + 1 if n is None else operator.index(n)
        if not self._guard.started:
            self.start()
        if self._guard.recording is not None:
            self._guard.recording.step = self._step
        if 0 < self._options.steps_per_window() <= self._step - self._step_asked:
            self._step_asked = self._step
            self._guard.post(Recording.tick)

    def __enter__(self) -> DarshanMonitor:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _create_recording(self) -> Recording:
        recorder = self._attach_recorder(
            self._options.source,
            extended=self._options.extended,
            exclude=self._options.exclude,
            max_segments=self._options.segments_to_wait(MAX_WAITING),
            children=self._options.children,
        )
        try:
            with recorder.muted():
                cutter = self._create_cutter(recorder)
            return Recording(recorder, cutter, self._log_dir, self._options, self._waits)
        except BaseException:
            recorder.detach()
            raise

    def _innermost(self) -> Phase:
        return self._phases[-1] if self._phases else NO_PHASE

    def _enter(self, name: str, epoch: int) -> Phase:
        if not isinstance(name, str):
            raise TypeError(f"the name of a phase must be text, not {name!r}")
        if not name:
            raise ValueError("the name of a phase must not be empty")
        epoch = operator.index(epoch)
        if epoch > _LAST_EPOCH:
            raise ValueError(f"the epoch of a phase must be below {_LAST_EPOCH + 1}, not {epoch}")
        phase = Phase(name, self._innermost().epoch if epoch < 0 else epoch)
        self._phases.append(phase)
        if self._guard.started:
            self._phase_changed()
        else:
            self.start()
        return phase

    def _leave(self, phase: Phase) -> None:
        if phase in self._phases:
            self._phases.remove(phase)
            self._phase_changed()

    def _phase_changed(self) -> None:
        phase = self._innermost()
        self._guard.run(lambda recording: recording.switch(phase))
