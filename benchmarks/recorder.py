"""What recording adds to a call: bare, with the built-in source, and under a real libdarshan.

Each round runs the same program in a process of its own for each of them, in turn; the table shows
medians over rounds, of CPU time, so that another load on the machine matters less.
`LIBDARSHAN` names a real libdarshan.so to compare with (non-MPI).

    python benchmarks/recorder.py [--rounds 9] [--json]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORKLOADS = {
    "pread": 200_000,
    "pread, two threads, own files": 200_000,
    "pread, two threads, one file": 200_000,
    "open+close": 50_000,
    "fread": 1_000_000,
    "fgetc": 2_000_000,
}
GOALS = {
    "pread": 0.4,
    "pread, two threads, own files": 0.3,
    "pread, two threads, one file": 0.3,
    "open+close": 0.7,
    "fread": 0.6,
}
"""Most that the built-in source may add, as a share of what libdarshan adds."""
SNAPSHOT_FILES = (10_000, 128_000)
ONCE_GOALS_MS = {
    "attach_with_tensorflow_ms": 50.0,
    "snapshot_of_10000_files_ms": 2.0,
    "snapshot_of_128000_files_ms": 20.0,
}


def compile_calls(directory: Path) -> Path:
    library = directory / "calls.so"
    source = Path(__file__).with_name("calls.c")
    command = ["cc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-pthread"]
    subprocess.run(command, check=True)
    return library


def measure(mode: str, library: str, data: str) -> dict[str, float]:
    """Runs in a process of its own: nanoseconds a call of each workload."""
    calls = ctypes.CDLL(library)
    calls.run.restype = ctypes.c_double
    calls.run.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_long]
    recorder = None
    if mode == "builtin":
        from tensorboard_plugin_darshan import attach

        recorder = attach(source="builtin", extended=False)
    result = {}
    for workload, n in WORKLOADS.items():
        calls.run(workload.encode(), data.encode(), n // 10)
        result[workload] = min(calls.run(workload.encode(), data.encode(), n) for _ in range(3))
    if recorder is not None:
        recorder.detach()
    return result


def run_mode(mode: str, library: Path, directory: Path) -> dict[str, float]:
    environment = dict(os.environ)
    if mode == "libdarshan":
        environment |= {
            "LD_PRELOAD": os.environ["LIBDARSHAN"],
            "DARSHAN_ENABLE_NONMPI": "1",
            "DARSHAN_LOGPATH": str(directory),
            "DARSHAN_MMAP_LOGPATH": str(directory),
        }
    command = [sys.executable, __file__, "--measure", mode, str(library), str(directory / "data")]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def compare_calls(rounds: int, directory: Path) -> dict[str, dict[str, float]]:
    modes = ["bare", "builtin"] + (["libdarshan"] if os.environ.get("LIBDARSHAN") else [])
    library = compile_calls(directory)
    for i in range(2):
        (directory / f"data{i}").write_bytes(bytes(4096 * 256))
    runs: dict[str, list[dict[str, float]]] = {mode: [] for mode in modes}
    for _ in range(rounds):
        for mode in modes:
            runs[mode].append(run_mode(mode, library, directory))
    table = {}
    for workload in WORKLOADS:
        added = {
            mode: statistics.median(
                other[workload] - bare[workload]
                for other, bare in zip(runs[mode], runs["bare"], strict=True)
            )
            for mode in modes[1:]
        }
        row = {"bare_ns": statistics.median(run[workload] for run in runs["bare"])}
        row |= {f"{mode}_added_ns": value for mode, value in added.items()}
        if "libdarshan" in added:
            row["share"] = added["builtin"] / added["libdarshan"]
        table[workload] = row
    return table


def measure_attach() -> float:
    """Milliseconds to attach with TensorFlow loaded, median of nine."""
    import tensorflow  # noqa: F401

    from tensorboard_plugin_darshan import attach

    times = []
    for _ in range(9):
        start = time.perf_counter()
        recorder = attach(source="builtin")
        times.append(time.perf_counter() - start)
        recorder.detach()
    return statistics.median(times) * 1e3


def measure_snapshot(files: int) -> float:
    """Milliseconds for a snapshot of so many files' records, median of nine."""
    from tensorboard_plugin_darshan import attach

    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        recorder = attach(source="builtin", exclude=[])
        for i in range(files):
            fd = os.open(f"{directory}/{i}", os.O_CREAT | os.O_WRONLY)
            os.write(fd, b"0123456789")
            os.close(fd)
        recorder.snapshot()
        times = []
        for _ in range(9):
            start = time.perf_counter()
            recorder.snapshot()
            times.append(time.perf_counter() - start)
        recorder.detach()
    return statistics.median(times) * 1e3


def in_own_process(what: str) -> float:
    command = [sys.executable, __file__, "--once", what]
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout.splitlines()[-1])


def measure_once() -> dict[str, float]:
    figures = {"attach_with_tensorflow_ms": in_own_process("attach")}
    for files in SNAPSHOT_FILES:
        figures[f"snapshot_of_{files}_files_ms"] = in_own_process(str(files))
    return figures


def print_calls(table: dict[str, dict[str, float]]) -> None:
    head = ("bare ns", "built-in +ns", "libdarshan +ns", "share", "goal")
    print(f"{'call':32}" + "".join(f"{title:>15}" for title in head))
    for workload, row in table.items():
        cells = [f"{row['bare_ns']:.0f}", f"{row['builtin_added_ns']:.0f}"]
        cells.append(f"{row['libdarshan_added_ns']:.0f}" if "share" in row else "–")
        cells.append(f"{row['share']:.2f}" if "share" in row else "–")
        cells.append(str(GOALS.get(workload, "–")))
        print(f"{workload:32}" + "".join(f"{cell:>15}" for cell in cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--once", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(*arguments.measure)))
        return
    if arguments.once:
        once = arguments.once
        print(measure_attach() if once == "attach" else measure_snapshot(int(once)))
        return
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        table = compare_calls(arguments.rounds, Path(directory))
    figures = measure_once()
    if arguments.json:
        print(json.dumps({"calls": table, "once": figures}))
        return
    print_calls(table)
    for name, value in figures.items():
        print(f"{name:32}{value:10.2f}{'goal':>14}{ONCE_GOALS_MS[name]:8.0f}")


if __name__ == "__main__":
    main()
