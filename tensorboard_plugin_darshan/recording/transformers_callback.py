"""`DarshanTrainerCallback`: records a training of Hugging Face's `Trainer`."""

from __future__ import annotations

import os
from typing import Any

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise ImportError(
        f"DarshanTrainerCallback needs transformers ({error}); install it with: "
        "pip install transformers, or use DarshanMonitor, which needs no framework"
    ) from error

from tensorboard_plugin_darshan.recording.monitor import DarshanMonitor


class DarshanTrainerCallback(TrainerCallback):  # type: ignore[misc]
    """Records `trainer.train`: the phase `train` with its epoch, and steps.

    An epoch lasts until the next one or the end, so that it holds the evaluations and checkpoints
    at its end.

    Args:
        log_dir: where TensorBoard looks.
        options: as `DarshanMonitor` takes them.
    """

    def __init__(self, log_dir: str | os.PathLike[str], **options: Any) -> None:
        self._monitor = DarshanMonitor(log_dir, **options)
        self._monitor.attach()
        self._in_epoch = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Begins to record, or goes on."""
        self._monitor.start()

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """An epoch begins."""
        if self._in_epoch:
            self._monitor.end_phase()
        self._in_epoch = True
        self._monitor.begin_phase("train", int(state.epoch or 0))

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Notes the step."""
        self._monitor.step(int(state.global_step))

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Writes out what is left."""
        self._in_epoch = False
        self._monitor.pause()
