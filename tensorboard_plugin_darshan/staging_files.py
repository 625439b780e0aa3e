"""Carries a staging plan out: copies, a mirror of links, and takes back just what it made.

Originals are only ever read. Everything made lies in the plan's own directory on the fast tier,
and is written down in a journal before it is made, so that an interrupted `apply` can go on and
`clean` knows what to remove.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tensorboard_plugin_darshan.staging_plan import Plan, PlannedFile, StagingError

PIECE_BYTES: Final = 8 * 1024**2
PART_ENDING: Final = ".darshan-part"

Progress = Callable[[int, int], None]


@dataclass
class Outcome:
    """What `apply` did.

    Attributes:
        copied, kept: files copied now, and those that a run before had copied.
        bytes_copied: by this call.
        left_out: paths with the reason why they were not copied.
        links: links in the mirror.
        is_full: it stopped before the fast tier was full.
    """

    copied: int = 0
    kept: int = 0
    bytes_copied: int = 0
    left_out: dict[str, str] = field(default_factory=dict)
    links: int = 0
    is_full: bool = False


class _Journal:
    """Names of what is made below the plan's directory, each written down before it is made."""

    def __init__(self, plan: Plan) -> None:
        plan.journal.parent.mkdir(parents=True, exist_ok=True)
        self._root = Path(plan.stage)
        self._known = {name for _, name in read_journal(plan)}
        self._file = plan.journal.open("a", encoding="utf-8", errors="surrogateescape")

    def add(self, kind: str, path: Path) -> None:
        name = str(path.relative_to(self._root))
        if name not in self._known:
            self._known.add(name)
            self._file.write(json.dumps([kind, name]) + "\n")
            self._file.flush()

    def create_parents(self, path: Path) -> None:
        """Makes the directories above a path that are not there."""
        missing = []
        parent = path.parent
        while parent != self._root and not parent.is_dir():
            missing.append(parent)
            parent = parent.parent
        for directory in reversed(missing):
            self.add("directory", directory)
            directory.mkdir(exist_ok=True)

    def close(self) -> None:
        self._file.close()


def read_journal(plan: Plan) -> list[tuple[str, str]]:
    """Kind and relative path of all that was made, in order; a torn last line is left out."""
    try:
        text = plan.journal.read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return []
    entries = []
    for line in text.splitlines():
        try:
            kind, name = json.loads(line)
        except ValueError:
            continue
        if kind in ("directory", "file", "link") and ".." not in Path(name).parts:
            entries.append((kind, name))
    return entries


def free_bytes(directory: Path, reserve: int) -> int:
    """Bytes that may still be written there."""
    return shutil.disk_usage(directory).free - reserve


def apply(plan: Plan, reserve: int, progress: Progress) -> Outcome:
    """Copies the plan's files, best first, and makes the mirror. Can be called again.

    Args:
        plan: the plan.
        reserve: bytes of the fast tier to leave free.
        progress: is told bytes done and bytes in all.

    Raises:
        StagingError: there are no originals, or something else is in the way.
        OSError: the fast tier cannot be written.
    """
    data = Path(plan.data)
    if not data.is_dir():
        raise StagingError(f"{data} is not there: mount it, or make a new plan")
    if Path(plan.stage).resolve().is_relative_to(data.resolve()):
        raise StagingError(f"{plan.stage} lies in {data}: stage to a directory elsewhere")
    journal, outcome = _Journal(plan), Outcome()
    whole, done = sum(one.size for one in plan.files), 0
    try:
        staged = set()
        for one in plan.files:
            if outcome.is_full:
                outcome.left_out[one.path] = "the fast tier is full"
            elif _stage(plan, one, reserve, journal, outcome):
                staged.add(one.path)
            done += one.size
            progress(done, whole)
        _mirror(plan, staged, journal, outcome)
    finally:
        journal.close()
    return outcome


def _same(found: os.stat_result, size: int, mtime_ns: int) -> bool:
    return found.st_size == size and found.st_mtime_ns == mtime_ns


def _stage(plan: Plan, one: PlannedFile, reserve: int, journal: _Journal, outcome: Outcome) -> bool:
    """Copies one file unless its copy is there; whether there is a copy now."""
    source, target = Path(plan.data) / one.path, plan.copies / one.path
    try:
        before = source.stat()
    except OSError as error:
        outcome.left_out[one.path] = error.strerror or str(error)
        return False
    if not _same(before, one.size, one.mtime_ns):
        outcome.left_out[one.path] = "it changed after the plan was made"
        return False
    if target.is_file() and _same(target.stat(), one.size, one.mtime_ns):
        outcome.kept += 1
        return True
    if free_bytes(Path(plan.stage), reserve) < one.size:
        outcome.is_full = True
        outcome.left_out[one.path] = "the fast tier is full"
        return False
    part = target.with_name(target.name + PART_ENDING)
    journal.create_parents(target)
    journal.add("file", part)
    journal.add("file", target)
    _copy(source, part)
    os.utime(part, ns=(before.st_atime_ns, before.st_mtime_ns))
    if not _same(source.stat(), one.size, one.mtime_ns) or part.stat().st_size != one.size:
        part.unlink()
        outcome.left_out[one.path] = "it changed while it was copied"
        return False
    os.replace(part, target)
    outcome.copied += 1
    outcome.bytes_copied += one.size
    return True


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as original, target.open("wb") as copy:
        shutil.copyfileobj(original, copy, PIECE_BYTES)
        copy.flush()
        os.fsync(copy.fileno())


def _walk(directory: Path) -> Iterator[str]:
    """Relative paths of all files below a directory; links to directories are not followed."""
    for parent, directories, names in os.walk(directory):
        relative = os.path.relpath(parent, directory)
        linked = [name for name in directories if os.path.islink(os.path.join(parent, name))]
        for name in (*names, *linked):
            yield os.path.normpath(os.path.join(relative, name))


def _mirror(plan: Plan, staged: set[str], journal: _Journal, outcome: Outcome) -> None:
    """Links for all files of the data directory; those that are there are brought up to date."""
    journal.create_parents(plan.mirror / "x")
    for name in _walk(Path(plan.data)):
        link = plan.mirror / name
        target = plan.copies / name if name in staged else Path(plan.data) / name
        outcome.links += 1
        if link.is_symlink() and os.readlink(link) == str(target):
            continue
        if link.exists() and not link.is_symlink():
            raise StagingError(f"{link} is in the way; it was not made by this command")
        journal.create_parents(link)
        fresh = link.with_name(link.name + PART_ENDING)
        journal.add("link", fresh)
        journal.add("link", link)
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(target)
        os.replace(fresh, link)


@dataclass
class Cleaned:
    """What `clean` did: things removed, and things left with the reason."""

    removed: int = 0
    left: dict[str, str] = field(default_factory=dict)


def clean(plan: Plan) -> Cleaned:
    """Removes what `apply` made for this plan and nothing else.

    A copy that somebody changed, and a directory that holds anything else, stay.
    """
    entries, outcome = read_journal(plan), Cleaned()
    root = Path(plan.stage)
    copies = {str(plan.copies / one.path): one for one in plan.files}
    for kind, name in reversed(entries):
        path = root / name
        if not os.path.lexists(path):
            continue
        reason = _remove(kind, path, copies.get(str(path)), (plan.data, str(plan.copies)))
        if reason:
            outcome.left[str(path)] = reason
        else:
            outcome.removed += 1
    if not outcome.left:
        plan.journal.unlink(missing_ok=True)
    if root.is_dir() and not any(root.iterdir()):
        root.rmdir()
    return outcome


def _remove(kind: str, path: Path, planned: PlannedFile | None, roots: tuple[str, str]) -> str:
    """Removes one thing; why not, when it does not."""
    if kind == "directory":
        if path.is_symlink() or not path.is_dir():
            return "it is no directory any more"
        if any(path.iterdir()):
            return "it holds something else"
        path.rmdir()
        return ""
    if kind == "link":
        if not path.is_symlink() or not os.readlink(path).startswith(roots):
            return "it is no link of this command any more"
    elif path.is_symlink() or not path.is_file():
        return "it is no file any more"
    elif planned is not None and not _same(path.stat(), planned.size, planned.mtime_ns):
        return "it was changed"
    path.unlink()
    return ""
