"""Which source records: a libdarshan that is there already, one to be loaded, or our own."""

from __future__ import annotations

import os
from typing import Any, Final

from tensorboard_plugin_darshan.recording.builtin import BuiltinRecording, Settings
from tensorboard_plugin_darshan.recording.libdarshan_recording import (
    WITHOUT_MPI_VARIABLE,
    LibdarshanRecording,
)
from tensorboard_plugin_darshan.recording.native import RecordingUnavailableError, native

SOURCES: Final = ("auto", "builtin", "libdarshan")
SOURCE_VARIABLE: Final = "TENSORBOARD_DARSHAN_SOURCE"
LIBRARY_VARIABLE: Final = "LIBDARSHAN"
_LOADERS_NAME: Final = "libdarshan.so"

Recording = BuiltinRecording | LibdarshanRecording


def chosen(source: str) -> str:
    """The source that is asked for, also by `TENSORBOARD_DARSHAN_SOURCE`.

    Raises:
        ValueError: there is none of that name.
    """
    if source == "auto":
        source = os.environ.get(SOURCE_VARIABLE) or source
    if source not in SOURCES:
        raise ValueError(f"source is {source!r}; it can be 'auto', 'builtin' or 'libdarshan'")
    return source


def begin(source: str, library: str | os.PathLike[str] | None, settings: Settings) -> Recording:
    """Begins to record this process.

    Raises:
        RecordingUnavailableError: it cannot be recorded so.
    """
    if source == "builtin" or native().is_active():
        if source == "libdarshan":
            raise RecordingUnavailableError(
                "this process is recorded for the one that started it, with the built-in source"
            )
        return BuiltinRecording(settings)
    if source == "auto":
        return _begin_best(settings)
    return LibdarshanRecording(load(library), settings)


def _begin_best(settings: Settings) -> Recording:
    found, notes = find_loaded(), []
    if found is not None:
        try:
            check(found)
            if found["active"]:
                return LibdarshanRecording(found, settings)
        except RecordingUnavailableError as error:
            notes.append(f"Recorded by the built-in source, although Darshan is there: {error}.")
    recording = BuiltinRecording(settings)
    recording.notes += notes
    return recording


def find_loaded() -> dict[str, Any] | None:
    """The libdarshan that is loaded in this process, if any; see `_native.pyi`."""
    found: dict[str, Any] = native().libdarshan_find(None)
    return found if found["found"] else None


def library_to_load(library: str | os.PathLike[str] | None) -> str:
    """The library that would be loaded: as given, `LIBDARSHAN`, or what the loader finds."""
    return os.fspath(library or os.environ.get(LIBRARY_VARIABLE) or _LOADERS_NAME)


def load(library: str | os.PathLike[str] | None) -> dict[str, Any]:
    """The libdarshan that is loaded, else the one to be loaded; see `_native.pyi`.

    Raises:
        RecordingUnavailableError: there is none, or it cannot be read; says why.
    """
    found = find_loaded()
    if found is None:
        path = library_to_load(library)
        if native().libdarshan_find(None)["mpi_runs"]:
            raise RecordingUnavailableError(
                f"MPI runs in this process already, and Darshan has to be there before it begins: "
                f"preload it (LD_PRELOAD={path}), or take source='builtin'"
            )
        is_set = WITHOUT_MPI_VARIABLE in os.environ
        os.environ.setdefault(WITHOUT_MPI_VARIABLE, "1")  # it begins, and ends, by itself
        found = native().libdarshan_find(path)
        if not is_set and not found.get("has_core"):
            del os.environ[WITHOUT_MPI_VARIABLE]
        if not found["found"]:
            reason = os.fsdecode(found["reason"] or "")
            raise RecordingUnavailableError(
                f"libdarshan cannot be loaded from {path}: {reason}; give its path as library=… or "
                f"in {LIBRARY_VARIABLE}"
            )
    check(found)
    return found


def check(found: dict[str, Any]) -> None:
    """Refuses a library that cannot be read.

    Raises:
        RecordingUnavailableError: says why.
    """
    path = os.fsdecode(found["path"])
    if not found["has_core"]:
        raise RecordingUnavailableError(
            f"{path} is a Darshan before 3.4.0, which does not show where it keeps its counters; "
            "install Darshan 3.4.0 or later, or take source='builtin'"
        )
