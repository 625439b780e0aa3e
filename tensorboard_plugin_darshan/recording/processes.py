"""The processes of a training in a window: what each did, how it ended, what the kernel counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from tensorboard_plugin_darshan import window
from tensorboard_plugin_darshan.recording.file_columns import COLUMN, busy_nanoseconds
from tensorboard_plugin_darshan.recording.reader import Ending, ProcessFacts
from tensorboard_plugin_darshan.window import Int64Array

_MAX_LISTED: Final = 200
_CALLS: Final = tuple(COLUMN[name] for name in ("reads", "writes", "metadata_calls"))
_RUNNING, _ENDED, _ENDED_BADLY = range(len(window.PROCESS_STATES))


class ProcessTable:
    """What each process of a training did in a window.

    Args:
        facts: of the processes, this one first.
    """

    def __init__(self, facts: Sequence[ProcessFacts]) -> None:
        self._facts = facts
        self._values = np.zeros((len(facts), len(window.PROCESS_COLUMNS)), np.int64)
        for row, its in zip(self._values, facts, strict=True):
            state = _ENDED_BADLY if its.ended_badly else _RUNNING if its.alive else _ENDED
            row[:3] = its.pid, its.parent, state

    @property
    def running(self) -> list[int]:
        """Process ids of children that run."""
        return [facts.pid for facts in self._facts[1:] if facts.alive]

    def add(self, place: int, columns: Int64Array) -> None:
        """Adds what process `place` did on files, rows of `window.FILE_COLUMNS`."""
        sums = columns.sum(axis=0)
        self._values[place, 3:] += (
            sums[COLUMN["bytes_read"]],
            sums[COLUMN["bytes_written"]],
            sums[list(_CALLS)].sum(),
            busy_nanoseconds(columns).sum(),
        )

    def rows(self) -> Int64Array:
        """`[n, len(window.PROCESS_COLUMNS)] int64`: this process, and children that did something
        or ended, the busiest if there are many.
        """
        did = (self._values[:, 5] > 0) | (self._values[:, 2] != _RUNNING)
        did[0] = True
        listed = np.flatnonzero(did)
        if len(listed) > _MAX_LISTED:
            order = np.argsort(-self._values[listed[1:], -1], kind="stable")
            listed = np.concatenate([listed[:1], np.sort(listed[1:][order[: _MAX_LISTED - 1]])])
        return self._values[listed]

    def notes(self) -> tuple[str, ...]:
        """Sentences on what could not be seen."""
        notes = [note for facts in self._facts for note in facts.notes]
        programs = {
            name
            for facts in self._facts
            for name in facts.programs
            if not name.startswith("python")
        }
        replaced = any(facts.ending == Ending.BECAME_ANOTHER_PROGRAM for facts in self._facts)
        if programs or replaced:
            names = ", ".join(sorted(programs)) or "not known by name"
            notes.append(f"Other programs were started and are not recorded: {names}.")
        if any(facts.mapped_files for facts in self._facts):
            notes.append("Files were mapped into memory; reads through mappings cannot be seen.")
        if any(facts.rings for facts in self._facts):
            notes.append("io_uring was set up; reads and writes through it cannot be seen.")
        return tuple(notes)


def read_process_io(children: Iterable[int]) -> Int64Array:
    """The kernel's counts `[len(window.PROCESS_IO)] int64` so far, -1 for unknown.

    Of this process, of children that ended and were waited for (the kernel adds them to their
    parent), and of `children`, which run.
    """
    total = _read_io("self")
    for pid in children:
        its = _read_io(str(pid))
        if (its >= 0).all():
            total = total + its
    return total


def _read_io(process: str) -> Int64Array:
    try:
        with open(f"/proc/{process}/io") as counts:
            values = dict(line.split(":") for line in counts)
        return np.array([int(values[name]) for name in window.PROCESS_IO], np.int64)
    except (OSError, KeyError, ValueError):
        return np.full(len(window.PROCESS_IO), -1, np.int64)
