"""Which paths are left out of a recording."""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

EXCLUDE_VARIABLE: Final = "TENSORBOARD_DARSHAN_EXCLUDE"

DEFAULT_EXCLUDED: Final = (
    *("/proc", "/sys", "/dev", "/etc", "/usr", "/bin", "/sbin"),
    *("/lib", "/lib32", "/lib64", "/libx32", "/boot"),
)
"""Left out with `extended=True`, with everything below them; to these come the interpreter's own
directories and site-packages."""
DEFAULT_INCLUDED: Final = ("/dev/shm",)


class Exclusions(NamedTuple):
    """Paths that are left out with everything below them, and exceptions from these."""

    excluded: tuple[str, ...]
    included: tuple[str, ...]


_PARTS_OF_A_PREFIX: Final = ("bin", "include", "lib", "lib64", "share", "pyvenv.cfg")


def interpreter_directories() -> tuple[str, ...]:
    """Where this Python and its packages live.

    A virtual environment that the training is run in (`python -m venv .`) may hold its data too:
    there only the environment's own parts are meant.
    """
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    packages = {*site.getsitepackages(), site.getusersitepackages()}
    paths = {os.path.abspath(path) for path in packages}
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was removed
        here = "/"
    for prefix in {os.path.abspath(prefix) for prefix in prefixes} - {"/"}:
        if os.path.join(here, "").startswith(os.path.join(os.path.realpath(prefix), "")):
            paths |= {os.path.join(prefix, part) for part in _PARTS_OF_A_PREFIX}
        else:
            paths.add(prefix)
    paths |= {os.path.realpath(path) for path in paths}
    return tuple(sorted(paths - {"/"}))


def choose(extended: bool, exclude: Sequence[str] | None, darshan: Exclusions) -> Exclusions:
    """The exclusions of a recording.

    Args:
        extended: whether more than Darshan's own calls are recorded.
        exclude: the user's choice, instead of the defaults; else `TENSORBOARD_DARSHAN_EXCLUDE`
            (paths separated by colons), where it is set.
        darshan: what Darshan leaves out. It compares prefixes as plain text.

    Raises:
        TypeError: `exclude` is one string.
    """
    variable = os.environ.get(EXCLUDE_VARIABLE)
    if exclude is None and variable is not None:
        exclude = [path for path in variable.split(":") if path]
    if isinstance(exclude, str):
        raise TypeError("exclude is a list of directories, not one string")
    if exclude is not None:
        paths = (os.path.abspath(path) for path in exclude)
        return Exclusions(tuple(path if extended else os.path.join(path, "") for path in paths), ())
    if extended:
        return Exclusions((*DEFAULT_EXCLUDED, *interpreter_directories()), DEFAULT_INCLUDED)
    return darshan
