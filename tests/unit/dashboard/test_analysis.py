from __future__ import annotations

import numpy as np
import pytest

from tensorboard_plugin_darshan.dashboard import analysis, phases, run_notes
from tensorboard_plugin_darshan.window import Window
from tests.support.recordings import Recorder, Use
from tests.support.runs import recording, run, select


def phased(*phases: tuple[str, int]) -> list[Window]:
    recorder = Recorder()
    return [
        recorder.window({"POSIX": [Use("/a", reads=1)]}, phase=phase, epoch=epoch)
        for phase, epoch in phases
    ]


def test_windows_of_one_phase_make_one_stretch() -> None:
    windows = phased(("train", 0), ("train", 0), ("", -1), ("train", 0), ("train", 1))
    found = phases.stretches(select(run(recording(windows))))
    assert [(s.phase, s.epoch, s.start, s.end) for s in found] == [
        ("train", 0, 0.0, 2.0),
        ("train", 0, 3.0, 4.0),
        ("train", 1, 4.0, 5.0),
    ]


def test_recordings_in_the_same_phase_share_a_stretch() -> None:
    one = recording(phased(("train", 0), ("train", 0), ("val", 0)), begin=1000.0)
    two = recording(phased(("train", 0), ("train", 0), ("val", 0)), "b", begin=1000.5)
    resumed = recording(phased(("train", 0)), "c", begin=1010.0)
    found = phases.stretches(select(run(one, two, resumed)))
    assert [(s.phase, s.start, s.end) for s in found] == [
        ("train", 0.0, 2.5),
        ("val", 2.0, 3.5),
        ("train", 10.0, 11.0),
    ]


def test_phase_rows_gather_all_stretches_of_a_phase() -> None:
    windows = phased(("train", 0), ("checkpoint", 0), ("train", 0), ("", -1))
    rows = phases.phases(select(run(recording(windows))))
    assert [(row.phase, row.epoch, row.start, row.end) for row in rows] == [
        ("train", 0, 0.0, 3.0),
        ("checkpoint", 0, 1.0, 2.0),
        ("", -1, 3.0, 4.0),
    ]
    assert rows[0].duration_seconds == 2.0
    assert rows[0].sums["reads"] == 2


def test_duration_of_a_phase_is_that_of_its_longest_recording() -> None:
    one = recording(phased(("train", 0), ("train", 0)))
    two = recording(phased(("train", 0)), "b")
    (row,) = phases.phases(select(run(one, two)))
    assert row.duration_seconds == 2.0
    assert row.recorded_seconds == 3.0
    assert row.sums["reads"] == 3


def test_busy_time_never_exceeds_the_window() -> None:
    recorder = Recorder()
    busy = [Use("/a", reads=900, call_seconds=1e-3)]
    window = recorder.window({"POSIX": busy, "STDIO": busy})
    whole = run(recording([window]))
    assert analysis.busy_seconds(select(whole)) == pytest.approx(1.0)
    assert analysis.busy_seconds(select(whole, module="POSIX")) == pytest.approx(0.9, abs=1e-3)


def test_seen_counts_only_windows_whose_kernel_counts_are_known() -> None:
    recorder = Recorder()
    uses = {"POSIX": [Use("/a", reads=1, access_bytes=1 << 20)]}
    windows = [
        recorder.window(uses, process_io=np.array([1 << 21, 0, 1 << 19, 0])),
        recorder.window(uses, process_io=np.array([-1, -1, -1, -1])),
    ]
    seen = analysis.seen(select(run(recording(windows))))
    assert (seen.recorder_read, seen.recorder_written) == (1 << 20, 0)
    assert seen.share == 0.5
    assert seen.cache_share == 0.75


def test_reads_from_the_device_beyond_those_asked_for_leave_no_cache_share() -> None:
    window = Recorder().window({}, process_io=np.array([1 << 20, 0, 1 << 21, 0]))
    assert analysis.seen(select(run(recording([window])))).cache_share == 0.0


@pytest.mark.parametrize(("asked", "share"), [((1 << 20) - 1, None), (1 << 20, 0.5)])
def test_share_of_next_to_nothing_is_unknown(asked: int, share: float | None) -> None:
    window = Recorder().window({}, process_io=np.array([asked, 0, 1 << 19, 0]))
    assert analysis.seen(select(run(recording([window])))).cache_share == share


def test_nothing_read_has_no_cache_share() -> None:
    window = Recorder().window({}, process_io=np.array([0, 10, 0, 0]))
    seen = analysis.seen(select(run(recording([window]))))
    assert seen.cache_share is None
    assert seen.share == 0.0


def test_files_of_two_windows_count_each_once_when_all_are_listed() -> None:
    recorder = Recorder()
    windows = [
        recorder.window({"POSIX": [Use(path, reads=1) for path in paths]})
        for paths in (("/a",), ("/a", "/b"), ("/b", "/c"))
    ]
    assert analysis.files_of(select(run(recording(windows)), 1.0), "POSIX") == (3, True)


def test_modules_that_this_version_does_not_know_are_told() -> None:
    window = Recorder().window({"POSIX": [Use("/a", reads=1)]})
    window = Window(0, 0.0, 1.0, modules={"QUOBYTE": window.modules["POSIX"]})
    (note,) = run_notes.data_notes(run(recording([window])))
    assert "QUOBYTE" in note


def test_missing_windows_are_told() -> None:
    windows = phased(*[("train", 0)] * 5)
    (note,) = run_notes.data_notes(run(recording([windows[1], windows[4]])))
    assert "left out 3 of 5 windows" in note
