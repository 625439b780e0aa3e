"""`RecordingState`: one recording's tags, read piece by piece while it grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tensorboard_plugin_darshan import metadata, payload, summary
from tensorboard_plugin_darshan.all_files import AllFiles
from tensorboard_plugin_darshan.dashboard import checks, columns
from tensorboard_plugin_darshan.dashboard.run import (
    Job,
    Recording,
    Windows,
    build_windows,
    concatenate,
)
from tensorboard_plugin_darshan.window import Window

_TAGS_PER_READ: Final = 16
"""Tags of up to 4 MiB read at once: far from the 256 MiB that the data server may answer."""

_WINDOWS_PER_PIECE: Final = 256
"""Decoded windows held before they become columns, which take a fraction of the memory."""

Read = Callable[[str, list[str]], Mapping[str, Sequence[Any]]]
Stamp = tuple[int, float]


def listed(series: Any) -> Any:
    """What tells whether a tag has something new; None for a tag that is not there."""
    return None if series is None else (series.max_step, series.max_wall_time)


def newest(tags: Mapping[str, Any]) -> float:
    """Time of the newest event of a recording, seconds since 1970."""
    return max((series.max_wall_time or 0.0 for series in tags.values()), default=0.0)


def window_tags(tags: Mapping[str, Any]) -> list[str]:
    """The window tags among `tags`, in the order in which they were written."""
    return numbered_tags(tags, metadata.WINDOW_TAG_PREFIX)


def numbered_tags(tags: Mapping[str, Any], prefix: str) -> list[str]:
    """Those of `tags` that are the prefix and a number, by number."""
    found = [tag for tag in tags if tag.startswith(prefix) and tag[len(prefix) :].isdecimal()]
    return sorted(found, key=lambda tag: int(tag[len(prefix) :]))


class _OutOfOrderError(Exception):
    """What was read does not continue what is known; all must be read again."""


@dataclass
class _Known:
    """What was read of a recording so far. `from_scratch` while everything is read in one go:
    what then still repeats a window, as copied event files do, is left out.
    """

    from_scratch: bool = True
    last_sequence: int = -1
    listed: dict[str, Any] = field(default_factory=dict)
    stamps: dict[str, list[Stamp]] = field(default_factory=dict)
    windows: Windows | None = None
    index: columns.FileIndex = field(default_factory=columns.FileIndex)
    problems: dict[str, None] = field(default_factory=dict)
    unreadable: int = 0
    damaged: int = 0
    first_wall_time: float = 0.0
    all_files: AllFiles | None = None
    files_listed: Any = None


class RecordingState:
    """A recording and what is needed to follow it.

    Attributes:
        recording: what was read last.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._known = _Known()
        self.recording = Recording(
            name, {}, build_windows([], self._known.index), self._known.index
        )

    def refresh(
        self, tags: Mapping[str, Any], job: Job, job_problem: str | None, read: Read
    ) -> bool:
        """Reads what is new; whether anything is.

        Args:
            tags: what the provider lists for the recording.
            job: its job description.
            job_problem: why that could not be read.
            read: gives the data of some of its tags.
        """
        wanted = window_tags(tags)
        stale = [tag for tag in wanted if listed(tags[tag]) != self._known.listed.get(tag)]
        gone = self._known.listed.keys() - set(wanted)
        last = newest(tags)
        if not stale and not gone and job is self.recording.job and last == self.last_wall_time:
            return False
        if gone:
            self._known, stale = _Known(), wanted
        try:
            _read_tags(self._known, self._name, tags, stale, read)
        except _OutOfOrderError:
            self._known = _Known()
            _read_tags(self._known, self._name, tags, wanted, read)
        known = self._known
        _read_files(known, self._name, tags, read)
        known.from_scratch = False
        damage = [_damage(self._name, known.damaged)] if known.damaged else []
        problems = dict.fromkeys(
            [*([job_problem] if job_problem else []), *damage, *known.problems]
        )
        self.recording = Recording(
            self._name,
            job,
            known.windows or build_windows([], known.index),
            known.index,
            tuple(problems),
            known.unreadable,
            (known.first_wall_time, last),
            known.all_files,
        )
        return True

    @property
    def last_wall_time(self) -> float:
        """Time of the newest event that was listed, seconds since 1970."""
        return self.recording.wall_times[1]


def _damage(name: str, n: int) -> str:
    windows = "1 window" if n == 1 else f"{n} windows"
    return (
        f"{windows} of the recording {name} could not be read, because the event file is damaged: "
        "what happened in that time is missing from all numbers. If the files were copied, copy "
        "them again."
    )


def _read_tags(
    known: _Known, name: str, tags: Mapping[str, Any], stale: list[str], read: Read
) -> None:
    pieces = [known.windows] if known.windows is not None else []
    for first in range(0, len(stale), _TAGS_PER_READ):
        batch = stale[first : first + _TAGS_PER_READ]
        answer = read(name, batch)
        for tag in batch:
            data = _news(known, tag, answer.get(tag, ()))
            for start in range(0, len(data), _WINDOWS_PER_PIECE):
                windows = _decode(known, name, data[start : start + _WINDOWS_PER_PIECE])
                if windows:
                    pieces.append(build_windows(windows, known.index))
            known.listed[tag] = listed(tags[tag])
    if pieces:
        known.windows = concatenate(pieces)


def _read_files(known: _Known, name: str, tags: Mapping[str, Any], read: Read) -> None:
    """Reads the newest table of all files, if it is a new one."""
    newest_tag = next(reversed(numbered_tags(tags, metadata.FILES_TAG_PREFIX)), None)
    stamp = newest_tag and (newest_tag, listed(tags[newest_tag]))
    if newest_tag is None or stamp == known.files_listed:
        return
    known.files_listed = stamp
    for datum in read(name, [newest_tag]).get(newest_tag, ()):
        try:
            known.all_files = summary.parse_files(datum.numpy)
        except payload.NewerVersionError as error:
            known.problems[f"{name}: {error}"] = None
        except payload.PayloadError:
            known.problems[
                f"The list of all files of the recording {name} could not be read, because the "
                "event file is damaged: the table of files lists only the busiest ones of each "
                "window. If the files were copied, copy them again."
            ] = None


def _news(known: _Known, tag: str, data: Sequence[Any]) -> Sequence[Any]:
    """What `data` holds beyond what is known of the tag."""
    stamps = [(datum.step, datum.wall_time) for datum in data]
    old = known.stamps.get(tag, [])
    if stamps[: len(old)] != old:
        raise _OutOfOrderError(tag)
    known.stamps[tag] = stamps
    return data[len(old) :]


def _decode(known: _Known, name: str, data: Sequence[Any]) -> list[Window]:
    windows = []
    for datum in data:
        window = _parse(datum)
        if isinstance(window, payload.PayloadError):
            if isinstance(window, payload.NewerVersionError):
                known.problems[f"{name}: {window}"] = None
            else:
                known.damaged += 1
            known.unreadable += 1
            continue
        if window.sequence <= known.last_sequence:
            if not known.from_scratch:
                raise _OutOfOrderError(window.sequence)
            continue
        known.last_sequence = window.sequence
        known.first_wall_time = known.first_wall_time or datum.wall_time
        windows.append(window)
    return windows


def _parse(datum: Any) -> Window | payload.PayloadError:
    try:
        window = summary.parse_window(datum.numpy)
        checks.check_window(window)
    except payload.PayloadError as error:
        return error
    return window
