"""A real recording as trace events, merged with other profilers' traces, and as tables."""

from __future__ import annotations

import csv
import gzip
import json
import os
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_darshan import DarshanMonitor, cli, window
from tensorboard_plugin_darshan.dashboard import export_formats, offline, perfetto, trace_file
from tests.support.recordings import Recorder, Use, write_recording

MARK = 12_345


def read(path: Path, *sizes: int) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    for size in sizes:
        os.read(descriptor, size)
    os.close(descriptor)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run with a read of a known length at a known time."""
    root = tmp_path_factory.mktemp("run")
    data = root / 'caf\N{LATIN SMALL LETTER E WITH ACUTE} "x"'
    data.write_bytes(bytes(50_000))
    with DarshanMonitor(root / "logs", flush_secs=0.1) as monitor:
        for epoch in range(2):
            with monitor.phase("train", epoch):
                read(data, 100, 200)
                thread = threading.Thread(target=read, args=(data, 300))
                thread.start()
                thread.join()
                monitor.step()
                time.sleep(0.05)
        before = time.time()
        read(data, MARK)
        after = time.time()
        (root / "out").write_bytes(bytes(4096))
    return {"logs": root / "logs", "data": data, "mark": (before, after)}


def load(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    content = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    events: list[dict[str, Any]] = content["traceEvents"] if isinstance(content, dict) else content
    return events


def marked(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The known read, in its thread's lane."""
    found = [e for e in events if e.get("args", {}).get("length") == MARK]
    assert len(found) == 2  # by thread and by file
    return found[0]


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_trace_events_of_a_run(recorded: dict[str, Any], tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    assert cli.main(["export", str(recorded["logs"]), str(out), "--format", "perfetto"]) == 0
    events = load(out)
    lanes = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    accesses = [e for e in events if e.get("cat") == "io"]
    mine = [e for e in accesses if e["args"]["file"] == str(recorded["data"])]
    assert Counter(e["args"]["length"] for e in mine) == {
        100: 4,
        200: 4,
        300: 4,
        MARK: 2,
    }  # each by thread and by file
    names = {lanes[e["pid"], e["tid"]] for e in mine}
    by_file = {name for name in names if name.startswith(f"{recorded['data']} (thread ")}
    assert {f"process {os.getpid()}, thread {n}" for n in (1, 2)} <= names - by_file
    assert len(by_file) == len(names - by_file)
    assert {e["name"] for e in accesses} == {"read", "write"}
    phases = [e["name"] for e in events if e.get("cat") == "phase"]
    assert phases == ["train, epoch 1", "train, epoch 2"]
    assert "step 2" in {e["name"] for e in events if e["ph"] == "i"}
    counters = [e for e in events if e["ph"] == "C"]
    assert max(e["args"]["MiB/s"] for e in counters) > 0
    assert {e["name"] for e in counters} == {
        "read bandwidth (MiB/s)",
        "write bandwidth (MiB/s)",
    }
    assert not list(tmp_path.glob(".*"))


def test_accesses_of_a_lane_do_not_overlap(recorded: dict[str, Any], tmp_path: Path) -> None:
    """The viewers draw only what nests."""
    out = tmp_path / "t.json"
    cli.main(["export", str(recorded["logs"]), str(out), "--format", "perfetto"])
    ends: dict[tuple[int, int], float] = {}
    for event in load(out):
        if event["ph"] == "X":
            lane = (event["pid"], event["tid"])
            assert event["ts"] >= ends.get(lane, 0.0) - 1e-3
            ends[lane] = event["ts"] + event["dur"]


def write(path: Path, content: Any) -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


OTHER = {"ph": "X", "pid": 7, "tid": 7, "ts": 1.0, "dur": 2.0, "name": "aten::mm", "cat": "cpu_op"}


@pytest.mark.parametrize("name", ["torch.json", "torch.pt.trace.json.gz"])
def test_merged_with_a_torch_trace(recorded: dict[str, Any], tmp_path: Path, name: str) -> None:
    before, after = recorded["mark"]
    base = round((before - 100.0) * 1e9)
    trace = write(
        tmp_path / name,
        {"schemaVersion": 1, "traceEvents": [OTHER, OTHER], "baseTimeNanoseconds": base},
    )
    out = tmp_path / "merged.json.gz"
    arguments = ["export", str(recorded["logs"]), str(out), "--format", "perfetto"]
    assert cli.main([*arguments, "--merge", str(trace)]) == 0
    events = load(out)
    assert events.count(OTHER) == 2
    begin = base / 1e9 + marked(events)["ts"] / 1e6
    assert before - 1e-3 <= begin <= after + 1e-3


def test_merged_with_a_torch_trace_that_counts_from_1970(
    recorded: dict[str, Any], tmp_path: Path
) -> None:
    before, after = recorded["mark"]
    other = OTHER | {"ts": before * 1e6}
    trace, out = write(tmp_path / "t.json", {"traceEvents": [other]}), tmp_path / "out.json"
    target = export_formats.Target(out, trace)
    export_formats.export(recorded["logs"], "perfetto", target)
    assert before - 1e-3 <= marked(load(out))["ts"] / 1e6 <= after + 1e-3
    # a list of events alone is a trace too
    write(trace, [other])
    export_formats.export(recorded["logs"], "perfetto", target)
    assert other in load(out)


def varint(value: int) -> bytes:
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])


def message(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def xspace(start: int) -> bytes:
    """An XSpace as JAX writes it, with the begin among the facts of its last plane."""
    names = b""
    for key, name in ((1, b"profile_stop_time"), (2, b"profile_start_time")):
        names += message(5, message(1, key) + message(2, message(1, key) + message(2, name)))
    stats = message(6, message(1, 1) + message(3, start + 5)) + message(
        6, message(1, 2) + message(3, start)
    )
    plane = message(2, b"Task Environment") + names + stats
    return message(1, message(2, b"/host:CPU")) + message(1, plane)


def test_merged_with_a_jax_trace(recorded: dict[str, Any], tmp_path: Path) -> None:
    before, after = recorded["mark"]
    start = round((before - 3.0) * 1e9)
    trace = write(
        tmp_path / "host.trace.json.gz",
        {"displayTimeUnit": "ns", "metadata": {}, "traceEvents": []},
    )
    (tmp_path / "host.xplane.pb").write_bytes(xspace(start))
    out = tmp_path / "out.json"
    export_formats.export(recorded["logs"], "perfetto", export_formats.Target(out, trace))
    begin = start / 1e9 + marked(load(out))["ts"] / 1e6
    assert before - 1e-3 <= begin <= after + 1e-3


def test_begin_that_no_file_tells_is_asked_for(
    recorded: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = recorded["mark"]
    trace, out = write(tmp_path / "t.json", {"traceEvents": [OTHER]}), tmp_path / "out.json"
    arguments = [
        *("export", str(recorded["logs"]), str(out), "--format", "perfetto"),
        *("--merge", str(trace)),
    ]
    assert cli.main(arguments) == 1
    assert "--merge-begin" in capsys.readouterr().err
    assert not out.exists()
    assert cli.main([*arguments, "--merge-begin", str(before - 1.0)]) == 0
    begin = before - 1.0 + marked(load(out))["ts"] / 1e6
    assert before - 1e-3 <= begin <= after + 1e-3


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("{}", "--merge-begin"), ('{"ts": 1}', "--merge-begin"), ("", "--merge-begin")],
)
def test_what_is_no_trace_is_told(
    recorded: dict[str, Any], tmp_path: Path, content: str, sentence: str
) -> None:
    trace = write(tmp_path / "t.json", content)
    target = export_formats.Target(tmp_path / "out.json", trace)
    with pytest.raises(offline.ExportError, match=sentence):
        export_formats.export(recorded["logs"], "perfetto", target)
    target = export_formats.Target(tmp_path / "out.json", trace, 1.0)
    with pytest.raises(offline.ExportError, match="no trace events"):
        export_formats.export(recorded["logs"], "perfetto", target)
    assert not (tmp_path / "out.json").exists()
    with pytest.raises(offline.ExportError, match="perfetto"):
        export_formats.export(recorded["logs"], "csv", target)


def test_tables_hold_windows_and_files(recorded: dict[str, Any], tmp_path: Path) -> None:
    logs = str(recorded["logs"])
    assert cli.main(["export", logs, str(tmp_path / "t"), "--format", "csv"]) == 0
    assert cli.main(["export", logs, str(tmp_path / "t.json"), "--format", "json"]) == 0
    content = json.loads((tmp_path / "t.json").read_text())
    with (tmp_path / "t" / "files.csv").open(newline="", encoding="utf-8") as file:
        files = list(csv.DictReader(file))
    with (tmp_path / "t" / "windows.csv").open(newline="", encoding="utf-8") as file:
        windows = list(csv.DictReader(file))
    (row,) = [row for row in files if row["path"] == str(recorded["data"])]
    assert int(row["bytes_read"]) == 2 * 600 + MARK
    (same,) = [row for row in content["files"] if row["path"] == str(recorded["data"])]
    assert same["bytes_read"] == 2 * 600 + MARK
    assert len(windows) == len(content["windows"])
    of_posix = [row for row in content["windows"] if row["module"] == "POSIX"]
    assert sum(row["read_bytes"] for row in of_posix) >= 2 * 600 + MARK
    assert {row["phase"] for row in of_posix} >= {"train"}
    assert set(window.BIN_COLUMNS) <= set(of_posix[0])
    assert [row["end_seconds"] for row in of_posix] == sorted(r["end_seconds"] for r in of_posix)


def test_directory_must_hold_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "x.json")
    assert cli.main(["export", str(tmp_path), out, "--format", "json"]) == 1
    assert "no recorded run" in capsys.readouterr().err
    for name in ("a", "b"):
        write_recording(tmp_path / name, [Recorder().window({"POSIX": [Use("/a", reads=2)]})])
    assert cli.main(["export", str(tmp_path), out, "--format", "json"]) == 1
    assert "a, b" in capsys.readouterr().err
    assert cli.main(["export", str(tmp_path / "a"), out, "--format", "perfetto"]) == 0
    assert [e for e in load(Path(out)) if e["ph"] == "C"]


def test_torn_event_file_is_read_up_to_the_tear(recorded: dict[str, Any], tmp_path: Path) -> None:
    copy = tmp_path / "darshan" / "rank0"
    copy.mkdir(parents=True)
    (source,) = recorded["logs"].rglob("events.out.tfevents.*")
    data = source.read_bytes()
    (copy / source.name).write_bytes(data[: len(data) * 2 // 3])
    run = offline.load(tmp_path).run
    whole = offline.load(recorded["logs"]).run
    assert 0 < len(run.recordings[0].windows) < len(whole.recordings[0].windows)


def test_events_are_made_one_by_one(recorded: dict[str, Any]) -> None:
    run = offline.load(recorded["logs"])
    events = perfetto.trace_events(run, 0)
    assert json.loads(next(events))["ph"] == "M"
    assert trace_file.profile_start(b"\x0a\xff\xff") is None
