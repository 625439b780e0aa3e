from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from tensorboard_plugin_darshan.recording import process


def tf_config(kind, index, **cluster):
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (0, 1)),
        ({"RANK": "3", "WORLD_SIZE": "8"}, (3, 8)),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, (1, 2)),
        ({"PMI_RANK": "0", "PMI_SIZE": "4"}, (0, 4)),
        ({"SLURM_PROCID": "5", "SLURM_NTASKS": "6"}, (5, 6)),
        ({"RANK": "1", "WORLD_SIZE": "2", "SLURM_PROCID": "0", "SLURM_NTASKS": "9"}, (1, 2)),
        ({"RANK": "1", "PMI_RANK": "2", "PMI_SIZE": "3"}, (2, 3)),
        ({"RANK": "x", "WORLD_SIZE": "2"}, (0, 1)),
        ({"RANK": "2", "WORLD_SIZE": "2"}, (0, 1)),
        ({"RANK": "-1", "WORLD_SIZE": "2"}, (0, 1)),
        (tf_config("worker", 1, worker=["a:1", "b:1"], ps=["c:1"]), (1, 2)),
        (tf_config("worker", 0, chief=["a:1"], worker=["b:1", "c:1"]), (1, 3)),
        (tf_config("chief", 0, chief=["a:1"], worker=["b:1"]), (0, 2)),
        (tf_config("ps", 0, worker=["b:1", "c:1"], ps=["a:1"]), (0, 1)),
        ({"TF_CONFIG": "{"}, (0, 1)),
        ({"TF_CONFIG": "[]"}, (0, 1)),
        ({"TF_CONFIG": '{"cluster": {}, "task": {}}'}, (0, 1)),
    ],
)
def test_rank_is_taken_from_the_launcher(environment, expected):
    assert process.rank_and_world_size(environment) == expected


def test_mounts_are_parsed(tmp_path):
    table = tmp_path / "mounts"
    table.write_bytes(
        b"proc /proc proc rw 0 0\n"
        b"/dev/sda1 / ext4 rw,relatime 0 0\n"
        b"nas:/vol /mnt/my\\040data\\011x nfs4 rw 0 0\n"
        b"torn\n"
        b"cgroup /sys/fs/cgroup cgroup2 rw 0 0\n"
    )
    assert process.mounts(table) == [
        {"path": "/", "type": "ext4", "device": "/dev/sda1"},
        {"path": "/mnt/my data\tx", "type": "nfs4", "device": "nas:/vol"},
    ]


def test_unknown_mounts_are_no_mounts(tmp_path):
    assert process.mounts(tmp_path / "missing") == []


def test_number_of_mounts_is_bounded(tmp_path):
    table = tmp_path / "mounts"
    table.write_text("".join(f"d /m{i} ext4 rw 0 0\n" for i in range(1000)))
    assert len(process.mounts(table)) == 100


def test_versions_are_those_of_imported_packages(monkeypatch):
    for name in ("keras", "torch", "jax"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    fake = types.ModuleType("torch")
    fake.__version__ = "9.9"
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setitem(sys.modules, "jax", None)
    versions = process.imported_versions()
    assert versions["torch"] == "9.9"
    assert "keras" not in versions
    assert "jax" not in versions


def test_facts_import_nothing_and_are_plain():
    code = """
import json, sys
from tensorboard_plugin_darshan.recording import process
before = set(sys.modules)
facts = process.facts()
assert set(sys.modules) == before, set(sys.modules) - before
print(json.dumps(facts))
"""
    environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": os.environ["PATH"]}
    result = subprocess.run(
        [sys.executable, "-c", code, "x" * 5000, "y"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd="/",
    )
    facts = json.loads(result.stdout)
    assert facts["rank"] == 0
    assert facts["world_size"] == 1
    assert facts["hostname"]
    assert facts["python"].count(".") == 2
    assert "keras" not in facts
    assert "backend" not in facts
    assert facts["command"][1] == "-c"
    assert facts["command"][-1] == "…"
    assert sum(map(len, facts["command"])) <= 4097
    assert {"/"} <= {mount["path"] for mount in facts["mounts"]}


def test_keras_backend_is_told(monkeypatch):
    fake = types.ModuleType("keras")
    fake.__version__ = "3.9"
    fake.config = types.SimpleNamespace(backend=lambda: "torch")
    monkeypatch.setitem(sys.modules, "keras", fake)
    facts = process.facts()
    assert (facts["keras"], facts["backend"]) == ("3.9", "torch")
