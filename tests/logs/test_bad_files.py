"""Files that are no logs, or damaged ones: each a sentence beside the good runs."""

from __future__ import annotations

import gzip
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_darshan.dashboard.log_cache import LogCache
from tensorboard_plugin_darshan.dashboard.log_header import BadLogError
from tensorboard_plugin_darshan.dashboard.log_process import read_logs
from tensorboard_plugin_darshan.dashboard.log_run import log_run
from tests.support.dashboard import Dashboard, tensorboard
from tests.support.logs import link, need_shared, packaged

ROUTES = ("overview", "timeline", "file_bandwidth", "access_sizes", "files")
MUTATIONS = 300


def good() -> Path:
    return next(path for path in packaged() if path.name == "ior_hdf5_example.darshan")


def old(path: Path) -> Path:
    """Makes a file look as if nobody was writing to it."""
    os.utime(path, (time.time() - 3600, time.time() - 3600))
    return path


def sentence(dashboard: Dashboard, name: str) -> str:
    """What every route and the list of runs say of a bad file."""
    (run,) = [run for run in dashboard.get("runs")["runs"] if run["name"] == name]
    assert run["begin"] is None
    for route in ROUTES:
        answer = dashboard.get(route, run=name)
        assert answer["range"] is None
        assert answer["notes"][0] == run["notes"][0]
    (note,) = run["notes"]
    assert note.startswith(name)
    return str(note)


BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "text": (b"# POSIX module data\n" * 100, "is not a Darshan log"),
    "one_byte": (b"3", "is not a Darshan log"),
    "zeros": (bytes(5000), "is not a Darshan log"),
    "gzip": (gzip.compress(b"3.41\0" + bytes(2000)), "gunzip"),
    "old": (b"2.06\0\0\0\0" + bytes(2000), "format 2.06, which is too old"),
    "old_gzip": (gzip.compress(b"2.06\0\0\0\0" + bytes(2000)), "format 2.06, which is too old"),
    "new": (b"4.00\0\0\0\0" + bytes(2000), "newer than"),
    "no_magic": (b"3.41\0\0\0\0" + bytes(2000), "is damaged"),
}


def test_each_bad_file_is_a_sentence_beside_the_good_run(tmp_path: Path) -> None:
    (tmp_path / "good.darshan").symlink_to(good())
    for name, (content, _) in BAD.items():
        (tmp_path / f"{name}.darshan").write_bytes(content)
    (tmp_path / "folder.darshan").mkdir()
    (tmp_path / "gone.darshan").symlink_to(tmp_path / "nowhere")
    dashboard = Dashboard(tmp_path)
    for name, (_, reason) in BAD.items():
        assert reason in sentence(dashboard, f"{name}.darshan"), name
    assert "is a directory" in sentence(dashboard, "folder.darshan")
    assert "No such file" in sentence(dashboard, "gone.darshan")
    assert dashboard.get("overview", run="good.darshan")["modules"]["POSIX"]["files"] == 1


@pytest.mark.parametrize("share", [0.0001, 0.08, 0.3, 0.6, 0.95, 0.9999])
def test_cut_file_says_so(tmp_path: Path, share: float) -> None:
    data = good().read_bytes()
    path = old(_written(tmp_path / "cut.darshan", data[: max(1, int(share * len(data)))]))
    text = sentence(Dashboard(tmp_path), path.name)
    assert "is cut off" in text or "is not a Darshan log" in text


def test_file_being_written_is_shown_once_it_is_complete(tmp_path: Path) -> None:
    data = good().read_bytes()
    path = _written(tmp_path / "new.darshan", data[: len(data) // 2])
    dashboard = Dashboard(tmp_path)
    assert "being written right now" in sentence(dashboard, path.name)
    path.write_bytes(data)
    assert dashboard.get("overview", run=path.name)["modules"]["POSIX"]["files"] == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_file_without_permission_says_so(tmp_path: Path) -> None:
    path = _written(tmp_path / "secret.darshan", good().read_bytes())
    path.chmod(0)
    assert "permission denied" in sentence(Dashboard(tmp_path), path.name)


def test_logs_of_darshan_2_are_refused_with_a_way_out(tmp_path: Path) -> None:
    for path in sorted(need_shared("old_format").iterdir()):
        (tmp_path / f"{path.name}.darshan").symlink_to(path)
    dashboard = Dashboard(tmp_path)
    names = [run["name"] for run in dashboard.get("runs")["runs"]]
    assert len(names) == 6
    assert all("darshan-convert" in sentence(dashboard, name) for name in names)


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def _mutated(data: bytes, chance: random.Random) -> bytes:
    """Cut, or with some bytes flipped, or with a stretch of zeros or noise."""
    kind, changed = chance.randrange(4), bytearray(data)
    if kind == 0:
        return data[: chance.randrange(len(data))]
    for _ in range(chance.choice([1, 1, 2, 8, 64]) if kind < 3 else 0):
        place = chance.randrange(len(data) if chance.random() < 0.5 else min(1500, len(data)))
        changed[place] ^= 1 << chance.randrange(8)
    if kind == 3:
        place, length = chance.randrange(len(data)), chance.choice([8, 64, 512])
        changed[place : place + length] = chance.randbytes(len(changed[place : place + length]))
    return bytes(changed)


def test_no_mutation_does_harm(tmp_path: Path) -> None:
    chance = random.Random(20261201)
    sources = [path.read_bytes() for path in packaged()]
    paths = []
    for i in range(MUTATIONS):
        data = _mutated(chance.choice(sources), chance)
        paths.append(old(_written(tmp_path / f"{i}.darshan", data)))
    found: dict[Path, Any] = read_logs(paths, LogCache())
    assert len(found) == MUTATIONS
    readable = 0
    for path, content in found.items():
        run = log_run(path.name, {path.name: content})
        (recording,) = run.recordings
        if isinstance(content, BadLogError):
            assert len(str(content)) > 10
            assert "Traceback" not in str(content)
            assert recording.problems
        else:
            readable += 1
            assert len(recording.windows) == 1
    assert 0 < readable < MUTATIONS


def test_tensorboard_lives_and_says_nothing_with_damaged_logs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = good().read_bytes()
    for i, length in enumerate((0, 100, 800, 1400, 1500, 2000, len(data) - 1)):
        _written(tmp_path / f"cut{i}.darshan", data[:length])
    flipped = bytearray(data)
    for place in range(1600, len(data), 97):
        flipped[place] ^= 0x55
    _written(tmp_path / "flipped.darshan", bytes(flipped))
    link(tmp_path, good())
    with tensorboard(tmp_path) as server:
        runs = server.wait_for("runs", lambda answer: len(answer["runs"]) == 9)["runs"]
        for run in runs:
            for route in ROUTES:
                server.get(route, run=run["name"])
        assert server.process.poll() is None
        server.process.terminate()
        _, said = server.process.communicate(timeout=30)
    assert "Traceback" not in said
    assert "Error" not in said
