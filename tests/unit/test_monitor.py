from __future__ import annotations

import os
from pathlib import Path

import pytest

from tensorboard_plugin_darshan import metadata
from tensorboard_plugin_darshan.recording import writer as writer_module
from tests.support import events
from tests.support.fake_recorder import FakeSource, bytes_read
from tests.support.monitors import create, lasting, stretches, wait_until


def test_nothing_is_attached_or_written_at_construction(tmp_path, source):
    create(tmp_path / "logs", source)
    assert source.calls == []
    assert list(tmp_path.iterdir()) == []


def test_attach_counts_without_writing(tmp_path, source, clock):
    settings = {"source": "builtin", "extended": False, "exclude": [Path("/x")], "children": False}
    monitor = create(tmp_path, source, **settings)
    monitor.attach()
    monitor.attach()
    given = {
        "extended": False,
        "exclude": ("/x",),
        "max_segments": 250_000,
        "children": False,
    }
    assert source.calls == [(("builtin",), given)]
    assert list(tmp_path.iterdir()) == []
    source.recorder.count(read=5)
    clock.now = 2.0
    monitor.start()
    monitor.close()
    assert bytes_read(events.windows(tmp_path)[0]) == 5
    assert not source.recorder.attached


def test_attached_but_never_started_is_taken_out_by_close(tmp_path, source):
    monitor = create(tmp_path, source)
    monitor.attach()
    monitor.close()
    assert not source.recorder.attached
    assert list(tmp_path.iterdir()) == []


def test_job_is_written_at_begin_and_end(tmp_path, source, clock):
    with create(tmp_path, source, flush_secs=3.5):
        (begun,) = events.jobs(tmp_path)
        clock.now = 61.5
    first, last = events.jobs(tmp_path)
    assert first == begun
    assert (first["finished"], first["end"]) == (False, None)
    assert (last["finished"], last["end"]) == (True, first["begin"] + 61.5)
    for job in (first, last):
        assert job["begin"] == source.recorder.begin
        assert (job["source"], job["pid"]) == ("fake", os.getpid())
        assert job["flush_seconds"] == 3.5
        assert job["settings"]["update_freq"] == "epoch"
        assert job["notes"] == ["a note of the source"]
    steps = [step for tag, step, _ in events.values(tmp_path) if tag == metadata.JOB_TAG]
    assert steps == [0, 1]


def test_each_window_lies_in_one_phase(tmp_path, source, clock):
    def work(seconds, read):
        source.recorder.count(read=read)
        clock.now += seconds

    with create(tmp_path, source) as monitor:
        work(1, 1)
        with monitor.phase("train", 4):
            work(1, 10)
            with monitor.phase("validation"):
                work(1, 100)
            work(1, 1000)
        work(1, 10000)
    assert stretches(tmp_path) == [
        ("", -1, 1),
        ("train", 4, 10),
        ("validation", 4, 100),
        ("train", 4, 1000),
        ("", -1, 10000),
    ]
    recorded = lasting(tmp_path)
    assert [w.sequence for w in recorded] == [0, 1, 2, 3, 4]
    edges = [(w.start_seconds, w.end_seconds) for w in recorded]
    assert edges == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]


def test_short_gap_between_phases_joins_the_next(tmp_path, source, clock):
    with create(tmp_path, source) as monitor:
        for epoch in range(3):
            source.recorder.count(read=100)
            clock.now += 0.04
            with monitor.phase("train", epoch):
                source.recorder.count(read=1)
                clock.now += 0.01
    assert stretches(tmp_path) == [("train", 0, 101), ("train", 1, 101), ("train", 2, 101)]


def test_own_writes_are_not_the_training_s(tmp_path, source, clock):
    with create(tmp_path, source) as monitor:
        (path,) = events.files(tmp_path)
        counted = 0
        for _ in range(3):
            size = path.stat().st_size
            source.recorder.process_io = (5, size - counted + 70, 7, 8)
            counted = size
            clock.now += 1
            with monitor.phase("x"):
                pass
            assert events.windows(tmp_path)[-1].process_io.tolist() == [5, 70, 7, 8]
        source.recorder.process_io = (-1, -1, -1, -1)
    assert events.windows(tmp_path)[-1].process_io.tolist() == [-1, -1, -1, -1]


def test_phase_ends_when_its_block_raises(tmp_path, source, clock):
    def fail():
        clock.now += 1
        raise KeyError("x")

    with create(tmp_path, source) as monitor:
        with pytest.raises(KeyError), monitor.phase("train"):
            fail()
        source.recorder.count(read=7)
        clock.now += 1
    assert stretches(tmp_path) == [("train", -1, 0), ("", -1, 7)]


def test_phases_of_callbacks_and_blocks_may_mix(tmp_path, source, clock):
    with create(tmp_path, source) as monitor:
        monitor.begin_phase("outer", 1)
        clock.now += 1
        with monitor.phase("inner"):
            monitor.end_phase()
            clock.now += 1
        monitor.end_phase()
        monitor.end_phase()
        clock.now += 1
    assert [phase for phase, _, _ in stretches(tmp_path)] == ["outer", "outer", ""]


@pytest.mark.parametrize("use", [lambda m: m.begin_phase("train", 0), lambda m: m.step(1)])
def test_forgotten_start_is_made_up_for(tmp_path, source, use):
    monitor = create(tmp_path, source)
    use(monitor)
    monitor.close()
    assert len(events.jobs(tmp_path)) == 2


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (("",), ValueError, "name of a phase must not be empty"),
        ((3,), TypeError, "name of a phase must be text, not 3"),
        (("train", 1.5), TypeError, "float"),
        (("train", 2**70), ValueError, "the epoch of a phase must be below"),
    ],
)
def test_impossible_phase_is_refused(tmp_path, source, arguments, kind, message):
    with create(tmp_path, source) as monitor, pytest.raises(kind, match=message):
        monitor.begin_phase(*arguments)


def test_background_thread_cuts_windows_on_a_timer(tmp_path):
    source = FakeSource()
    monitor = create(tmp_path, source, flush_secs=0.05).start()
    source.recorder.count(read=3)
    wait_until(lambda: len(events.windows(tmp_path)) >= 4)
    assert {thread.name for thread in source.recorder.cut_threads} == {"darshan-monitor"}
    assert all(thread.daemon for thread in source.recorder.cut_threads)
    assert events.jobs(tmp_path)[-1]["finished"] is False
    monitor.close()
    assert sum(bytes_read(w) for w in events.windows(tmp_path)) == 3
    assert not any(thread.is_alive() for thread in source.recorder.cut_threads)


def test_pause_finishes_and_start_goes_on(tmp_path, source, clock):
    monitor = create(tmp_path, source).start()
    monitor.begin_phase("train", 0)
    source.recorder.count(read=1)
    clock.now = 1.0
    monitor.pause()
    assert events.jobs(tmp_path)[-1]["finished"] is True
    source.recorder.count(read=10)
    clock.now = 11.0
    assert len(events.windows(tmp_path)) == 1
    monitor.start()
    assert events.jobs(tmp_path)[-1]["finished"] is False
    source.recorder.count(read=100)
    clock.now = 12.0
    monitor.pause()
    source.recorder.count(read=1000)
    clock.now = 99.0
    monitor.close()
    assert stretches(tmp_path) == [("train", 0, 1), ("", -1, 10), ("", -1, 100)]
    assert events.jobs(tmp_path)[-1]["end"] == source.recorder.begin + 12.0
    assert not source.recorder.attached
    assert len(list((tmp_path / "darshan").iterdir())) == 1


def test_windows_of_a_step_count(tmp_path, source, clock):
    with create(tmp_path, source, update_freq=2) as monitor:
        for step in range(1, 6):
            source.recorder.count(read=1)
            clock.now += 1
            monitor.step()
            wait_until(lambda step=step: len(events.windows(tmp_path)) == step // 2)
    assert [w.step for w in events.windows(tmp_path)] == [2, 4, 5]
    assert sum(bytes_read(w) for w in events.windows(tmp_path)) == 5


def test_a_window_tag_ends_after_its_share(tmp_path, source, clock, monkeypatch):
    monkeypatch.setattr(writer_module, "PIECE_BYTES", 4000)
    with create(tmp_path, source) as monitor:
        for _ in range(12):
            clock.now += 60
            with monitor.phase("x"):
                pass
    pieces: dict[str, list[int]] = {}
    for tag, step, _ in events.values(tmp_path):
        if tag.startswith(metadata.WINDOW_TAG_PREFIX):
            pieces.setdefault(tag, []).append(step)
    assert list(pieces) == [metadata.window_tag(k) for k in range(len(pieces))]
    assert len(pieces) > 2
    assert [step for steps in pieces.values() for step in steps] == list(range(13))


def test_interval_doubles_in_a_long_recording(tmp_path, source, clock, monkeypatch):
    monkeypatch.setattr(writer_module, "WINDOWS_PER_INTERVAL", 3)
    with create(tmp_path, source, flush_secs=5) as monitor:
        for _ in range(7):
            clock.now += 60
            with monitor.phase("x"):
                pass
    assert events.jobs(tmp_path)[-1]["flush_seconds"] == 20.0
    notes = events.jobs(tmp_path)[-1]["notes"]
    assert [note for note in notes if "after 3 windows they are 10 s long" in note]
    assert [note for note in notes if "after 6 windows they are 20 s long" in note]


def test_recording_stays_within_its_size(tmp_path, source, clock):
    """Many epochs of a fiftieth of a second."""
    with create(tmp_path, source) as monitor:
        for epoch in range(1500):
            with monitor.phase("train", epoch):
                source.recorder.count(read=1)
                clock.now += 0.016
            with monitor.phase("validation", epoch):
                source.recorder.count(read=1)
                clock.now += 0.004
    recorded = events.windows(tmp_path)
    (path,) = events.files(tmp_path)
    assert path.stat().st_size < writer_module.allowed_bytes(30) + 10_000
    assert sum(bytes_read(w) for w in recorded) == 3000
    assert 500 < len(recorded) < 3001
    assert {w.phase for w in recorded if w.end_seconds - w.start_seconds > 0.019} == {"train"}
    assert [n for n in events.jobs(tmp_path)[-1]["notes"] if "100 MiB a day" in n]


def test_allowed_size_is_that_of_the_contract():
    assert writer_module.allowed_bytes(0) == 1024**2
    assert writer_module.allowed_bytes(600) == 11 * 1024**2
    assert writer_module.allowed_bytes(86400) == 100 * 1024**2


def test_own_files_are_opened_muted(tmp_path, clock, monkeypatch):
    source = FakeSource(clock)
    seen = []
    real_open = os.open

    def watched(path, *args, **kwargs):
        if "tfevents" in str(path):
            seen.append(source.recorder.is_muted)
        return real_open(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", watched)
    with create(tmp_path, source):
        pass
    assert seen == [True]
