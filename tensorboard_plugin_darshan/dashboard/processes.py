"""Who took part in a run: each process, what it did, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.rank_lanes import lane_names
from tensorboard_plugin_darshan.dashboard.run import Recording, is_live
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.window import PROCESS_STATES

Array = columns.Array

MAX_LISTED: Final = 200
"""Processes that a window lists at most, as the recorder keeps to."""

_RUNNING: Final = PROCESS_STATES.index("running")
_SUMS: Final = ("bytes_read", "bytes_written", "calls", "call_nanoseconds")
UNSEEN_END: Final = "end not seen"
"""State of a process that ran when its recording was last heard of, and does no more."""


@dataclass(frozen=True)
class Process:
    """One process of a run.

    Attributes:
        place: of its recording among the run's.
        rank: name of its rank, as `rank_lanes.lane_names` gives it.
        hostname: where it ran, if known.
        pid, parent: process ids; 0 where not known.
        is_main: it led the recording; otherwise it is a worker, or any other child.
        state: one of `PROCESS_STATES`, or `UNSEEN_END`.
        start, end: of the first and last window that lists it, seconds on the run's axis.
        bytes_read, bytes_written, calls, call_seconds: over all modules of these windows.
        rows: `[n] int64` its rows of the recording's `processes`.
    """

    place: int
    rank: str
    hostname: str | None
    pid: int
    parent: int
    is_main: bool
    state: str
    start: float
    end: float
    bytes_read: int
    bytes_written: int
    calls: int
    call_seconds: float
    rows: Array

    @property
    def ended_badly(self) -> bool:
        """Whether it was killed, crashed, or failed."""
        return self.state == PROCESS_STATES[-1]


def processes(selection: Selection, now: float) -> list[Process]:
    """All processes of the stretch, busiest first; `now` in seconds since 1970.

    Recordings that do not tell (of older versions, and Darshan's logs) have none.
    """
    names = lane_names(selection.run)
    found: list[Process] = []
    for place, (recording, mask) in enumerate(
        zip(selection.run.recordings, selection.masks, strict=True)
    ):
        offset = selection.run.offset(recording)
        found += _of_recording(recording, mask, place, names[place], offset, now)
    return sorted(found, key=lambda process: (-process.call_seconds, process.start, process.pid))


def _of_recording(
    recording: Recording, mask: Array, place: int, rank: str, offset: float, now: float
) -> list[Process]:
    table = recording.windows.processes
    owners = generations(table)
    shown = np.flatnonzero(mask[table["window"]]) if len(owners) else np.zeros(0, np.int64)
    if not shown.size:
        return []
    order = shown[np.lexsort((table["window"][shown], owners[shown]))]
    groups = np.split(order, np.flatnonzero(np.diff(owners[order])) + 1)
    main = int(table["pid"][0])
    hostname = recording.job.get("hostname")
    windows = recording.windows
    result = []
    for rows in groups:
        sums = {name: int(table[name][rows].sum(dtype=np.int64)) for name in _SUMS}
        pid, is_main = int(table["pid"][rows[0]]), int(table["pid"][rows[0]]) == main
        result.append(
            Process(
                place=place,
                rank=rank,
                hostname=hostname if isinstance(hostname, str) else None,
                pid=pid,
                parent=int(table["parent"][rows[0]]),
                is_main=is_main,
                state=_state(recording, int(table["state"][rows[-1]]), is_main, now),
                start=float(windows.start[table["window"][rows[0]]] + offset),
                end=float(windows.end[table["window"][rows[-1]]] + offset),
                bytes_read=sums["bytes_read"],
                bytes_written=sums["bytes_written"],
                calls=sums["calls"],
                call_seconds=sums["call_nanoseconds"] / 1e9,
                rows=rows,
            )
        )
    return result


def generations(table: columns.Table) -> Array:
    """Number `[n] int64` of the process that each row is about. A process id that comes again
    after its process ended is another process.
    """
    pid, state = table["pid"], table["state"]
    order = np.lexsort((table["window"], pid))
    is_new = np.ones(len(pid), np.bool_)
    is_new[1:] = (pid[order][1:] != pid[order][:-1]) | (state[order][:-1] != _RUNNING)
    numbers = np.zeros(len(pid), np.int64)
    numbers[order] = np.cumsum(is_new) - 1
    return numbers


def _state(recording: Recording, state: int, is_main: bool, now: float) -> str:
    """How a process ended, with what its recording as a whole tells."""
    if state != _RUNNING or is_live(recording.job, recording.wall_times[1], now):
        return PROCESS_STATES[state]
    if not recording.finished:
        return PROCESS_STATES[-1] if is_main else UNSEEN_END
    return PROCESS_STATES[1] if is_main else UNSEEN_END


def is_shortened(selection: Selection) -> bool:
    """Whether a window of the stretch had more processes than it lists."""
    for recording, mask in zip(selection.run.recordings, selection.masks, strict=True):
        window = recording.windows.processes["window"]
        counts = np.bincount(window, minlength=len(mask))
        if (counts[mask] >= MAX_LISTED).any():
            return True
    return False
