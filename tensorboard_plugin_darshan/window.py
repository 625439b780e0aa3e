"""`Window`: what one stretch of a recording did, as arrays.

A window is the difference of two snapshots plus what happened between them. Windows of one
recording follow each other without gap or overlap, so whatever is additive in them (counters,
time bins, columns of files) adds up to the whole recording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_darshan import payload

Int64Array = npt.NDArray[np.int64]
UInt64Array = npt.NDArray[np.uint64]
Float64Array = npt.NDArray[np.float64]

FILE_COLUMNS: Final = (
    "opens",
    "reads",
    "writes",
    "metadata_calls",
    "bytes_read",
    "bytes_written",
    "read_nanoseconds",
    "write_nanoseconds",
    "metadata_nanoseconds",
    "size_bytes",
    "processes",
)
"""Columns of a table of files. All add up over windows except `MAXIMUM_COLUMNS`, whose maximum
counts: `size_bytes`, the highest byte touched so far plus one, and `processes`, how many processes
used the file so far (0 where nobody counted, as in recordings of older versions)."""

MAXIMUM_COLUMNS: Final = ("size_bytes", "processes")

BIN_COLUMNS: Final = (
    "read_bytes",
    "write_bytes",
    "reads",
    "writes",
    "metadata_calls",
    "call_nanoseconds",
    "busy_nanoseconds",
)
"""Columns of time bins. `call_nanoseconds` is the time that all threads together spent in calls,
so divided by the bin's width it is the mean number of calls in flight; `busy_nanoseconds` is the
time in which at least one call was in flight (exact for one thread; for several, their shares of
the bin are taken as independent)."""

HISTOGRAMS: Final = (
    "read_bandwidth",
    "write_bandwidth",
    "size",
    "bytes_read",
    "bytes_written",
    "opens",
)
"""Distributions over files, one count a file. Bandwidth is bytes per second of that file's read
(or write) time; a file without bytes or without time in that direction has none."""

BINS_PER_DECADE: Final = 10
HISTOGRAM_DECADES: Final = 14
N_HISTOGRAM_BINS: Final = BINS_PER_DECADE * HISTOGRAM_DECADES
HISTOGRAM_EDGES: Final[Float64Array] = np.logspace(0, HISTOGRAM_DECADES, N_HISTOGRAM_BINS + 1)
"""Edges `[N_HISTOGRAM_BINS + 1]` of the log bins, 1 to 1e14; values beyond them count in the first
or last bin."""

SLOWEST_PER_BIN: Final = 3

PROCESS_IO: Final = ("rchar", "wchar", "read_bytes", "write_bytes")
"""The kernel's own counts in `/proc/self/io`, differences over the window."""

PROCESS_COLUMNS: Final = (
    "pid",
    "parent",
    "state",
    "bytes_read",
    "bytes_written",
    "calls",
    "call_nanoseconds",
)
"""Columns of the processes of a window: who, what it did in it over all modules."""

PROCESS_STATES: Final = ("running", "ended", "ended badly")
"""`state` of a process at the window's end: ended badly is killed, crashed, or failed, as its
exit status tells."""


def histogram_bin(values: Float64Array) -> Int64Array:
    """Place `[n] int64` of each positive value in `HISTOGRAM_EDGES`, clipped to the bins."""
    places = np.searchsorted(HISTOGRAM_EDGES, values, side="right") - 1
    return np.clip(places, 0, N_HISTOGRAM_BINS - 1).astype(np.int64)


def _empty(*shape: int) -> Int64Array:
    return np.zeros(shape, np.int64)


@dataclass(frozen=True)
class BinSeries:
    """Activity in equal bins of time on a grid that begins with the recording.

    Attributes:
        width_seconds: width of a bin.
        first: place of the first bin on the grid; it begins at `first * width_seconds`.
        values: `[n_bins, len(BIN_COLUMNS)] int64`.
    """

    width_seconds: float = 0.01
    first: int = 0
    values: Int64Array = field(default_factory=lambda: _empty(0, len(BIN_COLUMNS)))


@dataclass(frozen=True)
class FileTable:
    """Files and what was done with them; paths are in `Window.names` of this or an earlier window.

    Attributes:
        ids: `[n] uint64` Darshan record ids.
        values: `[n, len(FILE_COLUMNS)] int64`.
    """

    ids: UInt64Array = field(default_factory=lambda: np.zeros(0, np.uint64))
    values: Int64Array = field(default_factory=lambda: _empty(0, len(FILE_COLUMNS)))


@dataclass(frozen=True)
class SlowFiles:
    """The slowest files of each bin of the two bandwidth histograms over all files so far.

    Attributes:
        ids: `[n] uint64` record ids.
        bins: `[n, 2] int64`: which histogram (0 read, 1 write), which bin.
        values: `[n] float64` bandwidth in bytes per second.
    """

    ids: UInt64Array = field(default_factory=lambda: np.zeros(0, np.uint64))
    bins: Int64Array = field(default_factory=lambda: _empty(0, 2))
    values: Float64Array = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class ModuleWindow:
    """One module's part of a window.

    Attributes:
        counters: `[n_counters] int64`, Darshan's counters summed over all files (largest for the
            `max` ones, 0 for those that cannot be combined).
        fcounters: `[n_fcounters] float64` likewise; seconds, timestamps since the recording began.
        files_active: files on which something happened in this window.
        files_total: files with a record since the recording began.
        bins: activity over time.
        files: the busiest files of this window.
        folded: what the files not listed did, one row a directory.
        histograms: `[len(HISTOGRAMS), N_HISTOGRAM_BINS] int64` over all files active in it.
        histograms_total: the same over all files since the recording began.
        slow: names for the bandwidth histograms in `histograms_total`.
        common_sizes: `[n, 2] int64` access size and count since the recording began, by count.
        partial: the record ceiling was reached; some files are in a common record.
    """

    counters: Int64Array
    fcounters: Float64Array
    files_active: int = 0
    files_total: int = 0
    bins: BinSeries = field(default_factory=BinSeries)
    files: FileTable = field(default_factory=FileTable)
    folded: FileTable = field(default_factory=FileTable)
    histograms: Int64Array = field(
        default_factory=lambda: _empty(len(HISTOGRAMS), N_HISTOGRAM_BINS)
    )
    histograms_total: Int64Array = field(
        default_factory=lambda: _empty(len(HISTOGRAMS), N_HISTOGRAM_BINS)
    )
    slow: SlowFiles = field(default_factory=SlowFiles)
    common_sizes: Int64Array = field(default_factory=lambda: _empty(0, 2))
    partial: bool = False


@dataclass(frozen=True)
class Window:
    """What a stretch of a recording did.

    Attributes:
        sequence: 0, 1, 2, … within the recording.
        start_seconds, end_seconds: since the recording began.
        phase: the phase it lies in, e.g. `train`; empty outside all phases.
        epoch: training epoch from 0, or -1.
        step: training step at its end, or -1.
        wait_seconds: how long the training waited for input, -1 when nobody said so.
        modules: Darshan module's name → its part.
        names: record id → path, for ids that this window is the first to mention. Directories of
            `ModuleWindow.folded` end in a slash.
        process_io: `[len(PROCESS_IO)] int64`, the kernel's counts, -1 where unknown.
        processes: `[n, len(PROCESS_COLUMNS)] int64`, this process first, then its children that did
            something or ended.
        notes: sentences for the user, e.g. what could not be seen.
    """

    sequence: int
    start_seconds: float
    end_seconds: float
    phase: str = ""
    epoch: int = -1
    step: int = -1
    modules: Mapping[str, ModuleWindow] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    process_io: Int64Array = field(default_factory=lambda: np.full(len(PROCESS_IO), -1))
    processes: Int64Array = field(default_factory=lambda: _empty(0, len(PROCESS_COLUMNS)))
    notes: tuple[str, ...] = ()
    wait_seconds: float = -1.0


_SCALARS: Final = (
    *("sequence", "start_seconds", "end_seconds", "phase", "epoch", "step", "wait_seconds"),
)
_PARTS: Final = {"bins": BinSeries, "files": FileTable, "folded": FileTable, "slow": SlowFiles}
_FIELDS: Final = {
    kind: tuple(item.name for item in fields(kind)) for kind in (ModuleWindow, *_PARTS.values())
}


def _flatten(prefix: str, part: Any, meta: dict[str, Any], arrays: dict[str, Any]) -> None:
    for item in fields(part):
        value, key = getattr(part, item.name), f"{prefix}/{item.name}"
        if is_dataclass(value):
            _flatten(key, value, meta, arrays)
        elif isinstance(value, np.ndarray):
            arrays[key] = value
        else:
            meta[key] = value


def _restore(kind: type[Any], prefix: str, values: Mapping[str, Any]) -> Any:
    """Builds a dataclass from the flat names; unknown names are ignored, missing ones default."""
    arguments = {}
    parts = _PARTS if kind is ModuleWindow else {}
    for name in _FIELDS[kind]:
        key = f"{prefix}/{name}"
        if name in parts:
            arguments[name] = _restore(parts[name], key, values)
        elif key in values:
            arguments[name] = values[key]
    if kind is FileTable and "values" in arguments:
        arguments["values"] = _widen(arguments["values"])
    return kind(**arguments)


def _widen(rows: Any) -> Any:
    """Rows of a table of files with zeros for the columns that an older version did not have."""
    if not isinstance(rows, np.ndarray) or rows.ndim != 2:
        return rows
    missing = len(FILE_COLUMNS) - rows.shape[1]
    return np.pad(rows, ((0, 0), (0, missing))) if 0 < missing < len(FILE_COLUMNS) else rows


def encode(window: Window) -> bytes:
    """Packs a window for an event."""
    meta: dict[str, Any] = {name: getattr(window, name) for name in _SCALARS}
    meta["notes"] = list(window.notes)
    meta["modules"] = list(window.modules)
    meta["parts"] = {}
    arrays: dict[str, Any] = {
        "process_io": window.process_io,
        "processes": window.processes,
        "name_ids": np.array(list(window.names), np.uint64),
        "names": payload.encode_strings(window.names.values()),
    }
    for name, module in window.modules.items():
        _flatten(name, module, meta["parts"], arrays)
    return payload.encode(meta, arrays)


def decode(data: bytes) -> Window:
    """Unpacks a window.

    Raises:
        payload.NewerVersionError: a newer version wrote it.
        payload.PayloadError: it is not a window, or a damaged one.
    """
    meta, arrays = payload.decode(data)
    try:
        values = {**meta["parts"], **arrays}
        names = payload.decode_strings(arrays["names"])
        return Window(
            **{name: meta[name] for name in _SCALARS if name in meta},
            notes=tuple(meta["notes"]),
            modules={name: _restore(ModuleWindow, name, values) for name in meta["modules"]},
            names=dict(zip(arrays["name_ids"].tolist(), names, strict=True)),
            process_io=arrays["process_io"],
            processes=arrays.get("processes", _empty(0, len(PROCESS_COLUMNS))),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise payload.PayloadError(f"not a window: {error}") from error
