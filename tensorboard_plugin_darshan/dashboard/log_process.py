"""Starts the process that reads logs, and gives what it read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tensorboard_plugin_darshan import payload
from tensorboard_plugin_darshan.dashboard.log_cache import LogCache
from tensorboard_plugin_darshan.dashboard.log_header import BadLogError

READER: Final = "tensorboard_plugin_darshan.dashboard.log_reader"
START_SECONDS: Final = 30.0
LOG_SECONDS: Final = 150.0
"""How long a process may take to start, and each log to be read, before it is ended."""

_MAX_SECONDS: Final = 900.0
_ENVIRONMENT: Final = {
    "DARSHAN_DISABLE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}

Content = tuple[dict[str, Any], dict[str, Any]]
"""What `log_content` says of a log: meta and arrays."""


def read_logs(paths: Sequence[Path], cache: LogCache) -> dict[Path, Content | BadLogError]:
    """What logs hold, or why they cannot be read; from the cache where it knows them."""
    found: dict[Path, Content | BadLogError] = {}
    wanted: dict[Path, Path] = {}
    for path in paths:
        try:
            place = cache.place(path, path.stat())
        except OSError as error:
            found[path] = BadLogError(f"cannot be read: {error.strerror}")
            continue
        known = _content(cache, place)
        if known is None:
            wanted[path] = place
        else:
            found[path] = known
    if wanted:
        failure = _run([(os.fspath(path), os.fspath(place)) for path, place in wanted.items()])
        for path, place in wanted.items():
            found[path] = _content(cache, place) or BadLogError(failure)
            if isinstance(found[path], BadLogError):
                cache.drop(place)
        cache.prune()
    return found


def _content(cache: LogCache, place: Path) -> Content | BadLogError | None:
    data = cache.read(place)
    if data is None:
        return None
    try:
        meta, arrays = payload.decode(data)
    except payload.PayloadError:
        cache.drop(place)
        return None
    return BadLogError(str(meta["error"])) if "error" in meta else (meta, arrays)


def _run(pairs: Sequence[tuple[str, str]]) -> str:
    """Reads logs into files; answers why a file can be missing."""
    seconds = min(START_SECONDS + LOG_SECONDS * len(pairs), _MAX_SECONDS)
    command = [sys.executable, "-m", READER, *(text for pair in pairs for text in pair)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=_environment(os.environ),
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"could not be read within {seconds:.0f} s"
    last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"could not be read: the process that reads logs ended ({last or process.returncode})"


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    """The child must not be recorded itself, or it would write logs while it reads them."""
    kept = {name: value for name, value in own.items() if name != "LD_PRELOAD"}
    return kept | _ENVIRONMENT
