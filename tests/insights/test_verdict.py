"""Whether the training waits: on real runs, measured and estimated."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from tensorboard_plugin_darshan.dashboard import insights as insights_lib
from tensorboard_plugin_darshan.dashboard.insights_advice import ADVICE
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts
from tensorboard_plugin_darshan.dashboard.insights_verdict import verdict
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tests.support.real_runs import SlowFiles, codes, judge, read_file, run_of, write_files
from tests.support.runs import recording, run

BLOCK = 32 * 1024


def verdict_of(tape):
    found = run_of(tape.recording())
    return verdict(Facts(Selection(found, modules=found.modules)))


def tiny_files(tape, tmp_path, times=1):
    """Many tiny files, which is a finding, read in a few milliseconds."""
    with tape.muted():
        paths = write_files(tmp_path / "tiny", [2000] * 120)
    for _ in range(times):
        for path in paths:
            read_file(path)


def slow_reads(tape, tmp_path):
    slow = SlowFiles(tape, tmp_path / "slow", BLOCK, lambda readers: 0.03)
    slow.read(slow.create("a"), 20)


def length(tape):
    return tape.windows[-1].end_seconds - tape.windows[-1].start_seconds


def wait_share(tape, share):
    waited = share * length(tape)
    tape.windows[-1] = dataclasses.replace(tape.windows[-1], wait_seconds=waited)


def test_nothing_recorded_is_no_verdict():
    empty = run(recording([]))
    found = verdict(Facts(Selection(empty, modules=empty.modules)))
    assert (found.state, found.kind) == ("unknown", "none")
    assert found.evidence


def test_too_short_is_no_verdict(tape, tmp_path):
    tiny_files(tape, tmp_path)
    tape.cut()
    assert verdict_of(tape).state == "unknown"


def test_measured_wait_for_files(tape, tmp_path):
    slow_reads(tape, tmp_path)
    tape.cut()
    wait_share(tape, 0.41)
    found = verdict_of(tape)
    assert (found.state, found.grade, found.kind, found.sureness, found.for_files) == (
        *("waiting", "high", "measured", "high"),
        True,
    )
    assert found.sentence == "Waiting for input 41 % of training time (measured)."


def test_measured_wait_of_a_few_percent_is_moderate(tape, tmp_path):
    slow_reads(tape, tmp_path)
    tape.cut()
    wait_share(tape, 0.1)
    assert verdict_of(tape).grade == "moderate"


def test_measured_wait_for_preprocessing_is_not_for_files(tape, tmp_path):
    tiny_files(tape, tmp_path)
    time.sleep(0.7)
    tape.cut()
    wait_share(tape, 0.5)
    found = judge(run_of(tape.recording()))
    assert found.verdict.state == "waiting"
    assert not found.verdict.for_files
    assert "preprocessing" in found.verdict.sentence
    assert "tiny-files" in {finding.code for finding in found.observations}


def test_measured_and_not_waiting_gives_no_advice_about_input(tape, tmp_path):
    slow_reads(tape, tmp_path)
    tiny_files(tape, tmp_path)
    tape.cut()
    wait_share(tape, 0.02)
    found = judge(run_of(tape.recording()))
    assert found.verdict.state == "not_waiting"
    assert not [finding for finding in found.findings if finding.about == "input"]
    assert codes(found) >= {"tiny-files", "one-reader"}
    shown = insights_lib.as_json(found)["observations"]
    assert {one["advice"] for one in shown} == {insights_lib.NOT_NOW}
    assert not any(one["snippets"] for one in shown)


def test_estimate_when_readers_never_pause(tape, tmp_path):
    slow_reads(tape, tmp_path)
    tape.cut()
    found = verdict_of(tape)
    assert (found.state, found.kind, found.sureness) == ("waiting", "estimated", "medium")
    assert "estimate" in found.sentence


def test_estimate_when_files_are_hardly_read_is_sure(tape, tmp_path):
    tiny_files(tape, tmp_path)
    time.sleep(1.0)
    tape.cut()
    found = judge(run_of(tape.recording()))
    assert (found.verdict.state, found.verdict.kind) == ("not_waiting", "estimated")
    assert found.verdict.sureness == "high"
    assert not found.findings


def test_estimate_between_is_only_perhaps(tape, tmp_path):
    slow_reads(tape, tmp_path)
    time.sleep(0.6)
    tape.cut()
    found = verdict_of(tape)
    assert found.state == "maybe"
    assert found.sureness == "low"
    assert found.share is not None
    assert 0.2 < found.share < 0.8


def test_findings_matter_little_when_little_can_be_won(tape, tmp_path):
    slow = SlowFiles(tape, tmp_path / "slow", BLOCK, lambda readers: 0.01)
    slow.read(slow.create("a"), 10)
    tiny_files(tape, tmp_path)
    time.sleep(1.0)
    tape.cut()
    found = judge(run_of(tape.recording()))
    assert (found.verdict.state, found.verdict.grade) == ("maybe", "moderate")
    assert {one.severity for one in found.findings if one.about == "input"} <= {"low", "info"}
    assert "tiny-files" in codes(found)


def test_no_verdict_when_most_was_not_seen(tape, tmp_path):
    tiny_files(tape, tmp_path)
    time.sleep(0.7)
    tape.cut()
    io = np.array([64 << 20, 0, 0, 0])
    tape.windows[-1] = dataclasses.replace(tape.windows[-1], process_io=io)
    assert verdict_of(tape).state == "unknown"


def test_only_training_counts(tape, tmp_path):
    slow_reads(tape, tmp_path)
    tape.cut("validation")
    tape.windows[-1] = dataclasses.replace(tape.windows[-1], wait_seconds=length(tape))
    time.sleep(0.6)
    tape.cut("train", wait=0.0)
    assert verdict_of(tape).state == "not_waiting"


def test_every_code_has_advice():
    assert {rule.__module__.rpartition(".")[2] for rule in insights_lib.RULES} == {
        *("insights_course", "insights_input", "insights_output", "insights_places")
    }
    assert len(ADVICE) >= len(insights_lib.RULES)
