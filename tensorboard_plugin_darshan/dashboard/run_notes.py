"""Sentences about a run: what is missing from its data, and what its recordings say themselves."""

from __future__ import annotations

from tensorboard_plugin_darshan.dashboard.format import clock, count
from tensorboard_plugin_darshan.dashboard.rank_lanes import lanes
from tensorboard_plugin_darshan.dashboard.run import Run, is_live, sentences
from tensorboard_plugin_darshan.dashboard.selection import Selection

_SAME_SECONDS = 1e-3


def data_notes(run: Run) -> list[str]:
    """Sentences about data that is missing from every answer about the run."""
    notes = [problem for recording in run.recordings for problem in recording.problems]
    missing = sum(recording.missing for recording in run.recordings)
    if missing:
        kept = sum(len(recording.windows) for recording in run.recordings)
        notes.append(
            f"TensorBoard left out {count(missing)} of {count(missing + kept)} windows of this "
            "run, so that all numbers are too small. Start it without a value for darshan in "
            "--samples_per_plugin, or with darshan=0, to keep all."
        )
    unknown = {name for r in run.recordings for name in r.windows.unknown_modules}
    if unknown:
        notes.append(
            f"The recording also holds {', '.join(sorted(unknown))}, which this version cannot "
            "show; update tensorboard-plugin-darshan where TensorBoard runs."
        )
    return list(dict.fromkeys(notes))


def recording_notes(run: Run) -> list[str]:
    """Sentences that the recordings themselves carry, each once."""
    found: list[str] = []
    for recording in run.recordings:
        found += sentences(recording.job.get("notes"))
        found += recording.windows.notes
        partial = [n for n, m in recording.windows.modules.items() if m.partial.any()]
        if partial:
            found.append(
                f"The recorder of {recording.name} ran out of records for {', '.join(partial)}: "
                "totals are exact, but some files are counted together as other files."
            )
    return list(dict.fromkeys(found))


def repeat_notes(run: Run) -> list[str]:
    """A sentence about a training that was started again."""
    most = max(len(places) for _, places in lanes(run))
    if most < 2:
        return []
    return [
        f"{most} recordings one after the other (the training was started again): each has rows of "
        "its own for its epochs and phases, and the time between them counts for no rate."
    ]


def end_notes(run: Run, now: float) -> list[str]:
    """A sentence about recordings that were not closed and are silent; `now` in seconds since
    1970.
    """
    if run.kind != "recording":
        return []
    open_ones = [r for r in run.recordings if r.job and not r.finished]
    silent = [r for r in open_ones if not is_live(r.job, r.wall_times[1], now)]
    if not silent:
        return []
    end = max((run.offset(r) + r.duration for r in silent if len(r.windows)), default=None)
    until = "there is no data" if end is None else f"data ends at {clock(end, run.duration)}"
    if len(silent) == 1:
        which = "The recording" if len(run.recordings) == 1 else f"The recording {silent[0].name}"
        return [f"{which} was not closed: the process was killed or still hangs; {until}."]
    return [
        f"{len(silent)} of {len(run.recordings)} recordings were not closed: the processes were "
        f"killed or still hang; {until}."
    ]


def nothing_note(run: Run, now: float) -> str:
    """Why a run has no window."""
    if run.kind != "recording":
        return "There is nothing to show of this log."
    if run.is_live(now):
        return "Nothing recorded yet: the first window comes a few seconds after the begin."
    return next(
        iter(end_notes(run, now)),
        "Nothing was recorded: the recording ended without a window.",
    )


def window_notes(selection: Selection) -> list[str]:
    """A sentence about what is counted of a stretch of time, where that is not just the stretch."""
    span, counted = selection.range, selection.counted
    if selection.is_whole or span is None or counted is None or selection.run.kind != "recording":
        return []
    if all(abs(a - b) < _SAME_SECONDS for a, b in zip(span, counted, strict=True)):
        return []
    low, high = (clock(edge, counted[1] - counted[0]) for edge in counted)
    return [
        f"Whole windows were counted, from {low} to {high}: bytes, calls, files and rates are those"
        " of that time. Only the timeline shows just the stretch chosen."
    ]
