"""Forked children that a real libdarshan records, read where it maps their logs from files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from tensorboard_plugin_darshan.modules import SHOWN
from tensorboard_plugin_darshan.recording.children import Children
from tensorboard_plugin_darshan.recording.darshan_layouts import HeaderLayout
from tensorboard_plugin_darshan.recording.darshan_memory import (
    DarshanLog,
    UnknownDarshanError,
    find_rows,
)
from tensorboard_plugin_darshan.recording.libdarshan import LibdarshanReader
from tensorboard_plugin_darshan.recording.libdarshan_memory import FileMemory, log_path_of
from tensorboard_plugin_darshan.recording.libdarshan_rows import Rows, no_rows
from tensorboard_plugin_darshan.recording.native import native
from tensorboard_plugin_darshan.recording.reader import ProcessReader

_END_BYTES: Final = 8


class ChildReader(LibdarshanReader):
    """A child. Once it has begun to write its own log its header tells other things, and unused
    records of standard streams are taken out; its records are then found by their ids.
    """

    def __init__(self, memory: FileMemory, log: DarshanLog, pid: int) -> None:
        super().__init__(log, pid, handle=-pid)
        self._memory = memory
        self._final: set[str] = set()

    def rows(self, module: str) -> Rows:
        """The records of a module."""
        before = dict(self.log.header.regions)
        if not self._has_ended():
            rows = super().rows(module)
            if not self._has_ended():
                return rows
        if module not in self._final:
            self._final.add(module)
            region = before.get(module)
            if region is not None:
                self._take_last(module, region.place)
        return self._last.get(module, no_rows(SHOWN[module]))

    def _has_ended(self) -> bool:
        header: HeaderLayout = self.log.header.layout
        end = self._memory.read(header.size + header.end_at, _END_BYTES)
        return end is not None and any(end)

    def _take_last(self, module: str, place: int) -> None:
        layout, names = self.log.layout(module), SHOWN[module]
        if layout is None:
            return
        places = [region.place for region in self.log.header.regions.values()]
        end = min((other for other in places if other > place), default=self._memory.size)
        size = (end - place) // layout.size * layout.size
        dtype = layout.dtype(len(names.counters), len(names.fcounters))
        found = np.frombuffer(self._memory.read(place, size) or b"", dtype)
        found = found[: find_rows(found["id"])]
        last = self._last.get(module, no_rows(names))
        known = {int(key): i for i, key in enumerate(last.ids)}
        ids, ints, floats = list(last.ids), list(last.counters), list(last.fcounters)
        taken: set[int] = set()
        for row in found:
            key = int(row["id"])
            if key in taken:
                continue
            taken.add(key)
            if key in known:
                ints[known[key]], floats[known[key]] = row["ints"], row["floats"]
            else:
                ids.append(row["id"])
                ints.append(row["ints"])
                floats.append(row["floats"])
        if ids:
            self._last[module] = Rows(np.array(ids, np.uint64), np.stack(ints), np.stack(floats))

    def close(self) -> None:
        """Forgets the child."""
        self._memory.close()


class LibdarshanChildren(Children):
    """The forked processes of this one.

    Attributes:
        missed: how many of them ended before they could be read, or cannot be read at all.
    """

    def __init__(self, is_readable: bool) -> None:
        self._is_readable = is_readable
        self._children: dict[int, ChildReader] = {}
        self._done: set[int] = set()
        self.missed = 0

    def refresh(self) -> Sequence[ChildReader]:
        """All that are there now, ended ones included."""
        facts = native().libdarshan_event_facts()
        forked = np.frombuffer(facts["processes"], np.int32).tolist()
        for pid in forked:
            if self._is_readable and pid not in self._children and pid not in self._done:
                self._open_child(pid)
        read = len(self._children) + len(self._done)
        self.missed = max(0, facts["forked"] - read)
        return list(self._children.values())

    def _open_child(self, pid: int) -> None:
        path = log_path_of(pid)
        if path is None:
            return
        try:
            memory = FileMemory(path)
            self._children[pid] = ChildReader(memory, DarshanLog(memory), pid)
        except (OSError, ValueError, UnknownDarshanError):
            return  # not ready yet, or gone; it counts as missed

    def drop(self, reader: ProcessReader) -> None:
        """Forgets a process that ended and was read to its end."""
        for pid, its in list(self._children.items()):
            if its is reader:
                del self._children[pid]
                self._done.add(pid)
        reader.close()

    def close(self) -> None:
        """Forgets all."""
        for reader in list(self._children.values()):
            self.drop(reader)
