"""How things are distributed: bandwidth over files, sizes and patterns over accesses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tensorboard_plugin_darshan import counters, modules
from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.analysis import lists_all_files
from tensorboard_plugin_darshan.dashboard.format import size
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.window import (
    HISTOGRAM_EDGES,
    HISTOGRAMS,
    N_HISTOGRAM_BINS,
    SLOWEST_PER_BIN,
    histogram_bin,
)

Array = columns.Array

DIRECTIONS: Final = ("read", "write")
MAX_COMMON_SIZES: Final = 32

_TRANSFERS: Final = (("bytes_read", "read_nanoseconds"), ("bytes_written", "write_nanoseconds"))


@dataclass(frozen=True)
class SlowFile:
    """A file that a histogram's bin names; bandwidth in bytes per second."""

    path: str
    bandwidth: float


@dataclass
class Histograms:
    """Distributions over files.

    Attributes:
        counts: `[len(HISTOGRAMS), N_HISTOGRAM_BINS] int64` over `HISTOGRAM_EDGES`.
        slow: (direction, bin) → its slowest files.
        once_a_window: a file counts once for each window in which it was active.
    """

    counts: Array = field(
        default_factory=lambda: np.zeros((len(HISTOGRAMS), N_HISTOGRAM_BINS), np.int64)
    )
    slow: dict[tuple[int, int], list[SlowFile]] = field(default_factory=dict)
    once_a_window: bool = False

    def files(self, name: str) -> int:
        """Number of files that one of `HISTOGRAMS` counts."""
        return int(self.counts[HISTOGRAMS.index(name)].sum())

    def median(self, name: str) -> float | None:
        """The value in the middle of one of `HISTOGRAMS`, to the width of a bin."""
        counts = self.counts[HISTOGRAMS.index(name)]
        total = int(counts.sum())
        if not total:
            return None
        place = int(np.searchsorted(np.cumsum(counts), (total + 1) // 2))
        return float(np.sqrt(HISTOGRAM_EDGES[place] * HISTOGRAM_EDGES[place + 1]))


def file_histograms(selection: Selection) -> Histograms:
    """Distributions over all files, one count a file and module.

    From the begin of a recording they are what it counted over all files so far, and for a single
    window what it counted in that window. For several windows they are computed from the lists of
    files where these are complete, else the windows' histograms are added.
    """
    found = Histograms()
    for name in selection.base:
        for place, recording, module, mask in selection.parts(name):
            shown = np.flatnonzero(module.present & mask)
            if not shown.size:
                continue
            paths = recording.index.paths
            if selection.covers_begin(place):
                _add_counted(found, module.histograms_total, shown[-1:])
                _add_slow(found, module.slow, int(shown[-1]), paths)
            elif shown.size > 1 and lists_all_files(module, mask):
                _add_listed(found, _listed_files(module, mask), paths, count=True)
            else:
                _add_counted(found, module.histograms, shown)
                _add_listed(found, _listed_files(module, mask), paths, count=False)
                found.once_a_window |= shown.size > 1
    for files in found.slow.values():
        files.sort(key=lambda file: file.bandwidth)
        del files[SLOWEST_PER_BIN:]
    return found


def _add_counted(found: Histograms, table: columns.Table, windows: Array) -> None:
    rows = np.isin(table["window"], windows)
    place, counted = table["place"][rows].astype(np.int64), table["count"][rows]
    added = np.bincount(place, weights=counted, minlength=found.counts.size)
    found.counts += added.astype(np.int64).reshape(found.counts.shape)


def _add_slow(found: Histograms, slow: columns.Table, window: int, paths: list[str]) -> None:
    rows = np.flatnonzero(slow["window"] == window)
    for file, direction, place, value in zip(
        *(slow[column][rows].tolist() for column in ("file", "direction", "place", "bandwidth")),
        strict=True,
    ):
        found.slow.setdefault((direction, place), []).append(SlowFile(paths[file], value))


def _listed_files(module: columns.ModuleColumns, mask: Array) -> dict[str, Array]:
    """Listed files of the windows that count, each once: `file` and its added-up columns."""
    rows = columns.rows_of(module.files, mask)
    file, owner = np.unique(module.files["file"][rows], return_inverse=True)
    listed = {"file": file}
    for column in ("opens", *(name for pair in _TRANSFERS for name in pair)):
        listed[column] = np.bincount(owner, module.files[column][rows], minlength=len(file))
    listed["size"] = np.zeros(len(file))
    np.maximum.at(listed["size"], owner, module.files["size_bytes"][rows].astype(np.float64))
    return listed


def _add_listed(found: Histograms, listed: dict[str, Array], paths: list[str], count: bool) -> None:
    """Names the slowest of the listed files and, when wanted, counts them all."""
    if count:
        for name in ("size", "bytes_read", "bytes_written", "opens"):
            values = listed[name][listed[name] > 0]
            _add_values(found.counts[HISTOGRAMS.index(name)], values)
    for direction, (moved, nanoseconds) in enumerate(_TRANSFERS):
        some = np.flatnonzero((listed[moved] > 0) & (listed[nanoseconds] > 0))
        bandwidth = listed[moved][some] / (listed[nanoseconds][some] / 1e9)
        if count:
            name = f"{DIRECTIONS[direction]}_bandwidth"
            _add_values(found.counts[HISTOGRAMS.index(name)], bandwidth)
        order = np.argsort(bandwidth)
        bins = histogram_bin(bandwidth[order])
        for place in np.unique(bins).tolist():
            first = int(np.searchsorted(bins, place))
            chosen = order[first : first + SLOWEST_PER_BIN]
            chosen = chosen[: int((bins == place).sum())]
            files = found.slow.setdefault((direction, place), [])
            for i in chosen.tolist():
                file = int(listed["file"][some[i]])
                files.append(SlowFile(paths[file], float(bandwidth[i])))


def _add_values(counts: Array, values: Array) -> None:
    counts += np.bincount(histogram_bin(values), minlength=N_HISTOGRAM_BINS)


@dataclass(frozen=True)
class Pattern:
    """How the accesses of one direction follow each other."""

    consecutive: int
    sequential: int
    other: int
    total: int


@dataclass(frozen=True)
class CommonSize:
    """An access size that is frequent; `share` of all accesses of its module."""

    module: str
    size_bytes: int
    count: int
    share: float | None


@dataclass(frozen=True)
class AccessSizes:
    """What the accesses looked like. STDIO has no counters for it, and only POSIX has patterns.

    Attributes:
        counts: `[2, 10] int64`, reads and writes in `counters.SIZE_BUCKETS`.
        patterns: reads and writes.
        common: most frequent sizes first.
        surplus: each count in `common` may be too large by this much, because the lists of
            frequent sizes before the stretch do not hold rare ones.
        zero_byte_calls: reads and writes that moved nothing, as reads at the end of a file do;
            None when the most frequent sizes do not tell.
    """

    counts: Array
    patterns: tuple[Pattern, Pattern]
    common: tuple[CommonSize, ...]
    surplus: int
    zero_byte_calls: int | None


def access_sizes(selection: Selection) -> AccessSizes:
    """Sizes and common sizes of the accesses in the stretch, and patterns of the POSIX ones."""
    counts = np.zeros((2, len(counters.SIZE_BUCKETS)), np.int64)
    patterns = (Pattern(0, 0, 0, 0), Pattern(0, 0, 0, 0))
    common: list[CommonSize] = []
    surplus = 0
    zero_byte_calls: int | None = 0
    for name in sized_modules(selection):
        layout, parts = modules.SHOWN[name], selection.parts(name)
        sums = np.zeros(len(layout.counters), np.int64)
        for _, _, module, mask in parts:
            sums += module.counters[mask].sum(axis=0)
        counts += sums[modules.sizes(layout)]
        found, more = _common_sizes(selection, name)
        surplus = max(surplus, more)
        kinds = ("reads", "writes")
        accesses = sum(int(sums[list(modules.QUANTITIES[name][kind])].sum()) for kind in kinds)
        common += [
            CommonSize(name, size_bytes, n, n / accesses if accesses else None)
            for size_bytes, n in found.items()
        ]
        if name == "POSIX":
            zero_byte_calls = found.get(0, 0 if sum(found.values()) >= accesses else None)
            patterns = (_pattern(sums, "READS"), _pattern(sums, "WRITES"))
    common.sort(key=lambda size: (-size.count, size.size_bytes))
    return AccessSizes(counts, patterns, tuple(common[:MAX_COMMON_SIZES]), surplus, zero_byte_calls)


def sized_modules(selection: Selection) -> tuple[str, ...]:
    """Those of the modules whose accesses are counted by size."""
    return tuple(
        name
        for name in selection.base
        if name in selection.run.modules and modules.sizes(modules.SHOWN[name]) is not None
    )


def _pattern(sums: Array, kind: str) -> Pattern:
    """Darshan counts every consecutive access as sequential too."""
    total, sequential, consecutive = (
        int(sums[counters.POSIX.index[f"POSIX_{prefix}{kind}"]])
        for prefix in ("", "SEQ_", "CONSEC_")
    )
    return Pattern(consecutive, max(0, sequential - consecutive), max(0, total - sequential), total)


def _common_sizes(selection: Selection, name: str) -> tuple[dict[int, int], int]:
    """Size → count in the stretch, and by how much a count can be too large."""
    found: dict[int, int] = {}
    surplus = 0
    for place, _, module, mask in selection.parts(name):
        shown = np.flatnonzero(module.present & mask)
        if not shown.size:
            continue
        before: dict[int, int] = {}
        if not selection.covers_begin(place):
            earlier = np.flatnonzero(module.present[: shown[0]])
            before = _sizes_at(module, int(earlier[-1])) if earlier.size else {}
        for size_bytes, n in _sizes_at(module, int(shown[-1])).items():
            if before and size_bytes not in before:
                surplus = max(surplus, min(n, *before.values()))
            known = n - before.get(size_bytes, 0)
            if known > 0:
                found[size_bytes] = found.get(size_bytes, 0) + known
    return found, surplus


def _sizes_at(module: columns.ModuleColumns, window: int) -> dict[int, int]:
    table = module.common_sizes
    rows = table["window"] == window
    return dict(zip(table["size"][rows].tolist(), table["count"][rows].tolist(), strict=True))


def bucket_label(place: int) -> str:
    """Darshan's label of an access-size range, e.g. `100 B–1 KiB`."""
    limits = counters.SIZE_BUCKET_LIMITS
    if place == 0:
        return f"0–{size(limits[0])}"
    if place == len(limits):
        return f"over {size(limits[-1])}"
    return f"{size(limits[place - 1])}–{size(limits[place])}"
