"""A recorded run as a Darshan log, for the tools that read such logs.

What a recording keeps of each file (calls, bytes, times) goes to that file's record. What it keeps
only for all files together (sizes, patterns, seeks) goes to one more record a process and module,
so that the records add up to the run's totals.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from tensorboard import context
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer

import tensorboard_plugin_darshan
from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.counters import COMMON_VALUES, ModuleLayout
from tensorboard_plugin_darshan.dashboard import columns, log_writer
from tensorboard_plugin_darshan.dashboard.events import RunStore
from tensorboard_plugin_darshan.dashboard.log_bins import spread, whole
from tensorboard_plugin_darshan.dashboard.log_writer import ExportError, JobFacts
from tensorboard_plugin_darshan.dashboard.run import Recording, Run, number
from tensorboard_plugin_darshan.window import FILE_COLUMNS

Array = columns.Array

REST: Final = "(counted for all files together)"
"""Name of the record with what a recording does not keep by file."""

_MODULES: Final = {"POSIX": log_writer.POSIX, "STDIO": log_writer.STDIO}
_HEATMAP_IDS: Final = {"POSIX": 16592106915301738621, "STDIO": 3989511027826779520}
"""Darshan's record ids of `heatmap:POSIX` and `heatmap:STDIO`, by which its tools know them."""

_HEATMAP_BINS: Final = 200
_HEATMAP_SECONDS: Final = 0.1
_COUNTERS: Final = ("OPENS", "READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN")
_SECONDS: Final = {"READ": "read", "WRITE": "write", "META": "metadata"}


def load_run(path: Path) -> Run:
    """The run in a directory.

    Raises:
        ExportError: there is none, or several.
    """
    multiplexer = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance={"darshan": 0})
    multiplexer.AddRunsFromDirectory(str(path))
    multiplexer.Reload()
    store = RunStore(data_provider.MultiplexerDataProvider(multiplexer, str(path)))
    request = context.RequestContext()
    names = [run.name for run in store.list_runs(request, "", 0.0)]
    if not names:
        raise ExportError(f"there is no recorded run in {path}")
    if len(names) > 1:
        raise ExportError(
            f"there are {len(names)} runs in {path}; give the directory of one of them: "
            + ", ".join(sorted(names))
        )
    return store.load(request, "", names[0])


def export_darshan(run: Run, path: Path) -> list[str]:
    """Writes a run as a Darshan log; answers what the log does not hold.

    Raises:
        ExportError: it cannot be written.
    """
    names: dict[int, str] = {}
    records: dict[int, list[bytes]] = {}
    for rank, recording in enumerate(run.recordings):
        offset = run.offset(recording)
        for module, number_of in _MODULES.items():
            part = recording.windows.modules.get(module)
            if part is None or not part.files_total.any():
                continue
            found = list(_records(module, recording, part, rank, offset, names))
            records.setdefault(number_of, []).extend(found)
            names[_HEATMAP_IDS[module]] = f"heatmap:{module}"
            records.setdefault(log_writer.HEATMAP, []).append(
                _heatmap(module, part, rank, offset, run.duration)
            )
    job: Mapping[str, Any] = next((r.job for r in run.recordings if r.job), {})
    log_writer.write_log(path, _job(run, job), _mounts(job), names, records)
    return [
        "Access sizes, patterns and seeks stand in one record a process and module, named "
        f"{REST!r}: a recording does not keep them by file.",
        "Timestamps of files are those of the windows in which they were used.",
    ]


def _job(run: Run, job: Mapping[str, Any]) -> JobFacts:
    command = job.get("command")
    if isinstance(command, list):
        command = " ".join(str(part) for part in command)
    return JobFacts(
        run.begin,
        run.begin + run.duration,
        len(run.recordings),
        int(number(job, "uid") or 0),
        int(number(job, "pid") or 0),
        str(command or job.get("source") or "recorded training"),
        {
            "lib_ver": "3.5.0",
            "exported_by": f"tensorboard-plugin-darshan {tensorboard_plugin_darshan.__version__}",
        },
    )


def _mounts(job: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    mounts = job.get("mounts")
    for mount in mounts if isinstance(mounts, list) else ():
        if isinstance(mount, dict):
            found.append((str(mount.get("path", "/")), str(mount.get("type", "unknown"))))
    return found or [("/", "unknown")]


def record_id(name: str) -> int:
    """The id under which a name stands in the log."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _records(
    module: str,
    recording: Recording,
    part: columns.ModuleColumns,
    rank: int,
    offset: float,
    names: dict[int, str],
) -> Iterator[bytes]:
    """Records of one module of one process, as the log holds them."""
    layout = counters.LAYOUTS[module]
    ints, floats = _totals(layout, part, offset)
    files, values, fvalues = _files(layout, recording, part, offset)
    if len(files) == 1:
        values, fvalues = ints[None, :], floats[None, :]
    else:
        values, fvalues = _with_rest(layout, ints, floats, values, fvalues)
        files.append(REST)
    for name, record, frecord in zip(files, values, fvalues, strict=True):
        names[record_id(name)] = name
        head = struct.pack("<Qq", record_id(name), rank)
        yield head + record.astype("<i8").tobytes() + frecord.astype("<f8").tobytes()


def _totals(
    layout: ModuleLayout, part: columns.ModuleColumns, offset: float
) -> tuple[Array, Array]:
    """Counters of all files together."""
    ints = np.zeros(len(layout.counters), np.int64)
    ints[layout.where("sum")] = part.counters[:, layout.where("sum")].sum(axis=0)
    ints[layout.where("max")] = part.counters[:, layout.where("max")].max(axis=0)
    floats = np.zeros(len(layout.fcounters))
    floats[layout.fwhere("sum")] = part.fcounters[:, layout.fwhere("sum")].sum(axis=0)
    for rule, combine in (("max", np.max), ("min", np.min)):
        for i in np.flatnonzero(layout.fwhere(rule)):  # type: ignore[arg-type]
            seen = part.fcounters[:, i][part.fcounters[:, i] > 0]
            shift = offset if layout.fcounters[i].endswith("_TIMESTAMP") else 0.0
            floats[i] = combine(seen) + shift if seen.size else 0.0
    common = part.common_sizes
    rows = np.flatnonzero(common["window"] == common["window"].max(initial=0))
    for place, row in enumerate(rows[:COMMON_VALUES].tolist(), 1):
        for column, kind in (("size", "ACCESS"), ("count", "COUNT")):
            counter = layout.index.get(f"{layout.prefix}ACCESS{place}_{kind}")
            if counter is not None:
                ints[counter] = common[column][row]
    return ints, floats


def _files(
    layout: ModuleLayout, recording: Recording, part: columns.ModuleColumns, offset: float
) -> tuple[list[str], Array, Array]:
    """Paths of files (and of directories whose files were not listed) and their records."""
    tables = (part.files, part.folded)
    joined = {
        name: np.concatenate([t[name].astype(np.int64) for t in tables]) for name in tables[0]
    }
    files, owner = np.unique(joined["file"], return_inverse=True)
    ints = np.zeros((len(files), len(layout.counters)), np.int64)
    floats = np.zeros((len(files), len(layout.fcounters)))
    sums = {name: np.zeros(len(files), np.int64) for name in FILE_COLUMNS}
    for name, total in sums.items():
        (np.maximum if name == "size_bytes" else np.add).at(total, owner, joined[name])
    for counter in _COUNTERS:
        ints[:, layout.index[layout.prefix + counter]] = sums[counter.lower()]
    for kind, name in _SECONDS.items():
        place = layout.findex[f"{layout.prefix}F_{kind}_TIME"]
        floats[:, place] = sums[f"{name}_nanoseconds"] / 1e9
    start = recording.windows.start[joined["window"]] + offset
    end = recording.windows.end[joined["window"]] + offset
    for kind, column in (("OPEN", "opens"), ("READ", "reads"), ("WRITE", "writes")):
        used = joined[column] > 0
        first, last = np.full(len(files), math.inf), np.zeros(len(files))
        np.minimum.at(first, owner[used], start[used])
        np.maximum.at(last, owner[used], end[used])
        begun = layout.findex[f"{layout.prefix}F_{kind}_START_TIMESTAMP"]
        floats[:, begun] = np.where(np.isfinite(first), np.maximum(first, 1e-6), 0.0)
        floats[:, layout.findex[f"{layout.prefix}F_{kind}_END_TIMESTAMP"]] = last
    for kind, moved in (("READ", "bytes_read"), ("WRITTEN", "bytes_written")):
        highest = np.where(sums[moved] > 0, sums["size_bytes"] - 1, 0)
        ints[:, layout.index[f"{layout.prefix}MAX_BYTE_{kind}"]] = np.maximum(highest, 0)
    paths = recording.index.paths
    return [paths[place] for place in files.tolist()], ints, floats


def _with_rest(
    layout: ModuleLayout, ints: Array, floats: Array, values: Array, fvalues: Array
) -> tuple[Array, Array]:
    """The records of files and one more, so that all add up to the totals."""
    rest, frest = ints.copy(), floats.copy()
    added, fadded = layout.where("sum"), layout.fwhere("sum")
    rest[added] -= values[:, added].sum(axis=0)
    frest[fadded] = np.maximum(frest[fadded] - fvalues[:, fadded].sum(axis=0), 0.0)
    return np.concatenate([values, rest[None, :]]), np.concatenate([fvalues, frest[None, :]])


def _heatmap(
    module: str, part: columns.ModuleColumns, rank: int, offset: float, duration: float
) -> bytes:
    """A record of Darshan's heatmap: at most 200 bins of 0.1 s times a power of two."""
    width = _HEATMAP_SECONDS
    while width * _HEATMAP_BINS < duration:
        width *= 2
    n = max(1, math.ceil(duration / width))
    bins = part.bins
    own = part.bin_width[bins["window"]] / 1e9
    start = (bins["place"] * own + offset) / width
    zeros = np.zeros(len(start), np.int64)
    rows = [
        whole(spread(zeros, start, start + own / width, bins[f"{kind}_bytes"], (1, n)))[0]
        for kind in ("write", "read")
    ]
    head = struct.pack("<QqdqQQ", _HEATMAP_IDS[module], rank, width, n, 0, 0)
    return head + b"".join(row.astype("<i8").tobytes() for row in rows)
