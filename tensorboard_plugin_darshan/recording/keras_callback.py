"""`DarshanCallback`: records a Keras training."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from typing import Any

try:
    import keras
except ImportError as error:
    raise ImportError(
        f"DarshanCallback needs Keras 3 ({error}); install it with: pip install keras, "
        "or use DarshanMonitor, which needs no framework"
    ) from error

from tensorboard_plugin_darshan.recording import recorder as recorder_module
from tensorboard_plugin_darshan.recording.cutter import WindowCutter
from tensorboard_plugin_darshan.recording.guard import warn
from tensorboard_plugin_darshan.recording.monitor import DarshanMonitor
from tensorboard_plugin_darshan.recording.options import Source, Trace, UpdateFrequency
from tensorboard_plugin_darshan.recording.recorder import Recorder

_FETCHES_BETWEEN_HOOKS = keras.backend.backend() == "torch"


class DarshanCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Records the file access of `fit`, `evaluate` and `predict`, for any Keras backend.

    It changes neither results nor logs nor exceptions. When it cannot record, or cannot go on, it
    says so once in a `RuntimeWarning` and steps aside.

    **When it records.** Counting begins when the callback is made, not when training begins:
    Keras reads the first batch before `on_train_begin` when it has to build the model or its
    metrics (JAX, PyTorch, TensorFlow's distribution strategies), and shuffle buffers fill then.
    Nothing is written before the first `fit`, `evaluate` or `predict`. At the end of each of them
    the recording is written out and marked finished; a later one with the same callback goes on in
    the same recording. The recorder is taken out when the callback is no longer referenced (at
    once after `fit(callbacks=[DarshanCallback(…)])`), at `close()`, or at exit.

    **Phases.** `train` with its epoch lasts until the next epoch or the end of `fit`, so that it
    holds the checkpoints that are written at its end; `validation` lies inside it;
    `evaluate` and `predict` are those called on their own. The step is the number of training
    batches so far, over all calls of `fit`.

    A copy of a callback (`copy.deepcopy`, `pickle`) makes a recording of its own. A process has one
    recording at a time: with several callbacks in use after each other each has its own, and one
    that is used again after another begins a new recording beside its first.

    Example:
        model.fit(data, callbacks=[DarshanCallback("logs/run1")])

    Args:
        log_dir: where TensorBoard looks; events come to `<log_dir>/darshan/rank<R>`.
        source: see `DarshanMonitor`, as for all that follow.
        update_freq: `epoch`, `batch` or a number of batches.
        flush_secs: time between two windows.
        trace: which single accesses to keep.
        max_segments: most single accesses to keep.
        max_files: most files in the table at the end.
        children: whether to record forked children, and Pythons that are started, too.
        extended: whether to see also the calls that Darshan 3.5.0 does not wrap.
        exclude: directories and files to leave out.
        anonymize: whether to store no readable path.
        attach: what attaches a recorder.
        cutter: what cuts windows from it.
    """

    async_safe = True
    """Keras may call the batch hooks from another thread: they only note the step."""

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
        super().__init__()
        self.log_dir = log_dir
        self._options: dict[str, Any] = {
            "source": source,
            "update_freq": update_freq,
            "flush_secs": flush_secs,
            "trace": trace,
            "max_segments": max_segments,
            "max_files": max_files,
            "children": children,
            "extended": extended,
            "exclude": exclude,
            "anonymize": anonymize,
            "attach": attach,
            "cutter": cutter,
        }
        self._depth = 0
        self._is_waiting = False
        self._step = 0
        self._steps_before_epoch = 0
        self._is_aside = False
        self._monitor: DarshanMonitor | None = None
        self._create_monitor()

    def close(self) -> None:
        """Ends the recording and takes the recorder out; the callback records nothing after it."""
        if self._monitor is not None:
            self._monitor.close()

    def set_model(self, model: Any) -> None:
        """Keras calls this before each `fit`, `evaluate` and `predict` of its own, but not before
        a validation: what an interrupted training left open has ended.
        """
        super().set_model(model)
        self._depth = 0
        self._wait(False)

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins to record, or goes on."""
        self._depth = 0
        self._begin()
        self._note_step(self._step)

    def on_train_end(self, logs: Any = None) -> None:
        """Writes out what is left."""
        self._end()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """An epoch of the phase `train` begins."""
        self._steps_before_epoch = self._step
        if self._depth == 0:
            self._begin("train", int(epoch))
        elif self._monitor is not None:
            self._monitor.end_phase()
            self._monitor.begin_phase("train", int(epoch))
        self._wait(True)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """No batch of the epoch is waited for any more."""
        self._wait(False)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """The batch has come."""
        self._wait(False)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Notes the step; the next batch is waited for."""
        self._note_step(self._steps_before_epoch + int(batch) + 1)
        self._wait(True)

    def on_test_begin(self, logs: Any = None) -> None:
        """The phase `validation` or `evaluate` begins."""
        self._wait(False)
        self._begin("evaluate" if self._depth == 0 else "validation")

    def on_test_end(self, logs: Any = None) -> None:
        """The phase ends."""
        self._end()

    def on_predict_begin(self, logs: Any = None) -> None:
        """The phase `predict` begins."""
        self._begin("predict")

    def on_predict_end(self, logs: Any = None) -> None:
        """The phase ends."""
        self._end()

    def __getstate__(self) -> dict[str, Any]:
        """A copy has no recording yet, nor a model: Keras gives it one when it is used."""
        fresh = {"_monitor": None, "_model": None, "_depth": 0, "_is_waiting": False}
        return self.__dict__ | fresh

    def _begin(self, phase: str = "", epoch: int = -1) -> None:
        is_gone = self._monitor is None or self._monitor.is_displaced
        if self._depth == 0 and is_gone and not self._is_aside:
            self._create_monitor()
        if self._monitor is None:
            return
        if self._depth == 0:
            self._monitor.pause()
            self._monitor.start()
        self._depth += 1
        if phase:
            self._monitor.begin_phase(phase, epoch)

    def _end(self) -> None:
        if self._monitor is None or self._depth == 0:
            return
        self._depth -= 1
        if self._depth == 0:
            self._monitor.pause()
        else:
            self._monitor.end_phase()

    def _wait(self, is_waiting: bool) -> None:
        """Notes that the next batch is waited for, or has come. Only Keras on PyTorch fetches it
        between the hooks of batches; elsewhere that happens inside the step.
        """
        if is_waiting == self._is_waiting or self._monitor is None or not _FETCHES_BETWEEN_HOOKS:
            return
        self._is_waiting = is_waiting
        if is_waiting:
            self._monitor.begin_wait()
        else:
            self._monitor.end_wait()

    def _note_step(self, step: int) -> None:
        self._step = step
        if self._monitor is not None:
            self._monitor.step(step)

    def _create_monitor(self) -> None:
        try:
            self._monitor = DarshanMonitor(self.log_dir, **self._options)
        except (TypeError, ValueError) as error:
            self._is_aside = True
            warn(f"DarshanCallback records nothing, the training goes on: {error}")
        else:
            self._monitor.attach()
            weakref.finalize(self, self._monitor.close)
