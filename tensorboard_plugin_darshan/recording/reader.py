"""Reads the records of one process: this one, or a child whose memory is mapped here."""

from __future__ import annotations

import enum
import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.recording.native import native
from tensorboard_plugin_darshan.recording.records import (
    SEGMENT_DTYPE,
    ModuleArrays,
    SegmentArray,
    Totals,
)
from tensorboard_plugin_darshan.window import BIN_COLUMNS, BinSeries, Int64Array

MODULES: Final = tuple(counters.LAYOUTS)
OWN_HANDLE: Final = 0
_NANOSECONDS: Final = 1e9


class Ending(enum.IntEnum):
    """What a process said of its end; `enum ended` of `native/arena.h`."""

    NONE = 0
    EXITED = 1
    BECAME_ANOTHER_PROGRAM = 2


@dataclass(frozen=True)
class ProcessFacts:
    """What is known of a process.

    Attributes:
        pid, parent: process ids.
        alive: whether it still runs.
        own_writer: it writes a recording of its own, and is not to be counted by others.
        refused_files: opens of files that went into the common record.
        mapped_files: files it mapped into memory, whose reads cannot be seen.
        rings: io_uring queues it made, whose reads cannot be seen.
        ending: what it said of its end.
        exit_status: its exit status, where it said one, else 0.
        programs: names of other programs that it started, the last few.
    """

    pid: int
    parent: int
    alive: bool
    own_writer: bool
    ending: Ending
    exit_status: int
    refused_files: int
    mapped_files: int
    rings: int
    programs: tuple[str, ...]

    @property
    def ended_badly(self) -> bool:
        """Whether it was killed, crashed, or exited with a status that tells of a failure."""
        exited = self.ending == Ending.EXITED
        return not self.alive and (self.ending == Ending.NONE or (exited and self.exit_status != 0))


class ProcessReader:
    """The records of one process.

    Args:
        handle: as the native part knows it.
    """

    def __init__(self, handle: int = OWN_HANDLE) -> None:
        self.handle: Final = handle

    def facts(self) -> ProcessFacts:
        """What is known of the process now."""
        facts = native().view_facts(self.handle)
        return ProcessFacts(
            facts["pid"],
            facts["parent"],
            facts["alive"],
            facts["own_writer"],
            Ending(facts["ended"]),
            facts["exit_status"],
            facts["refused"],
            facts["mappings"],
            facts["rings"],
            tuple(os.fsdecode(name) for name in facts["program_names"] if name),
        )

    def names(self, module: str, places: Int64Array) -> list[str]:
        """Paths of the records at `places`."""
        packed = places.astype(np.uint32).tobytes()
        found = native().names(self.handle, MODULES.index(module), packed)
        return [os.fsdecode(name) for name in found]

    def arrays(
        self,
        module: str,
        lately: bool = False,
        find_names: Callable[[Int64Array], Sequence[str]] | None = None,
    ) -> ModuleArrays:
        """Records of a module.

        With `lately`, only those on which something happened since the last such call: the windows'
        own question, to be asked by one cutter.
        """
        layout = counters.LAYOUTS[module]
        indices, ids, ints, floats = native().records(self.handle, MODULES.index(module), lately)
        return ModuleArrays(
            np.frombuffer(ids, np.uint64),
            np.frombuffer(ints, np.int64).reshape(-1, len(layout.counters)),
            np.frombuffer(floats, np.float64).reshape(-1, len(layout.fcounters)),
            np.frombuffer(indices, np.uint32).astype(np.int64),
            find_names or functools.partial(self.names, module),
        )

    def totals(self, module: str) -> Totals:
        """All records of a module as one."""
        records, sums, maxima, fsums, fmaxima, fminima, sizes = native().totals(
            self.handle, MODULES.index(module)
        )
        common = np.frombuffer(sizes, np.int64).reshape(-1, 2)
        return Totals(
            records,
            np.frombuffer(sums, np.int64),
            np.frombuffer(maxima, np.int64),
            np.frombuffer(fsums),
            np.frombuffer(fmaxima),
            np.frombuffer(fminima),
            common[common[:, 1] > 0],
            partial=self.facts().refused_files > 0,
        )

    def drain_bins(self, module: str) -> BinSeries:
        """Activity of a module over time since the last call; one cutter's business."""
        width, first, rows, idle = native().drain_bins(self.handle, MODULES.index(module))
        values = np.frombuffer(rows, np.int64).reshape(-1, len(BIN_COLUMNS) - 1)
        busy = np.rint(width * (1.0 - np.frombuffer(idle, np.float64))).astype(np.int64)
        return BinSeries(width / _NANOSECONDS, first, np.column_stack([values, busy]))

    def drain_segments(self) -> tuple[SegmentArray, int]:
        """Traced accesses `[n] SEGMENT_DTYPE` since the last call, in no particular order, and how
        many found no room since the recording began.
        """
        data, dropped = native().drain_segments(self.handle)
        return np.frombuffer(data, SEGMENT_DTYPE), dropped

    def close(self) -> None:
        """Forgets a child and removes its memory; for ended ones."""
        native().close_view(self.handle, True)
