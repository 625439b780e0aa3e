"""`Selection`: the part of a run that a question is about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tensorboard_plugin_darshan import modules
from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.run import Recording, Run

Array = columns.Array


@dataclass(frozen=True, eq=False)
class Selection:
    """What a question is about: a stretch of time of a run and some of its modules.

    A window belongs to the stretch when it overlaps it, and then counts as a whole.

    Attributes:
        run: the run.
        start, end: seconds on the run's axis, None for the run's ends.
        modules: names of the modules.
    """

    run: Run
    start: float | None = None
    end: float | None = None
    modules: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells the selection from others of the same run."""
        return self.start, self.end, self.modules

    @cached_property
    def base(self) -> tuple[str, ...]:
        """Those of the modules whose bytes and calls may be added up."""
        return modules.base(self.modules, self.run.modules)

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole run."""
        return self.start is None and self.end is None

    @cached_property
    def masks(self) -> tuple[Array, ...]:
        """For each recording the mask `[n_windows] bool` of the windows that count."""
        return tuple(self._mask(recording) for recording in self.run.recordings)

    def _mask(self, recording: Recording) -> Array:
        windows, offset = recording.windows, self.run.offset(recording)
        mask = np.ones(len(windows), np.bool_)
        if self.start is not None:
            mask &= (windows.end + offset > self.start) | (windows.start + offset >= self.start)
        if self.end is not None:
            mask &= windows.start + offset < self.end
        return mask

    @cached_property
    def counted(self) -> tuple[float, float] | None:
        """The stretch that the windows which count cover, or None without any."""
        bounds = [
            (offset + r.windows.start[mask].min(), offset + r.windows.end[mask].max())
            for r, mask in zip(self.run.recordings, self.masks, strict=True)
            if mask.any()
            for offset in [self.run.offset(r)]
        ]
        if not bounds:
            return None
        return float(min(low for low, _ in bounds)), float(max(high for _, high in bounds))

    @cached_property
    def counted_seconds(self) -> float:
        """How long any recording went on in the windows which count: what rates divide by."""
        edges: list[tuple[float, float]] = []
        for r, mask in zip(self.run.recordings, self.masks, strict=True):
            offset = self.run.offset(r)
            starts, ends = r.windows.start[mask] + offset, r.windows.end[mask] + offset
            edges += zip(starts.tolist(), ends.tolist(), strict=True)
        total, latest = 0.0, 0.0
        for start, end in sorted(edges):
            total += max(0.0, end - max(start, latest))
            latest = max(latest, end)
        return total

    @property
    def range(self) -> tuple[float, float] | None:
        """The stretch asked for, cut to the run; None when it lies outside or is empty."""
        start = self.start or 0.0
        end = self.run.duration if self.end is None else min(self.end, self.run.duration)
        return (start, end) if start < end and self.counted else None

    def covers_begin(self, place: int) -> bool:
        """Whether it holds all windows of the recording at `place` up to its last one."""
        recording, mask = self.run.recordings[place], self.masks[place]
        starts = recording.windows
        return (
            len(starts) > 0
            and bool(mask[0])
            and (
                self.start is None
                or int(starts.sequence[0]) == 0
                or self.start <= self.run.offset(recording)
            )
        )

    def parts(self, name: str) -> list[tuple[int, Recording, columns.ModuleColumns, Array]]:
        """Place, recording, columns and mask of each recording that has the module."""
        return [
            (place, recording, recording.windows.modules[name], mask)
            for place, (recording, mask) in enumerate(
                zip(self.run.recordings, self.masks, strict=True)
            )
            if name in recording.windows.modules
        ]
