"""The table of all files, from what each module's files did since the recording began."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tensorboard_plugin_darshan.all_files import AllFiles, ModuleFiles
from tensorboard_plugin_darshan.recording import file_columns
from tensorboard_plugin_darshan.recording.file_rows import FileRows
from tensorboard_plugin_darshan.window import FILE_COLUMNS, Int64Array


def build_all_files(
    files: Mapping[str, FileRows], max_files: int, sequence: int, end_seconds: float
) -> AllFiles:
    """The table, with `max_files` files by time in calls; the others are folded by directory.

    Args:
        files: module → its files.
        max_files: rows over all modules.
        sequence: of the last window that was cut.
        end_seconds: that window's end.
    """
    busy = [file_columns.busy_nanoseconds(rows.columns) for rows in files.values()]
    order = np.argsort(-np.concatenate([np.zeros(0, np.int64), *busy]), kind="stable")
    listed = np.zeros(len(order), np.bool_)
    listed[order[:max_files]] = True
    modules, begin = {}, 0
    for name, rows in files.items():
        modules[name] = _module(rows, listed[begin : begin + rows.n])
        begin += rows.n
    return AllFiles(sequence, end_seconds, modules)


def _module(rows: FileRows, listed: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> ModuleFiles:
    names, columns = rows.names, rows.columns
    places = sorted(np.flatnonzero(listed).tolist(), key=names.__getitem__)
    rest = np.flatnonzero(~listed)
    directories, folded = fold_by_directory([names[i] for i in rest.tolist()], columns[rest])
    return ModuleFiles(
        (*map(names.__getitem__, places), *directories),
        np.concatenate([columns[np.array(places, np.int64)], folded]),
        len(rest),
    )


def fold_by_directory(names: list[str], columns: Int64Array) -> tuple[list[str], Int64Array]:
    """Directories of files, which end in a slash, and a row of what their files did for each."""
    places: dict[str, int] = {}
    owner = np.array(
        [places.setdefault(f"{name.rpartition('/')[0]}/", len(places)) for name in names], np.int64
    )
    folded = np.zeros((len(places), len(FILE_COLUMNS)), np.int64)
    np.add.at(folded, owner, np.where(file_columns.ADDITIVE, columns, 0))
    np.maximum.at(folded, owner, np.where(file_columns.ADDITIVE, 0, columns))
    return list(places), folded
