"""`EventFile`: writes TensorBoard events from a training, without TensorFlow.

TensorBoard's own writer computes its checksum in Python (5 MB/s of thread time), loses its tail
at `sys.exit`, blocks for ever in a forked child and stays broken after one failed write.
"""

from __future__ import annotations

import math
import os
import re
import secrets
import socket
import struct
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

import google_crc32c
from tensorboard.compat.proto import event_pb2, summary_pb2

from tensorboard_plugin_darshan import metadata

_FILE_VERSION: Final = "brain.Event:2"
_REMOTE: Final = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")


class LogDirectoryError(OSError):
    """Event files cannot be made below this log directory; the text says why."""


class EventFile:
    """Event files of one process, in a directory of its own.

    Each event is handed to the kernel before `write` returns, as one `write` call in the usual
    case, so that a killed process loses nothing. After a failed write a new file is begun, since
    readers stop at a torn record. In a forked child nothing is written.

    Args:
        log_dir: where TensorBoard looks; made when it is missing. The events come to
            `<log_dir>/darshan/rank<rank>`, or `rank<rank>-2`, … when that exists already: each
            process has a directory of its own, since readers lose data of two writers in one.
        rank: rank of this process in a distributed training.
        muted: gives a context in which files are opened; the recorder's, so that it does not
            count this one.

    Attributes:
        directory: the directory that was made.
        path: the file written at present.
        bytes_written: size of all its events so far.

    Raises:
        LogDirectoryError: `log_dir` is remote, a file, or cannot be written.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        rank: int = 0,
        muted: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._pid = os.getpid()
        self._muted = muted
        self._last_steps: dict[str, int] = {}
        self._files = 0
        self._descriptor = -1
        self._begin_seconds = 0
        self.bytes_written = 0
        self.directory = _create_directory(log_dir, rank)
        self.path = self.directory
        try:
            self._open()
        except OSError as error:
            raise _explained(error, self.directory) from error

    def write(
        self, step: int, summary: summary_pb2.Summary, wall_time: float | None = None
    ) -> None:
        """Appends one event.

        Args:
            step: must rise with each event of a tag: readers drop what stands at or above it.
            summary: one or several tagged values.
            wall_time: seconds since 1970; now, when it is left out or not finite (a reader
                declares a file with such a time dead).

        Raises:
            ValueError: `step` does not rise for one of the tags; nothing was written.
            OSError: it could not be written; the next event goes to a new file.
        """
        if os.getpid() != self._pid:
            return
        tags = [value.tag for value in summary.value]
        for tag in tags:
            last = self._last_steps.get(tag)
            if last is not None and step <= last:
                raise ValueError(f"step {step} of tag {tag!r} does not rise: the last was {last}")
        if wall_time is None or not math.isfinite(wall_time):
            wall_time = time.time()
        event = event_pb2.Event(wall_time=wall_time, step=step, summary=summary)
        if self._descriptor < 0:
            self._open()
        self._append(event)
        self._last_steps.update(dict.fromkeys(tags, step))

    def close(self) -> None:
        """Ends the file; a later event would begin a new one. Without effect in a forked child."""
        if os.getpid() == self._pid:
            self._abandon()

    def _open(self) -> None:
        """Begins a file whose name comes after those of its predecessors: readers follow names."""
        self._begin_seconds = max(self._begin_seconds, int(time.time()))
        name = (
            f"events.out.tfevents.{self._begin_seconds:010d}.{socket.gethostname()}"
            f".{self._pid}.{self._files}.{secrets.token_hex(4)}"
        )
        path = self.directory / name
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        with self._muted():
            self._descriptor = os.open(path, flags, 0o666)
        self._files += 1
        self.path = path
        self._append(event_pb2.Event(wall_time=time.time(), file_version=_FILE_VERSION))

    def _append(self, event: event_pb2.Event) -> None:
        record = frame(event.SerializeToString())
        try:
            rest = memoryview(record)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            if os.fstat(self._descriptor).st_nlink == 0:
                raise OSError(f"{self.path} was removed while it was being written")
        except BaseException:
            self._abandon()
            raise
        self.bytes_written += len(record)

    def _abandon(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def frame(data: bytes) -> bytes:
    """One TFRecord: length, its checksum, data, its checksum."""
    length = struct.pack("<Q", len(data))
    return b"".join((length, _masked_crc(length), data, _masked_crc(data)))


def _masked_crc(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    rotated = (crc >> 15) | (crc << 17)
    return struct.pack("<I", (rotated + 0xA282EAD8) & 0xFFFFFFFF)


def _create_directory(log_dir: str | os.PathLike[str], rank: int) -> Path:
    text = os.fspath(log_dir)
    if _REMOTE.match(text):
        raise LogDirectoryError(
            f"log_dir {text!r} is on a remote store, which is not supported yet; give a local or "
            "mounted directory and copy it there afterwards"
        )
    parent = Path(text).absolute() / metadata.RECORDINGS_DIRECTORY
    try:
        parent.mkdir(parents=True, exist_ok=True)
        attempt = 1
        while True:
            suffix = "" if attempt == 1 else f"-{attempt}"
            directory = parent / f"rank{rank}{suffix}"
            try:
                directory.mkdir()
            except FileExistsError:
                attempt += 1
            else:
                return directory
    except OSError as error:
        raise _explained(error, parent) from error


def _explained(error: OSError, place: Path) -> LogDirectoryError:
    for path in (place, *place.parents):
        if path.exists():
            if not path.is_dir():
                return LogDirectoryError(
                    f"cannot write event files to {place}: {path} is a file, not a directory; "
                    "give log_dir a directory"
                )
            break
    return LogDirectoryError(
        f"cannot write event files to {place}: {error.strerror or error}; give log_dir a directory "
        "that this process may write"
    )
