"""The truth: totals of every log and module against PyDarshan's own records.

Nothing here uses the product's tables of counters; what a module's reads and opens are is written
down a second time, from the description of Darshan's log format.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tensorboard_plugin_darshan.dashboard.log_cache import LogCache
from tensorboard_plugin_darshan.dashboard.log_process import read_logs
from tests.support.dashboard import Dashboard
from tests.support.logs import link, name_of, packaged, shared

FORMULAS: dict[str, dict[str, list[str]]] = {
    "POSIX": {
        "opens": ["POSIX_OPENS"],
        "reads": ["POSIX_READS"],
        "writes": ["POSIX_WRITES"],
    },
    "STDIO": {
        "opens": ["STDIO_OPENS"],
        "reads": ["STDIO_READS"],
        "writes": ["STDIO_WRITES"],
    },
    "MPI-IO": {
        "opens": ["MPIIO_INDEP_OPENS", "MPIIO_COLL_OPENS"],
        "reads": [
            "MPIIO_INDEP_READS",
            "MPIIO_COLL_READS",
            "MPIIO_SPLIT_READS",
            "MPIIO_NB_READS",
        ],
        "writes": [
            "MPIIO_INDEP_WRITES",
            "MPIIO_COLL_WRITES",
            "MPIIO_SPLIT_WRITES",
            "MPIIO_NB_WRITES",
        ],
    },
    "H5F": {"opens": ["H5F_OPENS"]},
    "H5D": {"opens": ["H5D_OPENS"], "reads": ["H5D_READS"], "writes": ["H5D_WRITES"]},
    "PNETCDF_FILE": {"opens": ["PNETCDF_FILE_CREATES", "PNETCDF_FILE_OPENS"]},
    "PNETCDF_VAR": {
        "opens": ["PNETCDF_VAR_OPENS"],
        "reads": ["PNETCDF_VAR_INDEP_READS", "PNETCDF_VAR_COLL_READS", "PNETCDF_VAR_NB_READS"],
        "writes": ["PNETCDF_VAR_INDEP_WRITES", "PNETCDF_VAR_COLL_WRITES", "PNETCDF_VAR_NB_WRITES"],
    },
    "DFS": {
        "opens": ["DFS_OPENS", "DFS_GLOBAL_OPENS"],
        "reads": ["DFS_READS", "DFS_READXS"],
        "writes": ["DFS_WRITES", "DFS_WRITEXS"],
    },
    "DAOS": {
        "opens": ["DAOS_OBJ_OPENS", "DAOS_ARRAY_OPENS", "DAOS_KV_OPENS"],
        "reads": ["DAOS_OBJ_FETCHES", "DAOS_ARRAY_READS", "DAOS_KV_GETS"],
        "writes": ["DAOS_OBJ_UPDATES", "DAOS_ARRAY_WRITES", "DAOS_KV_PUTS"],
    },
}
TIMES = {
    "read_seconds": "READ_TIME",
    "write_seconds": "WRITE_TIME",
    "metadata_seconds": "META_TIME",
}
BYTES = {"bytes_read": "BYTES_READ", "bytes_written": "BYTES_WRITTEN"}

STRAIGHT = """
import json, sys
from darshan.backend import cffi_backend as backend

answer = {}
for path in json.load(sys.stdin)["paths"]:
    log = backend.log_open(path)
    modules = answer[path] = {}
    for name in backend.log_get_modules(log):
        if name not in json.loads(sys.argv[1]):
            continue
        ids, sums, fsums, least = set(), {}, {}, {}
        counters, fcounters = backend.counter_names(name), backend.fcounter_names(name)
        while (record := backend.log_get_record(log, name, "numpy")) is not None:
            ids.add(record["id"])
            for counter, value in zip(counters, record["counters"].tolist()):
                sums[counter] = sums.get(counter, 0) + value
                least[counter] = min(least.get(counter, 0), value)
            for counter, value in zip(fcounters, record["fcounters"].tolist()):
                fsums[counter] = fsums.get(counter, 0.0) + value
        modules[name] = {"files": len(ids), "sums": sums, "fsums": fsums, "least": least}
    backend.log_close(log)
json.dump(answer, sys.stdout)
"""
LOGS = [*packaged(), *shared()]


@pytest.fixture(scope="module")
def straight() -> dict[str, Any]:
    """For each log and module the sums over PyDarshan's records, from a process of its own."""
    command = [sys.executable, "-c", STRAIGHT, json.dumps(list(FORMULAS))]
    paths = json.dumps({"paths": [str(path) for path in LOGS]})
    done = subprocess.run(command, input=paths, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Dashboard:
    """One dashboard over all logs: each in a directory of its own, and all of one job read once."""
    folder = tmp_path_factory.mktemp("all")
    for i, path in enumerate(LOGS):
        link(folder / str(i), path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        linked = [folder / str(i) / path.name for i, path in enumerate(LOGS)]
        read_logs(linked, LogCache())  # one process for all: the dashboard finds them read
        dashboard = Dashboard(folder)
        names = {run["name"] for run in dashboard.get("runs")["runs"]}
        assert names == {f"{i}/{path.name}" for i, path in enumerate(LOGS)}
        first = dashboard.get("overview", run=f"0/{LOGS[0].name}")  # opens the cache
        assert first["modules"]
    return dashboard


@pytest.mark.parametrize("place", range(len(LOGS)), ids=[name_of(path) for path in LOGS])
def test_totals_are_those_of_the_records(
    place: int, straight: dict[str, Any], shown: Dashboard
) -> None:
    path = LOGS[place]
    modules = shown.get("overview", run=f"{place}/{path.name}")["modules"]
    expected = straight[str(path)]
    assert set(modules) == {name for name, module in expected.items() if module["files"]}
    for name, module in expected.items():
        if not module["files"]:
            continue
        found, sums = modules[name], module["sums"]
        prefix = "MPIIO_" if name == "MPI-IO" else f"{name}_"
        assert found["files"] == module["files"]
        for quantity in ("opens", "reads", "writes"):
            counters = FORMULAS[name].get(quantity, [])
            assert found[quantity] == sum(sums[c] for c in counters), (name, quantity)
        for quantity, counter in BYTES.items():
            total = sums.get(prefix + counter, 0)
            assert found[quantity] == (total if total >= 0 else None), (name, quantity)
        for quantity, counter in TIMES.items():
            total = module["fsums"].get(f"{prefix}F_{counter}", 0.0)
            if total < 0 and total == -module["files"]:  # -1 a record: not counted
                assert found[quantity] is None, (name, quantity)
            else:
                assert found[quantity] == pytest.approx(total, rel=1e-9), (name, quantity)
        for counter, value in found["counters"].items():
            assert value == sums[counter], counter
        is_sum = {f"{prefix}{kind}" for kind in ("BYTES_READ", "BYTES_WRITTEN", "RW_SWITCHES")}
        sized = {c for c in sums if "_SIZE_READ_" in c or "_SIZE_WRITE_" in c}
        for counter in (is_sum | sized) & sums.keys():
            if sums[counter] >= 0:
                assert found["counters"][counter] == sums[counter], counter


def test_every_kind_of_module_was_compared(straight: dict[str, Any]) -> None:
    if not shared():
        pytest.skip("without the collection of public logs there are fewer kinds")
    kinds = {name for modules in straight.values() for name in modules}
    assert kinds >= {"POSIX", "STDIO", "MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "DFS", "DAOS"}
