"""What the scripts of the tests beside this file use to look at a recording."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

from tensorboard_plugin_darshan.recording.recorder import Recorder

__all__ = ["bytes_of", "load", "make", "memory_kib", "record_of", "records_of", "total"]


def load(path: str, mode: int = ctypes.DEFAULT_MODE) -> Any:
    """A library whose functions give long integers."""
    library = ctypes.CDLL(path, mode=mode, use_errno=True)

    class Functions:
        def __getattr__(self, name: str) -> Any:
            function = getattr(library, name)
            function.restype = ctypes.c_long
            return lambda *values: function(
                *(os.fsencode(value) if isinstance(value, (str, Path)) else value
                  for value in values)
            )  # fmt: skip

        handle = library._handle

    return Functions()


def make(name: str, size: int) -> str:
    """A file of `size` bytes in the current directory; its absolute path."""
    path = os.path.abspath(name)
    with open(path, "wb") as file:
        file.write(bytes(size))
    return path


def records_of(recorder: Recorder, module: str = "POSIX") -> dict[str, dict[str, Any]]:
    """All records of a module, counters by name without the module's."""
    found = recorder.snapshot().records(module)
    prefix = f"{module}_"
    return {
        path: {name.removeprefix(prefix): value for name, value in record.items()}
        for path, record in found.items()
    }


def record_of(recorder: Recorder, path: str, module: str = "POSIX") -> dict[str, Any]:
    """The record of a file, empty where there is none."""
    return records_of(recorder, module).get(path, {})


def bytes_of(recorder: Recorder, path: str, module: str = "POSIX") -> tuple[int, int]:
    """Bytes read and written of a file."""
    record = record_of(recorder, path, module)
    return record.get("BYTES_READ", 0), record.get("BYTES_WRITTEN", 0)


def total(recorder: Recorder, counter: str, module: str = "POSIX") -> int:
    """A counter over all records."""
    return sum(record[counter] for record in records_of(recorder, module).values())


def memory_kib(field: str = "VmRSS") -> int:
    """Memory of this process."""
    with open("/proc/self/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return int(lines[field].split()[0])
