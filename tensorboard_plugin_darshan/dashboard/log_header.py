"""What stands at the begin of a Darshan log: who ran when, and which modules there are.

Read here without Darshan's library, which can take the process down with a damaged file. That is
enough to list a log, and to say of most unreadable files why they are.
"""

from __future__ import annotations

import bz2
import os
import stat
import struct
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_MAGIC: Final = 6567223
_FIRST_BYTES: Final = 8192
_NEW_HEADER: Final = 1328
_OLD_HEADER: Final = 360
_NEWEST_KNOWN: Final = (3, 41)
_WRITING_SECONDS: Final = 120.0
_ZLIB, _BZIP2, _PLAIN = 0, 1, 2
_JOB_BYTES: Final = 1080 + 4096

_HEAD: Final = ("", "POSIX", "MPI-IO", "H5F")
_TAIL: Final = ("BG/Q", "LUSTRE", "STDIO", "DXT_POSIX", "DXT_MPIIO", "MDHIM", "APXC", "APMPI")
_MODULES: Final = {
    (3, 41): (*_HEAD, "H5D", "PNETCDF_FILE", "PNETCDF_VAR", *_TAIL, "HEATMAP", "DFS", "DAOS"),
    (3, 20): (*_HEAD, "H5D", "PNETCDF_FILE", *_TAIL, "HEATMAP"),
    (3, 0): (*_HEAD, "PNETCDF_FILE", *_TAIL),
}
"""Names of modules by id, for formats from that version on."""


class BadLogError(ValueError):
    """It is no log that can be read; the text says why, and what helps."""


@dataclass(frozen=True)
class Module:
    """A module's region of a log: compressed bytes, version of its records, whether the log says
    that records are missing.
    """

    length: int
    version: int
    partial: bool


@dataclass(frozen=True)
class Header:
    """The begin of a log.

    Attributes:
        format_version: e.g. `3.41`.
        begin, end: of the job, seconds since 1970.
        modules: name → region, for those with data.
        metadata: what Darshan noted of itself, e.g. `lib_ver`.
        command: the command line.
    """

    format_version: str
    begin: float
    end: float
    uid: int
    job_id: int
    processes: int
    modules: Mapping[str, Module] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    command: str = ""


def read_header(path: str | os.PathLike[str]) -> Header:
    """The header of a log.

    Raises:
        BadLogError: it is not a readable log.
    """
    path = Path(path)
    try:
        facts = path.stat()
        if stat.S_ISDIR(facts.st_mode):
            raise BadLogError("is a directory, not a log")
        if not stat.S_ISREG(facts.st_mode):
            raise BadLogError("is not a regular file")
        with path.open("rb") as file:
            first = file.read(_FIRST_BYTES)
    except PermissionError as error:
        raise BadLogError(
            "cannot be read: permission denied; make it readable for the user that runs "
            "TensorBoard (Darshan gives logs to their owner only)"
        ) from error
    except OSError as error:
        raise BadLogError(f"cannot be read: {error.strerror}") from error
    try:
        return _parse(first, facts.st_size)
    except _CutOffError as error:
        if time.time() - facts.st_mtime < _WRITING_SECONDS:
            raise BadLogError(
                f"is not complete yet ({error}): it is being written right now, or was cut off"
            ) from error
        raise BadLogError(
            f"is cut off ({error}): copy it again, or the job ended before Darshan had written it"
        ) from error


class _CutOffError(Exception):
    """The file ends too early."""


def _parse(first: bytes, size: int) -> Header:
    _check_kind(first)
    version = _version(first)
    is_new = version >= (3, 41)
    if len(first) < (_NEW_HEADER if is_new else _OLD_HEADER):
        raise _CutOffError(f"{size:,} bytes, less than its header")
    order = next((o for o in "<>" if struct.unpack_from(f"{o}q", first, 8)[0] == _MAGIC), None)
    if order is None:
        raise BadLogError("is damaged: the mark that begins every log is wrong")
    if is_new:
        partial = struct.unpack_from(f"{order}Q", first, 24)[0]
        slots, ends, header = 64, (32, 48, 1072), _NEW_HEADER
    else:
        partial = struct.unpack_from(f"{order}I", first, 20)[0]
        slots, ends, header = 16, (24, 40, 296), _OLD_HEADER
    names_at, names_length = struct.unpack_from(f"{order}2Q", first, ends[0])
    maps = struct.unpack_from(f"{order}{2 * slots}Q", first, ends[1])
    versions = struct.unpack_from(f"{order}{slots}I", first, ends[2])
    regions = [(names_at, names_length), *zip(maps[::2], maps[1::2], strict=True)]
    reach = (
        max(offset + length for offset, length in regions if length)
        if any(length for _, length in regions)
        else header
    )
    if reach > size:
        if reach > 2**48:
            raise BadLogError("is damaged: its table of contents is impossible")
        raise _CutOffError(f"{size:,} of {reach:,} bytes")
    known = next(names for since, names in _MODULES.items() if version >= since)
    modules = {
        (known[i] if i < len(known) else f"module {i}"): Module(
            maps[2 * i + 1], versions[i], bool(partial >> i & 1)
        )
        for i in range(1, slots)
        if maps[2 * i + 1] or partial >> i & 1
    }
    job = _job(first[header : names_at or None], first[16])
    return _with_job(job, order, is_new, _text(version), modules)


def _check_kind(first: bytes) -> None:
    if not first:
        raise BadLogError(
            "is empty: the job has not ended, or Darshan could not write (full disk, quota)"
        )
    if first.startswith((b"\x1f\x8b", b"BZh")):
        inner = _unpacked_begin(first)
        if inner[:2] in (b"1.", b"2."):
            version = inner[:8].split(b"\0")[0].decode("ascii", "replace")
            raise BadLogError(_too_old(version))
        name = "gzip" if first[:1] == b"\x1f" else "bzip2"
        tool = "gunzip" if name == "gzip" else "bunzip2"
        raise BadLogError(
            f"is compressed with {name}: unpack it first ({tool}); logs of Darshan 2.x and older "
            "are compressed as a whole and too old for current tools"
        )


def _unpacked_begin(first: bytes) -> bytes:
    try:
        if first[:1] == b"\x1f":
            return zlib.decompressobj(wbits=31).decompress(first, 64)
        return bz2.BZ2Decompressor().decompress(first, 64)
    except (zlib.error, OSError):
        return b""


def _too_old(version: str) -> str:
    return (
        f"has format {version}, which is too old: PyDarshan reads 3.0 and newer; convert it with "
        "darshan-convert of a Darshan release that still reads it"
    )


def _version(first: bytes) -> tuple[int, int]:
    text = first[:8].split(b"\0")[0].decode("ascii", "replace")
    major, dot, minor = text.partition(".")
    if not (dot and major.isdecimal() and minor.isdecimal() and len(text) < 7):
        raise BadLogError(
            "is not a Darshan log: it does not begin with a version of the log format"
        )
    if int(major) < 3:
        raise BadLogError(_too_old(text))
    version = (int(major), int(minor))
    if version > _NEWEST_KNOWN:
        raise BadLogError(
            f"has format {text}, newer than {_text(_NEWEST_KNOWN)}: update tensorboard-plugin-"
            "darshan and darshan where TensorBoard runs"
        )
    return version


def _text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]:02d}"


def _job(region: bytes, compression: int) -> bytes:
    """The job record, unpacked; shorter when the region is damaged."""
    if compression == _PLAIN:
        return region
    try:
        if compression == _BZIP2:
            return bz2.BZ2Decompressor().decompress(region, _JOB_BYTES)
        return zlib.decompressobj().decompress(region, _JOB_BYTES)
    except (zlib.error, OSError) as error:
        raise BadLogError("is damaged: the job's description cannot be unpacked") from error


def _with_job(
    job: bytes, order: str, is_new: bool, version: str, modules: Mapping[str, Module]
) -> Header:
    count, length = (7, 56) if is_new else (5, 40)
    if len(job) < length + 1024:
        raise BadLogError("is damaged: the job's description is incomplete")
    values = struct.unpack_from(f"{order}{count}q", job)
    uid, processes, job_id = values[0], *values[-2:]
    begin, end = (values[1], values[3]) if is_new else (values[1], values[2])
    nanoseconds = (values[2], values[4]) if is_new else (0, 0)
    lines = job[length : length + 1024].split(b"\0")[0].decode("utf-8", "replace").split("\n")
    command = job[length + 1024 :].split(b"\0")[0].split(b"\n")[0]
    return Header(
        version,
        begin + nanoseconds[0] / 1e9,
        end + nanoseconds[1] / 1e9,
        uid,
        job_id,
        processes,
        modules,
        {key: value for key, dot, value in (line.partition("=") for line in lines) if dot},
        command.decode("utf-8", "replace"),
    )
