"""Looks through directories for logs, as TensorBoard looks for event files."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tensorboard_plugin_darshan.dashboard.log_header import BadLogError, Header, read_header

SUFFIX: Final = ".darshan"
MAX_LOGS: Final = 100_000
MAX_DIRECTORIES: Final = 100_000

_UNSURE_NANOSECONDS: Final = 2_000_000_000
"""A directory that changed this shortly before it was read may have changed again since."""
_YOUNG_SECONDS: Final = 600.0
"""A log that changed this shortly before it was looked at may still be written to."""

_Key = tuple[int, int]


@dataclass(frozen=True)
class Found:
    """A log: the name of its run, where it lies, and its header or why it has none."""

    name: str
    path: Path
    header: Header | BadLogError
    stamp: tuple[int, int]
    looked_at: float

    @property
    def is_settled(self) -> bool:
        """Whether it was complete and had not changed for long when it was looked at."""
        age = self.looked_at - self.stamp[1] / 1e9
        return isinstance(self.header, Header) and age > _YOUNG_SECONDS

    def look(self) -> Found:
        """The same log as it is now."""
        return look(self.name, self.path, self)


def look(name: str, path: Path, known: Found | None = None) -> Found:
    """Reads the header of a log, unless it is known and did not change."""
    now = time.time()
    try:
        facts = path.stat()
    except OSError as error:
        return Found(name, path, BadLogError(f"cannot be read: {error.strerror}"), (0, 0), now)
    stamp = (facts.st_size, facts.st_mtime_ns)
    if known is not None and known.stamp == stamp and isinstance(known.header, Header):
        return known
    try:
        header: Header | BadLogError = read_header(path)
    except BadLogError as error:
        header = error
    return Found(name, path, header, stamp, now)


@dataclass
class _Directory:
    """What a directory held when it was last read."""

    changed: int = -1
    read_at: int = -1
    folders: list[str] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)

    def is_as_read(self, changed: int) -> bool:
        return changed == self.changed and self.read_at - changed > _UNSURE_NANOSECONDS


class LogScan:
    """Remembers what it saw, so that looking again costs one call a directory.

    Args:
        roots: prefix of names → directory.
    """

    def __init__(self, roots: Mapping[str, Path]) -> None:
        self._roots = roots
        self._directories: dict[str, _Directory] = {}
        self._found: dict[str, Found] = {}

    def scan(self) -> list[Found] | None:
        """All logs below the roots; None when nothing changed since the last time."""
        found: dict[str, Found] = {}
        seen: set[str] = set()
        for prefix, root in self._roots.items():
            for folder, directory in self._walk(os.fspath(root)):
                seen.add(folder)
                for file in directory.logs:
                    if len(found) >= MAX_LOGS:
                        break
                    path = os.path.join(folder, file)
                    name = os.path.join(prefix, os.path.relpath(path, root))
                    known = self._found.get(name)
                    settled = known is not None and known.is_settled
                    found[name] = known if known and settled else look(name, Path(path), known)
        for gone in self._directories.keys() - seen:
            del self._directories[gone]
        changed = found != self._found
        self._found = found
        return list(found.values()) if changed else None

    def _walk(self, root: str) -> Iterator[tuple[str, _Directory]]:
        """Directories below a root, links followed; one that leads back up is not entered."""
        stack: list[tuple[str, frozenset[_Key]]] = [(root, frozenset())]
        n = 0
        while stack and n < MAX_DIRECTORIES:
            folder, above = stack.pop()
            try:
                facts = os.stat(folder)
                key = (facts.st_dev, facts.st_ino)
                if key in above:
                    continue
                directory = self._directories.get(folder)
                if directory is None or not directory.is_as_read(facts.st_mtime_ns):
                    directory = self._directories[folder] = _read(folder, facts.st_mtime_ns)
            except OSError:
                continue
            n += 1
            yield folder, directory
            below = above | {key}
            stack.extend((os.path.join(folder, name), below) for name in directory.folders[::-1])


def _read(folder: str, changed: int) -> _Directory:
    read_at = time.time_ns()
    directory = _Directory(changed, read_at)
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.endswith(SUFFIX):
                directory.logs.append(entry.name)
            if _is_directory(entry):
                directory.folders.append(entry.name)
    return directory


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return stat.S_ISDIR(entry.stat().st_mode) if entry.is_symlink() else entry.is_dir()
    except OSError:
        return False
