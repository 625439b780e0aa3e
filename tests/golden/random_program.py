"""Random programs of calls on descriptors: played for real, and followed by the model."""

from __future__ import annotations

import ctypes
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.golden.model import Model
from tests.golden.rules import READ, WRITE

CALLS = (200, 400, 400, 1500)
FILES = (1, 3, 6)
OFTEN = {"do_transfer": 6, "do_transfer_at": 4, "do_vectors": 3, "do_items": 4, "do_bytes": 2}
HIGH_FD = 600  # targets of dup2, out of the way of Python's own descriptors
BIG = 1 << 17


class Answer(ctypes.Structure):
    _fields_ = (("result", ctypes.c_long), ("extra", ctypes.c_long))


class Program:
    """What a program has open, and the calls that it can make: those that begin with `do_`."""

    def __init__(self, player: Any, directory: Path, model: Model, seed: int) -> None:
        self.player, self.directory, self.model = player, directory, model
        self.random = random.Random(seed)
        self.fds: list[int] = []
        self.files = self.random.choice(FILES)

    def run(self) -> None:
        names = [name for name in dir(self) if name.startswith("do_")]
        calls: list[Callable[[], None]] = [getattr(self, name) for name in names]
        weights = [OFTEN.get(name, 1) for name in names]
        for call in self.random.choices(calls, weights, k=self.random.choice(CALLS)):
            call()
        for fd in self.fds:
            self.model.closed(fd)
            self.call("close", fd)

    def call(self, name: str, *numbers: int, path: str = "", other: str = "") -> tuple[int, int]:
        answer, room = Answer(), ctypes.create_string_buffer(os.fsencode(path))
        arguments = (ctypes.c_long * 6)(*numbers)
        getattr(self.player, f"call_{name}")(
            arguments, room, os.fsencode(other), ctypes.byref(answer)
        )
        self.filled_in = os.fsdecode(room.value)
        return answer.result, answer.extra

    # choices

    def path(self) -> str:
        """One below the directory, where nothing can be harmed."""
        chance, name = self.random.random(), f"f{self.random.randrange(self.files)}.bin"
        if chance < 0.05:
            return self.random.choice(["missing/x", "", "."])
        spelling = self.random.choice(
            ["{d}/{n}"] * 6 + ["{n}", "./{n}", "{d}/.//{n}", "{d}/sub/../{n}", "{d}/link"]
        )
        return spelling.format(d=self.directory, n=name)

    def fd(self) -> int:
        return self.random.choice([*self.fds, -1]) if self.fds else -1

    def size(self) -> int:
        return self.random.choice(
            [0, 1, self.random.randrange(300), self.random.randrange(5000), 512, 4096]
            + ([self.random.randrange(BIG)] if self.random.random() < 0.3 else [])
        )

    def flags(self) -> int:
        chance = self.random.random()
        flags = self.random.choice([os.O_RDWR] * 4 + [os.O_RDONLY, os.O_WRONLY])
        flags |= os.O_CREAT if chance < 0.8 else 0
        flags |= os.O_APPEND if self.random.random() < 0.1 else 0
        return flags | (os.O_TRUNC if self.random.random() < 0.1 else 0)

    # descriptors

    def keep(self, fd: int) -> None:
        if fd >= 0 and fd not in self.fds:
            self.fds.append(fd)

    def do_open(self) -> None:
        path, flags, mode = self.path(), self.flags(), self.random.choice([0o644, 0o600, 0o777])
        how = self.random.choice(["open", "open64"])
        fd, _ = self.call(how, flags, mode, path=path)
        self.model.opened(fd, path, mode if flags & os.O_CREAT else 0)
        self.keep(fd)

    def do_open_what_is_left_out(self) -> None:
        path, flags = self.random.choice(
            [
                ("/etc/hostname", os.O_RDONLY),
                ("/dev/null", os.O_WRONLY),
                ("/proc/stat", os.O_RDONLY),
            ]
        )
        fd, _ = self.call("open", flags, path=path)
        self.model.opened(fd, path)
        self.keep(fd)

    def do_openat(self) -> None:
        directory, _ = self.call("open", os.O_RDONLY | os.O_DIRECTORY, path=str(self.directory))
        self.model.opened(directory, str(self.directory))
        path = f"f{self.random.randrange(self.files)}.bin"
        fd, _ = self.call("openat", directory, os.O_RDWR | os.O_CREAT, 0o640, path=path)
        self.model.opened(fd, path, 0o640, directory)
        self.keep(fd)
        self.model.closed(directory)
        self.call("close", directory)

    def do_creat(self) -> None:
        path = self.path()
        fd, _ = self.call("creat", 0o600, path=path)
        self.model.opened(fd, path, 0o600)
        self.keep(fd)

    def do_mkstemp(self) -> None:
        if self.random.random() < 0.2:
            fd, _ = self.call("mkstemp", path=f"{self.directory}/t-XXXXXX")
            self.model.opened(fd, self.filled_in)
            self.keep(fd)

    def do_close(self) -> None:
        fd = self.fd()
        self.model.closed(fd)
        self.call("close", fd)
        if fd >= 0:
            self.fds.remove(fd)

    def do_copies(self) -> None:
        fd, to = self.fd(), HIGH_FD + self.random.randrange(4)
        name = self.random.choice(["dup", "dup2", "dup3", "fcntl"])
        copy, _ = self.call(name, fd, 100 if name == "fcntl" else to)
        self.model.duplicated(fd, copy)
        self.keep(copy)

    def do_transfer(self) -> None:
        name = self.random.choice(["read", "write"])
        self.transfer(name, READ if name == "read" else WRITE, None)

    def do_transfer_at(self) -> None:
        name = self.random.choice(["pread", "pwrite"])
        self.transfer(name, READ if name == "pread" else WRITE, self.offset())

    def do_vectors(self) -> None:
        name = self.random.choice(["readv", "writev", "preadv", "pwritev"])
        offset = self.offset() if name.startswith("p") else None
        self.transfer(name, READ if "read" in name else WRITE, offset, self.random.randint(1, 4))

    def do_many_sizes(self) -> None:
        """More distinct sizes than are kept, and then often one that may have come too late."""
        if self.random.random() < 0.1:
            fd, late = self.fd(), self.random.randrange(2000, 3000)
            sizes = [*self.random.sample(range(1000, 2000), self.random.randint(20, 40))]
            for size in sizes + [late] * 10:
                moved, _ = self.call("pwrite", fd, size, 0, size * 3)
                self.model.moved(WRITE, fd, moved, size * 3)

    def offset(self) -> int:
        return self.random.choice([0, 4096, self.random.randrange(20000), 4096 * 3])

    def transfer(self, name: str, kind: str, offset: int | None, parts: int = 1) -> None:
        fd, size, shift = self.fd(), self.size(), self.random.choice([0, 0, 0, 8, 3])
        moved, _ = self.call(name, fd, size, shift, offset or 0, parts)
        starts = [shift + size // parts * part for part in range(parts)]
        aligned = all(start % 8 == 0 for start in starts)
        self.model.moved(kind, fd, moved, offset, aligned)

    def do_lseek(self) -> None:
        fd, whence = self.fd(), self.random.choice([os.SEEK_SET, os.SEEK_CUR, os.SEEK_END])
        position, _ = self.call("lseek", fd, self.random.randrange(-10, 9000), whence)
        self.model.sought(fd, position)

    def do_sync(self) -> None:
        name, fd = self.random.choice(["fsync", "fdatasync"]), self.fd()
        result, _ = self.call(name, fd)
        self.model.counted(fd, "FSYNCS" if name == "fsync" else "FDSYNCS", result)

    def do_ftruncate(self) -> None:
        self.call("ftruncate", self.fd(), self.random.randrange(9000))

    def do_rename(self) -> None:
        source, target = self.path(), self.path()
        plain = self.random.random() < 0.5
        result, _ = self.call("rename" if plain else "renameat", path=source, other=target)
        if plain or self.model.extended:
            self.model.renamed(source, target, result)

    def do_unlink(self) -> None:
        if self.random.random() < 0.1:
            path = f"{self.directory}/f{self.random.randrange(self.files)}.bin"
            result, _ = self.call("unlink", path=path)
            if self.model.extended:
                self.model.unlinked(path, result)

    def do_stat(self) -> None:
        path, fd = self.path(), self.fd()
        result, regular = self.call("stat", path=path)
        fd_result, fd_regular = self.call("fstat", fd)
        if self.model.extended:
            self.model.asked(path, result, regular)
            self.model.counted(fd, "STATS", fd_result if fd_regular else -1)

    def do_mmap(self) -> None:
        fd = self.fd()
        result, _ = self.call("mmap", fd)
        if self.model.extended:
            self.model.counted(fd, "MMAPS", result)

    def do_copy_in_the_kernel(self) -> None:
        source, target, size = self.fd(), self.fd(), self.size()
        offset = self.random.choice([-1, 5, 4096])
        if self.random.random() < 0.5:
            offset = -1
            moved, _ = self.call("copy", source, target, size)
        else:
            moved, _ = self.call("sendfile", target, source, size, offset)
        if self.model.extended:
            self.model.moved(READ, source, moved, None if offset < 0 else offset)
            self.model.moved(WRITE, target, moved)
