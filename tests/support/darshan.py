"""Runs programs under a real libdarshan, which `LIBDARSHAN` names, and reads the logs it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_darshan.modules import SHOWN
from tensorboard_plugin_darshan.recording.darshan_memory import parse_header
from tests.libdarshan.images import inflated
from tests.support.compiling import ROOT

LIBRARY = os.environ.get("LIBDARSHAN", "")
PROGRAM = ROOT / "tests" / "libdarshan" / "program.py"
TRACED = ("offset", "length", "start", "end", "thread")
TRACE_HEAD = 104
needs_libdarshan = pytest.mark.skipif(
    not LIBRARY, reason="LIBDARSHAN does not name a real libdarshan.so to test with"
)


@dataclass(frozen=True)
class Recorded:
    """What was read of a program while it ran, and the log that it wrote at its end."""

    live: dict[str, Any]
    log: Path
    stderr: str


def environment(logs: Path, preload: bool, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DARSHAN_", "LD_PRELOAD"))}
    variables = {
        **kept,
        "PYTHONPATH": str(ROOT),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "DARSHAN_LOGPATH": str(logs),
        "DARSHAN_MMAP_LOGPATH": str(logs),
        **more,
    }
    if preload:
        variables |= {"LD_PRELOAD": LIBRARY, "DARSHAN_ENABLE_NONMPI": "1"}
    return variables


def run(workload: str, directory: Path, *, preload: bool, **more: str) -> Recorded:
    """Runs the program of tests/libdarshan in a process of its own."""
    logs, work = directory / "logs", directory / "work"
    logs.mkdir()
    work.mkdir()
    result = directory / "result.json"
    arguments = ["auto" if preload else "libdarshan", workload, str(work), str(result)]
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "faulthandler",
            PROGRAM,
            *arguments,
            *([] if preload else [LIBRARY]),
        ],
        env=environment(logs, preload, **more),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    live = json.loads(result.read_text())
    written = list(logs.glob(f"*-{live['pid']}_*.darshan"))  # other programs write their own
    assert len(written) == 1, (written, done.stderr)
    return Recorded(live, written[0], done.stderr)


def read_log(path: Path) -> dict[str, dict[str, list[float]]]:
    """Module → record id → all counters, as PyDarshan reads them."""
    import darshan

    found: dict[str, dict[str, list[float]]] = {}
    with darshan.DarshanReport(str(path), read_all=False) as report:
        for module in report.modules:
            if module not in SHOWN:
                continue
            report.mod_read_all_records(module, dtype="numpy")
            found[module] = {
                str(int(record["id"]) & (1 << 64) - 1): [
                    *record["counters"].tolist(),
                    *record["fcounters"].tolist(),
                ]
                for record in report.records[module]
            }
    return found


def read_segments(path: Path) -> dict[str, dict[str, list[tuple[Any, ...]]]]:
    """Record id → `read` and `write` → offset, length, start, end of each traced access."""
    import darshan

    if traces_name_threads(path):
        return read_segments_with_threads(path)
    found = {}
    with darshan.DarshanReport(str(path), read_all=False) as report:
        report.mod_read_all_dxt_records("DXT_POSIX", dtype="dict")
        for record in report.records["DXT_POSIX"]:
            found[str(int(record["id"]) & (1 << 64) - 1)] = {
                kind: [
                    (s["offset"], s["length"], s["start_time"], s["end_time"])
                    for s in record[f"{kind}_segments"]
                ]
                for kind in ("read", "write")
            }
    return found


def traces_name_threads(path: Path) -> bool:
    """Whether traced accesses are of format 2, which PyDarshan's present release takes for 1."""
    return parse_header(path.read_bytes()).versions["DXT_POSIX"] == 2


def read_segments_with_threads(
    path: Path,
) -> dict[str, dict[str, list[tuple[Any, ...]]]]:
    """The same of traces of format 2, and each access's thread."""
    data = path.read_bytes()
    region = parse_header(data).regions["DXT_POSIX"]
    traces = inflated(data[region.place : region.place + region.used])
    its = np.dtype(
        [(n, t) for n, t in zip(TRACED, ("<i8", "<i8", "<f8", "<f8", "<u8"), strict=True)]
    )
    found, at = {}, 0
    while at < len(traces):
        key = int.from_bytes(traces[at : at + 8], "little")
        writes, reads = np.frombuffer(traces, "<i8", 2, at + 88).tolist()
        segments = np.frombuffer(traces, its, writes + reads, at + TRACE_HEAD).tolist()
        found[str(key)] = {"read": segments[writes:], "write": segments[:writes]}
        at += TRACE_HEAD + its.itemsize * (writes + reads)
    return found


def live_segments(live: dict[str, Any]) -> dict[str, dict[str, list[tuple[Any, ...]]]]:
    """The same of what was read live."""
    found: dict[str, dict[str, list[tuple[Any, ...]]]] = {}
    for key, direction, order, offset, length, start, end, thread in sorted(
        live["segments"], key=lambda segment: (segment[0], segment[1], segment[2])
    ):
        kinds = found.setdefault(key, {"read": [], "write": []})
        its = kinds[("read", "write")[direction]]
        assert order == len(its)
        its.append((offset, length, start, end, thread))
    return found


def differences(recorded: Recorded) -> dict[tuple[str, str, str], tuple[Any, Any]]:
    """Module, record and counter → live value, value in the log, where they are not the same."""
    found: dict[tuple[str, str, str], tuple[Any, Any]] = {}
    log = read_log(recorded.log)
    for module in {*log, *recorded.live["records"]}:
        live, written = recorded.live["records"].get(module, {}), log.get(module, {})
        names = (*SHOWN[module].counters, *SHOWN[module].fcounters)
        for key in {*live, *written}:
            if key not in live or key not in written:
                if not _is_unused(module, live.get(key)):
                    found[module, key, ""] = (live.get(key), written.get(key))
                continue
            for name, one, other in zip(names, live[key], written[key], strict=True):
                if np.int64(one) != np.int64(other) or float(one) != float(other):
                    found[module, key, name] = (one, other)
    return found


def _is_unused(module: str, record: list[float] | None) -> bool:
    """Darshan takes standard streams that nothing was done with out of its log."""
    return module == "STDIO" and record is not None and record[2] == record[3] == 0
