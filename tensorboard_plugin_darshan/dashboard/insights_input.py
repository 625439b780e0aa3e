"""Rules about how files are read: sizes of files and calls, opens, order, alignment."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_darshan.dashboard.format import count, percent, seconds, significant, size
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts
from tensorboard_plugin_darshan.dashboard.insights_finding import Finding
from tensorboard_plugin_darshan.dashboard.insights_thresholds import limit

_TEXT_ENDINGS = (".txt", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".xml", ".text", ".log")


def tiny_files(facts: Facts) -> Finding | None:
    """Many whole files smaller than one sensible read."""
    places = facts.read_files
    sizes = facts.files.values["size_bytes"][places]
    tiny = places[sizes < limit("tiny_file")]
    known = facts.histograms.files("bytes_read")
    if len(tiny) < limit("tiny_files") or len(tiny) < 0.5 * len(places):
        return None
    values = facts.files.values
    share = values["bytes_read"][tiny].sum() / max(1.0, values["bytes_read"][places].sum())
    opening = values["metadata_seconds"][tiny].sum()
    reading = values["read_seconds"][tiny].sum()
    median = float(np.median(values["size_bytes"][tiny]))
    return Finding(
        "tiny-files",
        "high" if opening > reading else "medium",
        "input",
        f"{count(max(known, len(places)))} files were read, most of them tiny: "
        f"{size(median)} in the middle",
        (
            f"{count(len(tiny))} of the {count(len(places))} files listed are smaller than "
            f"{size(limit('tiny_file'))}; they hold {percent(float(share))} of the bytes read.",
            f"Opening them and the like took {seconds(float(opening))}, reading them "
            f"{seconds(float(reading))} (all threads together).",
        ),
        ("tiny_file", "tiny_files"),
        facts.name_files(tiny[np.argsort(-values["metadata_seconds"][tiny])]),
    )


def tiny_reads(facts: Facts) -> Finding | None:
    """Large files that are read in small pieces."""
    places, values = facts.read_files, facts.files.values
    reads, moved = values["reads"][places], values["bytes_read"][places]
    mean = moved / np.maximum(reads, 1)
    sized = np.nan_to_num(values["size_bytes"][places], nan=0.0)
    chosen = (mean < limit("tiny_read")) & (sized >= 16 * limit("tiny_read")) & (reads > 16)
    total, calls = facts.total("reads"), float(reads[chosen].sum())
    if calls < limit("tiny_reads") or calls < limit("tiny_reads_share") * total:
        return None
    found = places[chosen]
    return Finding(
        "tiny-reads",
        "medium",
        "input",
        f"{count(calls)} reads of {size(float(moved[chosen].sum()) / calls)} each from large files",
        (
            f"{count(len(found))} files of at least {size(16 * limit('tiny_read'))} were read in "
            f"pieces smaller than {size(limit('tiny_read'))}: {percent(calls / total)} of all "
            "reads.",
            f"These calls took {seconds(float(values['read_seconds'][found].sum()))} "
            "(all threads together).",
        ),
        ("tiny_read", "tiny_reads", "tiny_reads_share"),
        facts.name_files(found[np.argsort(-values["reads"][found])]),
    )


def zero_byte_reads(facts: Facts) -> Finding | None:
    """Reads at the end of files that return nothing."""
    zero, reads = facts.accesses.zero_byte_calls, facts.counter("POSIX_READS")
    if not zero or zero < limit("zero_reads") or zero < limit("zero_reads_share") * reads:
        return None
    opens = max(1, facts.counter("POSIX_OPENS"))
    return Finding(
        "zero-byte-reads",
        "medium" if zero >= 0.45 * reads else "low",
        "input",
        f"{percent(min(1.0, zero / reads))} of the reads returned nothing",
        (
            f"{count(zero)} of {count(reads)} reads moved 0 bytes, {significant(zero / opens)} a "
            "file opened: the reader finds the end of a file by reading past it.",
        ),
        ("zero_reads", "zero_reads_share"),
    )


def reopened_files(facts: Facts) -> Finding | None:
    """Files that are opened several times in each pass through the data."""
    places, values = facts.read_files, facts.files.values
    a_pass = values["opens"][places] / facts.passes
    chosen = places[a_pass >= limit("reopened")]
    opens = float(values["opens"][chosen].sum())
    if opens < limit("reopened_opens"):
        return None
    most = chosen[np.argsort(-values["opens"][chosen])]
    passes = f" in {facts.passes} epochs" if facts.epochs else ""
    return Finding(
        "reopened-files",
        "medium",
        "input",
        f"{count(len(chosen))} files were opened {significant(opens / len(chosen))} times each"
        f"{passes}",
        (
            f"{count(opens)} opens of files that are opened at least "
            f"{significant(limit('reopened'))} times a pass; metadata calls on them took "
            f"{seconds(float(values['metadata_seconds'][chosen].sum()))}.",
        ),
        ("reopened", "reopened_opens"),
        facts.name_files(most),
    )


def random_reads(facts: Facts) -> Finding | None:
    """Reads that jump back and forth in large files."""
    pattern = facts.accesses.patterns[0]
    jumps = max(0, pattern.other + pattern.sequential - facts.counter("POSIX_OPENS"))
    places, values = facts.read_files, facts.files.values
    sized = np.nan_to_num(values["size_bytes"][places], nan=0.0)
    large = places[(sized >= 16 * limit("tiny_read")) & (values["reads"][places] > 16)]
    if jumps < limit("random_reads") or jumps < limit("random_share") * pattern.total:
        return None
    if not len(large):
        return None
    return Finding(
        "random-reads",
        "medium",
        "input",
        f"{percent(jumps / pattern.total)} of the reads jump within large files",
        (
            f"{count(jumps)} of {count(pattern.total)} POSIX reads do not go on where the one "
            "before ended (the first read after each open left out).",
            f"{count(len(large))} files of at least {size(16 * limit('tiny_read'))} were read in "
            "many pieces.",
        ),
        ("random_reads", "random_share"),
        facts.name_files(large[np.argsort(-values["reads"][large])]),
    )


def misaligned(facts: Facts) -> Finding | None:
    """Accesses that do not begin at a block of the file system."""
    calls = facts.counter("POSIX_READS") + facts.counter("POSIX_WRITES")
    tail = facts.accesses.zero_byte_calls or 0
    off = facts.counter("POSIX_FILE_NOT_ALIGNED") - tail
    moved = calls - tail
    if off < limit("misaligned") or off < limit("misaligned_share") * moved:
        return None
    return Finding(
        "misaligned",
        "low",
        "input",
        f"{percent(min(1.0, off / moved))} of the accesses begin off a block of the file system",
        (
            f"{count(off)} of {count(moved)} reads and writes (those of 0 bytes left out) begin at "
            "an offset that is no multiple of the file's block size. It costs most on parallel "
            "file systems, and with direct I/O.",
        ),
        ("misaligned", "misaligned_share"),
    )


def metadata_heavy(facts: Facts) -> Finding | None:
    """More time in opens, stats and seeks than in moving data."""
    metadata = facts.total("metadata_seconds")
    moving = facts.total("read_seconds") + facts.total("write_seconds")
    calls = sum(
        facts.counter(f"POSIX_{name}") for name in ("OPENS", "STATS", "SEEKS", "RENAME_SOURCES")
    ) + facts.counter("STDIO_OPENS")
    whole = metadata + moving
    if calls < limit("metadata_calls") or metadata < limit("metadata_share") * whole:
        return None
    opens, stats = facts.counter("POSIX_OPENS"), facts.counter("POSIX_STATS")
    return Finding(
        "metadata-heavy",
        "high" if metadata >= 0.75 * whole else "medium",
        "input",
        f"{percent(metadata / whole)} of the time in calls went into metadata",
        (
            f"{count(calls)} metadata calls took {seconds(metadata)}, reads and writes "
            f"{seconds(moving)} (all threads together).",
            f"{count(opens)} opens, {count(stats)} stats, "
            f"{count(facts.counter('POSIX_SEEKS'))} seeks.",
        ),
        ("metadata_calls", "metadata_share"),
    )


def text_by_line(facts: Facts) -> Finding | None:
    """Text that is read through a small buffer, line by line."""
    values, files = facts.files.values, facts.files
    places = facts.read_files
    reads, moved = values["reads"][places], values["bytes_read"][places]
    mean = moved / np.maximum(reads, 1)
    is_text = np.array([files.lowered[i].endswith(_TEXT_ENDINGS) for i in places.tolist()], bool)
    is_stdio = files.modules[places] == "STDIO"
    by_line = (is_text | (is_stdio & (mean < 1024))) & (mean <= limit("text_read")) & (reads > 4)
    calls = float(reads[by_line].sum())
    if calls < limit("text_reads"):
        return None
    found = places[by_line]
    return Finding(
        "text-by-line",
        "medium",
        "input",
        f"Text is read in {count(calls)} calls of {size(float(moved[by_line].sum()) / calls)} each",
        (
            f"{count(len(found))} files of text or streams, read in pieces of at most "
            f"{size(limit('text_read'))}; the calls took "
            f"{seconds(float(values['read_seconds'][found].sum()))}.",
        ),
        ("text_read", "text_reads"),
        facts.name_files(found[np.argsort(-values["reads"][found])]),
    )


RULES = (
    tiny_files,
    tiny_reads,
    zero_byte_reads,
    reopened_files,
    random_reads,
    misaligned,
    metadata_heavy,
    text_by_line,
)
"""In the order in which findings of equal severity are shown."""
