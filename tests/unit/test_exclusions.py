from __future__ import annotations

import os
import sys

import pytest

from tensorboard_plugin_darshan.recording import exclusions
from tensorboard_plugin_darshan.recording.exclusions import Exclusions

DARSHAN = Exclusions(("/etc/", "/usr/"), ("/var/x/",))


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(exclusions.EXCLUDE_VARIABLE, raising=False)


def test_default_leaves_out_system_and_interpreter() -> None:
    excluded, included = exclusions.choose(True, None, DARSHAN)
    assert {"/proc", "/usr", "/lib64", os.path.abspath(sys.prefix)} <= set(excluded)
    assert included == ("/dev/shm",)


def test_darshan_mode_leaves_out_what_darshan_does() -> None:
    assert exclusions.choose(False, None, DARSHAN) == DARSHAN


def test_a_choice_replaces_the_defaults() -> None:
    assert exclusions.choose(True, ["/data/"], DARSHAN) == Exclusions(("/data",), ())
    assert exclusions.choose(False, ["/data"], DARSHAN) == Exclusions(("/data/",), ())
    assert exclusions.choose(True, [], DARSHAN) == Exclusions((), ())


def test_variable_counts_where_nothing_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(exclusions.EXCLUDE_VARIABLE, "/a:/b")
    assert exclusions.choose(True, None, DARSHAN).excluded == ("/a", "/b")
    assert exclusions.choose(True, ["/c"], DARSHAN).excluded == ("/c",)


def test_data_beside_a_virtual_environment_s_own_parts_are_recorded(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "exec_prefix", str(tmp_path))
    assert str(tmp_path) in exclusions.choose(True, None, DARSHAN).excluded
    monkeypatch.chdir(tmp_path / "project")
    excluded = exclusions.choose(True, None, DARSHAN).excluded
    assert str(tmp_path) not in excluded
    assert {str(tmp_path / "lib"), str(tmp_path / "bin")} <= set(excluded)


def test_one_string_is_refused() -> None:
    with pytest.raises(TypeError, match="list of directories"):
        exclusions.choose(True, "/data", DARSHAN)
