"""Run at the start of every Python that inherits a recorded training's environment: joins it."""

from __future__ import annotations

import os
import secrets

from tensorboard_plugin_darshan.recording.children import Session
from tensorboard_plugin_darshan.recording.native import is_available, native


def join() -> bool:
    """Begins to record this process as part of the session in the environment.

    Returns False where there is none, or none can be joined; never raises for that, since it runs in
    programs that know nothing of it.
    """
    session = Session.from_environment()
    if session is None or not is_available() or native().is_active():
        return False
    leader = os.path.join(session.directory, f"tensorboard-darshan-{session.name}")
    if not os.path.exists(leader):
        return False  # the training that set the variable is over
    try:
        native().start(
            session.directory,
            64 * 1024**3,
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


def new_session_name() -> str:
    """A name that no other session has."""
    return secrets.token_hex(10)
