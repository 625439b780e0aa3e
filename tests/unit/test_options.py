from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import events
from tests.support.monitors import create


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"source": "darshan"}, ValueError, "source must be one of auto, builtin, libdarshan"),
        ({"update_freq": "step"}, ValueError, 'update_freq must be "epoch", "batch" or a number'),
        ({"update_freq": 0}, ValueError, "update_freq must be 1 or more, not 0"),
        ({"update_freq": True}, ValueError, "update_freq must be"),
        ({"flush_secs": 0}, ValueError, "flush_secs must be a positive number of seconds, not 0"),
        ({"flush_secs": float("nan")}, ValueError, "flush_secs must be a positive number"),
        ({"flush_secs": "5"}, TypeError, "flush_secs must be a number of seconds, not '5'"),
        ({"trace": 3}, TypeError, "trace must be True, False or"),
        ({"trace": (5, 2)}, ValueError, r"trace must be \(first_step, last_step\) in this order"),
        ({"trace": (1, 2.5)}, TypeError, "each step of trace must be a whole number, not 2.5"),
        ({"max_segments": -1}, ValueError, "max_segments must be 0 or more, not -1"),
        ({"max_files": 1.5}, TypeError, "max_files must be a whole number, not 1.5"),
        ({"max_files": 0}, ValueError, "max_files must be 1 or more, not 0"),
        ({"children": 1}, TypeError, "children must be True or False, not 1"),
        ({"extended": None}, TypeError, "extended must be True or False, not None"),
        ({"exclude": "/data"}, TypeError, r"must be a list of paths; write exclude=\['/data'\]"),
        ({"exclude": [b"/data"]}, TypeError, "exclude must hold texts or paths"),
        ({"anonymize": "yes"}, TypeError, "anonymize must be True or False"),
        ({"anonymize": True}, ValueError, "anonymize=True is not available in this version"),
    ],
)
def test_impossible_argument_is_refused(tmp_path, source, options, kind, message):
    with pytest.raises(kind, match=message):
        create(tmp_path, source, **options)
    assert source.calls == []


@pytest.mark.parametrize(
    ("log_dir", "kind", "message"),
    [
        ("", ValueError, "log_dir must not be empty"),
        (None, TypeError, "log_dir must be a path, not None"),
        (3, TypeError, "log_dir must be a path, not 3"),
    ],
)
def test_impossible_log_dir_is_refused(source, log_dir, kind, message):
    with pytest.raises(kind, match=message):
        create(log_dir, source)
    assert source.calls == []


def test_settings_are_stored(tmp_path, source):
    options = {"trace": (2, 5), "exclude": [Path("/a"), "/b"], "children": False}
    with create(tmp_path, source, **options):
        pass
    settings = events.jobs(tmp_path)[0]["settings"]
    assert (settings["trace"], settings["exclude"]) == ([2, 5], ["/a", "/b"])
    assert settings["children"] is False
