"""The formats that a recorded run can be written in, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tensorboard_plugin_darshan.dashboard import offline, perfetto, tables, trace_file
from tensorboard_plugin_darshan.dashboard.offline import ExportError, OfflineRun

_NANO: Final = 1_000_000_000


@dataclass(frozen=True)
class Target:
    """Where a run is written to.

    Attributes:
        out: file or directory.
        merge: another profiler's trace to put it into.
        merge_begin: when that began, in seconds since 1970, where it does not say so itself.
    """

    out: Path
    merge: Path | None = None
    merge_begin: float | None = None


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes:
        about: what it is and who reads it.
        write: writes a run; answers what to tell about it, a line each.
    """

    about: str
    write: Callable[[OfflineRun, Target], list[str]]


def _write_perfetto(run: OfflineRun, target: Target) -> list[str]:
    if target.merge is None:
        zero = round(run.run.begin * _NANO)
        n = trace_file.write_trace(target.out, perfetto.trace_events(run, zero))
        return [f"{n} events; open it in ui.perfetto.dev or chrome://tracing"]
    if target.merge_begin is not None:
        zero = round(target.merge_begin * _NANO)
    else:
        zero = trace_file.zero_of(target.merge)
    n = trace_file.merge_trace(target.merge, target.out, perfetto.trace_events(run, zero))
    away = run.run.begin - zero / _NANO if zero else 0.0
    return [f"{n} events put into {target.merge}, on its axis from {away:.3f} s on"]


def _write_csv(run: OfflineRun, target: Target) -> list[str]:
    return [str(path) for path in tables.write_csv(run.run, target.out)]


def _write_json(run: OfflineRun, target: Target) -> list[str]:
    tables.write_json(run.run, target.out)
    return []


FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        "perfetto": Format(
            "trace events of reads and writes, phases, steps and bandwidth (.json or .json.gz)",
            _write_perfetto,
        ),
        "csv": Format("windows.csv and files.csv in a directory", _write_csv),
        "json": Format("windows and files in one file", _write_json),
    }
)


def export(path: Path, name: str, target: Target) -> list[str]:
    """Writes the run in a directory in the format called `name`; answers what to tell.

    Raises:
        ExportError: there is no such run, or it cannot be written so.
    """
    if target.merge is not None and name != "perfetto":
        raise ExportError("--merge goes with --format perfetto only")
    if target.merge is not None and target.merge.resolve() == target.out.resolve():
        raise ExportError("the merged trace must not replace the one it is made from")
    return FORMATS[name].write(offline.load(path), target)
