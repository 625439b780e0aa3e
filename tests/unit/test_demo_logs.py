from __future__ import annotations

from pathlib import Path

from tensorboard_plugin_darshan.window import PROCESS_COLUMNS, PROCESS_STATES
from tests.support import events

DEMO_LOGS = Path(__file__).parents[2] / "demo_logs"


def test_recorded_run_is_small_whole_and_of_this_version():
    paths = events.files(DEMO_LOGS)
    assert sum(path.stat().st_size for path in paths) < 1024**2
    for path in paths:
        assert len(events.records(path.read_bytes())) > 5
    assert {"train", "validation"} <= {w.phase for w in events.windows(DEMO_LOGS / "small_cnn")}
    for recording in {path.parent for path in paths}:
        windows = events.windows(recording)
        assert [window.sequence for window in windows] == list(range(len(windows)))
        assert events.jobs(recording)[-1]["finished"] is True


def test_recorded_workers_read_every_file_in_every_epoch_but_what_was_killed():
    read = {}
    states = []
    for window in events.windows(DEMO_LOGS / "workers"):
        columns = dict(zip(PROCESS_COLUMNS, window.processes.T.tolist(), strict=True))
        states += [PROCESS_STATES[state] for state in columns["state"]]
        if window.phase == "train":
            read[window.epoch] = read.get(window.epoch, 0) + sum(columns["bytes_read"])
    once = sum(200_000 * (1 + i % 3) for i in range(120))
    assert [read[epoch] for epoch in (0, 1, 3)] == [once] * 3
    assert once - 20 * 600_000 < read[2] < once
    assert states.count("ended badly") == 1
    assert states.count("ended") == 4 * 2 * 3 - 1


def test_every_run_is_told_of():
    text = (DEMO_LOGS / "README.md").read_text()
    for path in DEMO_LOGS.iterdir():
        name = f"{path.name}/" if path.is_dir() else path.name
        assert name == "README.md" or f"`{name}`" in text
