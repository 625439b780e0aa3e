"""Whether a training waits for its input, how sure that is, and on what evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tensorboard_plugin_darshan.dashboard.format import bandwidth, percent, seconds, significant
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts, TrainingTime
from tensorboard_plugin_darshan.dashboard.insights_thresholds import limit

State = Literal["waiting", "maybe", "not_waiting", "unknown"]
Grade = Literal["none", "moderate", "high", "unknown"]
Kind = Literal["measured", "estimated", "none"]
Sureness = Literal["high", "medium", "low", "none"]

HOW_TO_MEASURE: Final = (
    "To measure it, put `with monitor.wait():` round the call that fetches the next batch in a "
    "loop of your own; Keras on PyTorch is measured by the callback."
)


@dataclass(frozen=True)
class Verdict:
    """The answer.

    Attributes:
        state: `maybe`: files can have held the training up, but nobody saw whether they did.
        grade: of the wait, as TensorBoard's profiler grades it.
        kind: whether the wait was measured, or estimated from the calls in flight.
        sureness: how sure the answer is.
        share: of training time: waited when measured, else the most that can have been; None when
            not known.
        for_files: whether faster files could shorten the training.
        sentence: the answer in words.
        evidence: what it rests on, never empty.
    """

    state: State
    grade: Grade
    kind: Kind
    sureness: Sureness
    share: float | None
    for_files: bool
    sentence: str
    evidence: tuple[str, ...]


def verdict(facts: Facts) -> Verdict:
    """The verdict on the windows of training steps."""
    training = facts.training
    if facts.selection.run.kind == "log":
        return _of_log(facts)
    if training.seconds < limit("train_seconds"):
        return _unknown(
            f"Too little training was recorded yet to judge: {seconds(training.seconds)}.",
            f"{seconds(training.seconds)} in windows of training steps; at least "
            f"{seconds(limit('train_seconds'))} are needed.",
        )
    if training.wait_known_seconds >= limit("train_seconds"):
        return _measured(facts, training)
    return _estimated(facts, training)


def _grade(share: float) -> Grade:
    if share >= limit("wait_high"):
        return "high"
    return "moderate" if share >= limit("wait_moderate") else "none"


def _measured(facts: Facts, training: TrainingTime) -> Verdict:
    share = training.wait_seconds / training.wait_known_seconds
    grade = _grade(share)
    evidence = (
        f"Measured: the training waited {seconds(training.wait_seconds)} of "
        f"{seconds(training.wait_known_seconds)} for its next batch.",
        *_activity(training),
        *_blind_spots(facts),
    )
    if grade == "none":
        return Verdict(
            *("not_waiting", grade, "measured", "high", share, False),
            f"Not waiting for input: {percent(share)} of training time (measured). Faster input "
            "would not make it faster.",
            evidence,
        )
    from_files = training.input_share >= share / 4 or bool(_blind_spots(facts))
    cause = (
        ""
        if from_files
        else f", but files were read in only {percent(training.input_share)} of the time: it waits "
        "for preprocessing or transfer, not for files"
    )
    return Verdict(
        *("waiting", grade, "measured", "high", share, from_files),
        f"Waiting for input {percent(share)} of training time (measured){cause}.",
        evidence,
    )


def _estimated(facts: Facts, training: TrainingTime) -> Verdict:
    share = training.input_share
    blind = _blind_spots(facts)
    evidence = (
        f"Estimated, because nobody measured the wait: a read or metadata call was in flight in at "
        f"most {percent(share)} of {seconds(training.seconds)} of training, so files cannot have "
        "held it up for longer.",
        *_activity(training),
        *_first_epoch(facts),
        *blind,
        HOW_TO_MEASURE,
    )
    if share < limit("wait_moderate"):
        if blind:
            return Verdict(
                *("unknown", "unknown", "none", "none", None, False),
                "Cannot tell whether the training waits for input: too much of it was not seen.",
                evidence,
            )
        return Verdict(
            *("not_waiting", "none", "estimated", "high", share, False),
            f"Not waiting for files: they were read in at most {percent(share)} of training time "
            "(estimate). Faster files would not make it faster.",
            evidence,
        )
    if share >= limit("saturated"):
        return Verdict(
            *("waiting", "high", "estimated", "medium", share, True),
            f"Probably waiting for input: readers hardly paused, in calls for up to "
            f"{percent(share)} of training time (estimate).",
            evidence,
        )
    return Verdict(
        *("maybe", _grade(share), "estimated", "low", share, True),
        f"Perhaps waiting for input, for at most {percent(share)} of training time (estimate).",
        evidence,
    )


def _of_log(facts: Facts) -> Verdict:
    reading = facts.total("read_seconds") + facts.total("metadata_seconds")
    return _unknown(
        "A Darshan log does not tell whether the training waited for input.",
        f"All processes together spent {seconds(reading)} in reads and metadata calls of a job of "
        f"{seconds(facts.selection.run.duration)}; when, and whether anybody waited, is not in it.",
    )


def _unknown(sentence: str, evidence: str) -> Verdict:
    return Verdict("unknown", "unknown", "none", "none", None, False, sentence, (evidence,))


def _activity(training: TrainingTime) -> tuple[str, ...]:
    if not training.busy_seconds:
        return ("No file call was in flight meanwhile.",)
    return (
        f"{significant(training.in_flight)} calls in flight while any was; "
        f"{bandwidth(training.bytes_read / training.seconds)} read on average.",
    )


def _first_epoch(facts: Facts) -> tuple[str, ...]:
    """What the difference between the first and the fastest later epoch says."""
    epochs = [row for row in facts.epochs if row.duration_seconds > 0]
    if len(epochs) < 2:
        return ()
    first, best = epochs[0], min(epochs[1:], key=lambda row: row.duration_seconds)
    return (
        f"Epoch {first.epoch + 1} took {seconds(first.duration_seconds)} with calls in flight for "
        f"{seconds(first.sums['busy_seconds'])}, epoch {best.epoch + 1} "
        f"{seconds(best.duration_seconds)} with {seconds(best.sums['busy_seconds'])}.",
    )


def _blind_spots(facts: Facts) -> tuple[str, ...]:
    found = []
    share = facts.seen.share
    kernel = facts.seen.kernel
    moved = kernel["rchar"] + kernel["wchar"] if kernel else 0
    if share is not None and share < limit("seen_share") and moved >= limit("seen_bytes"):
        found.append(f"Only {percent(share)} of the bytes that the kernel counted were seen.")
    if facts.counter("POSIX_MMAPS"):
        found.append(
            f"{facts.counter('POSIX_MMAPS')} mappings of files: reads through them are not seen."
        )
    return tuple(found)
