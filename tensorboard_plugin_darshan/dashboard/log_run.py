"""Darshan logs as a `Run`: each log is one recording with one window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np

from tensorboard_plugin_darshan import payload, window
from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.log_header import BadLogError
from tensorboard_plugin_darshan.dashboard.log_process import Content
from tensorboard_plugin_darshan.dashboard.run import Recording, Run, build_windows

Array = columns.Array
Meta = Mapping[str, Any]

TIMELINES: Final[Mapping[str, str]] = {
    "DXT": "{modules}: from the traced accesses (DXT), each at its own time.",
    "HEATMAP": "{modules}: bytes from Darshan's heatmap, in bins of its width; calls are spread "
    "evenly between a file's first and last one.",
    "timestamps": "{modules}: only first and last access of each file are known. Its bytes and "
    "calls are spread evenly between the two; really they may have come in bursts.",
}
"""What the timeline of a module rests on, by source."""

_FOR_RECORDS: Final = (
    "{name} is incomplete: Darshan had no room for more records, so that files opened later are "
    "missing from every number. For the next run raise DARSHAN_MODMEM (MiB for records of all "
    "modules), DARSHAN_NAMEMEM (MiB for names), or MAX_RECORDS <n> {name} in the file that "
    "DARSHAN_CONFIG_PATH names."
)
_FOR_TRACES: Final = (
    "{name} is incomplete: Darshan's memory for traces was full, so that later accesses are "
    "missing from the timeline (totals are not affected). For the next run put MAX_RECORDS <n> "
    "{name} (1 KiB each, 4096 or more) into the file that DARSHAN_CONFIG_PATH names; "
    "DARSHAN_MODMEM does not change it."
)
_EMPTY: Final = "This job recorded no file I/O: the log has no module."


@dataclass(frozen=True, eq=False)
class LogRun(Run):
    """One log, or the logs of one job.

    Attributes:
        contents: for each recording what `log_content` says; empty for a log that is unreadable.
    """

    contents: tuple[Content, ...] = ()
    kind: ClassVar[str] = "log"

    @cached_property
    def metas(self) -> tuple[Meta, ...]:
        """For each recording what `log_content` says in words."""
        return tuple(meta for meta, _ in self.contents)

    def sources(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Source of the timeline (one of `TIMELINES`) → those of the modules that rest on it."""
        found: dict[str, list[str]] = {}
        for name in names:
            for source in dict.fromkeys(m["sources"].get(name) for m in self.metas):
                if source is not None and name not in found.get(source, []):
                    found.setdefault(source, []).append(name)
        return found

    def busy_is_known(self, names: Sequence[str]) -> bool:
        """Whether the time in which any access was in flight is exact for all these modules."""
        return bool(self.metas) and all(
            name in meta["busy_known"] or name not in meta["sources"]
            for meta in self.metas
            for name in names
        )

    @property
    def processes(self) -> int:
        """Number of processes of the job."""
        return sum(int(meta["processes"]) for meta in self.metas)

    def ranks(self, place: int, name: str) -> Array:
        """Cells `[n, 4]` of a module of the recording at `place`: row, bin, bytes read, written."""
        empty = np.zeros((0, 4), np.int64)
        return np.asarray(self.contents[place][1].get(f"ranks/{name}", empty))


def log_run(name: str, logs: Mapping[str, Content | BadLogError]) -> LogRun:
    """The run of one log, or of the logs of one job.

    Args:
        name: the run's name.
        logs: name of a log → what was read of it, or why nothing was.
    """
    recordings, contents = [], []
    for log_name, content in logs.items():
        if not isinstance(content, BadLogError):
            try:
                recordings.append(_recording(log_name, content, len(logs) > 1))
                contents.append(content)
                continue
            except (payload.PayloadError, KeyError, TypeError, ValueError) as error:
                content = BadLogError(f"could not be read: {error}")
        recordings.append(_unreadable(log_name, content))
        contents.append(_NOTHING)
    return LogRun(name, tuple(recordings), contents=tuple(contents))


_NOTHING: Final[Content] = (
    {
        "sources": {},
        "busy_known": [],
        "processes": 0,
        "ranks_per_row": 1,
        "rank_seconds": 1.0,
        "shared": [],
        "stripings": [],
        "partial": [],
    },
    {},
)


def _unreadable(name: str, error: BadLogError) -> Recording:
    index = columns.FileIndex()
    return Recording(name, {}, build_windows([], index), index, (f"{name} {error}.",))


def _recording(name: str, content: Content, is_one_of_many: bool) -> Recording:
    meta, arrays = content
    index = columns.FileIndex()
    whole = window.decode(arrays["window"].tobytes())
    job = dict(meta["job"])
    windows = build_windows([whole], index)
    notes = [*partial_notes(meta), *meta["notes"], *_further_notes(meta)]
    begin = float(job["begin"])
    return Recording(
        name,
        job,
        windows,
        index,
        tuple(f"{name}: {note}" if is_one_of_many else note for note in notes),
        wall_times=(begin, max(begin, float(job["end"]))),
    )


def partial_notes(meta: Meta) -> list[str]:
    """A sentence for each module that the log says is incomplete, with what helps."""
    return [
        (_FOR_TRACES if name.startswith("DXT") else _FOR_RECORDS).format(name=name)
        for name in meta["partial"]
    ]


def _further_notes(meta: Meta) -> list[str]:
    notes = []
    if meta["not_shown"]:
        notes.append(f"The log also holds {', '.join(meta['not_shown'])}, which is not shown.")
    if not meta["present"]:
        notes.append(_EMPTY)
    return notes
