"""Reads logs in a process of its own: `python -m … PATH OUT [PATH OUT …]`.

Darshan's library aborts or crashes on damaged files, so every log is read by a forked child with
limits on time and memory. What was read goes to `OUT` as a payload; so does a sentence, when the
log could not be read.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tensorboard_plugin_darshan import payload
from tensorboard_plugin_darshan.dashboard import log_header, log_records
from tensorboard_plugin_darshan.dashboard.log_content import DAMAGE, LogReading

CPU_SECONDS: Final = 120
MEMORY_BYTES: Final = 4 * 1024**3
"""Address space; a log with a million traced accesses needs a tenth of it."""

_FILE_BYTES: Final = 1024**3
_PR_SET_PDEATHSIG: Final = 1


def read(path: str, errors: Any) -> bytes:
    """A log as a payload; a file that cannot be read gives one whose `error` says why.

    Args:
        path: the log.
        errors: the file to which the library's complaints go.
    """
    try:
        meta, arrays = LogReading(path, errors).read()
    except (log_header.BadLogError, log_records.DamagedError) as error:
        text = str(error)
        reason = text if isinstance(error, log_header.BadLogError) else f"{DAMAGE}: {text}"
        return payload.encode({"error": reason}, {})
    except MemoryError:
        limit = MEMORY_BYTES // 1024**3
        return payload.encode({"error": f"needs more memory than {limit} GiB to be read"}, {})
    return payload.encode(meta, arrays)


def _limit() -> None:
    """Limits this process, and lets it end with its parent."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _write(out: str, data: bytes) -> None:
    with open(f"{out}.part", "wb") as file:
        file.write(data)
    os.replace(f"{out}.part", out)


def _in_child(path: str, out: str) -> int:
    """Reads a log in a forked child; its wait status."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    status = 1
    try:
        _limit()
        with tempfile.TemporaryFile() as errors:
            os.dup2(errors.fileno(), 2)
            os.dup2(errors.fileno(), 1)
            _write(out, read(path, errors))
        status = 0
    finally:
        os._exit(status)


def _why(status: int) -> str:
    """Why a child gave nothing."""
    if not os.WIFSIGNALED(status):
        return f"{DAMAGE}: it cannot be read (or is larger than what can be read)"
    number = os.WTERMSIG(status)
    if number in (signal.SIGXCPU, signal.SIGKILL):
        return f"could not be read within {CPU_SECONDS} s of computing, or memory ran out"
    return f"{DAMAGE}: Darshan's library crashed on it ({signal.Signals(number).name})"


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(arguments[::2], arguments[1::2], strict=True)


def main(arguments: Sequence[str]) -> int:
    """Reads all the logs named; always answers 0, as every answer stands in its file."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    import darshan.backend.cffi_backend  # loaded once, for all children

    assert darshan
    for path, out in _pairs(arguments):
        status = _in_child(path, out)
        if status:
            _write(out, payload.encode({"error": _why(status)}, {}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
