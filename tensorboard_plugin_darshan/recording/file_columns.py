"""From Darshan's records to the columns and histograms of windows."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_darshan import counters, window
from tensorboard_plugin_darshan.recording.records import ModuleArrays
from tensorboard_plugin_darshan.window import Int64Array

COLUMN: Final = {name: i for i, name in enumerate(window.FILE_COLUMNS)}
ADDITIVE: Final = np.array([c not in window.MAXIMUM_COLUMNS for c in window.FILE_COLUMNS])
"""Mask over `window.FILE_COLUMNS` of what adds up over windows and processes."""

_METADATA_CALLS: Final = {
    "POSIX": ("OPENS", "SEEKS", "STATS", "RENAME_SOURCES"),
    "STDIO": ("OPENS", "SEEKS"),
}
"""Calls that Darshan counts and whose time it calls metadata time; closes have no counter."""
_NANOSECONDS: Final = 1e9


class _Bandwidth(NamedTuple):
    """Columns that a bandwidth histogram divides."""

    bytes_column: int
    time_column: int


_BANDWIDTHS: Final = (
    _Bandwidth(COLUMN["bytes_read"], COLUMN["read_nanoseconds"]),
    _Bandwidth(COLUMN["bytes_written"], COLUMN["write_nanoseconds"]),
)
_PLAIN_HISTOGRAMS: Final = tuple(
    COLUMN["size_bytes" if name == "size" else name]
    for name in window.HISTOGRAMS[len(_BANDWIDTHS) :]
)


def file_columns(module: str, arrays: ModuleArrays) -> Int64Array:
    """The columns `[n, len(window.FILE_COLUMNS)] int64` of one process's records, since the
    recording began; `processes` is left to whoever sees all of them.
    """
    layout = counters.LAYOUTS[module]

    def ints(name: str) -> Int64Array:
        return arrays.counters[:, layout.index[layout.prefix + name]]

    def nanoseconds(name: str) -> Int64Array:
        seconds = arrays.fcounters[:, layout.findex[f"{layout.prefix}F_{name}_TIME"]]
        return np.rint(seconds * _NANOSECONDS).astype(np.int64)

    columns = {
        "opens": ints("OPENS"),
        "reads": ints("READS"),
        "writes": ints("WRITES"),
        "metadata_calls": sum(ints(name) for name in _METADATA_CALLS[module]),
        "bytes_read": ints("BYTES_READ"),
        "bytes_written": ints("BYTES_WRITTEN"),
        "read_nanoseconds": nanoseconds("READ"),
        "write_nanoseconds": nanoseconds("WRITE"),
        "metadata_nanoseconds": nanoseconds("META"),
        "size_bytes": np.maximum(
            np.where(ints("BYTES_READ") > 0, ints("MAX_BYTE_READ") + 1, 0),
            np.where(ints("BYTES_WRITTEN") > 0, ints("MAX_BYTE_WRITTEN") + 1, 0),
        ),
        "processes": np.zeros(len(arrays.ids), np.int64),
    }
    return np.stack([columns[name] for name in window.FILE_COLUMNS], axis=1)


def bandwidths(columns: Int64Array) -> npt.NDArray[np.float64]:
    """Read and write bandwidth `[n, 2] float64` in bytes per second, 0 where there is none."""
    values = np.zeros((len(columns), len(_BANDWIDTHS)))
    for i, (amount, time) in enumerate(_BANDWIDTHS):
        has_one = (columns[:, amount] > 0) & (columns[:, time] > 0)
        np.divide(
            columns[:, amount] * _NANOSECONDS, columns[:, time], out=values[:, i], where=has_one
        )
    return values


def histogram_places(columns: Int64Array) -> Int64Array:
    """The bin `[n, len(window.HISTOGRAMS)] int64` of each file in each histogram, -1 for none."""
    values = np.concatenate([bandwidths(columns), columns[:, _PLAIN_HISTOGRAMS]], axis=1)
    return np.where(values > 0, window.histogram_bin(values), -1)


def count_places(places: Int64Array) -> Int64Array:
    """Files a bin, `[len(window.HISTOGRAMS), window.N_HISTOGRAM_BINS] int64`."""
    counts = [
        np.bincount(column[column >= 0], minlength=window.N_HISTOGRAM_BINS) for column in places.T
    ]
    return np.stack(counts).astype(np.int64)


def busy_nanoseconds(columns: Int64Array) -> Int64Array:
    """Time in calls `[n] int64` of each row."""
    kinds = ("read", "write", "metadata")
    times: Int64Array = columns[:, [COLUMN[f"{kind}_nanoseconds"] for kind in kinds]]
    total: Int64Array = times.sum(axis=1)
    return total


def slowest(
    known: window.SlowFiles, ids: window.UInt64Array, columns: Int64Array
) -> window.SlowFiles:
    """The slowest files of each bandwidth bin, among those `known` and those that changed.

    A listed file that moves to another bin leaves its place open until another file of the old bin
    changes.
    """
    speeds = bandwidths(columns)
    kept = ~np.isin(known.ids, ids)
    all_ids, all_bins, all_values = [known.ids[kept]], [known.bins[kept]], [known.values[kept]]
    for direction in range(len(_BANDWIDTHS)):
        has_one = speeds[:, direction] > 0
        values = speeds[has_one, direction]
        places = window.histogram_bin(values)
        all_ids.append(ids[has_one])
        all_bins.append(np.stack([np.full_like(places, direction), places], axis=1))
        all_values.append(values)
    found = window.SlowFiles(
        np.concatenate(all_ids), np.concatenate(all_bins), np.concatenate(all_values)
    )
    key = found.bins[:, 0] * window.N_HISTOGRAM_BINS + found.bins[:, 1]
    order = np.lexsort((found.values, key))
    key = key[order]
    rank = np.arange(len(key)) - np.searchsorted(key, key, side="left")
    first = order[rank < window.SLOWEST_PER_BIN]
    return window.SlowFiles(found.ids[first], found.bins[first], found.values[first])
