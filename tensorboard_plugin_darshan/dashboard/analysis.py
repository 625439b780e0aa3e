"""What a stretch of a run did, in numbers: totals, phases, completeness, notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.format import count, ratio
from tensorboard_plugin_darshan.dashboard.rank_lanes import lane_names
from tensorboard_plugin_darshan.dashboard.run import Recording, Run, sentences
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.modules import QUANTITIES
from tensorboard_plugin_darshan.window import BIN_COLUMNS, PROCESS_IO

Array = columns.Array

_CALLS: Final = ("bytes_read", "bytes_written", "reads", "writes", "opens")
_SECONDS: Final = ("read_seconds", "write_seconds", "metadata_seconds")
_BUSY: Final = BIN_COLUMNS.index("busy_nanoseconds")
_METADATA: Final = BIN_COLUMNS.index("metadata_calls")


@dataclass(frozen=True)
class Totals:
    """What one module did; bytes, counts and seconds added over files and recordings."""

    bytes_read: int = 0
    bytes_written: int = 0
    reads: int = 0
    writes: int = 0
    opens: int = 0
    files: int = 0
    read_seconds: float = 0.0
    write_seconds: float = 0.0
    metadata_seconds: float = 0.0


@dataclass(frozen=True)
class Stretch:
    """Consecutive windows of equal phase and epoch; seconds on the run's axis."""

    phase: str
    epoch: int
    start: float
    end: float


@dataclass
class Phase:
    """All that a run did in one phase of one epoch (-1: outside epochs).

    `duration_seconds` is the longest among the ranks, `recorded_seconds` the sum of recordings.
    """

    phase: str
    epoch: int
    start: float
    end: float
    duration_seconds: float = 0.0
    recorded_seconds: float = 0.0
    sums: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Seen:
    """The recorder's bytes beside the kernel's, over the windows where the kernel's are known."""

    recorder_read: int
    recorder_written: int
    kernel: dict[str, int] | None

    @property
    def share(self) -> float | None:
        """Recorder's bytes ÷ the kernel's `rchar + wchar`."""
        if self.kernel is None:
            return None
        whole = self.kernel["rchar"] + self.kernel["wchar"]
        return ratio(self.recorder_read + self.recorder_written, whole)

    @property
    def cache_share(self) -> float | None:
        """Share of the bytes read that came from the page cache: `1 - read_bytes/rchar`."""
        if self.kernel is None:
            return None
        device = ratio(self.kernel["read_bytes"], self.kernel["rchar"])
        return None if device is None else max(0.0, 1.0 - device)


def module_totals(selection: Selection) -> dict[str, Totals]:
    """Totals `{module: Totals}` of the modules selected that have any record."""
    found = {}
    for name in selection.modules:
        quantities, parts = QUANTITIES[name], selection.parts(name)
        if name not in selection.run.modules or not any(
            (module.present & mask).any() for _, _, module, mask in parts
        ):
            continue
        whole = np.sum([m.counters[mask].sum(axis=0) for _, _, m, mask in parts], axis=0)
        times = np.sum([m.fcounters[mask].sum(axis=0) for _, _, m, mask in parts], axis=0)
        values: dict[str, Any] = {c: int(whole[list(quantities[c])].sum()) for c in _CALLS}
        values |= {c: float(times[list(quantities[c])].sum()) for c in _SECONDS}
        found[name] = Totals(**values, files=files_of(selection, name)[0])
    return found


def files_of(selection: Selection, name: str) -> tuple[int, bool]:
    """Number of files of a module in the stretch, and whether it is exact: without the begin of
    the run and with files folded into directories it is only a lower bound.
    """
    total, exact = 0, True
    for place, _, module, mask in selection.parts(name):
        shown = np.flatnonzero(module.present & mask)
        if not shown.size:
            continue
        if selection.covers_begin(place):
            total += int(module.files_total[shown[-1]])
        elif shown.size == 1:
            total += int(module.files_active[shown[0]])
        else:
            rows = columns.rows_of(module.files, mask)
            listed = np.unique(module.files["file"][rows]).size
            total += max(listed, int(module.files_active[shown].max()))
            exact &= lists_all_files(module, mask)
    return total, exact


def lists_all_files(module: columns.ModuleColumns, mask: Array) -> bool:
    """Whether the windows in `mask` list every file that was active in them."""
    listed = np.bincount(module.files["window"], minlength=len(mask))
    return bool((listed[mask] >= module.files_active[mask]).all())


def busy_seconds(selection: Selection) -> float:
    """Time in which at least one call was in flight, added over recordings; modules count
    together up to the length of each window.
    """
    return sum(
        float(_busy(selection, recording, mask)[mask].sum())
        for recording, mask in zip(selection.run.recordings, selection.masks, strict=True)
    )


def _busy(selection: Selection, recording: Recording, mask: Array) -> Array:
    modules = recording.windows.modules
    busy: Array = np.zeros(len(mask))
    for name in selection.base:
        if name in modules:
            busy += modules[name].bin_sums[:, _BUSY] / 1e9
    limited: Array = np.minimum(busy, recording.windows.end - recording.windows.start)
    return limited


def stretches(selection: Selection) -> list[Stretch]:
    """Stretches of the windows that count, in order of time; what several recordings did at the
    same time in the same phase and epoch is one. Outside all phases there are none.
    """
    found = sorted(
        (
            stretch
            for recording, mask in zip(selection.run.recordings, selection.masks, strict=True)
            for stretch, _ in _stretches(selection.run, recording, mask)
            if stretch.phase
        ),
        key=lambda stretch: (stretch.start, stretch.end),
    )
    merged: list[Stretch] = []
    latest: dict[tuple[str, int], int] = {}
    for stretch in found:
        key = (stretch.phase, stretch.epoch)
        place = latest.get(key)
        if place is not None and stretch.start < merged[place].end:
            known = merged[place]
            end = max(known.end, stretch.end)
            merged[place] = Stretch(known.phase, known.epoch, known.start, end)
        else:
            latest[key] = len(merged)
            merged.append(stretch)
    return merged


def _stretches(run: Run, recording: Recording, mask: Array) -> Iterator[tuple[Stretch, Array]]:
    """Stretches of one recording, each with the places of its windows."""
    windows, offset = recording.windows, run.offset(recording)
    places = np.flatnonzero(mask)
    if not places.size:
        return
    phase, epoch = windows.phase[places], windows.epoch[places]
    changes = np.flatnonzero((phase[1:] != phase[:-1]) | (epoch[1:] != epoch[:-1])) + 1
    for group in np.split(places, changes):
        yield (
            Stretch(
                str(windows.phase[group[0]]),
                int(windows.epoch[group[0]]),
                float(windows.start[group[0]] + offset),
                float(windows.end[group[-1]] + offset),
            ),
            group,
        )


def phases(selection: Selection) -> list[Phase]:
    """One row for each phase of each epoch, in order of time."""
    rows: dict[tuple[str, int], Phase] = {}
    lengths: dict[tuple[str, int, str], float] = {}
    names = lane_names(selection.run)
    for recording, mask, rank in zip(selection.run.recordings, selection.masks, names, strict=True):
        sums = _window_sums(selection, recording, mask)
        groups = list(_stretches(selection.run, recording, mask))
        starts = np.cumsum([0, *(len(places) for _, places in groups)])[:-1]
        added = {
            name: np.add.reduceat(values[mask], starts).tolist() if groups else []
            for name, values in sums.items()
        }
        for place, (stretch, _) in enumerate(groups):
            key = (stretch.phase, stretch.epoch)
            row = rows.setdefault(key, Phase(*key, stretch.start, stretch.end))
            row.start, row.end = min(row.start, stretch.start), max(row.end, stretch.end)
            row.recorded_seconds += (length := stretch.end - stretch.start)
            lengths[*key, rank] = lengths.get((*key, rank), 0.0) + length
            row.duration_seconds = max(row.duration_seconds, lengths[*key, rank])
            for name, values in added.items():
                row.sums[name] = row.sums.get(name, 0) + values[place]
    return sorted(rows.values(), key=lambda row: (row.start, row.end))


def _window_sums(selection: Selection, recording: Recording, mask: Array) -> dict[str, Array]:
    """What each window of a recording did, `[n_windows]` a column, over the selected modules."""
    windows = recording.windows
    sums = {"busy_seconds": _busy(selection, recording, mask)}
    for column in (*_CALLS, "metadata_calls"):
        sums[column] = np.zeros(len(windows), np.int64)
    for name in selection.base:
        module = windows.modules.get(name)
        if module is not None:
            for column in _CALLS:
                sums[column] += module.counters[:, list(QUANTITIES[name][column])].sum(axis=1)
            sums["metadata_calls"] += module.bin_sums[:, _METADATA]
    for column, values in zip(PROCESS_IO, windows.process_io.T, strict=True):
        sums[column] = np.maximum(values, 0)
    return sums


def seen(selection: Selection) -> Seen:
    """How much of what the kernel counted the recorder counted too, over all modules."""
    read = written = 0
    kernel = np.zeros(len(PROCESS_IO), np.int64)
    known_any = False
    for recording, mask in zip(selection.run.recordings, selection.masks, strict=True):
        io = recording.windows.process_io
        known = mask & (io >= 0).all(axis=1)
        known_any |= bool(known.any())
        kernel += io[known].sum(axis=0)
        for name, module in recording.windows.modules.items():
            if name not in counters.LAYOUTS:
                continue
            index = counters.LAYOUTS[name].index
            read += int(module.counters[known, index[f"{name}_BYTES_READ"]].sum())
            written += int(module.counters[known, index[f"{name}_BYTES_WRITTEN"]].sum())
    named = dict(zip(PROCESS_IO, kernel.tolist(), strict=True))
    return Seen(read, written, named if known_any else None)


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
