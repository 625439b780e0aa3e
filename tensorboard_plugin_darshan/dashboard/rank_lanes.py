"""Which recordings of a run are one rank, and when none went on."""

from __future__ import annotations

import re
from typing import Final

from tensorboard_plugin_darshan.dashboard.run import Recording, Run

Span = tuple[float, float]

_DIRECTORY: Final = re.compile(r"(?:^|/)rank(\d+)(?:-\d+)?$")
_OVERLAP_SECONDS: Final = 1.0
"""How much recordings of one rank may overlap and still be one after the other: a clock that was
set, or a process that still wrote while the next one began."""

SHORTEST_GAP_SECONDS: Final = 1.0


def rank_of(recording: Recording) -> int:
    """Rank that the job description or the directory's name tells, else 0."""
    rank = recording.job.get("rank")
    if isinstance(rank, int) and not isinstance(rank, bool) and rank >= 0:
        return rank
    found = _DIRECTORY.search(recording.name)
    return int(found.group(1)) if found else 0


def lanes(run: Run) -> list[tuple[str, tuple[int, ...]]]:
    """Names of ranks and the places of their recordings, both in order.

    Recordings of one rank that follow each other, as those of a resumed training, are one lane;
    those of processes that ran at the same time with the same rank have one each.
    """
    ranks: dict[int, list[int]] = {}
    for place, recording in enumerate(run.recordings):
        ranks.setdefault(rank_of(recording), []).append(place)
    result: list[tuple[str, tuple[int, ...]]] = []
    for rank in sorted(ranks):
        open_lanes: list[list[int]] = []
        ends: list[float] = []
        for place in sorted(ranks[rank], key=lambda p: (run.offset(run.recordings[p]), p)):
            begin = run.offset(run.recordings[place])
            end = begin + run.recordings[place].duration
            free = next((i for i, e in enumerate(ends) if e - _OVERLAP_SECONDS <= begin), None)
            if free is None:
                open_lanes.append([place])
                ends.append(end)
            else:
                open_lanes[free].append(place)
                ends[free] = end
        for i, places in enumerate(open_lanes):
            result.append((f"{rank} ({i + 1})" if i else str(rank), tuple(places)))
    return result


def lane_names(run: Run) -> list[str]:
    """For each recording the name of its rank."""
    names = [""] * len(run.recordings)
    for name, places in lanes(run):
        for place in places:
            names[place] = name
    return names


def span_of(run: Run, recording: Recording) -> Span:
    """Begin and end of a recording, seconds on the run's axis."""
    offset = run.offset(recording)
    return offset, offset + recording.duration


def gaps(run: Run, places: tuple[int, ...] | None = None) -> list[Span]:
    """Stretches of a second or more between recordings in which none went on, in order.

    Args:
        run: the run.
        places: only of these recordings, else of all.
    """
    chosen = range(len(run.recordings)) if places is None else places
    spans = sorted(span_of(run, run.recordings[place]) for place in chosen)
    found: list[Span] = []
    latest = spans[0][1] if spans else 0.0
    for start, end in spans:
        if start - latest >= SHORTEST_GAP_SECONDS:
            found.append((latest, start))
        latest = max(latest, end)
    return found
