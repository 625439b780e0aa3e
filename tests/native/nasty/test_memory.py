"""Where the recorder's memory is to be had, and what happens when there is no more."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.native.nasty.conftest import PRELUDE
from tests.support import compiling

pytestmark = pytest.mark.native

Run = Callable[..., str]


def run_with_shared_memory(size: str, script: str, directory: Path) -> str:
    """Runs a script where /dev/shm holds `size`, in a mount namespace of its own."""
    unshare = shutil.which("unshare")
    if os.geteuid() != 0 or unshare is None:
        pytest.skip("only root can give a process another /dev/shm")
    command = f'mount -t tmpfs -o size={size} tiny /dev/shm && exec "$@"'
    probe = [unshare, "--mount", "sh", "-c", command, "sh", "true"]
    if subprocess.run(probe, capture_output=True).returncode != 0:
        pytest.skip("mount namespaces are not allowed here")
    program = directory / "program.py"
    program.write_text(script)
    done = subprocess.run(
        [*probe[:-1], sys.executable, "-X", "faulthandler", str(program)],
        capture_output=True,
        text=True,
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(compiling.ROOT), "TMPDIR": str(directory)},
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_no_room_in_shared_memory(tmp_path: Path) -> None:
    """Then it is in TMPDIR, and that of children beside it."""
    script = f"""{PRELUDE}
from tensorboard_plugin_darshan import _native
path = make("data", 5000)
recorder = attach()
arena = _native.status()["arena"]
assert os.path.dirname(arena) == os.environ["TMPDIR"], arena
child = os.fork()
if child == 0:
    with open(path, "rb") as file:
        file.read()
    os._exit(0)
os.waitpid(child, 0)
(reader,) = recorder.children.refresh()
assert reader.totals("POSIX").sums.max() == 5000
with open(path, "rb") as file:
    file.read()
assert bytes_of(recorder, path) == (5000, 0)
recorder.detach()
assert not [name for name in os.listdir() if "darshan" in name], os.listdir()
"""
    run_with_shared_memory("64k", script, tmp_path)


def test_shared_memory_that_fills_up(tmp_path: Path) -> None:
    """No signal ends the process, and the totals stay exact."""
    script = f"""{PRELUDE}
recorder = attach(max_segments=10_000)
N = 8000
for i in range(N):
    with open(f"file{{i % 4000}}-with-a-name-of-some-length", "ab") as file:
        file.write(bytes(100 + i % 7))
expected = sum(100 + i % 7 for i in range(N))
totals = recorder.own.totals("POSIX")
assert totals.partial
assert total(recorder, "BYTES_WRITTEN") == expected
assert total(recorder, "OPENS") == N
found = records_of(recorder)
assert found["<other files>"]["OPENS"] > 0
assert 500 < len(found) < 4001, len(found)
assert recorder.facts()["refused_files"] > 0
print(os.statvfs("/dev/shm").f_bavail)
recorder.detach()
"""
    run_with_shared_memory("2m", script, tmp_path)


def test_no_room_anywhere(run: Run) -> None:
    """One sentence that says what to do, and nothing is left behind."""
    script = """
        import resource
        from tensorboard_plugin_darshan.recording.recorder import RecordingUnavailableError
        path = make("data", 100)
        before = set(os.listdir("/dev/shm"))
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        for _ in range(3):
            try:
                attach()
            except RecordingUnavailableError as error:
                assert "free some space" in str(error), error
            else:
                raise AssertionError("there was room")
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        mine = [n for n in set(os.listdir("/dev/shm")) - before if f".{os.getpid()}" in n]
        assert not mine
        recorder = attach()
        with open(path, "rb") as file:
            file.read()
        assert bytes_of(recorder, path) == (100, 0)
    """
    run(script)
