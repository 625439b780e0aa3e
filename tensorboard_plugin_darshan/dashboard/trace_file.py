"""Trace-event files: written whole, or put into the trace of another profiler."""

from __future__ import annotations

import gzip
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tensorboard_plugin_darshan.dashboard.offline import ExportError

_CHUNK: Final = 1 << 20
_OVERLAP: Final = 256
_EVENTS_PER_WRITE: Final = 5_000
_LEVEL: Final = 1
_GZIP_MAGIC: Final = b"\x1f\x8b"

_BASE: Final = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d+)\s*[,}]')
_TIME: Final = re.compile(rb'"ts"\s*:\s*(\d+(?:\.\d*)?)\s*[,}]')
_EVENTS: Final = re.compile(rb'"traceEvents"\s*:\s*\[')
_EPOCH_MICROSECONDS: Final = 1e14
"""A larger time stamp counts from 1970: microseconds up to 1973 are smaller, as are those of any
trace that counts from its begin."""

_START_STAT: Final = b"profile_start_time"


def write_trace(out: Path, events: Iterator[str]) -> int:
    """Writes events as a trace of their own, compressed where the name ends in `.gz`.

    Returns:
        How many there were.
    """
    with _create(out) as file:
        file.write(b'{"displayTimeUnit":"ms","traceEvents":[\n')
        n = _write_events(file, events)
        file.write(b"\n]}\n")
    return n


def merge_trace(trace: Path, out: Path, events: Iterator[str]) -> int:
    """Writes events into a copy of another trace; see `write_trace`.

    Raises:
        ExportError: it is no trace.
    """
    with _open(trace) as source, _create(out) as file:
        head, rest = _split(source, trace)
        file.write(head)
        n = _write_events(file, events)
        while not rest.lstrip() and (more := source.read(_CHUNK)):
            rest += more
        if n and not rest.lstrip().startswith(b"]"):
            file.write(b",\n")
        while rest:
            file.write(rest)
            rest = source.read(_CHUNK)
    return n


def zero_of(trace: Path) -> int:
    """Where the axis of a trace begins, in nanoseconds since 1970.

    A torch trace says so (`baseTimeNanoseconds`) or counts from 1970; a JAX trace lies beside the
    `.xplane.pb` that says when it began.

    Raises:
        ExportError: nothing tells.
    """
    first_time = None
    with _open(trace) as source:
        kept = b""
        while chunk := source.read(_CHUNK):
            kept = kept[-_OVERLAP:] + chunk
            if found := _BASE.search(kept):
                return int(found.group(1))
            if first_time is None and (found := _TIME.search(kept)):
                first_time = float(found.group(1))
    if first_time is not None and first_time > _EPOCH_MICROSECONDS:
        return 0
    for beside in sorted(trace.parent.glob("*.xplane.pb")):
        began = profile_start(beside.read_bytes())
        if began is not None:
            return began
    raise ExportError(
        f"{trace} does not say when it began; give that with --merge-begin, in seconds since 1970"
    )


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        is_packed = file.read(2) == _GZIP_MAGIC
    try:
        with gzip.open(path) if is_packed else path.open("rb") as source:
            yield source
    except (EOFError, gzip.BadGzipFile) as error:
        raise ExportError(f"{path} is damaged: {error}") from error


@contextmanager
def _create(path: Path) -> Iterator[Any]:
    """The file under its name when it is complete."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as plain:
            if path.suffix == ".gz":
                with gzip.GzipFile("", "wb", _LEVEL, plain, mtime=0) as packed:
                    yield packed
            else:
                yield plain
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _write_events(file: Any, events: Iterator[str]) -> int:
    n, batch = 0, list[str]()
    for event in events:
        batch.append(event)
        if len(batch) == _EVENTS_PER_WRITE:
            file.write((",\n" * bool(n) + ",\n".join(batch)).encode())
            n += len(batch)
            batch.clear()
    if batch:
        file.write((",\n" * bool(n) + ",\n".join(batch)).encode())
    return n + len(batch)


def _split(source: Any, trace: Path) -> tuple[bytes, bytes]:
    """A trace up to the begin of its events, and what of the rest was read."""
    read = b""
    while chunk := source.read(_CHUNK):
        read += chunk
        if read.lstrip().startswith(b"["):
            end = read.index(b"[") + 1
        elif found := _EVENTS.search(read):
            end = found.end()
        else:
            continue
        return read[:end], read[end:]
    raise ExportError(f"{trace} holds no trace events; give the .json or .json.gz of a profiler")


def profile_start(data: bytes) -> int | None:
    """When the profile of an XSpace began, in nanoseconds since 1970, where it says so."""
    for plane in _fields(data, 1):
        keys = set()
        for entry in _fields(plane, 5):
            for value in _fields(entry, 2):
                if _START_STAT in _fields(value, 2):
                    keys.update(_numbers(value, 1))
        for stat in _fields(plane, 6):
            if keys & set(_numbers(stat, 1)):
                found = [*_numbers(stat, 3), *_numbers(stat, 4)]
                if found:
                    return found[0]
    return None


def _fields(message: bytes, wanted: int) -> list[bytes]:
    return [value for number, value in _parse(message) if number == wanted and type(value) is bytes]


def _numbers(message: bytes, wanted: int) -> list[int]:
    return [value for number, value in _parse(message) if number == wanted and type(value) is int]


def _parse(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Fields of a protocol buffer: numbers and byte strings; a damaged rest is left out."""
    at = 0
    try:
        while at < len(message):
            key, at = _varint(message, at)
            kind = key & 7
            if kind == 0:
                number, at = _varint(message, at)
                yield key >> 3, number
            elif kind == 2:
                size, at = _varint(message, at)
                yield key >> 3, message[at : at + size]
                at += size
            elif kind == 1:
                yield key >> 3, struct.unpack_from("<Q", message, at)[0]
                at += 8
            elif kind == 5:
                yield key >> 3, struct.unpack_from("<I", message, at)[0]
                at += 4
            else:
                return
    except (IndexError, struct.error):
        return


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
