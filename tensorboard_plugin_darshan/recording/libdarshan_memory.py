"""Where Darshan logs lie while they are made: in this process, or in a file that a child maps."""

from __future__ import annotations

import mmap
import os

from tensorboard_plugin_darshan.recording import darshan_layouts as layouts
from tensorboard_plugin_darshan.recording.darshan_memory import Region, UnknownDarshanError
from tensorboard_plugin_darshan.recording.native import native


class LiveMemory:
    """The log of a libdarshan in this process.

    Raises:
        UnknownDarshanError: there is none.
    """

    def __init__(self) -> None:
        addresses = native().libdarshan_log()
        if addresses is None:
            raise UnknownDarshanError("Darshan is not recording in this process")
        self._core, self.header, self._job, _, self._names, self._modules = addresses
        self._frees = True
        head = self.read(0, layouts.COMPRESSION_AT + 8)
        self._frees = head is None or head[layouts.COMPRESSION_AT] != layouts.UNCOMPRESSED

    @property
    def is_mapped(self) -> bool:
        """Whether it lies in a file that other processes can map too."""
        return not self._frees

    @property
    def names_room(self) -> int:
        """Bytes for names, 0 where it is not known."""
        return 0 if self._frees else int(self._modules - self._names)

    def read(self, place: int, size: int, record_size: int = 0) -> bytearray | None:
        """See `darshan_memory.Memory`."""
        data: bytearray | None = native().libdarshan_copy(
            self._core, self.header + place, size, record_size or size, self._frees
        )
        return data

    def job(self, size: int) -> bytearray | None:
        """The job's description, of `size` bytes."""
        return self.read(self._job - self.header, size)

    def regions(self, n: int, used: int) -> list[Region | None] | None:
        """See `darshan_memory.Memory`."""
        found = native().libdarshan_regions(self._core, n, used)
        if not found:
            return found  # type: ignore[no-any-return]
        used_regions = [described for described in found if described[0] != 0]
        if any(not self._modules <= start <= end for start, end, _ in used_regions):
            return []
        return [
            Region(start - self.header, end - start) if start else None for start, end, _ in found
        ]

    def names_region(self) -> Region | None:
        """See `darshan_memory.Memory`."""
        size = native().libdarshan_names_size(self._core)
        return None if size is None else Region(self._names - self.header, size)


class ImageMemory:
    """A log in bytes, all of it as it is in memory."""

    def __init__(self, image: bytes | bytearray | mmap.mmap) -> None:
        self.image = image

    def read(self, place: int, size: int, record_size: int = 0) -> bytearray | None:
        """See `darshan_memory.Memory`."""
        data = bytearray(self.image[place : place + size])
        return data if len(data) == size else None

    def regions(self, n: int, used: int) -> list[Region | None] | None:
        """See `darshan_memory.Memory`; an image without a map of its modules tells nothing."""
        return []

    def names_region(self) -> Region | None:
        """See `darshan_memory.Memory`."""
        return None


class FileMemory(ImageMemory):
    """The log that another process maps from a file; it stays readable when the file is gone.

    Raises:
        OSError: it cannot be mapped.
    """

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self.size = os.fstat(file.fileno()).st_size
            self._map = mmap.mmap(file.fileno(), self.size, prot=mmap.PROT_READ)
        super().__init__(self._map)

    def close(self) -> None:
        """Lets go of it."""
        self._map.close()


def log_path_of(pid: int) -> str | None:
    """The memory-mapped log of another process, if it has one."""
    try:
        with open(f"/proc/{pid}/maps") as lines:
            for line in lines:
                if "_mmap-log-" in line and line.rstrip().endswith(".darshan"):
                    return line.split(None, 5)[5].strip()
    except OSError:
        return None
    return None


def _stat_of(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def is_alive(pid: int) -> bool:
    """Whether a process runs."""
    state = _stat_of(pid)[:1]
    return bool(state) and state[0] not in ("Z", "X")


def parent_of(pid: int) -> int:
    """The process that started another; 0 where it is gone."""
    fields = _stat_of(pid)
    return int(fields[1]) if len(fields) > 1 else 0
