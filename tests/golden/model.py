"""What a program's calls leave in a recording, given what they returned; see rules.py."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tests.golden.rules import READ, WRITE, Posix, Stdio, clean, is_excluded, record_id


@dataclass
class Stream:
    record: Stdio | None  # None: not tracked
    name: str
    fd: int


class Model:
    """What a recorder must have after a program's calls."""

    def __init__(self, extended: bool, alignment: int) -> None:
        self.extended = extended
        self.alignment = alignment
        self.posix: dict[str, Posix] = {}
        self.stdio: dict[str, Stdio] = {}
        self.fds: dict[int, str] = {}
        self.streams: dict[int, Stream] = {}

    def name(self, path: str, directory: int | None = None) -> str:
        known = self.fds.get(directory) if directory is not None else None
        return clean(path, known or os.getcwd())

    def posix_record(self, name: str) -> Posix | None:
        if is_excluded(name):
            return None
        mmaps = 0 if self.extended else -1
        return self.posix.setdefault(name, Posix(self.alignment, mmaps))

    def of_fd(self, fd: int) -> Posix | None:
        return self.posix[self.fds[fd]] if fd in self.fds else None

    def opened(self, fd: int, path: str, mode: int = 0, directory: int | None = None) -> None:
        if fd < 0:
            return
        name = self.name(path, directory)
        record = self.posix_record(name)
        self.fds.pop(fd, None)
        if record is None:
            return
        self.fds[fd] = name
        record.begin_anew()
        record.counts["OPENS"] += 1
        if mode:
            record.counts["MODE"] = mode

    def duplicated(self, fd: int, copy: int) -> None:
        record = self.of_fd(fd)
        if copy < 0:
            return
        if record is None:
            self.fds.pop(copy, None)
            return
        self.fds[copy] = self.fds[fd]
        record.counts["OPENS"] += 1
        record.counts["DUPS"] += 1

    def closed(self, fd: int) -> None:
        record = self.of_fd(fd)
        if record is not None:
            record.last_byte = {READ: 0, WRITE: 0}
            del self.fds[fd]

    def moved(
        self, kind: str, fd: int, n: int, offset: int | None = None, aligned: bool = True
    ) -> None:
        record = self.of_fd(fd)
        if record is not None and n >= 0:
            record.transfer(kind, offset, n, aligned)

    def sought(self, fd: int, position: int) -> None:
        record = self.of_fd(fd)
        if record is not None and position >= 0:
            record.position = position
            record.counts["SEEKS"] += 1

    def counted(self, fd: int, counter: str, result: int) -> None:
        record = self.of_fd(fd)
        if record is not None and result >= 0:
            if counter == "MMAPS":
                record.mmaps += 1
            else:
                record.counts[counter] += 1

    def asked(self, path: str, result: int, regular: int) -> None:
        """By stat: of extended recordings only."""
        record = self.posix_record(self.name(path)) if result == 0 and regular else None
        if record is not None:
            record.counts["STATS"] += 1

    def renamed(self, source: str, target: str, result: int) -> None:
        old = self.posix.get(self.name(source))
        if result != 0 or old is None:
            return
        old.counts["RENAME_SOURCES"] += 1
        new = self.posix_record(self.name(target))
        if new is not None:
            new.counts["RENAME_TARGETS"] += 1
            source_id = record_id(os.fsencode(self.name(source)))
            signed = source_id - (1 << 64) if source_id >> 63 else source_id
            new.counts["RENAMED_FROM"] = new.counts["RENAMED_FROM"] or signed

    def unlinked(self, path: str, result: int) -> None:
        """Time of the directory, in extended recordings only."""
        if result == 0:
            self.posix_record(os.path.dirname(self.name(path)))

    # streams, each known by the program's number for it

    def stream_opened(self, key: int, path: str, fd: int) -> None:
        if fd < 0:
            return
        name = self.name(path)
        record = None if is_excluded(name) else self.stdio.setdefault(name, Stdio())
        self.streams[key] = Stream(record, name, fd)
        if record is not None:
            record.position = 0
            record.counts["OPENS"] += 1

    def stream_made(self, key: int, fd: int, result: int) -> None:
        """By fdopen."""
        if result < 0:
            return
        name = self.fds.get(fd)
        record = self.stdio.setdefault(name, Stdio()) if name is not None else None
        self.streams[key] = Stream(record, name or "", fd)
        if record is not None:
            record.counts["OPENS"] += 1
            record.counts["FDOPENS"] += 1

    def stream_number(self, key: int, fd: int) -> None:
        """By fileno."""
        stream = self.streams.get(key)
        record = self.posix_record(stream.name) if stream and stream.record else None
        if stream is not None and record is not None:
            self.fds[fd] = stream.name
            record.counts["OPENS"] += 1
            record.counts["FILENOS"] += 1

    def stream_closed(self, key: int) -> None:
        stream = self.streams.pop(key, None)
        if stream is not None:
            self.fds.pop(stream.fd, None)

    def of_stream(self, key: int) -> Stdio | None:
        stream = self.streams.get(key)
        return stream.record if stream else None

    def stream_moved(self, key: int, kind: str, size: int, counts: bool = True) -> None:
        record = self.of_stream(key)
        if record is not None and counts:
            record.move(kind, size)

    def stream_sought(self, key: int, position: int, result: int) -> None:
        record = self.of_stream(key)
        if record is not None and result >= 0:
            record.position = position
            record.counts["SEEKS"] += 1

    def stream_flushed(self, key: int, result: int) -> None:
        record = self.of_stream(key)
        if record is not None and result == 0:
            record.reach(WRITE, 0)
            record.counts["FLUSHES"] += 1
