"""How fast a fast tier is: writes a few files there and reads them back."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np

from tensorboard_plugin_darshan.dashboard.staging import Costs, fit

_SIZES: Final = (*(4096,) * 24, *(128 * 1024,) * 24, *(4 * 1024**2,) * 8)
_PIECE: Final = 1024**2


def probe(directory: Path) -> Costs:
    """Costs of reading files there that are not in the page cache, as far as it can be emptied.

    Raises:
        OSError: nothing can be written there.
    """
    directory.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix=".darshan-probe-", dir=directory) as place:
        paths = [Path(place) / str(number) for number in range(len(_SIZES))]
        for path, size in zip(paths, _SIZES, strict=True):
            _write(path, os.urandom(size))
        for path in paths:
            rows.append(_read(path))
    columns = np.array(rows, float).T
    return fit(*columns)


def _write(path: Path, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.write(fd, data)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)


def _read(path: Path) -> tuple[int, int, int, float, float]:
    """Opens, reads, bytes, seconds to open, seconds to read."""
    begin = time.perf_counter()
    fd = os.open(path, os.O_RDONLY)
    opened = time.perf_counter()
    reads = moved = 0
    try:
        while data := os.read(fd, _PIECE):
            reads, moved = reads + 1, moved + len(data)
        reads += 1
    finally:
        os.close(fd)
    return 1, reads, moved, opened - begin, time.perf_counter() - opened
