"""What is read of a real libdarshan while it records is what it writes into its log at the end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tensorboard_plugin_darshan.counters import LAYOUTS
from tests.support import compiling
from tests.support.darshan import (
    Recorded,
    differences,
    live_segments,
    needs_libdarshan,
    read_segments,
    run,
)

pytestmark = needs_libdarshan

WAYS = {"preloaded": True, "loaded late": False}
WORKLOADS = Path(__file__).parents[1] / "golden" / "workloads"
GOLDEN = sorted(path.stem for path in WORKLOADS.glob("*.c"))
MICROSECONDS = 2e-6


def check(recorded: Recorded) -> None:
    assert differences(recorded) == {}
    assert recorded.live["facts"]["source"] == "libdarshan"
    assert len(recorded.live["records"]["POSIX"]) > 0


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def preload(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("workload", ["plain", "threads"])
def test_counters_are_those_of_the_log(workload: str, preload: bool, tmp_path: Path) -> None:
    recorded = run(workload, tmp_path, preload=preload)
    check(recorded)
    work = str(tmp_path / "work")
    named = [name for name in recorded.live["names"]["POSIX"] if name.startswith(work)]
    assert len(named) == {"plain": 7, "threads": 9}[workload]


@pytest.mark.native
@pytest.mark.parametrize("workload", GOLDEN)
def test_golden_workloads(workload: str, preload: bool, tmp_path: Path) -> None:
    library = compiling.build_shared(
        WORKLOADS / f"{workload}.c", tmp_path / f"{workload}.so", ["-O1"]
    )
    check(run(str(library), tmp_path, preload=preload, SEED="1"))


@pytest.mark.tensorflow
def test_training(preload: bool, tmp_path: Path) -> None:
    pytest.importorskip("keras")
    config = tmp_path / "config"
    config.write_text("MAX_RECORDS 20000 POSIX,STDIO\n")  # importing Keras reads thousands of files
    room = {"DARSHAN_MODMEM": "64", "DARSHAN_NAMEMEM": "16", "DARSHAN_CONFIG_PATH": str(config)}
    recorded = run("training", tmp_path, preload=preload, **room)
    check(recorded)
    names = recorded.live["names"]["POSIX"] + recorded.live["names"]["STDIO"]
    assert str(tmp_path / "work" / "sample39.npy") in names


@pytest.mark.parametrize("workload", ["plain", "threads"])
def test_segments_are_those_of_the_log(workload: str, preload: bool, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("MAX_RECORDS 20000 DXT_POSIX\n")
    settings = {"DXT_ENABLE_IO_TRACE": "1", "DARSHAN_CONFIG_PATH": str(config)}
    recorded = run(workload, tmp_path, preload=preload, **settings)
    live, written = live_segments(recorded.live), read_segments(recorded.log)
    assert len(recorded.live["segments"]) > 100
    assert recorded.live["facts"]["segments_dropped"] == 0
    for key, kinds in live.items():
        for kind, segments in kinds.items():
            # the log also has what came before the recording began
            expected = written[key][kind][-len(segments) :] if segments else []
            assert [s[:2] for s in segments] == [s[:2] for s in expected], (key, kind)
            for one, other in zip(segments, expected, strict=True):
                assert one[2:4] == pytest.approx(other[2:4], abs=MICROSECONDS)
                assert other[4:] in ((), one[4:]), "thread, where Darshan tells it"
    if not preload:
        assert live.keys() == {key for key, kinds in written.items() if any(kinds.values())}


def test_totals_never_go_back(preload: bool, tmp_path: Path) -> None:
    recorded = run("threads", tmp_path, preload=preload)
    layout, pulls = LAYOUTS["POSIX"], recorded.live["pulls"]
    assert len(pulls) > 5
    for name in ("READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN", "OPENS", "SIZE_READ_1K_10K"):
        values = [pull[layout.index[f"POSIX_{name}"]] for pull in pulls]
        assert values == sorted(values), name
    assert len({pull[layout.index["POSIX_READS"]] for pull in pulls}) > 3, "seen while it went on"


def test_bins_hold_what_the_window_counted(tmp_path: Path) -> None:
    recorded = run("plain", tmp_path, preload=False)
    window = recorded.live["window"]
    for module, layout in LAYOUTS.items():
        names = ("BYTES_READ", "BYTES_WRITTEN", "READS", "WRITES")
        counted = [window["counters"][module][layout.index[layout.prefix + n]] for n in names]
        assert window["bins"][module][:4] == counted, module
    assert window["bins"]["POSIX"][0] > 1_000_000


def test_window_holds_only_what_came_after_its_begin(tmp_path: Path) -> None:
    recorded = run("plain", tmp_path, preload=True)
    window, layout = recorded.live["window"], LAYOUTS["POSIX"]
    snapshot = recorded.live["records"]["POSIX"]
    opens = layout.index["POSIX_OPENS"]
    assert window["start"] == 0.0
    assert window["counters"]["POSIX"][opens] < sum(row[opens] for row in snapshot.values())
    assert len(window["names"]) < len(snapshot) / 2, "most were imported before"


def test_facts(preload: bool, tmp_path: Path) -> None:
    facts = run("plain", tmp_path, preload=preload).live["facts"]
    assert os.path.exists(facts["library"])
    assert facts["how"] == ("loaded before" if preload else "loaded by this package")
    assert facts["modules"]["POSIX"] == 4
    assert facts["source_version"][0].isdigit()
    assert facts["partial_modules"] == []
    assert "dxt_posix_read" in facts["events"]
    assert facts["limits"]["POSIX records"] > 5
    assert any("writes its log when the process ends" in note for note in facts["notes"]) != preload
