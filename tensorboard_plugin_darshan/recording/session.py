"""A recorded training's session, and how started Pythons join it.

Imports little: it runs at the start of every Python that a recorded training starts.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from typing import Final

from tensorboard_plugin_darshan.recording.native import is_available, native

ARENA_CEILING: Final = 64 * 1024**3
"""Most memory that the records of one process may take, in bytes."""
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

    @property
    def leader(self) -> str:
        """Path of the memory file of the process that leads the session."""
        return os.path.join(self.directory, f"tensorboard-darshan-{self.name}")


def new_session_name() -> str:
    """A name that no other session has."""
    return secrets.token_hex(10)


def join() -> bool:
    """Begins to record this process as part of the session in the environment.

    Returns False where there is none, or none can be joined; never raises for that, since it runs
    in programs that know nothing of it.
    """
    session = Session.from_environment()
    if session is None or not is_available() or native().is_active():
        return False
    if not os.path.exists(session.leader):
        return False  # the training that set the variable is over
    try:
        native().start(
            session.directory,
            ARENA_CEILING,
            session.max_files,
            session.max_segments,
            session.extended,
            [os.fsencode(path) for path in session.excluded],
            [os.fsencode(path) for path in session.included],
            session.name,
            False,
            True,
            session.begin,
            session.begin_wall,
        )
    except (OSError, RuntimeError):
        return False
    return True
