"""A Darshan log while it is being made, read where it lies: in this process's memory, in the file
that a child maps its log from, or in a copy.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from tensorboard_plugin_darshan.recording import darshan_layouts as layouts
from tensorboard_plugin_darshan.window import UInt64Array

_ID_BYTES: Final = 8
_NAMES_PIECE: Final = 1 << 16
_TRIES: Final = 5


class UnknownDarshanError(Exception):
    """This Darshan's memory cannot be read; the message says why and what to do."""


@dataclass(frozen=True)
class Region:
    """Where a module's records lie.

    Attributes:
        place: bytes from the header; may be anywhere.
        used: bytes.
    """

    place: int
    used: int


class Memory(Protocol):
    """Where a log lies."""

    def read(self, place: int, size: int, record_size: int = 0) -> bytearray | None:
        """Bytes from `place`, counted from the header; None once the log is not made any more.

        With a `record_size` each record is consistent in itself.
        """

    def regions(self, n: int, used: int) -> list[Region | None] | None:
        """Regions of the first `n` modules, where the header does not tell; None at the end.

        `used` has a bit for each module that must be there; an empty list tells that it is not so.
        """

    def names_region(self) -> Region | None:
        """Where names may lie, where the header does not tell; None at the end."""


@dataclass(frozen=True)
class Header:
    """What a log's header says.

    Attributes:
        log_format: e.g. `3.41`.
        layout: of that format.
        is_mapped: whether it tells where everything is.
        versions: module → format version, of those in use.
        partial: modules that ran out of room.
        names: where the names lie.
        regions: module → where its records lie.
    """

    log_format: str
    layout: layouts.HeaderLayout
    is_mapped: bool
    versions: Mapping[str, int]
    partial: frozenset[str]
    names: Region
    regions: Mapping[str, Region]


def parse_header(data: bytes | bytearray) -> Header:
    """A header.

    Raises:
        UnknownDarshanError: it is none, or of a log format that is not known here.
    """
    log_format = bytes(data[: layouts.VERSION_BYTES]).split(b"\0")[0].decode("ascii", "replace")
    magic = int.from_bytes(data[layouts.MAGIC_AT : layouts.MAGIC_AT + 8], "little")
    if magic != layouts.MAGIC:
        raise UnknownDarshanError("there is no Darshan log where the library says it keeps one")
    layout = layouts.HEADERS.get(log_format)
    if layout is None:
        raise UnknownDarshanError(
            f"this Darshan keeps its log in format {log_format!r}, which is not known here; known "
            f"are {' and '.join(sorted(layouts.HEADERS))} (Darshan 3.4.0 to 3.5.0)"
        )
    if len(data) < layout.size:
        raise UnknownDarshanError("the header of the Darshan log is cut off")
    versions = np.frombuffer(data, "<u4", layout.slots, layout.versions_at).tolist()
    flags = int(np.frombuffer(data, layout.partial_type, 1, layout.partial_at)[0])
    places = np.frombuffer(data, "<u8", 2 * layout.slots, layout.map_at).reshape(-1, 2).tolist()
    used = {_module_name(layout, i): i for i, version in enumerate(versions) if version}
    names = np.frombuffer(data, "<u8", 2, layout.names_at).tolist()
    return Header(
        log_format=log_format,
        layout=layout,
        is_mapped=data[layouts.COMPRESSION_AT] == layouts.UNCOMPRESSED,
        versions={name: versions[i] for name, i in used.items()},
        partial=frozenset(_module_name(layout, i) for i in range(layout.slots) if flags >> i & 1),
        names=Region(*names),
        regions={name: Region(*places[i]) for name, i in used.items()},
    )


def _module_name(layout: layouts.HeaderLayout, i: int) -> str:
    return layout.modules[i] if i < len(layout.modules) else f"module {i}"


class DarshanLog:
    """The log that a process is making, as it was at the last `refresh`.

    Args:
        memory: where it lies.

    Attributes:
        header: what it says; the modules' regions are right also where the header does not tell.
        names: record id → path.
        ended: it is not made any more; what was read last is kept.

    Raises:
        UnknownDarshanError: it cannot be read, or POSIX or STDIO records are of unknown versions.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.names: dict[int, str] = {}
        self.ended = False
        self._names_read = 0
        head = memory.read(0, layouts.COMPRESSION_AT + 8)
        if head is None:
            raise UnknownDarshanError("Darshan is not recording in this process")
        log_format = bytes(head[: layouts.VERSION_BYTES]).split(b"\0")[0].decode("ascii", "replace")
        known = layouts.HEADERS.get(log_format)
        self._header_size = known.size if known is not None else len(head)
        self.header = parse_header(memory.read(0, self._header_size) or head)
        self.refresh()

    def refresh(self) -> bool:
        """Reads the header and new names; False once the log is not made any more."""
        header = None if self.ended else self._read_header()
        names = None if header is None else header.names
        if header is not None and not header.is_mapped:
            names = self._memory.names_region()
        if header is None or names is None:
            self.ended = True
            return False
        self._read_names(names)
        self.header = header
        return True

    def _read_header(self) -> Header | None:
        for _ in range(_TRIES):
            data = self._memory.read(0, self._header_size, self._header_size)
            if data is None:
                return None
            header = parse_header(data)
            check_versions(header.versions)
            if header.is_mapped:
                return header
            used = sum(
                1 << i for i, name in enumerate(header.layout.modules) if name in header.versions
            )
            found = self._memory.regions(header.layout.described, used)
            if found is None:
                return None
            if found:
                return _with_regions(header, found)
        raise UnknownDarshanError(
            f"this build of Darshan (log format {header.log_format}, without memory-mapped logs) "
            "keeps its records in a way that is not known here"
        )

    def _read_names(self, region: Region) -> None:
        while self._names_read < region.used:
            size = min(_NAMES_PIECE, region.used - self._names_read)
            data = self._memory.read(region.place + self._names_read, size, size)
            parsed = self._parse_names(data) if data is not None else 0
            self._names_read += parsed
            if parsed < size // 2:
                break

    def _parse_names(self, data: bytes | bytearray) -> int:
        """Takes in the names that are whole; returns how many bytes these are."""
        at = 0
        while at + _ID_BYTES < len(data):
            end = data.find(b"\0", at + _ID_BYTES)
            key = int.from_bytes(data[at : at + _ID_BYTES], "little")
            if end < 0 or (key == 0 and end == at + _ID_BYTES):
                break
            self.names[key] = os.fsdecode(bytes(data[at + _ID_BYTES : end]))
            at = end + 1
        return at

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules in use whose records can be read."""
        known = {name for name, _ in layouts.RECORDS}
        return tuple(name for name in self.header.versions if name in known and self.layout(name))

    def layout(self, module: str) -> layouts.RecordLayout | None:
        """The layout of a module's records, where it is in use and known."""
        return layouts.RECORDS.get((module, self.header.versions.get(module, 0)))

    def unreadable(self) -> list[str]:
        """Modules in use that cannot be read, with their versions."""
        return [
            f"{name} (format {version})"
            for name, version in self.header.versions.items()
            if (name, version) not in layouts.RECORDS
            and name not in layouts.WITHOUT_RECORDS
            and (name, version)
            not in (("HEATMAP", layouts.HEATMAP_VERSION), ("LUSTRE", layouts.LUSTRE_VERSION))
        ]

    def records(self, module: str, size: int) -> bytearray | None:
        """A module's records of `size` bytes each; None where there are none to be had."""
        region = self.header.regions.get(module)
        if self.ended or region is None or region.used < size:
            return None
        return self._memory.read(region.place, region.used // size * size, size)


def check_versions(versions: Mapping[str, int]) -> None:
    """Refuses records of files that could only be guessed.

    Raises:
        UnknownDarshanError: naming module and version.
    """
    for module in ("POSIX", "STDIO"):
        version = versions.get(module)
        if version is not None and (module, version) not in layouts.RECORDS:
            raise UnknownDarshanError(
                f"this Darshan's {module} records have format version {version}, which is not "
                "known here; a newer tensorboard-plugin-darshan may know it, and source='builtin' "
                "records without Darshan"
            )


def _with_regions(header: Header, found: list[Region | None]) -> Header:
    """The header with regions that the library describes elsewhere, which are checked.

    Raises:
        UnknownDarshanError: they do not have the size of records.
    """
    regions = {
        name: region
        for name, region in zip(header.layout.modules, found, strict=False)
        if region is not None and name not in layouts.WITHOUT_RECORDS
    }
    for name, region in regions.items():
        layout = layouts.RECORDS.get((name, header.versions[name]))
        if layout is not None and region.used % layout.size:
            raise UnknownDarshanError(
                f"the {name} records of this Darshan do not have the size of format version "
                f"{header.versions[name]}"
            )
    return dataclasses.replace(header, regions=regions)


def find_rows(ids: UInt64Array) -> int:
    """How many records from the first on are there: one that is being made has no id yet."""
    empty = np.flatnonzero(ids == 0)
    return int(empty[0]) if len(empty) else len(ids)


def parse_stripes(data: bytes, names: Mapping[int, str]) -> dict[str, list[dict[str, int | str]]]:
    """Lustre's records, which differ in size: path → components."""
    stripes: dict[str, list[dict[str, int | str]]] = {}
    head, component = layouts.LUSTRE_HEAD, layouts.LUSTRE_COMPONENT
    at = 0
    while at + head.itemsize <= len(data):
        row = np.frombuffer(data, head, 1, at)[0]
        n, n_stripes = int(row["n_components"]), int(row["n_stripes"])
        size = head.itemsize + n * component.itemsize + 8 * n_stripes
        if row["id"] == 0 or n <= 0 or n_stripes < 0 or at + size > len(data):
            break
        parts = np.frombuffer(data, component, n, at + head.itemsize)
        stripes[names.get(int(row["id"]), "")] = [
            {
                **{
                    f"LUSTRE_COMP_{name}": int(value)
                    for name, value in zip(layouts.LUSTRE_COUNTERS, part["counters"], strict=True)
                },
                "pool": part["pool"].decode(errors="replace"),
            }
            for part in parts
        ]
        at += size
    return stripes
