"""What was read of logs, kept on disk between starts of TensorBoard.

Never beside the logs: that folder may be read-only, or belong to a site's archive.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import weakref
from importlib import metadata
from pathlib import Path
from typing import Final

import tensorboard_plugin_darshan
from tensorboard_plugin_darshan import payload

MAX_BYTES: Final = 512 * 1024**2

_FORMAT: Final = 2
"""Raised when what is read of a log changes without a new version of the package."""
_SUFFIX: Final = ".log"


def cache_directory() -> Path:
    """Where the cache lies: below `XDG_CACHE_HOME`, or `~/.cache` without it."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path("~/.cache").expanduser()
    return root / "tensorboard_plugin_darshan"


class LogCache:
    """Files by the log's path, size and time of change; the least used go when it gets too large.

    Args:
        directory: where; made when it does not exist. A temporary one takes its place when it
            cannot be written.
        max_bytes: how much it may hold.
    """

    def __init__(self, directory: Path | None = None, max_bytes: int = MAX_BYTES) -> None:
        self._directory = directory or cache_directory()
        self._max_bytes = max_bytes
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            usable = os.access(self._directory, os.W_OK | os.X_OK)
        except OSError:
            usable = False
        if not usable:
            self._directory = Path(tempfile.mkdtemp(prefix="tensorboard_plugin_darshan-"))
            weakref.finalize(self, shutil.rmtree, self._directory, ignore_errors=True)

    def place(self, path: Path, facts: os.stat_result) -> Path:
        """Where what was read of a log stands, or is to be put."""
        try:
            reader = metadata.version("darshan")
        except metadata.PackageNotFoundError:
            reader = "none"
        parts = (
            os.path.abspath(path),
            *(facts.st_size, facts.st_mtime_ns, facts.st_ino),
            *(tensorboard_plugin_darshan.__version__, payload.VERSION, _FORMAT, reader),
        )
        key = hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogateescape"))
        return self._directory / f"{key.hexdigest()[:40]}{_SUFFIX}"

    def read(self, place: Path) -> bytes | None:
        """What stands there, and marks it as used; None when nothing does."""
        try:
            data = place.read_bytes()
        except OSError:
            return None
        with contextlib.suppress(OSError):
            os.utime(place)
        return data

    def drop(self, place: Path) -> None:
        """Removes one entry."""
        with contextlib.suppress(OSError):
            place.unlink()

    def prune(self) -> None:
        """Removes the entries not used for longest until the rest fits."""
        found = []
        with contextlib.suppress(OSError), os.scandir(self._directory) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    facts = entry.stat()
                    found.append((facts.st_mtime, facts.st_size, Path(entry.path)))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self._max_bytes:
                return
            self.drop(path)
            total -= size
