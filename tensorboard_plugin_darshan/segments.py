"""`Segments`: traced reads and writes of one stretch of a recording, one by one.

Encoded they take 5 to 10 bytes each: columns of differences as byte planes (`packing.py`), files
and threads as small numbers, offsets as what differs from where the file's last access ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan import packing, payload
from tensorboard_plugin_darshan.window import Int64Array, UInt64Array

READ: Final = 0
WRITE: Final = 1

_COLUMNS: Final = ("file", "direction", "offset", "length", "start", "end", "thread")


@dataclass(frozen=True)
class Segments:
    """Accesses `[n]` in the order of their start; all columns are `[n] int64`.

    Attributes:
        sequence: 0, 1, 2, … within the recording.
        files: `[n_files] uint64` Darshan record ids; paths are in the windows' names.
        threads: `[n_threads, 2] uint64`: process id, and `pthread_self()` in that process; by
            their first access.
        file: place in `files`.
        direction: `READ` or `WRITE`.
        offset, length: bytes.
        start, end: nanoseconds since the recording began.
        thread: place in `threads`.
        dropped: accesses in the same stretch that were not kept.
    """

    sequence: int
    files: UInt64Array
    threads: UInt64Array
    file: Int64Array
    direction: Int64Array
    offset: Int64Array
    length: Int64Array
    start: Int64Array
    end: Int64Array
    thread: Int64Array
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.start)


def encode(segments: Segments) -> bytes:
    """Packs segments for an event."""
    meta = {"sequence": segments.sequence, "dropped": segments.dropped}
    arrays: dict[str, Any] = {
        "files": segments.files,
        "threads": segments.threads,
        "file": packing.pack_steps(segments.file),
        "direction": packing.pack(segments.direction),
        "offset": packing.pack(_jumps(segments.file, segments.offset, segments.length)),
        "length": packing.pack(segments.length),
        "start": packing.pack_steps(segments.start),
        "end": packing.pack(segments.end - segments.start),
        "thread": packing.pack_steps(segments.thread),
    }
    return payload.encode(meta, arrays)


def decode(data: bytes) -> Segments:
    """Unpacks segments.

    Raises:
        payload.NewerVersionError: a newer version wrote it.
        payload.PayloadError: it holds something else, or is damaged.
    """
    meta, arrays = payload.decode(data)
    try:
        values = {name: packing.unpack(arrays[name]) for name in _COLUMNS}
        for name in ("file", "start", "thread"):
            values[name] = np.cumsum(values[name], dtype=np.int64)
        files, threads = arrays["files"], arrays["threads"]
        _check(values, files, threads)
        values["offset"] = _offsets(values["file"], values["offset"], values["length"])
        values["end"] = values["start"] + values["end"]
        return Segments(
            int(meta["sequence"]), files, threads, **values, dropped=int(meta["dropped"])
        )
    except (KeyError, TypeError, ValueError) as error:
        raise payload.PayloadError(f"not segments: {error}") from error


def _check(values: dict[str, Int64Array], files: UInt64Array, threads: UInt64Array) -> None:
    if files.dtype != np.uint64 or files.ndim != 1:
        raise ValueError("impossible files")
    if threads.dtype != np.uint64 or threads.ndim != 2 or threads.shape[1] != 2:
        raise ValueError("impossible threads")
    n = len(values["start"])
    for name, highest in (("file", len(files)), ("direction", 2), ("thread", len(threads))):
        column = values[name]
        if len(column) != n or (n and not 0 <= column.min() <= column.max() < highest):
            raise ValueError(f"impossible {name}")
    for name in ("offset", "length", "end"):
        if len(values[name]) != n:
            raise ValueError(f"impossible {name}")
    if n and min(values["length"].min(), values["end"].min(), values["start"].min()) < 0:
        raise ValueError("impossible length or time")


def _by_file(file: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Places of accesses file by file, and which of these begin a file."""
    order = np.argsort(file, kind="stable")
    ordered = file[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return order, np.flatnonzero(first)


def _jumps(file: Int64Array, offset: Int64Array, length: Int64Array) -> Int64Array:
    """How far from where its file's last access ended each begins."""
    order, first = _by_file(file)
    ends = np.zeros(len(order), np.int64)
    ends[1:] = (offset + length)[order][:-1]
    ends[first] = 0
    jumps = np.empty(len(order), np.int64)
    jumps[order] = offset[order] - ends
    return jumps


def _offsets(file: Int64Array, jumps: Int64Array, length: Int64Array) -> Int64Array:
    """The offsets that `_jumps` was given."""
    order, first = _by_file(file)
    steps = jumps[order]
    steps[1:] += length[order][:-1]
    steps[first] = jumps[order][first]
    sums = np.cumsum(steps)
    bases = np.zeros(len(first), np.int64)
    bases[1:] = sums[first[1:] - 1]
    counts = np.diff(np.append(first, len(order)))
    offsets = np.empty(len(order), np.int64)
    offsets[order] = sums - np.repeat(bases, counts)
    return offsets
