"""The built-in source: the package's own recorder, which redirects the process's calls."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.recording import exclusions
from tensorboard_plugin_darshan.recording.children import Children
from tensorboard_plugin_darshan.recording.native import RecordingUnavailableError, native
from tensorboard_plugin_darshan.recording.reader import MODULES, ProcessReader
from tensorboard_plugin_darshan.recording.records import ModuleArrays, Snapshot
from tensorboard_plugin_darshan.recording.session import (
    ARENA_CEILING,
    JOIN_VARIABLE,
    Session,
    new_session_name,
)
from tensorboard_plugin_darshan.window import Int64Array

FILES_CEILING: Final = 16_000_000


@dataclasses.dataclass(frozen=True)
class Settings:
    """How to record; see `recorder.attach`."""

    extended: bool = True
    exclude: Sequence[str] | None = None
    max_segments: int = 0
    max_files: int = FILES_CEILING
    children: bool = True


def _choose_exclusions(settings: Settings) -> exclusions.Exclusions:
    darshan = exclusions.Exclusions(
        tuple(map(os.fsdecode, native().DARSHAN_EXCLUDED)),
        tuple(map(os.fsdecode, native().DARSHAN_INCLUDED)),
    )
    return exclusions.choose(settings.extended, settings.exclude, darshan)


class BuiltinRecording:
    """The recording of this process, shared by all handles.

    Attributes:
        source: its name.
        begin: seconds since the epoch.
        own: this process's records.
        children: those of other processes.
        traces: whether single accesses are kept.
        notes: sentences for the job description.

    Raises:
        RecordingUnavailableError: this process cannot be recorded.
    """

    source: Final = "builtin"

    def __init__(self, settings: Settings) -> None:
        self._extended = settings.extended
        self.traces = settings.max_segments > 0
        self._exclusions = _choose_exclusions(settings)
        self.notes: list[str] = []
        self.own = ProcessReader()
        self._names: dict[str, list[str]] = {module: [] for module in MODULES}
        self._names_lock = threading.Lock()
        self._is_joined = native().is_active()
        """It was begun as a child's of another process's session."""
        if not self._is_joined:
            self._start(settings)
        status = native().status()
        self.begin: float = status["begin"]
        self.children = Children(status["arena"])
        if settings.children and not self._is_joined:
            self._invite(status, settings)

    def _start(self, settings: Settings) -> None:
        try:
            native().start(
                None,
                ARENA_CEILING,
                settings.max_files,
                settings.max_segments,
                self._extended,
                [os.fsencode(path) for path in self._exclusions.excluded],
                [os.fsencode(path) for path in self._exclusions.included],
                new_session_name(),
                True,
                settings.children,
                0,
                0.0,
            )
        except OSError as error:
            raise RecordingUnavailableError(
                f"no room for the recorder's memory in /dev/shm or $TMPDIR ({error}); "
                "free some space there, or point TMPDIR at a local disk"
            ) from error

    def _invite(self, status: dict[str, Any], settings: Settings) -> None:
        Session(
            status["session"],
            os.path.dirname(status["arena"]),
            status["begin_monotonic"],
            status["begin"],
            self._extended,
            *self._exclusions,
            settings.max_files,
            settings.max_segments,
        ).to_environment()

    def agrees(self, settings: Settings) -> bool:
        """Whether it records as is asked for."""
        return self._extended == settings.extended and (
            settings.exclude is None or _choose_exclusions(settings) == self._exclusions
        )

    def stop(self) -> None:
        """Ends the recording; a joined one goes on for its session."""
        self.children.close()
        if not self._is_joined:
            os.environ.pop(JOIN_VARIABLE, None)
            native().stop()

    def seconds(self) -> float:
        """Now, in seconds since the recording began."""
        return float(native().now())

    def claim(self) -> None:
        """Says that this process writes its own recording."""
        native().claim()

    def facts(self) -> dict[str, Any]:
        """How is recorded: plain values for the job description."""
        redirected, status = native().redirected(), native().status()
        process = self.own.facts()
        return {
            "source": self.source,
            "source_version": None,
            "extended": self._extended,
            "exclusions": list(self._exclusions.excluded),
            "inclusions": list(self._exclusions.included),
            "objects": redirected["objects"],
            "slots": redirected["slots"],
            "skipped_slots": redirected["skipped"],
            "skips": [[os.fsdecode(text) for text in skip] for skip in redirected["skips"]],
            "refused_files": process.refused_files,
            "mapped_files": process.mapped_files,
            "rings": process.rings,
            "segments_dropped": status["segments_dropped"],
            "memory_bytes": status["arena_bytes"],
            "notes": list(self.notes),
        }

    def snapshot(self) -> Snapshot:
        """A copy of all records of this process."""
        seconds = self.seconds()
        arrays: dict[str, ModuleArrays] = {}
        for module in MODULES:
            copied = self.own.arrays(module)
            n = int(copied.places.max(initial=-1)) + 1
            arrays[module] = dataclasses.replace(copied, find_names=self._keep_names(module, n))
        return Snapshot(seconds, arrays)

    def _keep_names(self, module: str, n: int) -> Callable[[Int64Array], Sequence[str]]:
        """A way to find names of the first `n` records also after the recording has ended."""
        with self._names_lock:
            kept = self._names[module]
            kept.extend(self.own.names(module, np.arange(len(kept), n)))
        return lambda places: list(map(kept.__getitem__, places.tolist()))
