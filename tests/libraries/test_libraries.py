"""Bytes recorded of real libraries' I/O against the sizes of the files, exactly, or why not."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

NEEDS = {
    "numpy": "numpy",
    "h5py": "h5py",
    "pillow": "PIL",
    "pandas": "pandas",
    "sqlite": "sqlite3",
    "standard": "zipfile",
    "tensorflow": "tensorflow",
    "torch": "torch",
    "pyarrow": "pyarrow",
}

TABLE = [
    # program, action, what counts, bytes beside the file's size, why
    ("numpy", "numpy.save", "written", 0, ""),
    ("numpy", "numpy.load", "read", 3968, "one buffer of 4096 bytes for the header of 128"),
    ("numpy", "numpy.tofile", "written", 0, ""),
    ("numpy", "numpy.fromfile", "read", 0, ""),
    ("numpy", "numpy.memmap", "read", -2_400_000, "reads through a mapping cannot be seen"),
    ("h5py", "h5py write", "written", (-512, 512), "the header is padded without being written"),
    ("h5py", "h5py read", "read", (0, 4096), "the signature and header are read again"),
    ("pillow", "Pillow save", "written", 0, ""),
    ("pillow", "Pillow load", "read", 0, ""),
    ("pandas", "pandas to_csv", "written", 0, ""),
    ("pandas", "pandas read_csv", "read", 0, ""),
    ("sqlite", "SQLite write", "written", (0, 16_384), "its first pages are written twice"),
    ("sqlite", "SQLite read", "read", (0, 512), "header and version are read again"),
    ("standard", "write_bytes", "written", 0, ""),
    ("standard", "read_bytes", "read", 0, ""),
    ("standard", "pickle.dump", "written", 0, ""),
    ("standard", "pickle.load", "read", 0, ""),
    ("standard", "zipfile write", "written", (0, 64), "the header is written again when complete"),
    ("standard", "zipfile read", "read", (0, 256), "the directory at the end is read first"),
    ("standard", "shutil.copyfile, from", "read", 0, ""),
    ("standard", "shutil.copyfile, to", "written", 0, ""),
    ("tensorflow", "TFRecordWriter", "written", 0, ""),
    ("tensorflow", "TFRecordDataset", "read", 0, ""),
    ("tensorflow", "tf.io.read_file", "read", 0, ""),
    ("tensorflow", "tf.data cache, filled", "written", -400_000, "written before it was renamed"),
    ("tensorflow", "tf.data cache, used", "read", 0, ""),
    ("torch", "torch.save", "written", (0, 4096), "records are written again when complete"),
    ("torch", "torch.load", "read", (-4096, 65_536), "the directory at the end is read first"),
    ("pyarrow", "PyArrow write_table", "written", 0, ""),
    ("pyarrow", "PyArrow read_table", "read", (-64, 65_536), "the footer is read first"),
]


@functools.cache
def results(program: str) -> dict[str, dict[str, int]]:
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        command = [sys.executable, "-X", "faulthandler", "-m", "tests.libraries.programs"]
        done = subprocess.run(
            [*command, program, str(Path(directory).resolve())],
            env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, int]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(("program", "action", "direction", "beside", "why"), TABLE)
def test_bytes_are_those_of_the_file(
    program: str, action: str, direction: str, beside: int | tuple[int, int], why: str
) -> None:
    if find_spec(NEEDS[program]) is None:
        pytest.skip(f"{NEEDS[program]} is not installed")
    seen = results(program)[action]
    least, most = beside if isinstance(beside, tuple) else (beside, beside)
    assert seen["size"] > 0
    assert least <= seen[direction] - seen["size"] <= most, why
    assert (seen["mmaps"] > 0) == ("memmap" in action)
