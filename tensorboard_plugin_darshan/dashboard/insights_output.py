"""Rules about what a training writes, and about what the recording could not see."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.dashboard.format import count, percent, ratio, seconds, size
from tensorboard_plugin_darshan.dashboard.insights_facts import MAX_NAMED_FILES, Facts
from tensorboard_plugin_darshan.dashboard.insights_finding import Finding
from tensorboard_plugin_darshan.dashboard.insights_thresholds import limit
from tensorboard_plugin_darshan.dashboard.run_notes import data_notes, recording_notes


def _written(facts: Facts) -> tuple[str, ...]:
    moved = facts.files.values["bytes_written"]
    places = np.flatnonzero(moved > 0)
    return facts.name_files(places[np.argsort(-moved[places])])


def checkpoint_stalls(facts: Facts) -> Finding | None:
    """Writing takes a part of the training that one would notice."""
    training = facts.training
    phases = [row for row in facts.phases if row.phase == "checkpoint"]
    in_phases = sum(row.duration_seconds for row in phases)
    writing = training.write_seconds + in_phases
    whole = training.seconds + in_phases
    if writing < limit("write_stall_seconds") or writing < limit("write_stall") * whole:
        return None
    return Finding(
        "checkpoint-stalls",
        "high" if writing >= limit("wait_high") * whole else "medium",
        "output",
        f"Writing took {seconds(writing)} of {seconds(whole)} of training",
        (
            f"Writes during training steps took {seconds(training.write_seconds)} (all threads "
            f"together), phases named checkpoint {seconds(in_phases)}; "
            f"{size(facts.total('bytes_written'))} were written in all. Writes in a thread of "
            "their own do not hold the steps up; those in the training's thread do.",
        ),
        ("write_stall", "write_stall_seconds"),
        _written(facts),
    )


def small_writes(facts: Facts) -> Finding | None:
    """Many writes of a few bytes."""
    small = sum(
        facts.counter(f"POSIX_SIZE_WRITE_{bucket}")
        for bucket, top in zip(counters.SIZE_BUCKETS, counters.SIZE_BUCKET_LIMITS, strict=False)
        if top <= limit("small_write")
    )
    writes = facts.counter("POSIX_WRITES")
    if small < limit("small_writes") or small < limit("small_writes_share") * writes:
        return None
    return Finding(
        "small-writes",
        "medium",
        "output",
        f"{count(small)} writes of at most {size(limit('small_write'))}",
        (
            f"{percent(ratio(small, writes))} of {count(writes)} POSIX writes; all writes together "
            f"took {seconds(facts.total('write_seconds'))} for "
            f"{size(facts.total('bytes_written'))}.",
        ),
        ("small_write", "small_writes", "small_writes_share"),
        _written(facts),
    )


def fsync_storm(facts: Facts) -> Finding | None:
    """Data is forced to the device again and again."""
    syncs = facts.counter("POSIX_FSYNCS") + facts.counter("POSIX_FDSYNCS")
    written = facts.counter("POSIX_BYTES_WRITTEN")
    if syncs < limit("fsyncs") or written > limit("fsync_bytes") * syncs:
        return None
    return Finding(
        "fsync-storm",
        "medium",
        "output",
        f"{count(syncs)} fsyncs for {size(written)} written",
        (
            f"One fsync for every {size(written / syncs)}; fsyncs and writes together took "
            f"{seconds(facts.total('write_seconds'))}.",
        ),
        ("fsyncs", "fsync_bytes"),
        _written(facts),
    )


def mapped_files(facts: Facts) -> Finding | None:
    """Files are read through mappings, which nobody here can count."""
    mappings = facts.counter("POSIX_MMAPS")
    if mappings < limit("mapped_files"):
        return None
    return Finding(
        "mapped-files",
        "info",
        "data",
        f"{count(mappings)} mappings of files: what is read through them is not seen",
        (
            "Reads through memory maps are page faults, not calls. Bytes, bandwidth and the "
            "verdict leave them out.",
        ),
        ("mapped_files",),
    )


def incomplete(facts: Facts) -> Finding | None:
    """Bytes, windows or records that the answers leave out."""
    seen = facts.seen
    evidence = list(data_notes(facts.selection.run))
    partial = any(
        module.partial.any()
        for recording in facts.selection.run.recordings
        for module in recording.windows.modules.values()
    )
    if partial:
        evidence += [note for note in recording_notes(facts.selection.run) if "records" in note]
    kernel = seen.kernel["rchar"] + seen.kernel["wchar"] if seen.kernel else 0
    share = seen.share
    if share is not None and share < limit("seen_share") and kernel >= limit("seen_bytes"):
        evidence.append(
            f"The kernel counted {size(kernel)} read and written, the recorder {percent(share)} "
            "of it. The rest went through sockets, pipes, excluded directories, or calls that are "
            "not recorded."
        )
    if not evidence:
        return None
    return Finding(
        "incomplete",
        "info",
        "data",
        "The recording does not hold everything",
        tuple(evidence[:MAX_NAMED_FILES]),
        ("seen_share", "seen_bytes"),
    )


RULES = (checkpoint_stalls, fsync_storm, small_writes, incomplete, mapped_files)
"""In the order in which findings of equal severity are shown."""
