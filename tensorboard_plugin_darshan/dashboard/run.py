"""`Run`: what the recordings of one training hold, as columns on one axis of time.

The axis begins with the run's first recording; every time here is seconds on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np

from tensorboard_plugin_darshan import modules
from tensorboard_plugin_darshan.all_files import AllFiles
from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.window import PROCESS_IO, Window

Array = columns.Array
Job = Mapping[str, Any]

_LATEST: Final = 1e11
"""Seconds since 1970: the year 5138."""


def number(job: Job, name: str) -> float | None:
    """A job's value as a finite number, or None when it has none."""
    value = job.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def moment(job: Job, name: str) -> float | None:
    """A job's value as a time in seconds since 1970, or None when it has none or none that a
    clock could have shown.
    """
    value = number(job, name)
    return value if value is not None and 0 <= value < _LATEST else None


def sentences(value: object) -> tuple[str, ...]:
    """The texts in what should be a list of sentences."""
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


@dataclass(frozen=True)
class Windows:
    """The windows of one recording as columns, in the order of time.

    Attributes:
        sequence: `[n] int64`, strictly rising.
        start, end: `[n] float64`, seconds since the recording began.
        epoch, step: `[n] int64`.
        wait: `[n] float64`, seconds that the training waited for input, -1 where not known.
        phase: `[n] object`, names of phases.
        process_io: `[n, len(PROCESS_IO)] int64`.
        processes: `window` and `PROCESS_COLUMNS`, the process that leads the recording first.
        modules: name → columns, in the order they are shown.
        notes: sentences of the windows, each once.
        unknown_modules: modules that this version cannot show.
    """

    sequence: Array
    start: Array
    end: Array
    epoch: Array
    step: Array
    wait: Array
    phase: Array
    process_io: Array
    processes: columns.Table
    modules: Mapping[str, columns.ModuleColumns]
    notes: tuple[str, ...] = ()
    unknown_modules: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.sequence)

    @property
    def nbytes(self) -> int:
        """Memory that the columns take, in bytes."""
        listed = sum(values.nbytes for values in self.processes.values())
        return len(self) * 120 + listed + sum(module.nbytes for module in self.modules.values())


_SCALARS = (
    ("sequence", "sequence", np.int64),
    ("start", "start_seconds", np.float64),
    ("end", "end_seconds", np.float64),
    ("epoch", "epoch", np.int64),
    ("step", "step", np.int64),
    ("wait", "wait_seconds", np.float64),
    ("phase", "phase", object),
)


def build_windows(windows: Sequence[Window], index: columns.FileIndex) -> Windows:
    """Columns of windows that `checks.check_window` accepted, in the order of their sequence."""
    for window in windows:
        index.name(window.names)
    io = [window.process_io for window in windows]
    names = _unique(name for window in windows for name in window.modules)
    return Windows(
        **{
            column: np.array([getattr(window, name) for window in windows], dtype)
            for column, name, dtype in _SCALARS
        },
        process_io=np.array(io, np.int64).reshape(len(windows), len(PROCESS_IO)),
        processes=columns.build_processes(windows),
        modules={
            name: columns.build_module(name, windows, index)
            for name in modules.SHOWN
            if name in names
        },
        notes=_unique(note for window in windows for note in window.notes),
        unknown_modules=tuple(name for name in names if name not in modules.SHOWN),
    )


def concatenate(pieces: Sequence[Windows]) -> Windows:
    """Consecutive pieces of a recording as one; at least one piece."""
    if len(pieces) == 1:
        return pieces[0]
    names = {name for piece in pieces for name in piece.modules}
    return Windows(
        **{
            column: np.concatenate([getattr(piece, column) for piece in pieces])
            for column in (*(name for name, _, _ in _SCALARS), "process_io")
        },
        processes=columns.concatenate_tables(
            [piece.processes for piece in pieces], np.cumsum([0, *map(len, pieces)])
        ),
        modules={
            name: columns.concatenate(
                [(len(piece), piece.modules.get(name)) for piece in pieces], name
            )
            for name in modules.SHOWN
            if name in names
        },
        notes=_unique(note for piece in pieces for note in piece.notes),
        unknown_modules=_unique(name for piece in pieces for name in piece.unknown_modules),
    )


def _unique(values: Any) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


@dataclass(frozen=True, eq=False)
class Recording:
    """One process from attach to detach.

    Attributes:
        name: its TensorBoard run, e.g. `resnet/darshan/rank0`.
        job: the job description; empty when there is none yet.
        windows: what was recorded.
        index: names of the files that `windows` speaks of.
        problems: sentences about data that could not be read.
        unreadable: number of windows among it.
        wall_times: time of the first and of the last event, seconds since 1970.
        all_files: what every file did until some window, if that was written.
    """

    name: str
    job: Job
    windows: Windows
    index: columns.FileIndex
    problems: tuple[str, ...] = ()
    unreadable: int = 0
    wall_times: tuple[float, float] = (0.0, 0.0)
    all_files: AllFiles | None = None

    @cached_property
    def begin(self) -> float | None:
        """When the recording began, seconds since 1970; None when nothing of it could be read."""
        begin = moment(self.job, "begin")
        if begin is None and len(self.windows):
            return self.wall_times[0] - float(self.windows.end[0])
        return begin

    @property
    def finished(self) -> bool:
        """Whether the recording said that it ended."""
        return self.job.get("finished") is True

    @property
    def missing(self) -> int:
        """Number of windows that were written but that TensorBoard did not hand over."""
        if not len(self.windows):
            return 0
        written = int(self.windows.sequence[-1]) + 1
        return max(0, written - len(self.windows) - self.unreadable)

    @cached_property
    def duration(self) -> float:
        """Seconds from its begin to its end, or to the end of its newest window."""
        end = moment(self.job, "end") if self.finished else None
        last = float(self.windows.end.max()) if len(self.windows) else 0.0
        return max(last, end - self.begin if end and self.begin else 0.0)


@dataclass(frozen=True, eq=False)
class Run:
    """All recordings of one training.

    Attributes:
        name: the run's name in the tab.
        recordings: at least one, in the order of their names.
        memo: answers that are worth keeping as long as the run does not grow.
        kind: `recording`, or `log` for Darshan's own.
    """

    kind: ClassVar[str] = "recording"

    name: str
    recordings: tuple[Recording, ...]
    memo: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def begin(self) -> float:
        """When the run began, seconds since 1970."""
        known = [r.begin for r in self.recordings if r.begin is not None]
        return min(known, default=min(r.wall_times[1] for r in self.recordings))

    @cached_property
    def duration(self) -> float:
        """Seconds from the begin of the first recording to the end of the last."""
        return max(self.offset(r) + r.duration for r in self.recordings)

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """Names of the modules that any recording has records of, in the order they are shown."""
        found = {
            name
            for recording in self.recordings
            for name, module in recording.windows.modules.items()
            if module.files_total.any() or module.counters.any() or module.bin_sums.any()
        }
        return tuple(name for name in modules.SHOWN if name in found)

    @property
    def nbytes(self) -> int:
        """Memory that the run takes, in bytes."""
        names = sum(150 * len(recording.index.paths) for recording in self.recordings)
        tables = [r.all_files.modules.values() for r in self.recordings if r.all_files is not None]
        names += sum(250 * len(part.paths) for parts in tables for part in parts)
        return names + sum(recording.windows.nbytes for recording in self.recordings)

    def offset(self, recording: Recording) -> float:
        """Seconds on the run's axis at which the recording began."""
        return 0.0 if recording.begin is None else recording.begin - self.begin

    def is_live(self, now: float) -> bool:
        """Whether a recording is still going, as far as the age of its newest event says."""
        return any(is_live(r.job, r.wall_times[1], now) for r in self.recordings)


def is_live(job: Job, newest: float, now: float) -> bool:
    """Whether a recording has not ended and gave an event within the last minute, or within the
    last 12 of its flush intervals. All in seconds since 1970.
    """
    patience = max(60.0, 12 * (number(job, "flush_seconds") or 0.0))
    return job.get("finished") is not True and now - newest <= patience
