from __future__ import annotations

from pathlib import Path

from tests.support import events

DEMO_LOGS = Path(__file__).parents[2] / "demo_logs"


def test_recorded_run_is_small_whole_and_of_this_version():
    paths = events.files(DEMO_LOGS)
    assert sum(path.stat().st_size for path in paths) < 1024**2
    for path in paths:
        assert len(events.records(path.read_bytes())) > 10
    windows = events.windows(DEMO_LOGS)
    assert {"train", "validation"} <= {window.phase for window in windows}
    assert [window.sequence for window in windows] == list(range(len(windows)))
    assert events.jobs(DEMO_LOGS)[-1]["finished"] is True


def test_every_run_is_told_of():
    text = (DEMO_LOGS / "README.md").read_text()
    for path in DEMO_LOGS.iterdir():
        assert path.name == "README.md" or f"`{path.name}/`" in text
