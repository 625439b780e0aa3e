"""Rules about the course of reading: readers at once, epochs, memory, validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tensorboard_plugin_darshan.dashboard.format import (
    bandwidth,
    count,
    percent,
    ratio,
    seconds,
    significant,
    size,
)
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts
from tensorboard_plugin_darshan.dashboard.insights_finding import Finding
from tensorboard_plugin_darshan.dashboard.insights_thresholds import limit
from tensorboard_plugin_darshan.dashboard.phases import Phase
from tensorboard_plugin_darshan.dashboard.timeline import timeline


def one_reader(facts: Facts) -> Finding | None:
    """Files are read one after the other while the training may wait for them."""
    training = facts.training
    busy_share = ratio(training.busy_seconds, training.seconds) or 0.0
    if training.seconds < limit("train_seconds") or training.in_flight > limit("one_reader"):
        return None
    if training.input_share < limit("wait_high"):
        return None
    return Finding(
        "one-reader",
        "high",
        "input",
        f"One reader at a time, in calls for {percent(busy_share)} of training time",
        (
            f"{significant(training.in_flight)} calls in flight on average while any was, in "
            f"{seconds(training.seconds)} of training; "
            f"{bandwidth(ratio(training.bytes_read, training.busy_seconds))} meanwhile.",
        ),
        ("one_reader", "wait_high"),
    )


@dataclass(frozen=True)
class _Level:
    """What was read while so many calls were in flight."""

    in_flight: int
    seconds: float
    bandwidth: float
    read_bytes: float


def _levels(facts: Facts) -> list[_Level]:
    line = timeline(facts.selection)
    if line is None:
        return []
    busy = line.sums["busy_nanoseconds"] / 1e9
    reading = (line.sums["read_bytes"] > line.sums["write_bytes"]) & (busy > 0)
    level = np.zeros(len(busy), np.int64)
    in_calls = line.sums["call_nanoseconds"] / 1e9
    level[reading] = np.maximum(1, np.rint(in_calls[reading] / busy[reading]))
    found = []
    for n in np.unique(level[reading]).tolist():
        rows = level == n
        taken = float(busy[rows].sum())
        moved, calls = (float(line.sums[name][rows].sum()) for name in ("read_bytes", "reads"))
        found.append(_Level(n, taken, moved / taken, moved / max(1.0, calls)))
    return [one for one in found if one.seconds >= limit("more_readers_seconds")]


def more_readers(facts: Facts) -> Finding | None:
    """Bandwidth falls as more calls are in flight."""
    levels = _levels(facts)
    if len(levels) < 2:
        return None
    best, most = max(levels, key=lambda one: one.bandwidth), levels[-1]
    alike = 0.5 <= most.read_bytes / best.read_bytes <= 2.0
    loss = 1.0 - most.bandwidth / best.bandwidth
    if most.in_flight <= best.in_flight or loss < limit("more_readers_loss") or not alike:
        return None
    return Finding(
        "more-readers",
        "medium",
        "input",
        f"{percent(loss)} less bandwidth with {most.in_flight} calls in flight than with "
        f"{best.in_flight}",
        tuple(
            f"{one.in_flight} in flight: {bandwidth(one.bandwidth)} over {seconds(one.seconds)}, "
            f"{size(one.read_bytes)} a read."
            for one in (best, most)
        ),
        ("more_readers_loss", "more_readers_seconds"),
    )


def _device_share(row: Phase) -> float | None:
    known = ratio(row.sums["read_bytes"], row.sums["rchar"])
    return None if known is None else min(1.0, known)


def rereads_storage(facts: Facts) -> Finding | None:
    """Each epoch takes the same bytes from the device again."""
    epochs = [row for row in facts.epochs if row.sums["bytes_read"] > 0]
    if len(epochs) < 2:
        return None
    last = epochs[-1] if not _is_young(epochs) else epochs[-2]
    share, a_pass = _device_share(last), float(last.sums["bytes_read"])
    if last is epochs[0] or share is None or share < limit("cold_share"):
        return None
    memory = facts.memory_bytes
    fits = memory is not None and a_pass <= limit("fits_memory") * memory
    room = (
        f"One pass reads {size(a_pass)}; the machine has {size(memory)}: "
        + ("it would fit." if fits else "it would not fit.")
        if memory is not None
        else f"One pass reads {size(a_pass)}; how much memory the machine has is not known."
    )
    return Finding(
        "rereads-storage" if not fits else "fits-memory",
        "high" if fits else "medium",
        "input",
        f"Epoch {last.epoch + 1} read {percent(share)} of its {size(a_pass)} from the device again",
        (
            f"{len(epochs)} epochs read {size(sum(row.sums['bytes_read'] for row in epochs))} "
            "together.",
            room,
        ),
        ("cold_share", "fits_memory"),
    )


def _is_young(epochs: list[Phase]) -> bool:
    """Whether the newest epoch has not read half of what the one before it read."""
    return bool(epochs[-1].sums["bytes_read"] < 0.5 * epochs[-2].sums["bytes_read"])


def cold_epoch(facts: Facts) -> Finding | None:
    """The first epoch reads much slower than later ones: what came later was in memory."""
    rates = [
        (row, row.sums["bytes_read"] / row.sums["busy_seconds"])
        for row in facts.epochs
        if row.sums["busy_seconds"] > 0 and row.sums["bytes_read"] > 0
    ]
    if len(rates) < 2 or rates[0][0].epoch != facts.epochs[0].epoch:
        return None
    (first, cold), (later, warm) = rates[0], max(rates[1:], key=lambda rate: rate[1])
    slower = float(first.sums["busy_seconds"]) - float(first.sums["bytes_read"]) / warm
    if warm < limit("warm_gain") * cold or slower < limit("slower_seconds"):
        return None
    return Finding(
        "cold-epoch",
        "info",
        "input",
        f"Epoch {later.epoch + 1} read {significant(warm / cold)} times as fast as epoch "
        f"{first.epoch + 1}",
        (
            f"{bandwidth(cold)} while busy in epoch {first.epoch + 1}, {bandwidth(warm)} in epoch "
            f"{later.epoch + 1}: later epochs came from memory. {seconds(slower)} of the first "
            "went into the slower reads; only that would be saved by faster storage.",
        ),
        ("warm_gain", "slower_seconds"),
    )


def slower_later(facts: Facts) -> Finding | None:
    """The same files read slower in the newest epoch than in an earlier one."""
    per = facts.per_epoch
    if not len(per.paths) or len(np.unique(per.epochs)) < 2:
        return None
    newest = per.epochs.max()
    earlier = [facts.in_flight_of(int(epoch)) for epoch in np.unique(per.epochs)[:-1]]
    if facts.in_flight_of(int(newest)) > limit("slower_crowd") * min(earlier):
        return None
    pace: dict[str, float] = {}
    for path, moved, taken in _rows(per, per.epochs < newest):
        pace[path] = min(pace.get(path, np.inf), taken / moved)
    now = before = 0.0
    worst: list[tuple[float, str]] = []
    for path, moved, taken in _rows(per, per.epochs == newest):
        if path in pace:
            now, before = now + taken, before + pace[path] * moved
            worst.append((taken - pace[path] * moved, path))
    if now < limit("slower_factor") * before or now - before < limit("slower_seconds"):
        return None
    return Finding(
        "slower-later",
        "medium",
        "input",
        f"The same files read {significant(now / before)} times slower in epoch {int(newest) + 1} "
        "than before",
        (
            f"{count(len(worst))} files took {seconds(now)} in reads in epoch {int(newest) + 1}; "
            f"at their best earlier pace the same bytes took {seconds(before)}. Somebody else may "
            "use the same storage, or the page cache lost them.",
        ),
        ("slower_factor", "slower_seconds"),
        tuple(path for _, path in sorted(worst, reverse=True)[:5]),
    )


def _rows(per: object, mask: object) -> list[tuple[str, float, float]]:
    columns = (getattr(per, name)[mask] for name in ("paths", "bytes_read", "seconds"))
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [(path, moved, taken) for path, moved, taken in rows if moved > 0 and taken > 0]


def validation_reads(facts: Facts) -> Finding | None:
    """Validation reads more than training."""
    moved = {
        name: sum(int(row.sums["bytes_read"]) for row in facts.phases if row.phase == name)
        for name in ("train", "validation")
    }
    if moved["validation"] < max(1.0, limit("validation_share") * moved["train"]):
        return None
    if moved["validation"] < limit("validation_bytes") or not facts.epochs:
        return None
    taken = sum(row.duration_seconds for row in facts.phases if row.phase == "validation")
    return Finding(
        "validation-reads",
        "medium",
        "input",
        f"Validation read {size(moved['validation'])}, training {size(moved['train'])}",
        (f"Validation took {seconds(taken)} of {seconds(facts.selection.run.duration)}.",),
        ("validation_share", "validation_bytes"),
    )


RULES = (
    one_reader,
    more_readers,
    rereads_storage,
    slower_later,
    validation_reads,
    cold_epoch,
)
"""In the order in which findings of equal severity are shown."""
