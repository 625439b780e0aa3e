"""The recorder's counters are those of real Darshan on recordings of it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_darshan import counters
from tests.support import compiling

pytestmark = pytest.mark.native

HERE = Path(__file__).parent
GOLDEN = sorted(path.stem for path in HERE.glob("*.json"))
DIRECTORY = Path("/tmp/gold_run")  # the recordings hold hashes of paths below it
RECORDED_ALIGNMENT = 4096
SEQUENCE = ("CONSEC_", "SEQ_", "STRIDE", "RW_SWITCHES")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("workloads")
    sources = sorted((HERE / "workloads").glob("*.c"))
    return {
        source.stem: compiling.build_shared(source, directory / f"{source.stem}.so", ["-O1"])
        for source in sources
    }


@pytest.fixture
def empty_directory() -> Iterator[Path]:
    """The one directory, for one test at a time on this machine."""
    with open(f"{DIRECTORY}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(DIRECTORY, ignore_errors=True)
        DIRECTORY.mkdir()
        yield DIRECTORY
        shutil.rmtree(DIRECTORY)


def record(name: str, mode: str, libraries: dict[str, Path], directory: Path) -> dict[str, Any]:
    workload, _, seed = name.partition("_seed")
    script = (HERE / "record_workload.py").read_text()
    environment = {"SEED": seed} if seed else {}
    arguments = (libraries[workload], directory, mode)
    done = compiling.run_python(script, *arguments, environment=environment)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def golden(name: str) -> dict[str, Any]:
    modules: dict[str, Any] = json.loads((HERE / f"{name}.json").read_text())["modules"]
    return modules


def is_comparable(name: str, path: str, counter: str, alignment: int) -> bool:
    if counter.endswith("_TIME_SIZE") or "EST_RANK" in counter:
        return False
    if counter == "POSIX_FILE_ALIGNMENT":
        return alignment == RECORDED_ALIGNMENT or path.startswith("<")
    if counter == "POSIX_FILE_NOT_ALIGNED" and alignment != RECORDED_ALIGNMENT:
        return False
    depends_on_order = name == "threads" and path == "shared.bin"
    return not (depends_on_order and any(part in counter for part in SEQUENCE))


def differences(name: str, recorded: dict[str, Any]) -> dict[tuple[str, str], dict[str, int]]:
    """Recorded minus golden by module and path, only what differs."""
    alignment = os.statvfs(DIRECTORY).f_bsize
    found: dict[tuple[str, str], dict[str, int]] = {}
    for module in ("POSIX", "STDIO"):
        for path, expected in golden(name).get(module, {}).items():
            record = recorded["modules"][module].get(path)
            assert record is not None, f"{module} has no record of {path}"
            assert expected.keys() == set(counters.LAYOUTS[module].counters)
            change = {
                counter: record[counter] - value
                for counter, value in expected.items()
                if record[counter] != value and is_comparable(name, path, counter, alignment)
            }
            if change:
                found[module, path] = change
    return found


def extra_records(name: str, recorded: dict[str, Any]) -> set[tuple[str, str]]:
    return {
        (module, path)
        for module, paths in recorded["modules"].items()
        for path in paths.keys() - golden(name).get(module, {}).keys()
    }


def check_segments(name: str, recorded: dict[str, Any]) -> None:
    expected = golden(name).get("DXT_POSIX")
    if name == "threads":  # traced, but their order is any
        expected = None
    if expected is not None:
        empty: dict[str, Any] = {"read_segments": [], "write_segments": []}
        complete = {path: {**empty, **kinds} for path, kinds in expected.items()}
        assert recorded["segments"] == complete
    assert recorded["facts"]["segments_dropped"] == 0
    posix = recorded["modules"]["POSIX"]
    for path, kinds in recorded["segments"].items():
        for kind, counter in (("read", "BYTES_READ"), ("write", "BYTES_WRITTEN")):
            lengths = [length for _, length in kinds[f"{kind}_segments"]]
            assert sum(lengths) == posix[path][f"POSIX_{counter}"]


def check_bins(recorded: dict[str, Any]) -> None:
    for module, sums in recorded["bins"].items():
        layout = counters.LAYOUTS[module]
        for column, counter in enumerate(("BYTES_READ", "BYTES_WRITTEN", "READS", "WRITES")):
            total = recorded["totals"][module][layout.index[layout.prefix + counter]]
            assert sums[column] == total, (module, counter)


@pytest.mark.parametrize("name", GOLDEN)
def test_counters_are_darshans(
    name: str, libraries: dict[str, Path], empty_directory: Path
) -> None:
    recorded = record(name, "builtin", libraries, empty_directory)
    assert differences(name, recorded) == {}
    assert extra_records(name, recorded) == set()
    check_segments(name, recorded)
    check_bins(recorded)


def explained(name: str) -> dict[tuple[str, str], dict[str, int]]:
    """What the calls that Darshan does not wrap change in a recording of it."""
    # mmap: counted from 0 on; where nobody counts, it is -1
    changes = {("POSIX", path): {"POSIX_MMAPS": 1} for path in golden(name)["POSIX"]}
    if name == "posix_calls":
        changes["POSIX", "mapped.bin"]["POSIX_MMAPS"] += 1
        changes["POSIX", "opened_at.bin"]["POSIX_STATS"] = 1  # fstat
        changes["POSIX", "created.bin"]["POSIX_STATS"] = 2  # stat, lstat
        changes["POSIX", "renamed.bin"]["POSIX_STATS"] = 1  # stat
    if name == "stdio_calls":  # putc, getc
        moved = ("READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN")
        changes["STDIO", "text.txt"] = {f"STDIO_{counter}": 1 for counter in moved}
        changes["STDIO", "text.txt"].update(STDIO_MAX_BYTE_READ=1, STDIO_MAX_BYTE_WRITTEN=1)
    return changes


@pytest.mark.parametrize("name", GOLDEN)
def test_more_calls_change_only_what_they_explain(
    name: str, libraries: dict[str, Path], empty_directory: Path
) -> None:
    recorded = record(name, "extended", libraries, empty_directory)
    assert differences(name, recorded) == explained(name)
    assert extra_records(name, recorded) == set()
    check_segments(name, recorded)
    check_bins(recorded)
