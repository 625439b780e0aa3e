"""`DarshanLightningCallback`: records a training of PyTorch Lightning."""

from __future__ import annotations

import os
from typing import Any

try:
    import lightning.pytorch as pl
except ImportError as error:
    raise ImportError(
        f"DarshanLightningCallback needs Lightning ({error}); install it with: "
        "pip install lightning, or use DarshanMonitor, which needs no framework"
    ) from error

from tensorboard_plugin_darshan.recording.monitor import DarshanMonitor


class DarshanLightningCallback(pl.Callback):  # type: ignore[misc]
    """Records `trainer.fit`: phases `train` (with its epoch), `validation` and `test`, and steps.

    Args:
        log_dir: where TensorBoard looks.
        options: as `DarshanMonitor` takes them.
    """

    def __init__(self, log_dir: str | os.PathLike[str], **options: Any) -> None:
        self._monitor = DarshanMonitor(log_dir, **options)
        self._monitor.attach()

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Begins to record, or goes on."""
        self._monitor.start()

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """An epoch begins."""
        self._monitor.begin_phase("train", int(trainer.current_epoch))

    def on_train_batch_end(self, trainer: Any, *others: Any) -> None:
        """Notes the step."""
        self._monitor.step(int(trainer.global_step))

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """An epoch ends."""
        self._monitor.end_phase()

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        """A validation begins; within an epoch it lies inside its phase."""
        self._monitor.begin_phase("validation")

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """The validation ends."""
        self._monitor.end_phase()

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Writes out what is left."""
        self._monitor.pause()
