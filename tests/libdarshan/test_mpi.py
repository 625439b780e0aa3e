"""A libdarshan built with MPI, in a program of two processes.

`LIBDARSHAN_MPI` names it; it is preloaded, as sites do.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tensorboard_plugin_darshan.modules import SHOWN
from tests.support.compiling import ROOT

LIBRARY = os.environ.get("LIBDARSHAN_MPI", "")
PROCESSES = 2
pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not LIBRARY, reason="LIBDARSHAN_MPI does not name a libdarshan with MPI"),
    pytest.mark.skipif(
        not (shutil.which("mpicc") and shutil.which("mpirun")), reason="mpicc or mpirun is missing"
    ),
]

CODE = """
import ctypes, json, os, sys
import numpy.ma
from tensorboard_plugin_darshan import attach
library, directory, result = sys.argv[1:]
mpi = ctypes.CDLL(library)
assert mpi.begin() == 0
rank = mpi.number()
recorder = attach("auto")
facts = recorder.facts()
assert mpi.run(os.fsencode(directory)) == 0
snapshot = recorder.snapshot()
assert mpi.end() == 0
after = recorder.snapshot()
assert recorder.own.log.ended
found = {}
for module in snapshot.modules:
    arrays = snapshot.arrays(module)
    rows = zip(arrays.ids.tolist(), arrays.counters.tolist(), arrays.fcounters.tolist())
    found[module] = {str(key): [*row, *frow] for key, row, frow in rows}
    assert after.arrays(module).counters.tolist() == arrays.counters.tolist(), "kept"
values = recorder.own.drain_bins("MPI-IO").values.sum(axis=0).tolist()
recorder.detach()
with open(f"{result}{rank}", "w") as file:
    json.dump({"facts": facts, "records": found, "bins": values}, file)
"""


def read_log(path: Path, rank: int) -> dict[str, dict[str, list[float]]]:
    """What one process wrote into a log: module → record id → all counters."""
    import darshan

    found: dict[str, dict[str, list[float]]] = {}
    with darshan.DarshanReport(str(path), read_all=False) as report:
        for module in set(report.modules) & set(SHOWN):
            report.mod_read_all_records(module, dtype="numpy")
            found[module] = {
                str(int(r["id"]) & (1 << 64) - 1): [
                    *r["counters"].tolist(),
                    *r["fcounters"].tolist(),
                ]
                for r in report.records[module]
                if r["rank"] == rank
            }
    return found


def test_each_process_is_read(tmp_path: Path) -> None:
    logs, work = tmp_path / "logs", tmp_path / "work"
    logs.mkdir()
    work.mkdir()
    library = tmp_path / "mpi.so"
    source = Path(__file__).with_name("mpi_workload.c")
    subprocess.run(["mpicc", "-shared", "-fPIC", source, "-o", library], check=True)
    variables = {
        **{k: v for k, v in os.environ.items() if not k.startswith("DARSHAN_")},
        "PYTHONPATH": str(ROOT),
        "DARSHAN_LOGPATH": str(logs),
        "DARSHAN_MMAP_LOGPATH": str(logs),
        "DARSHAN_DISABLE_SHARED_REDUCTION": "1",  # else the log has one record for all processes
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    program = [sys.executable, "-c", CODE, library, work, tmp_path / "result"]
    command = ["mpirun", "-n", str(PROCESSES), "--oversubscribe", "env", f"LD_PRELOAD={LIBRARY}"]
    done = subprocess.run(
        [*command, *program], env=variables, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    (log,) = logs.glob("*.darshan")
    for rank in range(PROCESSES):
        live = json.loads((tmp_path / f"result{rank}").read_text())
        written = read_log(log, rank)
        assert live["facts"]["source"] == "libdarshan"
        assert len(live["records"]["MPI-IO"]) == 2
        for module in ("MPI-IO", "POSIX"):
            ids = live["records"][module].keys()
            assert ids == written[module].keys(), module
            for key in ids:
                assert live["records"][module][key] == written[module][key], (module, key)
        layout = SHOWN["MPI-IO"]
        reads = layout.index["MPIIO_BYTES_READ"]
        moved = sum(row[reads] for row in live["records"]["MPI-IO"].values())
        assert live["bins"][0] == moved == 3 * 32 * 4096
