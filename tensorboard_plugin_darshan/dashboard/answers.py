"""The JSON answers of the routes about a run, as `http_api.md` describes them."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any, Final

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.dashboard import (
    distributions,
    figures,
    file_table,
    insights,
    log_overview,
    phases,
    process_figures,
    rank_lanes,
    ranks,
    run_notes,
    timeline_figure,
)
from tensorboard_plugin_darshan.dashboard import overview as overview_lib
from tensorboard_plugin_darshan.dashboard import timeline as timeline_lib
from tensorboard_plugin_darshan.dashboard.format import plural, seconds
from tensorboard_plugin_darshan.dashboard.log_run import TIMELINES, LogRun
from tensorboard_plugin_darshan.dashboard.query import PageQuery
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.dashboard.theme import THEMES
from tensorboard_plugin_darshan.modules import SHOWN, sizes

Answer = dict[str, Any]

_TIMELINE_DEFINITIONS: Final = (
    "Bandwidth: bytes that calls moved in a bin, divided by its width; a call's bytes are spread "
    "evenly over the time that it took.",
    "Calls per second: reads, writes and metadata calls.",
    "Calls in flight: time that all threads together spent in calls, divided by the bin's width; "
    "busy is the share of the bin in which at least one call was in flight.",
)
_BANDWIDTH_DEFINITIONS: Final = (
    "Read bandwidth of a file: its bytes read divided by the time that its read calls took, all "
    "threads added; write bandwidth likewise. A file without bytes in a direction has none there.",
    "≈: the median is the middle of its bin, ± 12 %.",
    "One count is one file in one module; every file counts, also those that the table folds into "
    "directories.",
)
_SIZE_DEFINITIONS: Final = (
    "Access size: bytes that one read or write call moved, in Darshan's ten ranges; a limit "
    "belongs to the range that it closes.",
    "Consecutive: begins where the previous access of the file ended. Sequential: begins behind "
    "that. Other: begins before that; the first access at the begin of a file is one, as Darshan "
    "counts it. Reads of 0 bytes at the end of a file are consecutive.",
    "Most common sizes: reads and writes together, as Darshan counts them.",
)


def overview(selection: Selection, now: float) -> Answer:
    """Answer of `/overview`; `now` in seconds since 1970."""
    run, answer = selection.run, overview_lib.overview(selection)
    if isinstance(run, LogRun):
        answer |= log_overview.overview(selection, answer)
    return {
        **head(
            selection,
            [*run_notes.end_notes(run, now), *overview_lib.overview_notes(selection)],
        ),
        "kind": run.kind,
        "begin": run.begin,
        "live": run.is_live(now),
        "verdict": insights.verdict_line(selection),
        **answer,
    }


def timeline(selection: Selection, theme: str) -> Answer:
    """Answer of `/timeline`."""
    line = timeline_lib.timeline(selection)
    figure = figures.empty_figure()
    notes = []
    has_records = not set(selection.modules).isdisjoint(selection.run.modules)
    if line is not None and not has_records:
        notes.append(f"No calls{_of_module(selection)} in this run.")
    elif line is not None and selection.range is not None:
        look = THEMES[theme]
        stretches = phases.stretches(selection)
        figure = timeline_figure.timeline_figure(
            line, stretches, selection.range, look, revision(selection)
        )
        gaps = rank_lanes.gaps(selection.run)
        figure["layout"]["shapes"] += process_figures.gap_shapes(gaps, look)
        if not any(values.any() for values in line.sums.values()):
            notes.append(f"No calls{_of_module(selection)} in this stretch.")
    return {
        **head(selection, [*_source_notes(selection), *notes]),
        "figure": figure,
        "rank_figure": _ranks(selection, theme) if has_records else figures.empty_figure(),
        "bin_seconds": line.bin_seconds if line else None,
        "bins": len(line.edges) - 1 if line else 0,
        "definitions": list(_TIMELINE_DEFINITIONS),
    }


def _source_notes(selection: Selection) -> list[str]:
    """What a log's timeline rests on; a recording knows the time of every call."""
    run = selection.run
    if not isinstance(run, LogRun):
        return []
    names = [name for name in selection.base if name in run.modules]
    return [
        TIMELINES[source].format(modules=", ".join(of)) for source, of in run.sources(names).items()
    ]


def _ranks(selection: Selection, theme: str) -> Answer:
    grid = ranks.rank_grid(selection)
    if grid is None or selection.range is None:
        return figures.empty_figure()
    return ranks.rank_figure(grid, selection.range, THEMES[theme], revision(selection))


def file_bandwidth(selection: Selection, theme: str) -> Answer:
    """Answer of `/file_bandwidth`."""
    found = distributions.file_histograms(selection)
    figure = figures.file_bandwidth_figure(found, THEMES[theme], revision(selection))
    notes = []
    if not figure["data"] and selection.counted:
        notes.append(f"No file was read or written{_of_module(selection)} in this stretch.")
    elif found.once_a_window:
        notes.append(
            "A file counts once for each window of this stretch in which it was active, as not all "
            "of its files are listed. From the begin of the run each file counts once."
        )
    names = distributions.DIRECTIONS
    return {
        **head(selection, [*run_notes.window_notes(selection), *notes]),
        "figure": figure,
        "files": {name: found.files(f"{name}_bandwidth") for name in names},
        "median": {name: found.median(f"{name}_bandwidth") for name in names},
        "definitions": list(_BANDWIDTH_DEFINITIONS),
    }


def access_sizes(selection: Selection, theme: str) -> Answer:
    """Answer of `/access_sizes`."""
    found = distributions.access_sizes(selection)
    look, kept = THEMES[theme], revision(selection)
    reads, writes = found.counts.tolist()
    return {
        **head(selection, [*run_notes.window_notes(selection), *_size_notes(selection, found)]),
        "figure": figures.access_sizes_figure(found, look, kept),
        "pattern_figure": figures.pattern_figure(found, look, kept),
        "sizes": [
            {
                "label": distributions.bucket_label(place),
                "counter": bucket,
                "reads": reads[place],
                "writes": writes[place],
            }
            for place, bucket in enumerate(counters.SIZE_BUCKETS)
        ],
        "pattern": {
            "reads": asdict(found.patterns[0]),
            "writes": asdict(found.patterns[1]),
        },
        "common_sizes": [asdict(common) for common in found.common],
        "definitions": list(_SIZE_DEFINITIONS),
    }


def _size_notes(selection: Selection, found: distributions.AccessSizes) -> list[str]:
    notes = []
    sized = ", ".join(distributions.sized_modules(selection))
    only = selection.modules[0] if len(selection.modules) == 1 else ""
    if only in SHOWN and sizes(SHOWN[only]) is None:
        notes.append(
            f"{only} has no counters of access sizes; only POSIX does. Choose POSIX or all modules."
            if only == "STDIO"
            else f"{only} has no counters of access sizes. Choose another module."
        )
    elif selection.counted and not found.counts.any():
        notes.append(f"No {sized or 'POSIX'} read or write in this stretch.")
    elif "STDIO" in selection.base:
        notes.append(f"Only {sized} accesses: STDIO has no counters of access sizes.")
    if sized and "POSIX" not in sized and found.counts.any():
        notes.append(f"{sized} has no counters of patterns; only POSIX does.")
    if isinstance(selection.run, LogRun) and found.common:
        notes.append("Most common sizes: a log keeps the four most frequent ones of each record.")
    if found.surplus:
        notes.append(
            f"Counts of common sizes may be up to {found.surplus} too high, because only the most "
            "frequent sizes before this stretch are known."
        )
    return notes


def files(selection: Selection, wanted: PageQuery) -> Answer:
    """Answer of `/files`."""
    rows = file_table.file_rows(selection)
    page = file_table.page(rows, wanted.search, wanted.sort, wanted.limit, wanted.offset)
    notes = []
    if rows.folded:
        notes.append(
            f"Windows list only their busiest files. What the others did stands in "
            f"{plural(rows.folded, 'row', 'rows')} for whole directories, whose paths end in a "
            "slash; a listed file may have done more than its row says. Totals and histograms "
            "count everything."
        )
    if not len(rows) and selection.counted:
        notes.append(f"No file was used{_of_module(selection)} in this stretch.")
    notes = [*run_notes.window_notes(selection), *notes]
    return {**head(selection, notes), "total": page.total, "rows": page.rows}


def head(selection: Selection, notes: list[str]) -> Answer:
    """What every answer about a run begins with."""
    run, span, counted = selection.run, selection.range, selection.counted
    sentences = run_notes.data_notes(run)
    if span is None:
        sentences.append(_nothing(selection))
    elif isinstance(run, LogRun) and not selection.is_whole:
        sentences.append(
            "A log has one total for the whole job: only the timeline is restricted to the stretch."
        )
    return {
        "run": run.name,
        "range": {"start": span[0], "end": span[1]} if span else None,
        "counted": {"start": counted[0], "end": counted[1]} if counted else None,
        "notes": list(dict.fromkeys([*sentences, *notes])),
    }


def _nothing(selection: Selection) -> str:
    run = selection.run
    if not any(len(recording.windows) for recording in run.recordings):
        return run_notes.nothing_note(run, time.time())
    if selection.is_whole:
        return "Nothing was recorded."
    start = seconds(selection.start or 0.0)
    until = "" if selection.end is None else f" and before {seconds(selection.end)}"
    return (
        f"Nothing was recorded after {start}{until}; the run is "
        f"{seconds(selection.run.duration)} long. Clear the time restriction to see all of it."
    )


def _of_module(selection: Selection) -> str:
    return f" through {selection.modules[0]}" if len(selection.modules) == 1 else ""


def revision(selection: Selection) -> str:
    """Stays the same while the same stretch is shown, so that live updates keep the zoom."""
    if selection.is_whole:
        return selection.run.name
    return f"{selection.run.name} {selection.start} {selection.end}"
