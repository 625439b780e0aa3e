"""`Options`: how to record, checked."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Source = Literal["auto", "builtin", "libdarshan"]
UpdateFrequency = Literal["epoch", "batch"] | int
Trace = bool | tuple[int, int]

DEFAULT_MAX_SEGMENTS: Final = 2_000_000
DEFAULT_MAX_FILES: Final = 200_000
SOURCES: Final = ("auto", "builtin", "libdarshan")


@dataclass(frozen=True)
class Options:
    """The keyword arguments of `DarshanMonitor` and `DarshanCallback`; see there.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: it has a value that makes no sense, or that this version cannot fulfil.
    """

    source: Source
    update_freq: UpdateFrequency
    flush_secs: float
    trace: Trace
    max_segments: int
    max_files: int
    children: bool
    extended: bool
    exclude: tuple[str, ...] | None
    anonymize: bool

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise ValueError(f"source must be one of {', '.join(SOURCES)}, not {self.source!r}")
        for name in ("children", "extended", "anonymize"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} must be True or False, not {getattr(self, name)!r}")
        _check_whole_number("max_segments", self.max_segments, 0)
        _check_whole_number("max_files", self.max_files, 1)
        _check_seconds(self.flush_secs)
        _check_update_frequency(self.update_freq)
        _check_trace(self.trace)
        if self.anonymize:
            raise ValueError(
                "anonymize=True is not available in this version, so paths would be stored "
                "readable; leave it out if that is all right"
            )

    def steps_per_window(self) -> int:
        """After how many steps a window is cut at the latest; 0 when steps do not matter."""
        if self.update_freq == "epoch":
            return 0
        return 1 if self.update_freq == "batch" else self.update_freq

    def segments_to_wait(self, most: int) -> int:
        """How many traced accesses may wait for the next window, twice as `most` when those of
        some steps are asked for; 0 to trace none.
        """
        if self.trace is False:
            return 0
        return min(self.max_segments, most if self.trace is True else 2 * most)

    def as_json(self) -> dict[str, Any]:
        """The settings for a job description."""
        trace = list(self.trace) if isinstance(self.trace, tuple) else self.trace
        return {
            "source": self.source,
            "update_freq": self.update_freq,
            "flush_secs": self.flush_secs,
            "trace": trace,
            "max_segments": self.max_segments,
            "max_files": self.max_files,
            "children": self.children,
            "extended": self.extended,
            "exclude": None if self.exclude is None else list(self.exclude),
            "anonymize": self.anonymize,
        }


def checked_exclude(exclude: Sequence[str | os.PathLike[str]] | None) -> tuple[str, ...] | None:
    """Paths to leave out, as text.

    Raises:
        TypeError: it is no sequence of paths.
    """
    if exclude is None:
        return None
    if isinstance(exclude, (str, bytes, os.PathLike)):
        raise TypeError(f"exclude must be a list of paths; write exclude=[{exclude!r}]")
    paths = tuple(os.fspath(path) for path in exclude)
    if not all(isinstance(path, str) for path in paths):
        raise TypeError(f"exclude must hold texts or paths, not {exclude!r}")
    return paths


def checked_log_dir(log_dir: str | os.PathLike[str]) -> str:
    """The log directory as text.

    Raises:
        TypeError: it is not a path.
        ValueError: it is empty.
    """
    text = os.fspath(log_dir) if isinstance(log_dir, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise TypeError(f"log_dir must be a path, not {log_dir!r}")
    if not text:
        raise ValueError("log_dir must not be empty; give a directory")
    return os.path.expanduser(text)


def _check_whole_number(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < least:
        raise ValueError(f"{name} must be {least} or more, not {value}")


def _check_seconds(flush_secs: Any) -> None:
    if isinstance(flush_secs, bool) or not isinstance(flush_secs, (int, float)):
        raise TypeError(f"flush_secs must be a number of seconds, not {flush_secs!r}")
    if not (math.isfinite(flush_secs) and flush_secs > 0):
        raise ValueError(f"flush_secs must be a positive number of seconds, not {flush_secs}")


def _check_update_frequency(update_freq: Any) -> None:
    if update_freq in ("epoch", "batch"):
        return
    if isinstance(update_freq, bool) or not isinstance(update_freq, int):
        raise ValueError(
            f'update_freq must be "epoch", "batch" or a number of steps, not {update_freq!r}'
        )
    _check_whole_number("update_freq", update_freq, 1)


def _check_trace(trace: Any) -> None:
    if isinstance(trace, bool):
        return
    if not isinstance(trace, tuple) or len(trace) != 2:
        raise TypeError(f"trace must be True, False or (first_step, last_step), not {trace!r}")
    for step in trace:
        _check_whole_number("each step of trace", step, 0)
    if trace[0] > trace[1]:
        raise ValueError(f"trace must be (first_step, last_step) in this order, not {trace!r}")
