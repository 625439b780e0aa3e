"""What each rank of a run did, and which was slowest and fastest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.rank_lanes import Span, lanes, span_of
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.modules import QUANTITIES

Array = columns.Array

_COUNTS: Final = ("bytes_read", "bytes_written", "reads", "writes", "opens")
_SECONDS: Final = ("read_seconds", "write_seconds", "metadata_seconds")


@dataclass(frozen=True)
class Rank:
    """What one rank did in a stretch, over all its recordings.

    Attributes:
        name: e.g. `0`, or `0 (2)` for a second process that ran at the same time with that rank.
        places: of its recordings among the run's, in the order of time.
        hostnames: where it ran.
        spans: when it was recorded, seconds on the run's axis, gaps between.
        bytes_read, bytes_written, reads, writes, opens: over the modules whose bytes add up.
        read_seconds, write_seconds, metadata_seconds: time in calls, all threads added.
    """

    name: str
    places: tuple[int, ...]
    hostnames: tuple[str, ...]
    spans: tuple[Span, ...]
    bytes_read: int
    bytes_written: int
    reads: int
    writes: int
    opens: int
    read_seconds: float
    write_seconds: float
    metadata_seconds: float

    @property
    def call_seconds(self) -> float:
        """Time in all calls."""
        return self.read_seconds + self.write_seconds + self.metadata_seconds


def ranks(selection: Selection) -> list[Rank]:
    """What each rank did in the stretch; those that were not recorded in it are left out."""
    result = []
    for name, places in lanes(selection.run):
        shown = [place for place in places if selection.masks[place].any()]
        if not shown:
            continue
        recordings = [selection.run.recordings[place] for place in shown]
        sums: dict[str, Any] = dict.fromkeys(_COUNTS, 0) | dict.fromkeys(_SECONDS, 0.0)
        for place in shown:
            for module in selection.base:
                _add(selection, place, module, sums)
        hosts = [recording.job.get("hostname") for recording in recordings]
        result.append(
            Rank(
                name,
                tuple(shown),
                tuple(dict.fromkeys(host for host in hosts if isinstance(host, str))),
                tuple(span_of(selection.run, recording) for recording in recordings),
                **sums,
            )
        )
    return result


def _add(selection: Selection, place: int, name: str, sums: dict[str, Any]) -> None:
    module = selection.run.recordings[place].windows.modules.get(name)
    if module is None:
        return
    quantities, mask = QUANTITIES[name], selection.masks[place]
    whole, times = module.counters[mask].sum(axis=0), module.fcounters[mask].sum(axis=0)
    for column in _COUNTS:
        sums[column] += int(whole[list(quantities[column])].sum())
    for column in _SECONDS:
        sums[column] += float(times[list(quantities[column])].sum())


def extremes(found: list[Rank]) -> tuple[Rank, Rank] | None:
    """The slowest and the fastest rank, by time in calls as Darshan has it; None for fewer than
    two, or when all took the same time.
    """
    if len(found) < 2:
        return None
    order = np.argsort([rank.call_seconds for rank in found], kind="stable").tolist()
    fastest, slowest = found[order[0]], found[order[-1]]
    return (slowest, fastest) if slowest.call_seconds > fastest.call_seconds else None
