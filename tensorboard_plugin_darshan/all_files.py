"""`AllFiles`: what every file of a recording did from its begin on, for the table of files.

Windows list only their busiest files; this table holds all, or as many as were asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tensorboard_plugin_darshan import packing, payload
from tensorboard_plugin_darshan.window import FILE_COLUMNS, Int64Array


@dataclass(frozen=True)
class ModuleFiles:
    """One module's part.

    Attributes:
        paths: `n` paths; directories, which hold what files without a row of their own did, end in
            a slash.
        values: `[n, len(FILE_COLUMNS)] int64`.
        n_folded: files that have no row of their own.
    """

    paths: tuple[str, ...]
    values: Int64Array
    n_folded: int = 0


@dataclass(frozen=True)
class AllFiles:
    """The table.

    Attributes:
        sequence: of the last window that it counts.
        end_seconds: that window's end, since the recording began.
        modules: Darshan module's name → its part.
    """

    sequence: int
    end_seconds: float
    modules: Mapping[str, ModuleFiles] = field(default_factory=dict)


def encode(table: AllFiles) -> bytes:
    """Packs the table for an event."""
    meta: dict[str, Any] = {
        "sequence": table.sequence,
        "end_seconds": table.end_seconds,
        "folded": {name: part.n_folded for name, part in table.modules.items()},
    }
    arrays: dict[str, Any] = {}
    for name, part in table.modules.items():
        arrays[f"{name}/paths"] = payload.encode_strings(part.paths)
        for place, column in enumerate(FILE_COLUMNS):
            arrays[f"{name}/{column}"] = packing.pack(part.values[:, place])
    return payload.encode(meta, arrays)


def decode(data: bytes) -> AllFiles:
    """Unpacks the table.

    Raises:
        payload.NewerVersionError: a newer version wrote it.
        payload.PayloadError: it holds something else, or is damaged.
    """
    meta, arrays = payload.decode(data)
    try:
        return AllFiles(
            int(meta["sequence"]),
            float(meta["end_seconds"]),
            {name: _module(name, n, arrays) for name, n in meta["folded"].items()},
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise payload.PayloadError(f"not a table of files: {error}") from error


def _module(name: str, n_folded: int, arrays: Mapping[str, Any]) -> ModuleFiles:
    paths = payload.decode_strings(arrays[f"{name}/paths"])
    no_planes = np.zeros((0, len(paths)), np.uint8)
    planes = (arrays.get(f"{name}/{column}", no_planes) for column in FILE_COLUMNS)
    columns = [packing.unpack(its) for its in planes]
    values = np.stack(columns, axis=1)
    if len(values) != len(paths) or (values.size and values.min() < 0):
        raise ValueError(f"impossible values of {name}")
    return ModuleFiles(tuple(paths), values, int(n_folded))
