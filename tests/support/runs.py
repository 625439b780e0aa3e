"""Runs made of windows, without TensorBoard between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorboard_plugin_darshan.dashboard.columns import FileIndex
from tensorboard_plugin_darshan.dashboard.run import Recording, Run, build_windows
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.window import Window
from tests.support.recordings import BEGIN


def recording(
    windows: Sequence[Window], name: str = "a/darshan/rank0", begin: float = BEGIN, **more: Any
) -> Recording:
    index = FileIndex()
    job: Mapping[str, Any] = {"begin": begin} | more
    last = windows[-1].end_seconds if windows else 0.0
    columns = build_windows(windows, index)
    return Recording(name, job, columns, index, wall_times=(begin, begin + last))


def run(*recordings: Recording) -> Run:
    return Run("a", recordings)


def select(
    what: Run, start: float | None = None, end: float | None = None, module: str | None = None
) -> Selection:
    return Selection(what, start, end, what.modules if module is None else (module,))
