"""A log's records → the window that the tab shows, and what goes beyond a window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan import modules
from tensorboard_plugin_darshan.counters import COMMON_VALUES, ModuleLayout
from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.log_activity import Grid
from tensorboard_plugin_darshan.dashboard.log_records import Records
from tensorboard_plugin_darshan.window import (
    FILE_COLUMNS,
    HISTOGRAMS,
    N_HISTOGRAM_BINS,
    SLOWEST_PER_BIN,
    BinSeries,
    FileTable,
    ModuleWindow,
    SlowFiles,
    histogram_bin,
)

Array = columns.Array

MAX_SHARED: Final = 200
"""Shared files that are listed with their fastest and slowest rank, the slowest first."""

_SECONDS: Final = ("read", "write", "metadata")
_COUNTS: Final = ("opens", "reads", "writes", "metadata_calls", "bytes_read", "bytes_written")
_MAX_COMMON: Final = 64
_MAX_NANOSECONDS: Final = 2.0**62


def module_window(name: str, records: Records, bins: BinSeries) -> ModuleWindow:
    """One module's part of the window: totals, files, distributions."""
    layout = modules.SHOWN[name]
    files = file_table(name, records)
    histograms, slow = _distributions(files)
    return ModuleWindow(
        counters=_combined(layout, records.counters, floats=False),
        fcounters=_combined(layout, np.nan_to_num(records.fcounters), floats=True),
        files_active=len(files.ids),
        files_total=len(files.ids),
        bins=bins,
        files=files,
        histograms=histograms,
        histograms_total=histograms,
        slow=slow,
        common_sizes=_common_sizes(layout, records.counters),
    )


def _combined(layout: ModuleLayout, values: Array, floats: bool) -> Array:
    """All records as one: sums, largest, smallest that is set."""
    combined = np.zeros(values.shape[1], values.dtype)
    if not len(values):
        return combined
    where = layout.fwhere if floats else layout.where
    combined[where("sum")] = values[:, where("sum")].sum(axis=0)
    combined[where("max")] = values[:, where("max")].max(axis=0)
    lowest = np.where(values > 0, values, np.inf).min(axis=0)
    combined[where("min")] = np.where(np.isfinite(lowest), lowest, 0)[where("min")]
    return combined


def quantity(name: str, what: str, records: Records) -> Array:
    """One of `modules.QUANTITIES` `[n]` of each record: int64, or float64 seconds."""
    places = list(modules.QUANTITIES[name][what])
    values = records.fcounters if what.endswith("_seconds") else records.counters
    total: Array = values[:, places].sum(axis=1)
    return total


def file_table(name: str, records: Records) -> FileTable:
    """One row a file, all ranks added."""
    ids, owner = np.unique(records.ids, return_inverse=True)
    values = np.zeros((len(ids), len(FILE_COLUMNS)), np.int64)
    for i, column in enumerate(FILE_COLUMNS):
        if column == "size_bytes":
            np.maximum.at(values[:, i], owner, _sizes(modules.SHOWN[name], records))
        elif column == "processes":
            continue
        elif column in _COUNTS:
            np.add.at(values[:, i], owner, quantity(name, column, records))
        else:
            seconds = quantity(name, f"{column.removesuffix('_nanoseconds')}_seconds", records)
            nanoseconds = np.nan_to_num(seconds * 1e9).clip(0, _MAX_NANOSECONDS)
            np.add.at(values[:, i], owner, np.rint(nanoseconds).astype(np.int64))
    return FileTable(ids.astype(np.uint64), values)


def _sizes(layout: ModuleLayout, records: Records) -> Array:
    """The highest byte touched plus one `[n]`, 0 where nothing says so."""
    size = np.zeros(len(records.ids), np.int64)
    for kind, moved in (("READ", "BYTES_READ"), ("WRITTEN", "BYTES_WRITTEN")):
        place = layout.index.get(f"{layout.prefix}MAX_BYTE_{kind}")
        if place is not None:
            some = records.counters[:, layout.index[layout.prefix + moved]] > 0
            size = np.maximum(size, np.where(some, records.counters[:, place] + 1, 0))
    return size


def _distributions(files: FileTable) -> tuple[Array, SlowFiles]:
    column = {name: files.values[:, i] for i, name in enumerate(FILE_COLUMNS)}
    counts = np.zeros((len(HISTOGRAMS), N_HISTOGRAM_BINS), np.int64)
    ids, places, speeds = [], [], []
    for direction, (moved, took) in enumerate(
        (("bytes_read", "read_nanoseconds"), ("bytes_written", "write_nanoseconds"))
    ):
        some = np.flatnonzero((column[moved] > 0) & (column[took] > 0))
        speed = column[moved][some] / (column[took][some] / 1e9)
        where = histogram_bin(speed)
        counts[direction] = np.bincount(where, minlength=N_HISTOGRAM_BINS)
        order = np.lexsort((speed, where))
        nth = np.arange(len(order)) - np.searchsorted(where[order], where[order])
        chosen = order[nth < SLOWEST_PER_BIN]
        ids.append(files.ids[some[chosen]])
        places.append(np.stack([np.full(len(chosen), direction), where[chosen]], axis=1))
        speeds.append(speed[chosen])
    for i, name in enumerate(HISTOGRAMS[2:], 2):
        values = column["size_bytes" if name == "size" else name]
        positive = values[values > 0].astype(np.float64)
        counts[i] = np.bincount(histogram_bin(positive), minlength=N_HISTOGRAM_BINS)
    slow = SlowFiles(np.concatenate(ids), np.concatenate(places), np.concatenate(speeds))
    return counts, slow


def _common_sizes(layout: ModuleLayout, counters: Array) -> Array:
    """The most frequent access sizes `[n, 2]` of all records, each of which keeps four."""
    found: dict[int, int] = {}
    for i in range(1, COMMON_VALUES + 1):
        size = layout.index.get(f"{layout.prefix}ACCESS{i}_ACCESS")
        if size is None:
            break
        count = counters[:, layout.index[f"{layout.prefix}ACCESS{i}_COUNT"]]
        for value, n in zip(counters[:, size].tolist(), count.tolist(), strict=True):
            if n > 0:
                found[value] = found.get(value, 0) + n
    most = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_MAX_COMMON]
    return np.array(most, np.int64).reshape(-1, 2)


def fill_coarse(name: str, records: Records, grid: Grid, moment: float) -> None:
    """Adds what first and last timestamps say to a grid: calls and time in calls, and the bytes
    when nothing finer is known.

    Args:
        name: the module.
        records: its records.
        grid: where to.
        moment: seconds after which a timestamp cannot be meant.
    """
    for write, (kind, calls, took) in enumerate(
        (("READ", "reads", "read_seconds"), ("WRITE", "writes", "write_seconds"))
    ):
        start, end, some = _span(name, records, kind, kind, moment)
        if grid.source == "timestamps":
            column = "bytes_written" if write else "bytes_read"
            moved = np.maximum(quantity(name, column, records), 0)
            grid.add_bytes(write, records.ranks[some], start, end, moved[some])
        if grid.source != "DXT":
            n = np.maximum(quantity(name, calls, records), 0)
            grid.add_even(calls, start, end, n[some])
            seconds = np.nan_to_num(quantity(name, took, records)).clip(0, 1e12)
            grid.add_even("call_nanoseconds", start, end, seconds[some] * 1e9)
    start, end, some = _span(name, records, "OPEN", "CLOSE", moment)
    n = np.maximum(quantity(name, "metadata_calls", records), 0)
    grid.add_even("metadata_calls", start, end, n[some])


def _span(
    name: str, records: Records, first: str, last: str, moment: float
) -> tuple[Array, Array, Array]:
    """Start and end `[m]` of what records did, and the places `[m]` of those that tell it."""
    layout = modules.SHOWN[name]
    start_at = layout.findex.get(f"{layout.prefix}F_{first}_START_TIMESTAMP")
    if start_at is None:
        return np.zeros(0), np.zeros(0), np.zeros(0, np.int64)
    start = records.fcounters[:, start_at]
    ends = [
        records.fcounters[:, layout.findex[f"{layout.prefix}F_{event}_END_TIMESTAMP"]]
        for event in dict.fromkeys((first, last))
    ]
    end = np.maximum.reduce([np.where(e <= moment, e, 0.0) for e in ends])
    good = np.isfinite(start) & (start >= 0) & (start <= moment) & (start + end > 0)
    some = np.flatnonzero(good)
    return start[some], np.maximum(start, end)[some], some


def latest(name: str, records: Records, moment: float) -> tuple[float, int]:
    """The last timestamp in seconds, and how many cannot be meant: negative or after `moment`."""
    layout = modules.SHOWN[name]
    places = [i for counter, i in layout.findex.items() if counter.endswith("_TIMESTAMP")]
    stamps = np.nan_to_num(records.fcounters[:, places], nan=-2.0, posinf=np.inf)
    impossible = ((stamps < 0) & (stamps != -1.0)) | (stamps > moment)
    known = stamps[~impossible]
    return float(known.max(initial=0.0)), int((impossible & (np.abs(stamps) > 1e-9)).sum())


def shared_files(name: str, records: Records, names: Mapping[int, str]) -> list[dict[str, Any]]:
    """Files with one record for all ranks, and their fastest and slowest rank; slowest first."""
    layout = modules.SHOWN[name]
    if f"{layout.prefix}SLOWEST_RANK" not in layout.index:
        return []
    places = np.flatnonzero(records.ranks == -1)
    slowest = records.fcounters[:, layout.findex[f"{layout.prefix}F_SLOWEST_RANK_TIME"]]
    order = places[np.argsort(-np.nan_to_num(slowest[places]), kind="stable")][:MAX_SHARED]
    rows = []
    for i in order.tolist():
        record_id = int(records.ids[i])
        row: dict[str, Any] = {
            "module": name,
            "path": names.get(record_id) or f"record {record_id}",
        }
        for kind in ("fastest", "slowest"):
            counter = f"{layout.prefix}{kind.upper()}_RANK"
            fcounter = f"{layout.prefix}F_{kind.upper()}_RANK_TIME"
            row[f"{kind}_rank"] = int(records.counters[i, layout.index[counter]])
            row[f"{kind}_bytes"] = int(records.counters[i, layout.index[f"{counter}_BYTES"]])
            seconds = float(records.fcounters[i, layout.findex[fcounter]])
            row[f"{kind}_seconds"] = seconds if np.isfinite(seconds) else None
        rows.append(row)
    return rows
