"""Which files a run used, and how: one row a file and module, searched, sorted, by page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.all_files import ModuleFiles
from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.run import Recording
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.modules import SHOWN
from tensorboard_plugin_darshan.window import FILE_COLUMNS, MAXIMUM_COLUMNS

Array = columns.Array

SORT_COLUMNS: Final = (
    "path",
    "module",
    "opens",
    "reads",
    "writes",
    "metadata_calls",
    "bytes",
    "bytes_read",
    "bytes_written",
    "read_seconds",
    "write_seconds",
    "metadata_seconds",
    "size_bytes",
    "processes",
    "read_bandwidth",
    "write_bandwidth",
)

_MEMO_SIZE: Final = 4
_ADDITIVE: Final = tuple(name for name in FILE_COLUMNS if name not in MAXIMUM_COLUMNS)


@dataclass(frozen=True)
class FileRows:
    """Rows of the table as columns.

    Attributes:
        paths: `[n]` paths; those of folded directories end in a slash.
        lowered: the same in lower case, to search in.
        modules: `[n] object`, names of modules.
        values: numeric `SORT_COLUMNS` → `[n] float64`, NaN where not known.
    """

    paths: list[str]
    lowered: list[str]
    modules: Array
    values: dict[str, Array]

    def __len__(self) -> int:
        return len(self.paths)

    @cached_property
    def by_path(self) -> Array:
        """Places of the rows in the order of their paths."""
        return np.array(sorted(range(len(self)), key=self.paths.__getitem__), np.int64)

    @property
    def folded(self) -> int:
        """Number of rows that are directories."""
        return sum(path.endswith("/") for path in self.paths)


@dataclass(frozen=True)
class Page:
    """Some rows and the number of all that the search leaves."""

    total: int
    rows: list[dict[str, Any]]


def file_rows(selection: Selection) -> FileRows:
    """All rows of the stretch; kept with the run, as people leaf through them."""
    memo, key = selection.run.memo, ("file_rows", *selection.key)
    rows = memo.get(key)
    if rows is None:
        rows = _build(selection)
        while len(memo) >= _MEMO_SIZE:
            memo.pop(next(iter(memo)), None)
        memo[key] = rows
    assert isinstance(rows, FileRows)
    return rows


def page(rows: FileRows, search: str, sort: str, limit: int, offset: int) -> Page:
    """Rows `offset` to `offset + limit` of those whose path contains `search`.

    Args:
        rows: all rows.
        search: text, whatever its case.
        sort: one of `SORT_COLUMNS`, with `-` before it for largest first.
        limit: number of rows wanted.
        offset: number of rows to skip.
    """
    order = _order(rows, sort.lstrip("-"), sort.startswith("-"))
    if search:
        text = search.lower()
        hits = np.array([text in path for path in rows.lowered], np.bool_)
        order = order[hits[order]]
    return Page(len(order), [_row(rows, int(i)) for i in order[offset : offset + limit]])


def _order(rows: FileRows, column: str, descending: bool) -> Array:
    """Places of the rows in order; rows without a value come last, ties by path."""
    by_path = rows.by_path
    if column == "path":
        return by_path[::-1] if descending else by_path
    if column == "module":
        values = np.unique(rows.modules.astype(str), return_inverse=True)[1]
        values = values.astype(np.float64)
    else:
        values = rows.values[column]
    keys = np.where(np.isnan(values), np.inf, -values if descending else values)[by_path]
    return by_path[np.argsort(keys, kind="stable")]


def _row(rows: FileRows, i: int) -> dict[str, Any]:
    row: dict[str, Any] = {"path": rows.paths[i], "module": rows.modules[i]}
    row["folded"] = rows.paths[i].endswith("/")
    for name, values in rows.values.items():
        value = float(values[i])
        whole = not name.endswith(("_seconds", "_bandwidth"))
        row[name] = None if np.isnan(value) else int(value) if whole else value
    return row


def _build(selection: Selection) -> FileRows:
    paths: list[str] = []
    modules: list[str] = []
    parts: list[dict[str, Array]] = []
    for name in selection.modules:
        found = [
            _recording_rows(recording, module, mask)
            if table is None
            else _rows_with_table(table, recording, module, mask)
            for place, recording, module, mask in selection.parts(name)
            for table in [_table_of(selection, place, name)]
        ]
        names, values = found[0] if len(found) == 1 else _merge(found)
        if f"{name}_MAX_BYTE_READ" not in SHOWN[name].index:
            values["size_bytes"] = np.full(len(names), np.nan)
        paths += names
        modules += [name] * len(names)
        parts.append(values)
    values = {
        column: np.concatenate([np.zeros(0), *(part[column] for part in parts)])
        for column in FILE_COLUMNS
    }
    return FileRows(
        paths, [path.lower() for path in paths], np.array(modules, object), _shown(values)
    )


def _table_of(selection: Selection, place: int, name: str) -> ModuleFiles | None:
    """A module's part of the recording's table of all files, where the stretch holds all that it
    counts.
    """
    recording, mask = selection.run.recordings[place], selection.masks[place]
    table = recording.all_files
    if table is None or not selection.covers_begin(place):
        return None
    is_counted = recording.windows.sequence <= table.sequence
    return table.modules.get(name) if mask[is_counted].all() else None


def _rows_with_table(
    table: ModuleFiles, recording: Recording, module: columns.ModuleColumns, mask: Array
) -> tuple[list[str], dict[str, Array]]:
    """The table of all files, and what its recording's later windows add."""
    assert recording.all_files is not None
    values = table.values.astype(np.float64)
    rows = {name: values[:, place] for place, name in enumerate(FILE_COLUMNS)}
    later = mask & (recording.windows.sequence > recording.all_files.sequence)
    if not later.any():
        return list(table.paths), rows
    found = [(list(table.paths), rows), _recording_rows(recording, module, later)]
    return _merge(found, MAXIMUM_COLUMNS)


def _recording_rows(
    recording: Recording, module: columns.ModuleColumns, mask: Array
) -> tuple[list[str], dict[str, Array]]:
    """Paths of one recording's files and directories, and their columns added up."""
    tables = []
    for table in (module.files, module.folded):
        rows = columns.rows_of(table, mask)
        tables.append({name: values[rows] for name, values in table.items() if name != "window"})
    file = np.concatenate([table["file"] for table in tables])
    n = len(recording.index.paths)
    used = np.flatnonzero(np.bincount(file, minlength=n))
    values: dict[str, Array] = {}
    for name in _ADDITIVE:
        weights = np.concatenate([table[name] for table in tables])
        values[name] = np.bincount(file, weights, minlength=n)[used]
    for name in MAXIMUM_COLUMNS:
        largest = np.zeros(n)
        column = np.concatenate([table[name] for table in tables])
        np.maximum.at(largest, file, column.astype(np.float64))
        values[name] = largest[used]
    names = recording.index.paths
    return [names[place] for place in used.tolist()], values


def _merge(
    found: list[tuple[list[str], dict[str, Array]]], largest: tuple[str, ...] = ("size_bytes",)
) -> tuple[list[str], dict[str, Array]]:
    """The rows of several recordings, one a path; of columns in `largest` the maximum counts."""
    places: dict[str, int] = {}
    owner = np.array(
        [places.setdefault(path, len(places)) for paths, _ in found for path in paths], np.int64
    )
    values: dict[str, Array] = {}
    for name in FILE_COLUMNS:
        parts = np.concatenate([np.zeros(0), *(part[name] for _, part in found)])
        values[name] = np.zeros(len(places))
        combine = np.maximum if name in largest else np.add
        combine.at(values[name], owner, parts)
    return list(places), values


def _shown(values: dict[str, Array]) -> dict[str, Array]:
    """The columns in the units and the order in which they are shown."""
    shown = dict(values)
    shown["processes"] = np.where(values["processes"] > 0, values["processes"], np.nan)
    shown["bytes"] = values["bytes_read"] + values["bytes_written"]
    for kind in ("read", "write", "metadata"):
        shown[f"{kind}_seconds"] = values[f"{kind}_nanoseconds"] / 1e9
    for kind, moved in (("read", "bytes_read"), ("write", "bytes_written")):
        known = (shown[moved] > 0) & (shown[f"{kind}_seconds"] > 0)
        bandwidth = np.full(len(known), np.nan)
        np.divide(shown[moved], shown[f"{kind}_seconds"], out=bandwidth, where=known)
        shown[f"{kind}_bandwidth"] = bandwidth
    return {name: shown[name] for name in SORT_COLUMNS if name in shown}
