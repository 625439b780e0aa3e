"""The JSON answer of `/lanes`, as `http_api.md` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tensorboard_plugin_darshan.dashboard import lanes as lanes_lib
from tensorboard_plugin_darshan.dashboard.answers import Answer, head, revision
from tensorboard_plugin_darshan.dashboard.format import count
from tensorboard_plugin_darshan.dashboard.lanes_figure import lanes_figure
from tensorboard_plugin_darshan.dashboard.query import LaneQuery
from tensorboard_plugin_darshan.dashboard.rank_lanes import lane_names
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.dashboard.theme import THEMES
from tensorboard_plugin_darshan.dashboard.traces import Trace

TRACED: Final = "POSIX"
"""The module whose accesses are kept one by one."""

_DEFINITIONS: Final = (
    "Lane: the reads and writes of one file, or of one thread, through POSIX; the busiest lanes of "
    "the stretch, by time in calls, come first.",
    "A bar is one access from its begin to its end. Where there are too many for one answer, "
    "accesses that follow each other closely are one bar; zooming takes them apart.",
)


def lanes(
    selection: Selection, traces: Sequence[Trace | None], wanted: LaneQuery, theme: str
) -> Answer:
    """The answer.

    Args:
        selection: the stretch.
        traces: of each recording of the run, None where it has none.
        wanted: which lanes.
        theme: the colours.
    """
    run, span = selection.run, selection.range
    names = lane_names(run)
    several = len(run.recordings) > 1
    sources = [
        lanes_lib.Source(
            trace,
            run.offset(recording),
            recording.index.path_of,
            f"rank {name}, " if several else "",
        )
        for recording, trace, name in zip(run.recordings, traces, names, strict=True)
        if trace is not None and TRACED in selection.modules
    ]
    found = lanes_lib.build_lanes(
        sources, span or (0.0, 0.0), wanted.by, wanted.search, wanted.lanes
    )
    figure = lanes_figure(found, wanted.by, span or (0.0, 0.0), THEMES[theme], revision(selection))
    recorded = sum(len(source.trace) for source in sources)
    dropped = sum(source.trace.dropped for source in sources)
    return {
        **head(selection, _notes(selection, sources, wanted, found)),
        "figure": figure,
        "by": wanted.by,
        "lanes": {"shown": len(found.labels), "total": found.total},
        "segments": {
            "recorded": recorded,
            "dropped": dropped,
            "shown": found.segments,
            "bars": len(found.lane),
            "merged": found.merged,
        },
        "definitions": list(_DEFINITIONS),
    }


def _notes(
    selection: Selection,
    sources: list[lanes_lib.Source],
    wanted: LaneQuery,
    found: lanes_lib.Lanes,
) -> list[str]:
    notes = [problem for source in sources for problem in source.trace.problems]
    dropped = sum(source.trace.dropped for source in sources)
    recorded = sum(len(source.trace) for source in sources)
    if dropped:
        notes.append(
            f"Lanes: {count(dropped)} of {count(dropped + recorded)} reads and writes were not "
            "kept one by one. trace=(first_step, last_step) keeps all of some steps, a larger "
            "max_segments more of all."
        )
    if TRACED not in selection.modules:
        notes.append(f"Only accesses through {TRACED} are kept one by one; choose all modules.")
    elif not recorded:
        notes.append(
            "No single reads and writes were recorded; trace=True, the default of DarshanCallback "
            "and DarshanMonitor, keeps them."
        )
    elif not found.total and selection.range is not None:
        matching = f" in a {wanted.by} called so" if wanted.search else ""
        notes.append(f"No read or write was kept{matching} in this stretch of time.")
    return notes
