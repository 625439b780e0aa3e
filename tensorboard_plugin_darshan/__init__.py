"""See the file I/O of a training in TensorBoard while it runs.

`DarshanCallback` records a Keras training, `DarshanMonitor` any other loop, and `attach` gives
Darshan's counters of the running process without TensorBoard.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorboard_plugin_darshan.recording.keras_callback import DarshanCallback
    from tensorboard_plugin_darshan.recording.lightning_callback import DarshanLightningCallback
    from tensorboard_plugin_darshan.recording.monitor import DarshanMonitor
    from tensorboard_plugin_darshan.recording.recorder import attach
    from tensorboard_plugin_darshan.recording.transformers_callback import DarshanTrainerCallback

__version__ = "0.1.0"
__all__ = [
    "DarshanCallback",
    "DarshanLightningCallback",
    "DarshanMonitor",
    "DarshanTrainerCallback",
    "__version__",
    "attach",
]

_HOMES = {
    "DarshanCallback": "tensorboard_plugin_darshan.recording.keras_callback",
    "DarshanLightningCallback": "tensorboard_plugin_darshan.recording.lightning_callback",
    "DarshanMonitor": "tensorboard_plugin_darshan.recording.monitor",
    "DarshanTrainerCallback": "tensorboard_plugin_darshan.recording.transformers_callback",
    "attach": "tensorboard_plugin_darshan.recording.recorder",
}


def __getattr__(name: str) -> Any:
    """Public names are resolved on first use, so that importing the package costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
