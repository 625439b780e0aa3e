"""The JSON answers about processes, ranks and the page cache, as `http_api.md` describes them."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from tensorboard_plugin_darshan.dashboard import (
    figures,
    heatmap,
    process_figures,
    processes,
    rank_lanes,
    rank_totals,
)
from tensorboard_plugin_darshan.dashboard.answers import Answer, head, revision
from tensorboard_plugin_darshan.dashboard.format import seconds
from tensorboard_plugin_darshan.dashboard.log_run import LogRun
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.dashboard.theme import THEMES

MAX_ROWS: Final = 200

_DEFINITIONS: Final = (
    "Process: the main one writes the recording; workers are its children, forked or started, and "
    "theirs. Bytes, calls and time in calls are over all modules, in the windows of the stretch.",
    "Ended badly: killed, crashed, or ended with a status that tells of a failure. The main "
    "process ended badly when its recording stopped without saying that it is finished.",
    "Slowest and fastest rank: the longest and the shortest time in calls, all threads added.",
)
_HEATMAP_DEFINITIONS: Final = (
    "Bytes read and written per second. By rank at the resolution of time bins; by process, a "
    "window's bytes are spread evenly over it. Grey: not recorded then, or not there.",
)
_CACHE_DEFINITIONS: Final = (
    "From page cache: 1 - read_bytes / rchar of the kernel's counts of each window, so the share "
    "of bytes read that no storage device had to deliver. A first epoch on a cold cache is low, "
    "and the next ones are high when the data fits into memory.",
    "Seen: bytes that the recorder counted ÷ rchar + wchar of the process and its children, in the "
    "same window; the kernel also counts files left out, pipes and sockets.",
)


def processes_answer(selection: Selection, theme: str, now: float) -> Answer:
    """Answer of `/processes`; `now` in seconds since 1970."""
    is_log = isinstance(selection.run, LogRun)
    found = processes.processes(selection, now)
    every = [] if is_log else rank_totals.ranks(selection)
    extremes = rank_totals.extremes(every)
    states = Counter(process.state for process in found)
    figure = figures.empty_figure()
    if len(every) > 1:
        figure = process_figures.rank_figure(every, THEMES[theme], revision(selection))
    notes = [] if is_log else _gap_notes(selection)
    if processes.is_shortened(selection):
        notes.append(
            f"Windows list their {processes.MAX_LISTED} busiest processes; what the others did is "
            "in all totals, but not in the table of processes."
        )
    return {
        **head(selection, notes),
        "counts": {
            "main": sum(process.is_main for process in found),
            "workers": sum(not process.is_main for process in found),
            "ranks": len(every),
            "running": states["running"],
            "ended": states["ended"],
            "ended_badly": states["ended badly"],
        },
        "processes": [_process(process) for process in found[:MAX_ROWS]],
        "ranks": [_rank(selection, rank) for rank in every],
        "slowest": extremes[0].name if extremes else None,
        "fastest": extremes[1].name if extremes else None,
        "figure": figure,
        "definitions": list(_DEFINITIONS),
    }


def heatmap_answer(selection: Selection, theme: str, by: str, now: float) -> Answer:
    """Answer of `/heatmap`; `now` in seconds since 1970."""
    if isinstance(selection.run, LogRun):
        found = None
    elif by == "rank":
        found = heatmap.rank_heatmap(selection)
    else:
        found = heatmap.process_heatmap(selection, processes.processes(selection, now))
    notes = []
    figure = figures.empty_figure()
    if found is not None and selection.range is not None:
        look = THEMES[theme]
        figure = process_figures.heatmap_figure(found, selection.range, look, revision(selection))
    elif selection.range is not None:
        notes.append("This run does not tell its processes apart.")
    return {
        **head(selection, notes),
        "by": by,
        "figure": figure,
        "rows": list(found.labels) if found else [],
        "definitions": list(_HEATMAP_DEFINITIONS),
    }


def page_cache_answer(selection: Selection, theme: str) -> Answer:
    """Answer of `/page_cache`."""
    found = heatmap.shares(selection)
    figure, notes = figures.empty_figure(), []
    if found is not None and selection.range is not None:
        look = THEMES[theme]
        figure = process_figures.page_cache_figure(
            found, selection.range, look, revision(selection)
        )
    elif selection.range is not None:
        notes.append("The kernel's own counts are not known for this stretch.")
    return {
        **head(selection, notes),
        "figure": figure,
        "definitions": list(_CACHE_DEFINITIONS),
    }


def _gap_notes(selection: Selection) -> list[str]:
    notes = []
    for rank in rank_totals.ranks(selection):
        for start, end in rank_lanes.gaps(selection.run, rank.places):
            notes.append(
                f"Rank {rank.name} was resumed: nothing was recorded of it from {seconds(start)} "
                f"to {seconds(end)}."
            )
    return notes[:10]


def _process(process: processes.Process) -> dict[str, Any]:
    return {
        "rank": process.rank,
        "hostname": process.hostname,
        "pid": process.pid,
        "parent": process.parent,
        "kind": "main" if process.is_main else "worker",
        "state": process.state,
        "start": process.start,
        "end": process.end,
        "bytes_read": process.bytes_read,
        "bytes_written": process.bytes_written,
        "calls": process.calls,
        "call_seconds": process.call_seconds,
    }


def _rank(selection: Selection, rank: rank_totals.Rank) -> dict[str, Any]:
    return {
        "rank": rank.name,
        "recordings": [selection.run.recordings[place].name for place in rank.places],
        "hostnames": list(rank.hostnames),
        "start": rank.spans[0][0],
        "end": max(end for _, end in rank.spans),
        "gaps": [
            {"start": start, "end": end}
            for start, end in rank_lanes.gaps(selection.run, rank.places)
        ],
        "bytes_read": rank.bytes_read,
        "bytes_written": rank.bytes_written,
        "reads": rank.reads,
        "writes": rank.writes,
        "opens": rank.opens,
        "read_seconds": rank.read_seconds,
        "write_seconds": rank.write_seconds,
        "metadata_seconds": rank.metadata_seconds,
        "call_seconds": rank.call_seconds,
    }
