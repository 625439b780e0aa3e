"""When a run was in which phase, and what it did there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import analysis, columns
from tensorboard_plugin_darshan.dashboard.rank_lanes import lanes
from tensorboard_plugin_darshan.dashboard.run import Recording, Run, Windows
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.modules import QUANTITIES
from tensorboard_plugin_darshan.window import BIN_COLUMNS, PROCESS_IO

Array = columns.Array

_METADATA: Final = BIN_COLUMNS.index("metadata_calls")
_SAME_SECONDS: Final = 1e-3


@dataclass(frozen=True)
class Stretch:
    """Consecutive windows of equal phase and epoch; seconds on the run's axis."""

    phase: str
    epoch: int
    start: float
    end: float


@dataclass
class Phase:
    """All that a run did in one phase of one epoch (-1: outside epochs), each time it did it.

    Attributes:
        recording: which of the recordings that follow each other, from 0.
        repeat: how often that recording had been in this phase and epoch before, as another
            training in it was.
        start, end: seconds on the run's axis.
        duration_seconds: the longest among the ranks.
        recorded_seconds: the sum of recordings.
        sums: bytes and calls.
    """

    phase: str
    epoch: int
    recording: int
    repeat: int
    start: float
    end: float
    duration_seconds: float = 0.0
    recorded_seconds: float = 0.0
    sums: dict[str, float] = field(default_factory=dict)


def stretches(selection: Selection) -> list[Stretch]:
    """Stretches of the windows that count, in order of time; what several recordings did at the
    same time in the same phase and epoch is one. Outside all phases there are none.
    """
    found = sorted(
        (
            stretch
            for recording, mask in zip(selection.run.recordings, selection.masks, strict=True)
            for stretch, _ in _stretches(selection.run, recording, mask)
            if stretch.phase
        ),
        key=lambda stretch: (stretch.start, stretch.end),
    )
    merged: list[Stretch] = []
    latest: dict[tuple[str, int], int] = {}
    for stretch in found:
        key = (stretch.phase, stretch.epoch)
        place = latest.get(key)
        if place is not None and stretch.start < merged[place].end:
            known = merged[place]
            end = max(known.end, stretch.end)
            merged[place] = Stretch(known.phase, known.epoch, known.start, end)
        else:
            latest[key] = len(merged)
            merged.append(stretch)
    return merged


def _stretches(run: Run, recording: Recording, mask: Array) -> Iterator[tuple[Stretch, Array]]:
    """Stretches of one recording, each with the places of its windows."""
    windows, offset = recording.windows, run.offset(recording)
    places = np.flatnonzero(mask)
    if not places.size:
        return
    phase, epoch = windows.phase[places], windows.epoch[places]
    changes = np.flatnonzero((phase[1:] != phase[:-1]) | (epoch[1:] != epoch[:-1])) + 1
    for group in np.split(places, changes):
        yield (
            Stretch(
                str(windows.phase[group[0]]),
                int(windows.epoch[group[0]]),
                float(windows.start[group[0]] + offset),
                float(windows.end[group[-1]] + offset),
            ),
            group,
        )


def phases(selection: Selection) -> list[Phase]:
    """One row for each phase of each epoch, in order of time; recordings that follow each other,
    and trainings that follow each other in one, have rows of their own.
    """
    rows: dict[tuple[str, int, int, int], Phase] = {}
    orders = {
        place: order for _, places in lanes(selection.run) for order, place in enumerate(places)
    }
    for place, (recording, mask) in enumerate(
        zip(selection.run.recordings, selection.masks, strict=True)
    ):
        sums = _window_sums(selection, recording, mask)
        groups = list(_stretches(selection.run, recording, mask))
        starts = np.cumsum([0, *(len(places) for _, places in groups)])[:-1]
        added = {
            name: np.add.reduceat(values[mask], starts).tolist() if groups else []
            for name, values in sums.items()
        }
        repeats = _repeats(recording.windows)
        lengths: dict[tuple[str, int, int, int], float] = {}
        for i, (stretch, places) in enumerate(groups):
            key = (stretch.phase, stretch.epoch, orders[place], int(repeats[places[0]]))
            row = rows.setdefault(key, Phase(*key, stretch.start, stretch.end))
            row.start, row.end = min(row.start, stretch.start), max(row.end, stretch.end)
            row.recorded_seconds += (length := stretch.end - stretch.start)
            lengths[key] = lengths.get(key, 0.0) + length
            row.duration_seconds = max(row.duration_seconds, lengths[key])
            for name, values in added.items():
                row.sums[name] = row.sums.get(name, 0) + values[i]
    return sorted(rows.values(), key=lambda row: (row.start, row.end))


def _repeats(windows: Windows) -> Array:
    """How often each window's phase and epoch had ended before `[n_windows]`: other phases of the
    epoch do not end it, but another epoch does, and time outside phases.
    """
    repeats = np.zeros(len(windows), np.int64)
    course, present = 0, -1
    known: dict[tuple[str, int], tuple[int, int]] = {}
    for i, (phase, epoch) in enumerate(zip(windows.phase, windows.epoch.tolist(), strict=True)):
        if not phase or (epoch >= 0 and epoch != present):
            course, present = course + 1, epoch
        if phase and epoch >= 0:
            n, seen = known.get((phase, epoch), (0, course))
            repeats[i] = n + (seen != course)
            known[phase, epoch] = (int(repeats[i]), course)
    return repeats


def inside(selection: Selection, row: Phase) -> list[str]:
    """Names of the other phases that went on between the begin and the end of a row."""
    found: set[str] = set()
    for recording, mask in zip(selection.run.recordings, selection.masks, strict=True):
        windows, offset = recording.windows, selection.run.offset(recording)
        is_inside = (windows.end + offset > row.start + _SAME_SECONDS) & mask
        is_inside &= windows.start + offset < row.end - _SAME_SECONDS
        found.update(windows.phase[is_inside].tolist())
    return sorted(found - {row.phase, ""})


def _window_sums(selection: Selection, recording: Recording, mask: Array) -> dict[str, Array]:
    """What each window of a recording did, `[n_windows]` a column, over the selected modules."""
    windows = recording.windows
    sums = {"busy_seconds": analysis.busy_of_windows(selection, recording, mask)}
    for column in (*analysis.CALLS, "metadata_calls"):
        sums[column] = np.zeros(len(windows), np.int64)
    for name in selection.base:
        module = windows.modules.get(name)
        if module is not None:
            for column in analysis.CALLS:
                sums[column] += module.counters[:, list(QUANTITIES[name][column])].sum(axis=1)
            sums["metadata_calls"] += module.bin_sums[:, _METADATA]
    for column, values in zip(PROCESS_IO, windows.process_io.T, strict=True):
        sums[column] = np.maximum(values, 0)
    return sums
