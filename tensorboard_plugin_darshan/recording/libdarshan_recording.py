"""The libdarshan source: a real Darshan in this process, read while it records."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from typing import Any, Final

from tensorboard_plugin_darshan.recording.builtin import Settings
from tensorboard_plugin_darshan.recording.darshan_memory import DarshanLog, UnknownDarshanError
from tensorboard_plugin_darshan.recording.libdarshan import LibdarshanReader
from tensorboard_plugin_darshan.recording.libdarshan_children import LibdarshanChildren
from tensorboard_plugin_darshan.recording.libdarshan_memory import LiveMemory
from tensorboard_plugin_darshan.recording.native import RecordingUnavailableError, native
from tensorboard_plugin_darshan.recording.reader import MODULES
from tensorboard_plugin_darshan.recording.records import Snapshot

WITHOUT_MPI_VARIABLE: Final = "DARSHAN_ENABLE_NONMPI"
_DISABLE_VARIABLE: Final = "DARSHAN_DISABLE"
_NAME_BYTES: Final = 8 + 4096
_ODD_CLOCK_SECONDS: Final = 1e8
_VERSION: Final = re.compile(rb"lib_ver=([^\n\0]*)")


class LibdarshanRecording:
    """The recording of this process by a libdarshan that was found, shared by all handles.

    Args:
        found: what was found, see `sources.find`.
        settings: how to record.

    Attributes:
        source, begin, own, children, traces: as those of `builtin.BuiltinRecording`.

    Raises:
        RecordingUnavailableError: it does not record, or cannot be read; says why.
    """

    source: Final = "libdarshan"

    def __init__(self, found: dict[str, Any], settings: Settings) -> None:
        self._found = found
        self._settings = settings
        began_before = bool(found["active"])
        if not began_before:
            found = _begin(found)
        self._zero: float = found["time_zero"]
        now = time.time()
        if abs(now - self._zero) > _ODD_CLOCK_SECONDS:
            raise RecordingUnavailableError(
                "this Darshan was built with a clock of its own (rdtscp) that cannot be followed"
            )
        self.begin: float = now if began_before else self._zero
        try:
            self._memory = LiveMemory()
            log = DarshanLog(self._memory)
        except UnknownDarshanError as error:
            raise RecordingUnavailableError(f"libdarshan cannot be read: {error}") from error
        self._version = _library_version(self._memory, log)
        self.own = LibdarshanReader(
            log,
            os.getpid(),
            library_seconds=self.begin - self._zero,
            began_before=began_before,
        )
        self.own.notes = self._notes
        self.children = LibdarshanChildren(self._memory.is_mapped and settings.children)
        self._watched = native().libdarshan_watch(self._zero, self.begin, settings.max_segments)
        if not self._found["was_loaded"]:
            native().libdarshan_redirect()
        self.traces = settings.max_segments > 0

    def agrees(self, settings: Settings) -> bool:
        """Whether it records as is asked for: what it records is its own configuration's matter."""
        return True

    def stop(self) -> None:
        """Ends the recording; Darshan goes on where it was loaded before, and else rests until it
        writes its log.
        """
        self.children.close()
        native().libdarshan_unwatch()
        native().libdarshan_put_back()

    def seconds(self) -> float:
        """Now, in seconds since the recording began."""
        return float(native().libdarshan_now())

    def claim(self) -> None:
        """Darshan's records are each process's own."""

    def snapshot(self) -> Snapshot:
        """A copy of Darshan's records as they are, times since Darshan began."""
        seconds = self.seconds() + self.begin - self._zero
        self.own.log.refresh()
        modules = (*MODULES, *(name for name in self.own.log.modules if name not in MODULES))
        arrays = {module: self.own.arrays(module) for module in modules}
        return Snapshot(seconds, arrays)

    def facts(self) -> dict[str, Any]:
        """How is recorded: plain values for the job description."""
        if not self._found["was_loaded"]:
            redirected = native().libdarshan_redirect_new()
        else:
            redirected = {"objects": 0, "slots": 0, "skipped": 0}
        header = self.own.log.header
        return {
            "source": self.source,
            "source_version": self._version,
            "library": os.fsdecode(self._found["path"]),
            "how": "loaded before" if self._found["was_loaded"] else "loaded by this package",
            "log_format": header.log_format,
            "mapped_log": self._memory.is_mapped,
            "modules": dict(header.versions),
            "partial_modules": sorted(header.partial),
            "events": list(self._watched),
            "limits": self._limits(),
            "library_begin": self._zero,
            "extended": False,
            "exclusions": [],
            "inclusions": [],
            "objects": redirected["objects"],
            "slots": redirected["slots"],
            "skipped_slots": redirected["skipped"],
            "skips": [],
            "refused_files": 0,
            "mapped_files": 0,
            "rings": 0,
            "segments_dropped": native().libdarshan_event_facts()["segments_dropped"],
            "memory_bytes": 0,
            "notes": list(self._lasting_notes()),
        }

    def _limits(self) -> dict[str, int]:
        """Records in use of each module, and bytes for names where that is known."""
        header = self.own.log.header
        limits = {}
        for name in self.own.log.modules:
            layout, region = self.own.log.layout(name), header.regions.get(name)
            if layout is not None and region is not None:
                limits[f"{name} records"] = region.used // layout.size
        if self._memory.names_room:
            limits["name bytes"] = header.names.used
            limits["name bytes at most"] = self._memory.names_room
        return limits

    def _lasting_notes(self) -> Sequence[str]:
        library = os.fsdecode(self._found["path"])
        notes = [f"Recorded by Darshan {self._version} ({library})."]
        if not self._found["was_loaded"]:
            notes.append(
                "Darshan was loaded for this recording and writes its log when the process ends, "
                "where its configuration says (DARSHAN_LOGPATH, DARSHAN_LOGFILE)."
            )
        notes.append(
            "Times and sizes of single accesses are Darshan's; when metadata calls happened, and "
            "memory maps, it does not tell, so they are not in the timeline."
        )
        if self._settings.exclude is not None:
            notes.append(
                "exclude has no effect on Darshan; NAME_EXCLUDE in the file that "
                "DARSHAN_CONFIG_PATH names has."
            )
        return notes

    def _notes(self) -> tuple[str, ...]:
        """Sentences on what could not be seen so far."""
        log = self.own.log
        notes = [
            partial_note(name, self._is_full_of_names()) for name in sorted(log.header.partial)
        ]
        if log.ended:
            notes.append("Darshan has stopped recording in this process; what follows is not seen.")
        for module in log.unreadable():
            notes.append(f"Darshan also records {module}, which cannot be read while it runs.")
        if self.children.missed:
            notes.append(
                f"{self.children.missed} forked processes could not be read; their own Darshan "
                "logs tell what they did."
            )
        return tuple(notes)

    def _is_full_of_names(self) -> bool:
        room = self._memory.names_room
        return bool(room) and self.own.log.header.names.used + _NAME_BYTES > room


def partial_note(module: str, is_full_of_names: bool) -> str:
    """What to do about a module that ran out of room."""
    if module == "HEATMAP":
        return "Darshan ran out of room for its own heat map, which is not needed here."
    setting = (
        "DARSHAN_NAMEMEM (MiB for names)"
        if is_full_of_names
        else f"'MAX_RECORDS <number> {module}' in the file that DARSHAN_CONFIG_PATH names, and "
        "DARSHAN_MODMEM (MiB for all records) so that they fit"
    )
    if module.startswith("DXT"):
        setting = f"'MAX_RECORDS <number> {module}' in the file that DARSHAN_CONFIG_PATH names"
    return (
        f"Incomplete: Darshan ran out of room for {module}, so files that came later are missing "
        f"and totals are lower bounds. To raise it, set {setting}."
    )


def _begin(found: dict[str, Any]) -> dict[str, Any]:
    """Has a library that is loaded begin to record."""
    if _DISABLE_VARIABLE in os.environ:
        raise RecordingUnavailableError(
            f"Darshan is switched off by {_DISABLE_VARIABLE}; unset it, or take source='builtin'"
        )
    os.environ.setdefault(WITHOUT_MPI_VARIABLE, "1")  # else it would write no log at the end
    native().libdarshan_begin()
    again: dict[str, Any] = native().libdarshan_find(None)
    if not again["active"]:
        raise RecordingUnavailableError(
            "Darshan does not record this process; its message on stderr may say why (for example "
            "DARSHAN_APP_EXCLUDE, or a directory DARSHAN_MMAP_LOGPATH that cannot be written)"
        )
    return again


def _library_version(memory: LiveMemory, log: DarshanLog) -> str:
    """The library's version as it writes it into its log; only for showing."""
    layout = log.header.layout
    job = memory.job(layout.job_size)
    match = _VERSION.search(bytes(job or b""))
    return match[1].decode("ascii", "replace") if match else "of unknown version"
