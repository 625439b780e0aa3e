"""Which files of a run to copy to a fast tier: a cost model fitted to the run, and a knapsack.

Reading a file costs so much an open (with its stats and seeks), so much a read call, and so much
a byte; the three are fitted for each mount to the times that the run measured. What a copy saves
is the difference between its mount's costs and the fast tier's. Files are taken by seconds saved
per byte copied until the budget is full, which is at most one file worse than the best choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts

Array = columns.Array

CURVE_POINTS: Final = 200


@dataclass(frozen=True)
class Costs:
    """What reading costs on a mount, in seconds: an open, a read call, a byte."""

    open_seconds: float = 0.0
    call_seconds: float = 0.0
    byte_seconds: float = 0.0

    def of(self, opens: Array, reads: Array, moved: Array) -> Array:
        """Seconds in calls `[n]` for files so opened and read."""
        seconds: Array = (
            opens * self.open_seconds + reads * self.call_seconds + moved * self.byte_seconds
        )
        return seconds


FREE: Final = Costs()
"""A tier that costs nothing: what copies would save at most."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Files that were read and not written, with what they cost over the whole run.

    Attributes:
        paths: `n` paths.
        mounts: `n` mounts.
        sizes: `[n]` bytes that a copy takes.
        opens, reads, moved: `[n]` opens, read calls, bytes read.
        open_seconds, read_seconds: `[n]` time in metadata calls and in reads, all threads added.
    """

    paths: Sequence[str]
    mounts: Sequence[str]
    sizes: Array
    opens: Array
    reads: Array
    moved: Array
    open_seconds: Array
    read_seconds: Array

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def seconds(self) -> Array:
        """Time in calls `[n]`."""
        total: Array = self.open_seconds + self.read_seconds
        return total


@dataclass(frozen=True, eq=False)
class Choice:
    """Files in the order in which they are worth copying.

    Attributes:
        candidates: all files.
        costs: mount → its costs.
        saved: `[n]` seconds that a copy of each file would save in a repetition of the run.
        order: `[m]` places of the files that save anything, best first.
    """

    candidates: Candidates
    costs: Mapping[str, Costs]
    saved: Array
    order: Array

    def within(self, budget: float) -> Array:
        """Places of the files to copy, best first, whose sizes fit into `budget` bytes."""
        chosen, room = [], budget
        for place in self.order.tolist():
            if self.candidates.sizes[place] <= room:
                chosen.append(place)
                room -= float(self.candidates.sizes[place])
        return np.array(chosen, np.int64)


def candidates(facts: Facts, below: str = "") -> Candidates:
    """POSIX files of a run that can be staged: read, never written, below a directory."""
    values, paths = facts.files.values, facts.files.paths
    inside = below.rstrip("/") + "/"
    places = np.array(
        [
            i
            for i in facts.read_files.tolist()
            if facts.files.modules[i] == "POSIX"
            and values["bytes_written"][i] == 0
            and paths[i].startswith(inside)
        ],
        np.int64,
    )
    names = [paths[i] for i in places.tolist()]
    return Candidates(
        names,
        [facts.mount_of(name) for name in names],
        np.nan_to_num(values["size_bytes"][places]),
        *(values[name][places] for name in ("opens", "reads", "bytes_read")),
        *(values[name][places] for name in ("metadata_seconds", "read_seconds")),
    )


def fit(opens: Array, reads: Array, moved: Array, opening: Array, reading: Array) -> Costs:
    """Costs that explain the times of files best: the mean of an open, and for reads the least
    squares of seconds over calls and bytes, neither below zero, scaled so that they add up to the
    time measured.
    """
    open_seconds = float(opening.sum() / opens.sum()) if opens.sum() else 0.0
    call_seconds, byte_seconds = _fit_reads(reads, moved, reading)
    explained = float(reads.sum() * call_seconds + moved.sum() * byte_seconds)
    scale = float(reading.sum()) / explained if explained else 0.0
    return Costs(open_seconds, call_seconds * scale, byte_seconds * scale)


def _fit_reads(reads: Array, moved: Array, reading: Array) -> tuple[float, float]:
    """Seconds a call and a byte; large files weigh less than their share, as they vary more."""
    weights = 1.0 / np.sqrt(np.maximum(reads, 1.0))
    calls, sizes, seconds = reads * weights, moved * weights, reading * weights
    both = np.stack([calls, sizes], axis=1)
    scale = np.maximum(np.abs(both).max(axis=0, initial=0.0), 1e-300)
    by_both = np.linalg.lstsq(both / scale, seconds, rcond=None)[0] / scale
    if by_both.min() >= 0:
        return float(by_both[0]), float(by_both[1])
    alone = [
        max(0.0, float(column @ seconds) / max(float(column @ column), 1e-300))
        for column in (calls, sizes)
    ]
    left = [
        float(((column * cost - seconds) ** 2).sum())
        for column, cost in zip((calls, sizes), alone, strict=True)
    ]
    return (alone[0], 0.0) if left[0] <= left[1] else (0.0, alone[1])


def fit_mounts(found: Candidates) -> dict[str, Costs]:
    """Costs of each mount that files were read from."""
    mounts = np.array(found.mounts, object)
    costs = {}
    for mount in dict.fromkeys(found.mounts):
        rows = mounts == mount
        parts = (found.opens, found.reads, found.moved, found.open_seconds, found.read_seconds)
        costs[mount] = fit(*(part[rows] for part in parts))
    return costs


def choose(found: Candidates, fast: Costs) -> Choice:
    """What copies of the files to a tier with costs `fast` would save."""
    costs = fit_mounts(found)
    saved = np.zeros(len(found))
    for place, mount in enumerate(found.mounts):
        slow = costs[mount]
        parts = (found.opens[place], found.reads[place], found.moved[place])
        saved[place] = slow.of(*parts) - fast.of(*parts)
    worth = saved / np.maximum(found.sizes, 1.0)
    order = np.argsort(-worth, kind="stable")
    return Choice(found, costs, saved, order[saved[order] > 0])


@dataclass(frozen=True)
class Gain:
    """What a choice of files would bring in a repetition of the run."""

    bytes_copied: int
    files: int
    seconds_before: float
    seconds_saved: float
    bandwidth_before: float | None
    bandwidth_after: float | None


def gain(choice: Choice, places: Array) -> Gain:
    """The prediction for copying the files at `places`; seconds of all threads, bandwidth as
    bytes read by time in calls of all candidates.
    """
    found = choice.candidates
    before = float(found.seconds.sum())
    saved = min(float(choice.saved[places].sum()), before)
    moved = float(found.moved.sum())
    return Gain(
        int(found.sizes[places].sum()),
        len(places),
        before,
        saved,
        moved / before if before else None,
        moved / (before - saved) if before > saved else None,
    )


@dataclass(frozen=True)
class Curve:
    """Seconds saved `[n]` over bytes copied `[n]`, from nothing to all; `knee` is the place where
    it bends most: its largest distance from the straight line between its ends.
    """

    bytes_copied: Array
    seconds_saved: Array
    knee: int


def curve(choice: Choice) -> Curve:
    """The gain over the budget."""
    copied = np.concatenate([[0.0], np.cumsum(choice.candidates.sizes[choice.order])])
    saved = np.concatenate([[0.0], np.cumsum(choice.saved[choice.order])])
    if copied[-1] > 0 and saved[-1] > 0:
        bend = int(np.argmax(saved / saved[-1] - copied / copied[-1]))
    else:
        bend = 0
    n = len(copied)
    shown = np.unique(np.linspace(0, n - 1, min(n, CURVE_POINTS)).round().astype(np.int64))
    shown = np.union1d(shown, [bend])
    return Curve(copied[shown], saved[shown], int(np.searchsorted(shown, bend)))


def measure(facts: Facts, directories: Sequence[str]) -> tuple[float, float, int]:
    """Bytes read, seconds in calls, and number of the files that a run read below directories."""
    parts = [candidates(facts, directory) for directory in directories]
    return (
        sum(float(part.moved.sum()) for part in parts),
        sum(float(part.seconds.sum()) for part in parts),
        sum(len(part) for part in parts),
    )
