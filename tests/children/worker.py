"""What children do in the tests: read every file of a directory, and end in one way or another."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from pathlib import Path

FILES = 20
ONE_PASS = sum(1000 * (i + 1) for i in range(FILES))


def make_files(directory: Path) -> None:
    directory.mkdir()
    for i in range(FILES):
        (directory / f"{i}.bin").write_bytes(bytes(1000 * (i + 1)))


def read_all(directory: str, ending: str = "return") -> int:
    total = 0
    for i in range(FILES):
        with open(f"{directory}/{i}.bin", "rb", buffering=0) as file:
            total += len(file.read())
    if ending == "_exit":
        os._exit(0)
    if ending == "failure":
        sys.exit(3)
    if ending == "SIGKILL":
        os.kill(os.getpid(), signal.SIGKILL)
    if ending == "SIGTERM":
        os.kill(os.getpid(), signal.SIGTERM)
    if ending == "crash":
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGSEGV)
    if ending == "grandchild":
        grandchild = multiprocessing.get_context("fork").Process(
            target=read_all, args=(directory, "_exit")
        )
        grandchild.start()
        grandchild.join()
    return total
