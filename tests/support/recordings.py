"""Synthetic recordings: windows with known contents, in event files as the recorder writes them."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2

from tensorboard_plugin_darshan import counters, metadata, summary
from tensorboard_plugin_darshan.window import (
    BIN_COLUMNS,
    FILE_COLUMNS,
    HISTOGRAMS,
    MAXIMUM_COLUMNS,
    N_HISTOGRAM_BINS,
    BinSeries,
    FileTable,
    ModuleWindow,
    SlowFiles,
    Window,
    histogram_bin,
)

BEGIN = 1_764_590_400.0
"""When synthetic recordings begin, seconds since 1970."""


@dataclass(frozen=True)
class Use:
    """What one window did with one file: calls of one size, each taking the same time."""

    path: str
    reads: int = 0
    writes: int = 0
    access_bytes: int = 1000
    call_seconds: float = 1e-3
    opens: int = 1
    size_bytes: int = 0
    processes: int = 1

    @property
    def record_id(self) -> int:
        return (
            int.from_bytes(
                google_crc32c.Checksum(self.path.encode("utf-8", "surrogateescape")).digest(), "big"
            )
            << 20
            | 7
        )

    def row(self) -> dict[str, int]:
        nanoseconds = round(self.call_seconds * 1e9)
        return {
            "opens": self.opens,
            "reads": self.reads,
            "writes": self.writes,
            "metadata_calls": self.opens,
            "bytes_read": self.reads * self.access_bytes,
            "bytes_written": self.writes * self.access_bytes,
            "read_nanoseconds": self.reads * nanoseconds,
            "write_nanoseconds": self.writes * nanoseconds,
            "metadata_nanoseconds": self.opens * 1000,
            "size_bytes": self.size_bytes or self.access_bytes * max(self.reads, self.writes),
            "processes": self.processes,
        }


@dataclass
class Recorder:
    """Makes the windows of one recording, keeping count of what goes on from window to window.

    Attributes:
        window_seconds: length of a window; its bins share the calls evenly.
        listed: files that a window lists at most; the rest is folded by directory.
    """

    window_seconds: float = 1.0
    listed: int = 500
    sequence: int = 0
    known: set[str] = field(default_factory=set)
    totals: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    sizes: dict[str, dict[int, int]] = field(default_factory=dict)

    def window(self, uses: Mapping[str, Sequence[Use]], **more: Any) -> Window:
        """The next window; `uses` is module → what it did."""
        start = self.sequence * self.window_seconds
        names: dict[int, str] = {}
        window = Window(
            sequence=self.sequence,
            start_seconds=start,
            end_seconds=start + self.window_seconds,
            modules={name: self._module(name, u, start, names) for name, u in uses.items()},
            names=names,
            **more,
        )
        self.sequence += 1
        return window

    def _module(
        self, name: str, uses: Sequence[Use], start: float, names: dict[int, str]
    ) -> ModuleWindow:
        totals = self.totals.setdefault(name, {})
        for use in uses:
            known = totals.setdefault(use.path, dict.fromkeys(FILE_COLUMNS, 0))
            for column, value in use.row().items():
                known[column] = (
                    max(known[column], value)
                    if column in MAXIMUM_COLUMNS
                    else (known[column] + value)
                )
            sizes = self.sizes.setdefault(name, {})
            sizes[use.access_bytes] = sizes.get(use.access_bytes, 0) + use.reads + use.writes
        order = sorted(uses, key=lambda use: -use.row()["read_nanoseconds"])
        listed, rest = order[: self.listed], order[self.listed :]
        folded: dict[str, dict[str, int]] = {}
        for use in rest:
            directory = os.path.dirname(use.path) + "/"
            row = folded.setdefault(directory, dict.fromkeys(FILE_COLUMNS, 0))
            for column, value in use.row().items():
                row[column] = (
                    max(row[column], value) if column in MAXIMUM_COLUMNS else (row[column] + value)
                )
        for path in [use.path for use in listed] + list(folded):
            if path not in self.known:
                self.known.add(path)
                names[Use(path).record_id] = path
        common = sorted(self.sizes.get(name, {}).items(), key=lambda item: -item[1])[:32]
        return ModuleWindow(
            counters=module_counters(name, uses),
            fcounters=module_fcounters(name, uses),
            files_active=len(uses),
            files_total=len(totals),
            bins=_bins(uses, start, self.window_seconds),
            files=_table({use.path: use.row() for use in listed}),
            folded=_table(folded),
            histograms=_histograms([use.row() for use in uses]),
            histograms_total=_histograms(list(totals.values())),
            slow=_slow({p: row for p, row in totals.items() if p in self.known}),
            common_sizes=np.array(common, np.int64).reshape(-1, 2),
        )


def module_counters(name: str, uses: Sequence[Use]) -> np.ndarray[Any, Any]:
    """Darshan's counters, reads consecutive and writes neither consecutive nor sequential."""
    layout = counters.LAYOUTS[name]
    values = np.zeros(len(layout.counters), np.int64)

    def add(counter: str, value: int) -> None:
        values[layout.index[f"{name}_{counter}"]] += value

    for use in uses:
        row = use.row()
        for column in ("opens", "reads", "writes", "bytes_read", "bytes_written"):
            add(column.upper(), row[column])
        if name == "POSIX":
            bucket = int(np.searchsorted(counters.SIZE_BUCKET_LIMITS, use.access_bytes))
            add(f"SIZE_READ_{counters.SIZE_BUCKETS[bucket]}", use.reads)
            add(f"SIZE_WRITE_{counters.SIZE_BUCKETS[bucket]}", use.writes)
            add("CONSEC_READS", max(0, use.reads - 1))
            add("SEQ_READS", use.reads)
    return values


def module_fcounters(name: str, uses: Sequence[Use]) -> np.ndarray[Any, Any]:
    """Darshan's times."""
    layout = counters.LAYOUTS[name]
    values = np.zeros(len(layout.fcounters))
    for use in uses:
        row = use.row()
        for kind, short in (("read", "READ"), ("write", "WRITE"), ("metadata", "META")):
            values[layout.findex[f"{name}_F_{short}_TIME"]] += row[f"{kind}_nanoseconds"] / 1e9
    return values


def _bins(uses: Sequence[Use], start: float, length: float, width: float = 0.01) -> BinSeries:
    """Bins over the window, each with an equal part of all calls, the first with the rest."""
    first = round(start / width)
    n = max(1, round(length / width))
    values = np.zeros((n, len(BIN_COLUMNS)), np.int64)
    rows = [use.row() for use in uses]
    sums = {
        "read_bytes": sum(row["bytes_read"] for row in rows),
        "write_bytes": sum(row["bytes_written"] for row in rows),
        "reads": sum(row["reads"] for row in rows),
        "writes": sum(row["writes"] for row in rows),
        "metadata_calls": sum(row["metadata_calls"] for row in rows),
    }
    sums["call_nanoseconds"] = sum(
        row[f"{kind}_nanoseconds"] for row in rows for kind in ("read", "write", "metadata")
    )
    sums["busy_nanoseconds"] = min(sums["call_nanoseconds"], round(length * 1e9))
    for place, column in enumerate(BIN_COLUMNS):
        values[:, place] = sums[column] // n
        values[0, place] += sums[column] % n
    return BinSeries(width, first, values)


def _table(rows: Mapping[str, Mapping[str, int]]) -> FileTable:
    return FileTable(
        np.array([Use(path).record_id for path in rows], np.uint64),
        np.array([[row[c] for c in FILE_COLUMNS] for row in rows.values()], np.int64).reshape(
            -1, len(FILE_COLUMNS)
        ),
    )


def _bandwidths(row: Mapping[str, int]) -> tuple[float | None, float | None]:
    found = []
    for moved, time in (("bytes_read", "read_nanoseconds"), ("bytes_written", "write_nanoseconds")):
        known = row[moved] > 0 and row[time] > 0
        found.append(row[moved] / (row[time] / 1e9) if known else None)
    return found[0], found[1]


def _histograms(rows: Sequence[Mapping[str, int]]) -> np.ndarray[Any, Any]:
    counts = np.zeros((len(HISTOGRAMS), N_HISTOGRAM_BINS), np.int64)
    for row in rows:
        read, write = _bandwidths(row)
        values = {"read_bandwidth": read, "write_bandwidth": write, "size": row["size_bytes"]}
        values |= {name: row[name] for name in ("bytes_read", "bytes_written", "opens")}
        for place, name in enumerate(HISTOGRAMS):
            value = values[name]
            if value:
                counts[place, histogram_bin(np.array([float(value)]))[0]] += 1
    return counts


def _slow(rows: Mapping[str, Mapping[str, int]]) -> SlowFiles:
    bins: dict[tuple[int, int], list[tuple[float, str]]] = {}
    for path, row in rows.items():
        for direction, value in enumerate(_bandwidths(row)):
            if value is not None:
                place = int(histogram_bin(np.array([value]))[0])
                bins.setdefault((direction, place), []).append((value, path))
    chosen = [(k, *pair) for k, files in bins.items() for pair in sorted(files)[:3]]
    return SlowFiles(
        np.array([Use(path).record_id for _, _, path in chosen], np.uint64),
        np.array([key for key, _, _ in chosen], np.int64).reshape(-1, 2),
        np.array([value for _, value, _ in chosen], np.float64),
    )


def repeat(windows: Sequence[Window], n: int) -> Iterator[Window]:
    """`n` windows that do the same over and over; names come with the first round only, and what
    counts from the begin of the recording stays that of the first round.
    """
    length = windows[0].end_seconds - windows[0].start_seconds
    for sequence in range(n):
        window, start = windows[sequence % len(windows)], sequence * length
        modules = {
            name: replace(m, bins=replace(m.bins, first=round(start / m.bins.width_seconds)))
            for name, m in window.modules.items()
        }
        yield replace(
            window,
            sequence=sequence,
            start_seconds=start,
            end_seconds=start + length,
            modules=modules,
            names=window.names if sequence < len(windows) else {},
        )


def job(**more: Any) -> dict[str, Any]:
    """A job description as the recorder writes it at its begin."""
    return {
        "data_version": 1,
        "package_version": "0.1.0",
        "source": "builtin",
        "extended": True,
        "exclusions": ["/proc", "/sys"],
        "hostname": "node7",
        "pid": 4711,
        "rank": 0,
        "begin": BEGIN,
        "end": None,
        "finished": False,
        "flush_seconds": 1.0,
        "notes": [],
        "mounts": [["/", "ext4"]],
    } | more


def frame(event: event_pb2.Event) -> bytes:
    """The event as a TFRecord."""
    data = event.SerializeToString()
    length = struct.pack("<Q", len(data))
    return length + _masked_crc(length) + data + _masked_crc(data)


def _masked_crc(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


class RecordingFile:
    """An event file of one recording below a log directory.

    Args:
        log_dir: what TensorBoard gets, or a directory below it.
        name: the recording's directory.
        windows_per_tag: after so many windows comes the next tag.
        begin: when the recording begins, seconds since 1970.
    """

    def __init__(
        self,
        log_dir: Path,
        name: str = "darshan/rank0",
        windows_per_tag: int = 1000,
        begin: float = BEGIN,
    ) -> None:
        directory = log_dir / name
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / f"events.out.tfevents.{int(begin)}.node7.4711.0"
        self.begin = begin
        self._windows_per_tag = windows_per_tag
        self._jobs = self._windows = 0
        self._append(event_pb2.Event(wall_time=begin, file_version="brain.Event:2"))

    def job(self, description: Mapping[str, Any], wall_time: float | None = None) -> None:
        """Writes a job description."""
        self.summary(summary.job_pb(description), self._jobs, wall_time or self.begin)
        self._jobs += 1

    def windows(self, windows: Iterable[Window]) -> None:
        """Writes windows, each at the time of its end."""
        for window in windows:
            tag = metadata.window_tag(self._windows // self._windows_per_tag)
            when = self.begin + window.end_seconds
            self.summary(summary.window_pb(tag, window), self._windows, when)
            self._windows += 1

    def summary(self, value: summary_pb2.Summary, step: int, wall_time: float) -> None:
        """Writes any summary."""
        self._append(event_pb2.Event(wall_time=wall_time, step=step, summary=value))

    def _append(self, event: event_pb2.Event) -> None:
        with self.path.open("ab") as file:
            file.write(frame(event))


def write_recording(
    log_dir: Path,
    windows: Iterable[Window],
    name: str = "darshan/rank0",
    windows_per_tag: int = 1000,
    begin: float = BEGIN,
    **more: Any,
) -> RecordingFile:
    """A finished recording; `more` goes into its job description."""
    file = RecordingFile(log_dir, name, windows_per_tag, begin)
    file.job(job(begin=begin, **more))
    last = 0.0
    for window in windows:
        file.windows([window])
        last = window.end_seconds
    file.job(job(begin=begin, end=begin + last, finished=True) | more, begin + last)
    return file
