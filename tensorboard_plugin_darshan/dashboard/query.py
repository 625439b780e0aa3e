"""What a request asks for: parameters checked, mistakes as sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tensorboard import errors

from tensorboard_plugin_darshan import modules
from tensorboard_plugin_darshan.dashboard.file_table import SORT_COLUMNS
from tensorboard_plugin_darshan.dashboard.lanes import BY, By
from tensorboard_plugin_darshan.dashboard.run import Run
from tensorboard_plugin_darshan.dashboard.selection import Selection

THEME_NAMES: Final = ("light", "dark")
ROWS: Final = ("rank", "process")
DEFAULT_LIMIT: Final = 100
MAX_LIMIT: Final = 1000
DEFAULT_SORT: Final = "-bytes"

DEFAULT_LANES: Final = 30
MAX_LANES: Final = 200

MAX_SECONDS: Final = 1e9
"""Longer than any recording: 31 years."""

_DECIMAL: Final = re.compile(r"[0-9]{1,60}(\.[0-9]{0,60})?([eE][+-]?[0-9]{1,3})?")
_WHOLE: Final = re.compile(r"[0-9]{1,300}")
_ECHOED: Final = 80
_HUGE: Final = 2**53

Arguments = Mapping[str, str]


@dataclass(frozen=True)
class Query:
    """What every route about a run takes; `start` and `end` in seconds from the run's begin."""

    run: str
    start: float | None
    end: float | None
    module: str | None

    def select(self, run: Run) -> Selection:
        """The part of the run that is asked for."""
        modules = run.modules if self.module is None else (self.module,)
        return Selection(run, self.start, self.end, modules)


@dataclass(frozen=True)
class PageQuery:
    """What the table of files takes besides."""

    search: str
    sort: str
    limit: int
    offset: int


@dataclass(frozen=True)
class LaneQuery:
    """What the lanes take besides."""

    by: By
    search: str
    lanes: int


def bad(sentence: str) -> Exception:
    """The error that becomes status 400 with the sentence."""
    error: Exception = errors.InvalidArgumentError(sentence)
    return error


def parse_query(arguments: Arguments) -> Query:
    """Parameters `run`, `start`, `end`, `module`.

    Raises:
        tensorboard.errors.InvalidArgumentError: one is missing or impossible (status 400).
    """
    run = arguments.get("run")
    if not run:
        raise bad("the parameter run is missing; /runs lists the names of runs")
    start, end = _seconds(arguments, "start"), _seconds(arguments, "end")
    if start is not None and end is not None and start >= end:
        raise bad(f"start={start:.12g} is not before end={end:.12g}")
    if end == 0:
        raise bad("end must be larger than 0")
    module = arguments.get("module")
    if module is not None:
        _choice("module", module, tuple(modules.SHOWN))
    return Query(run, start, end, module)


def parse_theme(arguments: Arguments) -> str:
    """Parameter `theme`.

    Raises:
        tensorboard.errors.InvalidArgumentError: it is not one (status 400).
    """
    return _choice("theme", arguments.get("theme", THEME_NAMES[0]), THEME_NAMES)


def parse_by(arguments: Arguments) -> str:
    """Parameter `by`: what the rows of a heatmap are.

    Raises:
        tensorboard.errors.InvalidArgumentError: it is missing or impossible (status 400).
    """
    return _choice("by", arguments.get("by", ""), ROWS)


def parse_page(arguments: Arguments) -> PageQuery:
    """Parameters `search`, `sort`, `limit`, `offset`.

    Raises:
        tensorboard.errors.InvalidArgumentError: one is impossible (status 400).
    """
    sort = arguments.get("sort", DEFAULT_SORT)
    if sort.removeprefix("-") not in SORT_COLUMNS:
        raise bad(f"sort={_echo(sort)} is not a column; the columns are {', '.join(SORT_COLUMNS)}")
    return PageQuery(
        arguments.get("search", ""),
        sort,
        _integer(arguments, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT),
        _integer(arguments, "offset", 0, 0, None),
    )


def parse_lanes(arguments: Arguments) -> LaneQuery:
    """Parameters `by`, `search`, `lanes`.

    Raises:
        tensorboard.errors.InvalidArgumentError: one is impossible (status 400).
    """
    by = _choice("by", arguments.get("by", BY[0]), BY)
    return LaneQuery(
        "thread" if by == "thread" else "file",
        arguments.get("search", ""),
        _integer(arguments, "lanes", DEFAULT_LANES, 1, MAX_LANES),
    )


def _echo(text: str) -> str:
    """A value as errors repeat it."""
    return repr(text if len(text) <= _ECHOED else f"{text[: _ECHOED - 1]}…")


def _choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise bad(f"{name}={_echo(value)} is not one of {', '.join(choices)}")
    return value


def _seconds(arguments: Arguments, name: str) -> float | None:
    text = arguments.get(name)
    if text is None:
        return None
    if not _DECIMAL.fullmatch(text):
        raise bad(f"{name}={_echo(text)} is not a number of seconds from 0 on")
    value = float(text)
    if value > MAX_SECONDS:
        raise bad(f"{name}={_echo(text)} is out of range; the largest is {MAX_SECONDS:.0f} seconds")
    return value


def _integer(
    arguments: Arguments, name: str, default: int, lowest: int, highest: int | None
) -> int:
    text = arguments.get(name)
    if text is None:
        return default
    bounds = f"from {lowest} on" if highest is None else f"from {lowest} to {highest}"
    value = min(int(text), _HUGE) if _WHOLE.fullmatch(text) else None
    if value is None or value < lowest or (highest is not None and value > highest):
        raise bad(f"{name}={_echo(text)} is not a whole number {bounds}")
    return value


def finite(value: Any) -> Any:
    """The same JSON value with None for every NaN and infinity in it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value
