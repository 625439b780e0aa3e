"""The overview's answer: totals, cards, phases, completeness, who recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from tensorboard_plugin_darshan.dashboard import analysis, phases, run_notes
from tensorboard_plugin_darshan.dashboard.analysis import Seen, Totals
from tensorboard_plugin_darshan.dashboard.distributions import (
    Histograms,
    access_sizes,
    file_histograms,
)
from tensorboard_plugin_darshan.dashboard.format import (
    UNKNOWN,
    about,
    bandwidth,
    count,
    percent,
    rate,
    ratio,
    size,
)
from tensorboard_plugin_darshan.dashboard.phases import Phase
from tensorboard_plugin_darshan.dashboard.run import Run
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.dashboard.timeline import Timeline, timeline

SPARKLINE_BINS: Final = 60

_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth")

DEFINITIONS: Final[Mapping[str, str]] = {
    "read": "Bytes that read calls returned, added over the modules shown. The bandwidth below is "
    "bytes divided by the time counted, and bytes divided by the time that the calls took.",
    "written": "Bytes that write calls took, added over the modules shown. The bandwidth below is "
    "bytes divided by the time counted, and bytes divided by the time that the calls took.",
    "calls": "Reads, writes and metadata calls (open, seek, stat, rename).",
    "files": "Files with any call. A file used through two modules, or by two processes, counts "
    "once for each. The median size is the middle of its bin, ± 12 %.",
    "seen": "Bytes that the recorder counted ÷ rchar + wchar of the process and its children; the "
    "kernel also counts files left out, pipes and sockets. The share from page cache is "
    "1 - read_bytes / rchar: bytes read that no storage device had to deliver; – where fewer than "
    "1 MiB were read.",
    "busy_seconds": "Time in which at least one call was in flight. With several threads it is "
    "estimated: their shares of a time bin are taken as independent. With several recordings it "
    "is added over them.",
    "phases": "All windows of one phase and epoch together; recordings that follow each other, as "
    "those of a training that was started again, have rows of their own. Bandwidth is bytes "
    "divided by the duration of the phase; busy is the share of its time in which a call was in "
    "flight.",
    "read_seconds": "Time that all threads together spent in calls.",
}
"""What each number means, as the tab says it."""


def overview(selection: Selection) -> dict[str, Any]:
    """What the overview shows of the stretch, besides what all answers carry."""
    totals = analysis.module_totals(selection)
    seen = analysis.seen(selection)
    line = timeline(selection, SPARKLINE_BINS)
    span = selection.range
    duration = span[1] - span[0] if span else 0.0
    zero_byte_calls = access_sizes(selection).zero_byte_calls
    return {
        "duration_seconds": duration,
        "counted_seconds": selection.counted_seconds,
        "modules": {name: asdict(total) for name, total in totals.items()},
        "busy_seconds": analysis.busy_seconds(selection),
        "zero_byte_calls": zero_byte_calls,
        "cards": _cards(
            totals,
            selection.base,
            seen,
            file_histograms(selection),
            line,
            analysis.calls(selection) if line is not None else None,
            selection.counted_seconds,
            zero_byte_calls,
        ),
        "sparklines": _sparklines(line),
        "phases": _phases(selection),
        "seen": {
            "share": seen.share,
            "cache_share": seen.cache_share,
            "recorder": {"bytes_read": seen.recorder_read, "bytes_written": seen.recorder_written},
            "kernel": seen.kernel,
            "definition": DEFINITIONS["seen"],
        },
        "job": dict(next((r.job for r in selection.run.recordings if r.job), {})),
        "recordings": _recordings(selection.run),
        "definitions": dict(DEFINITIONS),
    }


def overview_notes(selection: Selection) -> list[str]:
    """Sentences about what the overview's numbers leave out."""
    notes = [*run_notes.window_notes(selection), *run_notes.repeat_notes(selection.run)]
    notes += run_notes.recording_notes(selection.run)
    if not all(analysis.files_of(selection, name)[1] for name in selection.modules):
        notes.append(
            "The number of files is a lower bound: the windows of this stretch list only their "
            "busiest files. From the begin of the run it is exact."
        )
    return notes


def _cards(
    totals: Mapping[str, Totals],
    base: tuple[str, ...],
    seen: Seen,
    files: Histograms,
    line: Timeline | None,
    calls: int | None,
    duration: float,
    zero_byte_calls: int | None,
) -> list[dict[str, Any]]:
    values = [total for name, total in totals.items() if name in base]
    read = sum(total.bytes_read for total in values)
    written = sum(total.bytes_written for total in values)
    accesses = sum(total.reads + total.writes for total in values)
    median = files.median("size")
    sparklines = _sparklines(line)
    return [
        _transfer_card("read", "Read", read, sum(t.read_seconds for t in values), duration)
        | {"sparkline": sparklines["read_bandwidth"]},
        _transfer_card(
            "written", "Written", written, sum(t.write_seconds for t in values), duration
        )
        | {"sparkline": sparklines["write_bandwidth"]},
        _card(
            "calls",
            "Calls",
            count(calls),
            rate(ratio(calls, duration)) if calls is not None else "",
            _calls_caption(read + written, accesses, zero_byte_calls),
        )
        | {"sparkline": sparklines["calls"]},
        _card(
            "files",
            "Files",
            count(sum(total.files for total in values)),
            f"{about(size(median))} median size" if median is not None else "",
            f"opened {count(sum(total.opens for total in values))} times",
        ),
        _card(
            "seen",
            "Seen",
            percent(seen.share),
            "of the kernel's bytes" if seen.share is not None else "the kernel did not say",
            f"{percent(seen.cache_share)} of reads from page cache"
            if seen.cache_share is not None
            else "",
        ),
    ]


def _calls_caption(moved: int, accesses: int, zero_byte_calls: int | None) -> str:
    if not accesses:
        return ""
    mean = f"{size(moved / accesses)} per read or write"
    return f"{mean}, {percent(zero_byte_calls / accesses)} 0 B" if zero_byte_calls else mean


def _transfer_card(
    name: str, title: str, moved: int, seconds: float, duration: float
) -> dict[str, Any]:
    while_busy = ratio(moved, seconds) if seconds > 0 else None
    return _card(
        name,
        title,
        size(moved),
        bandwidth(ratio(moved, duration)) if duration else "",
        f"{bandwidth(while_busy)} while in calls" if while_busy else "",
    )


def _card(name: str, title: str, value: str, detail: str, caption: str) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "value": value or UNKNOWN,
        "detail": detail,
        "caption": caption,
        "definition": DEFINITIONS[name],
        "sparkline": [],
    }


def _sparklines(line: Timeline | None) -> dict[str, Any]:
    if line is None:
        empty: list[float] = []
        return {"bin_seconds": None} | dict.fromkeys(
            ("read_bandwidth", "write_bandwidth", "calls", "busy"), empty
        )
    return {
        "bin_seconds": line.bin_seconds,
        "read_bandwidth": line.read_bandwidth.tolist(),
        "write_bandwidth": line.write_bandwidth.tolist(),
        "calls": line.calls.tolist(),
        "busy": line.busy.tolist(),
    }


def _phases(selection: Selection) -> list[dict[str, Any]]:
    rows = phases.phases(selection)
    return [_phase(row) | {"inside": phases.inside(selection, row)} for row in rows]


def _which(phase: Phase) -> str:
    """Which recording or training a row is of, where it is not the first."""
    parts = []
    for place, noun in ((phase.recording, "recording"), (phase.repeat, "time")):
        if place:
            ordinal = _ORDINALS[place] if place < len(_ORDINALS) else f"{place + 1}th"
            parts.append(f"{ordinal} {noun}")
    return ", ".join(parts)


def _phase(phase: Phase) -> dict[str, Any]:
    sums = phase.sums
    return {
        "phase": phase.phase,
        "epoch": phase.epoch,
        "which": _which(phase),
        "start": phase.start,
        "end": phase.end,
        "duration_seconds": phase.duration_seconds,
        "bytes_read": int(sums["bytes_read"]),
        "bytes_written": int(sums["bytes_written"]),
        "read_bandwidth": ratio(sums["bytes_read"], phase.duration_seconds),
        "write_bandwidth": ratio(sums["bytes_written"], phase.duration_seconds),
        "reads": int(sums["reads"]),
        "writes": int(sums["writes"]),
        "opens": int(sums["opens"]),
        "metadata_calls": int(sums["metadata_calls"]),
        "busy_seconds": sums["busy_seconds"],
        "busy_share": ratio(sums["busy_seconds"], phase.recorded_seconds),
        "cache_share": analysis.cache_share(sums["rchar"], sums["read_bytes"]),
    }


def _recordings(run: Run) -> list[dict[str, Any]]:
    return [
        {
            "name": recording.name,
            "rank": recording.job.get("rank"),
            "hostname": recording.job.get("hostname"),
            "pid": recording.job.get("pid"),
            "begin": run.offset(recording),
            "end": run.offset(recording) + recording.duration,
            "finished": recording.finished,
            "windows": len(recording.windows),
        }
        for recording in run.recordings
    ]
