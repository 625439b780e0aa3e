"""When something counts as a finding: every limit of the rules, by name, with its source."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

_DRISHTI: Final = "Drishti's default for the same question"
_XPROF: Final = "the grade that TensorBoard's profiler (xprof) gives"
_DARSHAN: Final = "the limit of one of Darshan's access-size ranges"
_OURS: Final = "chosen here: below it the effect is lost in the noise of a training"
_PIPELINE: Final = "tf.data's and PyTorch's guides: fewer and larger files, read in large pieces"


@dataclass(frozen=True)
class Threshold:
    """A limit of a rule.

    Attributes:
        name: what findings call it.
        value: the limit.
        unit: of `value`: `share`, `bytes`, `calls`, `files`, `seconds`, `times`, `processes`.
        source: where the number comes from.
    """

    name: str
    value: float
    unit: str
    source: str


_ALL: Final = (
    Threshold("wait_moderate", 0.05, "share", _XPROF),
    Threshold("wait_high", 0.20, "share", _XPROF),
    Threshold("saturated", 0.80, "share", "chosen here: readers that hardly ever pause"),
    Threshold("train_seconds", 0.5, "seconds", "chosen here: shorter trainings are start-up"),
    Threshold("tiny_file", 1024**2, "bytes", _DRISHTI + " (small request), for whole files"),
    Threshold("tiny_files", 100, "files", _OURS),
    Threshold("tiny_read", 64 * 1024, "bytes", _PIPELINE),
    Threshold("tiny_reads", 1000, "calls", _DRISHTI),
    Threshold("tiny_reads_share", 0.10, "share", _DRISHTI),
    Threshold("zero_reads_share", 0.25, "share", "half of it is what one such read a file makes"),
    Threshold("zero_reads", 100, "calls", _OURS),
    Threshold("reopened", 3, "times", "chosen here: once to list, once to check, once to read"),
    Threshold("reopened_opens", 100, "calls", _OURS),
    Threshold("random_share", 0.20, "share", _DRISHTI),
    Threshold("random_reads", 1000, "calls", _DRISHTI),
    Threshold("misaligned_share", 0.10, "share", _DRISHTI),
    Threshold("misaligned", 1000, "calls", _OURS),
    Threshold("metadata_share", 0.50, "share", "chosen here: more time than all data took"),
    Threshold("metadata_calls", 1000, "calls", _OURS),
    Threshold("one_reader", 1.2, "calls", "chosen here: mean calls in flight while any is"),
    Threshold("more_readers_loss", 0.20, "share", _OURS),
    Threshold("more_readers_seconds", 0.2, "seconds", _OURS),
    Threshold("cold_share", 0.50, "share", "chosen here: most bytes came from the device"),
    Threshold("fits_memory", 0.60, "share", "chosen here: leaves room for the training itself"),
    Threshold("warm_gain", 2.0, "times", _OURS),
    Threshold("outlier_factor", 10.0, "times", "chosen here: a decade below the median file"),
    Threshold("outlier_share", 0.05, "share", _XPROF),
    Threshold("outlier_bytes", 64 * 1024, "bytes", "chosen here: smaller files vary by themselves"),
    Threshold("mount_factor", 3.0, "times", _OURS),
    Threshold("mount_share", 0.10, "share", _OURS),
    Threshold("slower_factor", 2.0, "times", _OURS),
    Threshold("slower_seconds", 0.2, "seconds", _OURS),
    Threshold("slower_crowd", 1.5, "times", "chosen here: more calls at once are slower each"),
    Threshold("imbalance", 0.30, "share", _DRISHTI),
    Threshold("imbalance_bytes", 1024**2, "bytes", _OURS),
    Threshold("shard_share", 0.90, "share", "chosen here: ranks share nearly all their files"),
    Threshold("shard_files", 10, "files", _OURS),
    Threshold("write_stall", 0.05, "share", _XPROF),
    Threshold("write_stall_seconds", 0.2, "seconds", _OURS),
    Threshold("small_write", 1024, "bytes", _DARSHAN),
    Threshold("small_writes", 1000, "calls", _DRISHTI),
    Threshold("small_writes_share", 0.50, "share", _OURS),
    Threshold("fsyncs", 50, "calls", _OURS),
    Threshold("fsync_bytes", 4 * 1024**2, "bytes", _DARSHAN),
    Threshold("validation_share", 1.0, "times", "chosen here: validation should cost less"),
    Threshold("validation_bytes", 1024**2, "bytes", _OURS),
    Threshold("text_read", 16 * 1024, "bytes", "Python's own buffer for text is 8 KiB"),
    Threshold("text_reads", 500, "calls", _OURS),
    Threshold("mapped_files", 1, "calls", "one mapping is enough to hide a data set"),
    Threshold("seen_share", 0.90, "share", "chosen here: conclusions need most of the bytes"),
    Threshold("seen_bytes", 16 * 1024**2, "bytes", _OURS),
)

THRESHOLDS: Final = MappingProxyType({threshold.name: threshold for threshold in _ALL})
"""Name → threshold, in the order of `docs/insights.md`."""


def limit(name: str) -> float:
    """Value of a threshold."""
    return THRESHOLDS[name].value
