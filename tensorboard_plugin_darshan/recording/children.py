"""Child processes of a recorded training: forked ones, and spawned Pythons that join by themselves.

Each records into a memory file of its own (`native/arena.h`), which the process that leads the
session maps and reads; so a child that is killed has everything counted up to its last call.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from tensorboard_plugin_darshan.recording.native import native
from tensorboard_plugin_darshan.recording.reader import ProcessReader


class Children:
    """The memory files of a session's other processes.

    Args:
        arena: path of the leader's own file.
    """

    def __init__(self, arena: str) -> None:
        self._directory, self._prefix = os.path.dirname(arena), os.path.basename(arena) + "."
        self._readers: dict[str, ProcessReader] = {}

    def refresh(self) -> Sequence[ProcessReader]:
        """All that are there now, ended ones included; those that write their own are left out."""
        try:
            names = [name for name in os.listdir(self._directory) if name.startswith(self._prefix)]
        except OSError:
            names = []
        for name in names:
            if name not in self._readers:
                self._open(name)
        return [reader for reader in list(self._readers.values()) if not reader.facts().own_writer]

    def _open(self, name: str) -> None:
        try:
            handle = native().open_view(os.path.join(self._directory, name))
        except OSError:
            return  # not ready yet; it is found again
        self._readers[name] = ProcessReader(handle)

    def drop(self, reader: ProcessReader) -> None:
        """Forgets a process that ended and was read to its end."""
        self._readers = {n: r for n, r in self._readers.items() if r is not reader}
        reader.close()

    def close(self) -> None:
        """Forgets all, also those that nobody looked at; those that live go on for nobody."""
        self.refresh()
        for reader in list(self._readers.values()):
            self.drop(reader)
