"""Rules that compare files, mounts, and the processes of a training with each other."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_darshan.dashboard.format import bandwidth, count, percent, seconds, size
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts
from tensorboard_plugin_darshan.dashboard.insights_finding import Finding
from tensorboard_plugin_darshan.dashboard.insights_thresholds import limit
from tensorboard_plugin_darshan.modules import QUANTITIES


def slow_files(facts: Facts) -> Finding | None:
    """A few files that read far slower than the others."""
    places, values = facts.read_files, facts.files.values
    known = (values["bytes_read"][places] >= limit("outlier_bytes")) & (
        values["read_seconds"][places] > 0
    )
    places = places[known]
    if len(places) < 8:
        return None
    moved, taken = values["bytes_read"][places], values["read_seconds"][places]
    speed = moved / taken
    median = float(np.median(speed))
    slow = speed < median / limit("outlier_factor")
    lost = float((taken - moved / median)[slow].sum())
    if not slow.any() or slow.sum() > 0.25 * len(places):
        return None
    if lost < limit("outlier_share") * float(taken.sum()):
        return None
    found = places[slow][np.argsort(speed[slow])]
    return Finding(
        "slow-files",
        "medium",
        "input",
        f"{count(len(found))} of {count(len(places))} files read at least "
        f"{limit('outlier_factor'):.0f} times slower than the median",
        (
            f"The slowest gave {bandwidth(float(speed.min()))}, the median file "
            f"{bandwidth(median)}; at that pace they would have saved {seconds(lost)} of "
            f"{seconds(float(taken.sum()))} in reads (all threads together).",
        ),
        ("outlier_factor", "outlier_share", "outlier_bytes"),
        facts.name_files(found),
    )


def slow_mount(facts: Facts) -> Finding | None:
    """One mount is slower than another that the same run read from."""
    values = facts.files.values
    sums: dict[str, list[float]] = {}
    for i in facts.read_files.tolist():
        mount = sums.setdefault(facts.mount_of(facts.files.paths[i]), [0.0, 0.0])
        mount[0] += float(values["bytes_read"][i])
        mount[1] += float(values["read_seconds"][i])
    whole = sum(taken for _, taken in sums.values())
    speeds = {
        mount: moved / taken
        for mount, (moved, taken) in sums.items()
        if moved >= limit("imbalance_bytes") and taken > 0
    }
    if len(speeds) < 2:
        return None
    slow, fast = min(speeds, key=speeds.__getitem__), max(speeds, key=speeds.__getitem__)
    taken = sums[slow][1]
    if speeds[fast] < limit("mount_factor") * speeds[slow] or taken < limit("mount_share") * whole:
        return None
    kinds = dict(facts.mounts)
    return Finding(
        "slow-mount",
        "medium",
        "input",
        f"{slow} gave {bandwidth(speeds[slow])}, {fast} {bandwidth(speeds[fast])}",
        tuple(
            f"{mount} ({kinds.get(mount) or 'type not known'}): {size(sums[mount][0])} in "
            f"{seconds(sums[mount][1])} of reads."
            for mount in (slow, fast)
        ),
        ("mount_factor", "mount_share"),
        tuple(
            path
            for path in facts.name_files(
                np.array(
                    [
                        i
                        for i in facts.read_files.tolist()
                        if facts.mount_of(facts.files.paths[i]) == slow
                    ],
                    np.int64,
                )
            )
        ),
    )


def _moved(facts: Facts) -> dict[str, tuple[float, float]]:
    """Recording → bytes moved and seconds in calls."""
    found = {}
    for recording, mask in zip(facts.selection.run.recordings, facts.selection.masks, strict=True):
        moved = taken = 0.0
        for name in facts.selection.base:
            module = recording.windows.modules.get(name)
            if module is None:
                continue
            for kind in ("bytes_read", "bytes_written"):
                moved += float(module.counters[mask][:, list(QUANTITIES[name][kind])].sum())
            for kind in ("read_seconds", "write_seconds", "metadata_seconds"):
                taken += float(module.fcounters[mask][:, list(QUANTITIES[name][kind])].sum())
        found[recording.name] = (moved, taken)
    return found


def imbalance(facts: Facts) -> Finding | None:
    """Ranks or other processes of a run that read or wrote much more than others."""
    moved = _moved(facts)
    if len(moved) < 2:
        return None
    by_bytes = {name: pair[0] for name, pair in moved.items()}
    most, least = max(by_bytes, key=by_bytes.__getitem__), min(by_bytes, key=by_bytes.__getitem__)
    if by_bytes[most] < limit("imbalance_bytes"):
        return None
    gap = 1.0 - by_bytes[least] / by_bytes[most]
    if gap < limit("imbalance"):
        return None
    return Finding(
        "imbalance",
        "medium",
        "input",
        f"{least} moved {percent(gap)} fewer bytes than {most}",
        tuple(
            f"{name}: {size(moved[name][0])}, {seconds(moved[name][1])} in calls."
            for name in (most, least)
        ),
        ("imbalance", "imbalance_bytes"),
    )


def not_sharded(facts: Facts) -> Finding | None:
    """Every rank reads the same files."""
    sets = []
    for recording, mask in facts.training_windows():
        module = recording.windows.modules.get("POSIX")
        if module is None:
            return None
        rows = mask[module.files["window"]] & (module.files["bytes_read"] > 0)
        paths = recording.index.paths
        sets.append({paths[i] for i in np.unique(module.files["file"][rows]).tolist()})
    ranks = {recording.job.get("rank") for recording in facts.selection.run.recordings}
    if len(sets) < 2 or len(ranks) < 2 or min(map(len, sets)) < limit("shard_files"):
        return None
    common = set.intersection(*sets)
    share = len(common) / min(map(len, sets))
    if share < limit("shard_share"):
        return None
    return Finding(
        "not-sharded",
        "high",
        "input",
        f"All {len(sets)} ranks read the same {count(len(common))} files",
        (
            f"{percent(share)} of the files listed for a rank were read by every rank: the storage "
            f"delivers the data set {len(sets)} times.",
        ),
        ("shard_share", "shard_files"),
        tuple(sorted(common)[:5]),
    )


RULES = (not_sharded, slow_mount, slow_files, imbalance)
"""In the order in which findings of equal severity are shown."""
