"""Child processes of a recorded training: forked ones, and spawned Pythons that join by themselves.

Each records into a memory file of its own (`native/arena.h`), which the process that leads the
session maps and reads; so a child that is killed has everything counted up to its last call.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from tensorboard_plugin_darshan.recording.native import native
from tensorboard_plugin_darshan.recording.reader import ProcessReader

JOIN_VARIABLE: Final = "TENSORBOARD_DARSHAN_JOIN"
"""Set for child processes: the session that they join, as JSON of `Session`."""


@dataclass(frozen=True)
class Session:
    """What a joining process must know.

    Attributes:
        name: of the session.
        directory: where its memory files are.
        begin, begin_wall: time zero, in monotonic nanoseconds and in seconds since the epoch.
        extended, excluded, included, max_files, max_segments: settings, see `attach`.
    """

    name: str
    directory: str
    begin: int
    begin_wall: float
    extended: bool
    excluded: tuple[str, ...]
    included: tuple[str, ...]
    max_files: int
    max_segments: int

    def to_environment(self) -> None:
        """Lets processes that are started from now on join."""
        os.environ[JOIN_VARIABLE] = json.dumps(asdict(self))

    @staticmethod
    def from_environment() -> Session | None:
        """The session to join, if there is one."""
        text = os.environ.get(JOIN_VARIABLE)
        if not text:
            return None
        try:
            values = json.loads(text)
            values["excluded"], values["included"] = (
                tuple(values["excluded"]),
                tuple(values["included"]),
            )
            return Session(**values)
        except (ValueError, TypeError, KeyError):
            return None


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
        """Forgets all; those that live go on for nobody."""
        for reader in list(self._readers.values()):
            self.drop(reader)
