"""A slow disk or file server: a read-only FUSE view of a directory with latency and a head.

Runs as a program of its own: `python benchmarks/slow_tier.py SOURCE MOUNTPOINT --open-ms 4 …`.
Reads bypass the page cache (direct I/O), so that every pass is a cold one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DEADLINE_SECONDS = 20.0


def why_not() -> str:
    """Why no slow tier can be made here; empty when it can."""
    if not os.path.exists("/dev/fuse"):
        return "there is no /dev/fuse on this machine"
    if shutil.which("fusermount3") is None:
        return "fusermount3 is missing; install it (on Debian: apt-get install fuse3)"
    try:
        import mfusepy  # noqa: F401
    except (ImportError, OSError) as error:
        return f"mfusepy does not load ({error}); install it with: pip install mfusepy"
    return ""


class Device:
    """How long things take.

    Args:
        open_seconds: each open waits so long, many at once.
        read_seconds: each read waits so long, many at once.
        bytes_per_second: of the whole device.
        seek_seconds: of its one head, for each read that does not go on where the last one ended;
            with 0 there is no head, and reads overlap.
    """

    def __init__(
        self,
        open_seconds: float,
        read_seconds: float,
        bytes_per_second: float,
        seek_seconds: float,
    ) -> None:
        self.open_seconds, self.read_seconds = open_seconds, read_seconds
        self._rate, self._seek_seconds = bytes_per_second, seek_seconds
        self._head = threading.Lock()
        self._position = ("", -1)
        self._free_at = 0.0

    def read(self, path: str, offset: int, n_bytes: int) -> None:
        """Takes the time of a read."""
        if self.read_seconds:
            time.sleep(self.read_seconds)
        if not n_bytes:
            return
        with self._head:
            busy = n_bytes / self._rate
            if self._seek_seconds and self._position != (path, offset):
                busy += self._seek_seconds
            self._position = (path, offset + n_bytes)
            self._free_at = max(self._free_at, time.monotonic()) + busy
            done = self._free_at
        time.sleep(max(0.0, done - time.monotonic()))


def serve(source: Path, mountpoint: Path, device: Device) -> None:
    """Mounts the view and serves it until it is unmounted."""
    import mfusepy

    class View(mfusepy.Operations):  # type: ignore[misc]
        use_ns = True

        def getattr(self, path: str, fh: object = None) -> dict[str, int]:
            try:
                found = os.lstat(self._real(path))
            except OSError as error:
                raise mfusepy.FuseOSError(error.errno) from error
            names = ("st_mode", "st_nlink", "st_size", "st_uid", "st_gid")
            times = {f"st_{kind}time": getattr(found, f"st_{kind}time_ns") for kind in "amc"}
            return {**{name: getattr(found, name) for name in names}, **times}

        def readdir(self, path: str, fh: int) -> list[str]:
            return [".", "..", *os.listdir(self._real(path))]

        def open(self, path: str, info: object) -> int:
            time.sleep(device.open_seconds)
            try:
                info.fh = os.open(self._real(path), os.O_RDONLY)  # type: ignore[attr-defined]
            except OSError as error:
                raise mfusepy.FuseOSError(error.errno) from error
            info.direct_io = 1  # type: ignore[attr-defined]
            return 0

        def read(self, path: str, size: int, offset: int, info: object) -> bytes:
            data = os.pread(info.fh, size, offset)  # type: ignore[attr-defined]
            device.read(path, offset, len(data))
            return data

        def release(self, path: str, info: object) -> int:
            os.close(info.fh)  # type: ignore[attr-defined]
            return 0

        def _real(self, path: str) -> str:
            return str(source) + path

    mfusepy.FUSE(View(), str(mountpoint), foreground=True, raw_fi=True, ro=True, fsname="slowtier")


@contextmanager
def slow_tier(source: Path, mountpoint: Path, **arguments: float) -> Iterator[Path]:
    """The view, served by a process of its own inside the block.

    Args:
        source: the directory.
        mountpoint: where its slow view is.
        arguments: of the program, with `_` for `-`.
    """
    mountpoint.mkdir(parents=True, exist_ok=True)
    options = [f"--{name.replace('_', '-')}={value}" for name, value in arguments.items()]
    command = [sys.executable, __file__, str(source), str(mountpoint), *options]
    process = subprocess.Popen(command)
    try:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not os.path.ismount(mountpoint):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the slow tier at {mountpoint} did not come up")
            time.sleep(0.05)
        yield mountpoint
    finally:
        subprocess.run(["fusermount3", "-u", "-q", str(mountpoint)], check=False)
        try:
            process.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main() -> None:
    """Serves until unmounted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("mountpoint", type=Path)
    parser.add_argument("--open-ms", type=float, default=0.0)
    parser.add_argument("--read-ms", type=float, default=0.0)
    parser.add_argument("--mb-per-second", type=float, default=200.0)
    parser.add_argument("--seek-ms", type=float, default=0.0)
    given = parser.parse_args()
    device = Device(
        given.open_ms / 1e3, given.read_ms / 1e3, given.mb_per_second * 1e6, given.seek_ms / 1e3
    )
    serve(given.source.absolute(), given.mountpoint, device)


if __name__ == "__main__":
    main()
