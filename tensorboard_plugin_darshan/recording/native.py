"""The compiled recorder, or the reason why there is none."""

from __future__ import annotations

from types import ModuleType
from typing import Any

_compiled: ModuleType | None
try:
    from tensorboard_plugin_darshan import _native as _compiled
except ImportError:  # another system, or a build without a compiler
    _compiled = None


class RecordingUnavailableError(RuntimeError):
    """This process cannot be recorded; the message says why and what to do."""


def is_available() -> bool:
    """Whether this build can record."""
    return _compiled is not None


def native() -> Any:
    """The compiled part, typed in `_native.pyi`.

    Raises:
        RecordingUnavailableError: there is none here.
    """
    if _compiled is None:
        raise RecordingUnavailableError(
            "recording is not available here: it needs Linux on x86-64 or aarch64 and the compiled "
            "part of the package; recordings made elsewhere can be shown"
        )
    return _compiled
