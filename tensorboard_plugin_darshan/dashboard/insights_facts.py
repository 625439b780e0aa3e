"""`Facts`: what the rules of the insights look at, computed once from a stretch of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import analysis, columns, distributions
from tensorboard_plugin_darshan.dashboard.file_table import FileRows, file_rows
from tensorboard_plugin_darshan.dashboard.format import shorten
from tensorboard_plugin_darshan.dashboard.phases import Phase, phases
from tensorboard_plugin_darshan.dashboard.run import Recording, number
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.modules import QUANTITIES, SHOWN
from tensorboard_plugin_darshan.window import BIN_COLUMNS

Array = columns.Array

TRAIN: Final = "train"
BESIDE_TRAINING: Final = frozenset({"validation", "evaluate", "predict", "checkpoint"})
"""Phases that are no training steps, for runs whose phases have names of their own."""

MAX_NAMED_FILES: Final = 5

_BUSY: Final = BIN_COLUMNS.index("busy_nanoseconds")
_IN_CALLS: Final = BIN_COLUMNS.index("call_nanoseconds")
_SECONDS: Final = ("read_seconds", "write_seconds", "metadata_seconds")


@dataclass(frozen=True)
class TrainingTime:
    """What the windows of training steps hold together, over all recordings.

    Attributes:
        seconds: their length.
        wait_known_seconds: length of those that know how long was waited.
        wait_seconds: how long was waited in them.
        busy_seconds: at least one call was in flight; of all threads, estimated.
        call_seconds: all threads together were in calls.
        read_seconds, write_seconds, metadata_seconds: likewise by kind.
        bytes_read: by all modules.
    """

    seconds: float = 0.0
    wait_known_seconds: float = 0.0
    wait_seconds: float = 0.0
    busy_seconds: float = 0.0
    call_seconds: float = 0.0
    read_seconds: float = 0.0
    write_seconds: float = 0.0
    metadata_seconds: float = 0.0
    bytes_read: float = 0.0

    @property
    def input_share(self) -> float:
        """Most of the time that can have gone by in reads and metadata calls, 0–1."""
        in_calls = self.read_seconds + self.metadata_seconds
        return min(1.0, min(self.busy_seconds, in_calls) / self.seconds) if self.seconds else 0.0

    @property
    def in_flight(self) -> float:
        """Mean number of calls in flight while at least one was."""
        return self.call_seconds / self.busy_seconds if self.busy_seconds else 0.0


@dataclass(frozen=True, eq=False)
class PerEpoch:
    """What POSIX read of a file in an epoch of training: `[n]` each."""

    paths: Array
    epochs: Array
    bytes_read: Array
    seconds: Array


@dataclass(frozen=True, eq=False)
class Facts:
    """Answers that several rules need.

    Attributes:
        selection: the stretch that is judged.
    """

    selection: Selection

    @cached_property
    def totals(self) -> Mapping[str, analysis.Totals]:
        """Totals by module."""
        return analysis.module_totals(self.selection)

    @cached_property
    def _counters(self) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for name in self.selection.base:
            sums = np.zeros(len(SHOWN[name].counters), np.int64)
            for _, _, module, mask in self.selection.parts(name):
                sums += module.counters[mask].sum(axis=0)
            found.update(zip(SHOWN[name].counters, sums.tolist(), strict=True))
        return found

    def counter(self, name: str) -> int:
        """An additive counter over all files, e.g. `POSIX_OPENS`; 0 when its module is missing."""
        return int(self._counters.get(name, 0))

    def total(self, name: str) -> float:
        """One of the fields of `analysis.Totals`, added over the modules that may be."""
        return sum(
            float(getattr(self.totals[module], name))
            for module in self.selection.base
            if module in self.totals
        )

    @cached_property
    def files(self) -> FileRows:
        """The table of files."""
        return file_rows(self.selection)

    @cached_property
    def read_files(self) -> Array:
        """Places in `files` of single files that were read more than written."""
        files = self.files
        single = np.array([not path.endswith("/") for path in files.paths], np.bool_)
        base = np.isin(files.modules.astype(str), self.selection.base)
        more = files.values["bytes_read"] > files.values["bytes_written"]
        return np.flatnonzero(single & base & more)

    def name_files(self, places: Array) -> tuple[str, ...]:
        """The first few of these files by their paths."""
        return tuple(shorten(self.files.paths[i], 100) for i in places[:MAX_NAMED_FILES].tolist())

    @cached_property
    def histograms(self) -> distributions.Histograms:
        """Distributions over all files."""
        return distributions.file_histograms(self.selection)

    @cached_property
    def accesses(self) -> distributions.AccessSizes:
        """Sizes and order of accesses."""
        return distributions.access_sizes(self.selection)

    @cached_property
    def phases(self) -> list[Phase]:
        """One row a phase and epoch."""
        return phases(self.selection)

    @cached_property
    def epochs(self) -> list[Phase]:
        """The rows of training epochs, in order."""
        return [row for row in self.phases if row.phase == TRAIN and row.epoch >= 0]

    @property
    def passes(self) -> int:
        """How often the data sets can have been gone through; at least 1."""
        return max(1, len(self.epochs))

    @cached_property
    def seen(self) -> analysis.Seen:
        """The recorder's bytes beside the kernel's."""
        return analysis.seen(self.selection)

    def training_windows(self) -> Iterator[tuple[Recording, Array]]:
        """Each recording with the mask of its windows that hold training steps: those of the phase
        `train`, or where there is none all but validation and the like.
        """
        parts = list(zip(self.selection.run.recordings, self.selection.masks, strict=True))
        has_train = any((r.windows.phase[mask] == TRAIN).any() for r, mask in parts)
        for recording, mask in parts:
            phase = recording.windows.phase
            if has_train:
                yield recording, mask & (phase == TRAIN)
            else:
                yield recording, mask & ~np.isin(phase.astype(str), list(BESIDE_TRAINING))

    @cached_property
    def training(self) -> TrainingTime:
        """What the windows of training steps hold together."""
        sums: dict[str, float] = dict.fromkeys(TrainingTime.__dataclass_fields__, 0.0)
        for recording, mask in self.training_windows():
            windows = recording.windows
            length = windows.end - windows.start
            known = mask & np.isfinite(windows.wait) & (windows.wait >= 0)
            sums["seconds"] += float(length[mask].sum())
            sums["wait_known_seconds"] += float(length[known].sum())
            sums["wait_seconds"] += float(np.minimum(windows.wait, length)[known].sum())
            busy = np.zeros(len(windows))
            for name in self.selection.base:
                module = windows.modules.get(name)
                if module is None:
                    continue
                busy += module.bin_sums[:, _BUSY] / 1e9
                sums["call_seconds"] += float(module.bin_sums[mask, _IN_CALLS].sum()) / 1e9
                read = list(QUANTITIES[name]["bytes_read"])
                sums["bytes_read"] += int(module.counters[mask][:, read].sum())
                for kind in _SECONDS:
                    places = list(QUANTITIES[name][kind])
                    sums[kind] += float(module.fcounters[mask][:, places].sum())
            sums["busy_seconds"] += float(np.minimum(busy, length)[mask].sum())
        return TrainingTime(**sums)

    @cached_property
    def per_epoch(self) -> PerEpoch:
        """What was read of the listed files in each epoch of training."""
        parts: list[tuple[Array, ...]] = []
        for recording, mask in self.training_windows():
            module = recording.windows.modules.get("POSIX")
            if module is None:
                continue
            rows = columns.rows_of(module.files, mask)
            file = module.files["file"][rows].astype(np.int64)
            epoch = recording.windows.epoch[module.files["window"][rows]]
            epochs, place = np.unique(epoch, return_inverse=True)
            keys, owner = np.unique(file * len(epochs) + place, return_inverse=True)
            n = len(keys)
            names = recording.index.paths
            files, place = np.divmod(keys, max(1, len(epochs)))
            paths = np.array([names[i] for i in files.tolist()], object)
            moved = np.bincount(owner, module.files["bytes_read"][rows], minlength=n)
            seconds = np.bincount(owner, module.files["read_nanoseconds"][rows], minlength=n)
            parts.append((paths, epochs[place], moved, seconds / 1e9))
        if not parts:
            empty = np.zeros(0)
            return PerEpoch(np.zeros(0, object), empty, empty, empty)
        return PerEpoch(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def in_flight_of(self, epoch: int) -> float:
        """Mean number of calls in flight in an epoch of training while any was."""
        busy = in_calls = 0.0
        for recording, mask in self.training_windows():
            rows = mask & (recording.windows.epoch == epoch)
            for name in self.selection.base:
                module = recording.windows.modules.get(name)
                if module is not None:
                    busy += float(module.bin_sums[rows, _BUSY].sum())
                    in_calls += float(module.bin_sums[rows, _IN_CALLS].sum())
        return in_calls / busy if busy else 0.0

    @cached_property
    def job(self) -> Mapping[str, Any]:
        """The first job description."""
        return next((r.job for r in self.selection.run.recordings if r.job), {})

    @cached_property
    def memory_bytes(self) -> float | None:
        """Memory of the machine that trained, where it told."""
        return number(self.job, "memory_bytes")

    @cached_property
    def mounts(self) -> list[tuple[str, str]]:
        """Path and type of the mounts, the longest paths first."""
        found = self.job.get("mounts")
        known = [
            (str(mount["path"]), str(mount.get("type", "")))
            for mount in (found if isinstance(found, list) else [])
            if isinstance(mount, Mapping) and isinstance(mount.get("path"), str)
        ]
        return sorted(known, key=lambda mount: -len(mount[0]))

    def mount_of(self, path: str) -> str:
        """The mount that a path lies on, `/` when none is known."""
        for mount, _ in self.mounts:
            if path == mount or path.startswith(mount.rstrip("/") + "/"):
                return mount
        return "/"
