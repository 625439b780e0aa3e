"""`Plan`: which files to copy where, as a JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

VERSION: Final = 1


class StagingError(ValueError):
    """A plan cannot be made, read, or carried out; the text says what to do."""


@dataclass(frozen=True)
class PlannedFile:
    """A file to copy.

    Attributes:
        path: below the plan's `data`, relative.
        size: bytes.
        mtime_ns: time of its last change, nanoseconds since 1970.
        saved_seconds: what the copy saves in a repetition of the run, as predicted.
        why: the numbers behind it.
    """

    path: str
    size: int
    mtime_ns: int
    saved_seconds: float
    why: str


@dataclass(frozen=True)
class Plan:
    """What `stage plan` decides.

    Attributes:
        run: where the run was recorded.
        data: directory of the originals.
        stage: directory on the fast tier that belongs to this plan alone.
        budget: bytes.
        costs: mount (and `fast`) → seconds an open, a read call, a byte.
        prediction: of a repetition of the run with these files staged.
        curve: bytes copied and seconds saved, and the place of its knee.
        files: what to copy, best first.
    """

    run: str
    data: str
    stage: str
    budget: int
    costs: dict[str, dict[str, float]]
    prediction: dict[str, Any]
    curve: dict[str, Any]
    files: tuple[PlannedFile, ...]

    @property
    def copies(self) -> Path:
        """Directory of the copies."""
        return Path(self.stage) / "files"

    @property
    def mirror(self) -> Path:
        """Directory in which each path leads to the copy or to the original."""
        return Path(self.stage) / "mirror"

    @property
    def journal(self) -> Path:
        """The list of all that `apply` made."""
        return Path(self.stage) / "journal.jsonl"

    def save(self, path: Path) -> None:
        """Writes the plan."""
        text = json.dumps({"version": VERSION, **asdict(self)}, indent=1)
        path.write_text(text + "\n", "utf-8", "surrogateescape")


def load(path: Path) -> Plan:
    """Reads a plan.

    Raises:
        StagingError: it is none, or one of a newer version.
        OSError: it cannot be read.
    """
    try:
        values = json.loads(path.read_text("utf-8", "surrogateescape"))
        version = values.pop("version")
        if version > VERSION:
            raise StagingError(
                f"{path} is of a newer version ({version}); update tensorboard-plugin-darshan"
            )
        files = tuple(PlannedFile(**one) for one in values.pop("files"))
        plan = Plan(**values, files=files)
    except (AttributeError, KeyError, TypeError, UnicodeError, json.JSONDecodeError) as error:
        raise StagingError(f"{path} is no plan of tensorboard-darshan stage plan") from error
    for one in files:
        if Path(one.path).is_absolute() or ".." in Path(one.path).parts:
            raise StagingError(f"{path} names a file outside its data directory: {one.path}")
    if not Path(plan.stage).is_absolute() or not Path(plan.data).is_absolute():
        raise StagingError(f"{path} names directories that are not absolute")
    return plan
