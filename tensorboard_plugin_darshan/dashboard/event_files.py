"""`EventFiles`: event files below a directory, as TensorBoard's data provider would give them.

Read without TensorBoard's own loaders, which hold everything in memory and import TensorFlow where
it is installed. Only where the data lies is kept; it is read again when it is asked for.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import google_crc32c
import numpy as np
from tensorboard.compat.proto import event_pb2

from tensorboard_plugin_darshan import metadata

_PREFIX: Final = "events.out.tfevents."
_HEAD: Final = struct.Struct("<QI")
_TAIL: Final = 4


@dataclass(frozen=True)
class _Place:
    """Where an event lies."""

    path: Path
    offset: int
    size: int
    step: int
    wall_time: float


@dataclass
class _Series:
    """The events of a tag; the attributes are those of TensorBoard's time series."""

    places: list[_Place] = field(default_factory=list)

    @property
    def max_step(self) -> int:
        return max(place.step for place in self.places)

    @property
    def max_wall_time(self) -> float:
        return max(place.wall_time for place in self.places)


@dataclass(frozen=True)
class _Datum:
    step: int
    wall_time: float
    numpy: np.ndarray[Any, Any]


@dataclass(frozen=True)
class _RunName:
    run_name: str


class EventFiles:
    """What a `RunStore` asks of a data provider, of the event files below a directory.

    Args:
        directory: where they lie.
    """

    def __init__(self, directory: Path) -> None:
        self._runs: dict[str, dict[str, _Series]] = {}
        for folder, _, names in sorted(os.walk(directory)):
            for name in sorted(name for name in names if name.startswith(_PREFIX)):
                run = os.path.relpath(folder, directory)
                self._index(self._runs.setdefault(run, {}), Path(folder) / name)

    @staticmethod
    def _index(tags: dict[str, _Series], path: Path) -> None:
        for offset, data in _records(path):
            event = event_pb2.Event.FromString(data)
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name == metadata.PLUGIN_NAME:
                    place = _Place(path, offset, len(data), event.step, event.wall_time)
                    tags.setdefault(value.tag, _Series()).places.append(place)

    def list_runs(self, ctx: Any, *, experiment_id: str) -> list[_RunName]:
        """Directories that hold event files."""
        return [_RunName(name) for name in self._runs]

    def list_tensors(
        self, ctx: Any, *, experiment_id: str, plugin_name: str, run_tag_filter: Any
    ) -> dict[str, dict[str, _Series]]:
        """Run → tag → its series."""
        runs = run_tag_filter.runs
        return {name: its for name, its in self._runs.items() if runs is None or name in runs}

    def read_tensors(
        self,
        ctx: Any,
        *,
        experiment_id: str,
        plugin_name: str,
        downsample: int,
        run_tag_filter: Any,
    ) -> dict[str, dict[str, list[_Datum]]]:
        """Run → tag → its data."""
        return {
            name: {
                tag: [_read(place, tag) for place in series.places]
                for tag, series in self._runs[name].items()
                if tag in run_tag_filter.tags
            }
            for name in run_tag_filter.runs
            if name in self._runs
        }


def _read(place: _Place, tag: str) -> _Datum:
    with place.path.open("rb") as file:
        file.seek(place.offset)
        event = event_pb2.Event.FromString(file.read(place.size))
    value = next(value for value in event.summary.value if value.tag == tag)
    data = np.array(next(iter(value.tensor.string_val), b""), object)
    return _Datum(place.step, place.wall_time, data)


def _records(path: Path) -> Iterator[tuple[int, bytes]]:
    """Offset and content of each record of a file, up to the first torn or damaged one."""
    with path.open("rb") as file:
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            size, check = _HEAD.unpack(head)
            if _masked(head[:8]) != check:
                return
            offset = file.tell()
            data, tail = file.read(size), file.read(_TAIL)
            if len(tail) < _TAIL or _masked(data) != int.from_bytes(tail, "little"):
                return
            yield offset, data


def _masked(data: bytes) -> int:
    crc = google_crc32c.value(data)
    return int((((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)
