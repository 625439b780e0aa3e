"""Darshan logs for tests: where real ones lie, and a dashboard whose cache is its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import util
from pathlib import Path

import pytest

from tests.support.dashboard import Dashboard

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "darshan-logs"
"""A collection of public logs that is not part of the repository."""


def packaged() -> list[Path]:
    """The logs that the Python package darshan ships."""
    spec = util.find_spec("darshan")
    assert spec is not None
    assert spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0]) / "examples" / "example_logs"
    return sorted(folder.glob("*.darshan"))


def shared() -> list[Path]:
    """The logs of the collection; none where it is absent."""
    return sorted(SHARED.rglob("*.darshan"))


def name_of(path: Path) -> str:
    """A log's name in test reports."""
    return path.relative_to(SHARED).as_posix() if path.is_relative_to(SHARED) else path.name


def need_shared(name: str = "") -> Path:
    """A file of the collection; the test is skipped where that is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"the collection of public Darshan logs is not at {SHARED}")
    return SHARED / name


@contextmanager
def dashboard(log_dir: Path) -> Iterator[Dashboard]:
    """The plugin over a directory of logs, whose first look is done."""
    found = Dashboard(log_dir)
    found.get("runs")
    yield found


def link(folder: Path, *logs: Path) -> Path:
    """A directory with links to logs, by their file names."""
    folder.mkdir(parents=True, exist_ok=True)
    for log in logs:
        (folder / log.name).symlink_to(log)
    return folder
