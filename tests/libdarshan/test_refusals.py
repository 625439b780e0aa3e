"""What is said when a libdarshan cannot be used, or has run out of room."""

from __future__ import annotations

import os

import pytest

from tensorboard_plugin_darshan.recording import sources
from tensorboard_plugin_darshan.recording.findings import findings
from tensorboard_plugin_darshan.recording.libdarshan_recording import partial_note
from tensorboard_plugin_darshan.recording.native import RecordingUnavailableError
from tests.support import compiling


def test_library_without_the_pointer_is_refused() -> None:
    found = {"path": b"/opt/darshan/lib/libdarshan.so", "has_core": False}
    with pytest.raises(
        RecordingUnavailableError, match=r"/opt/darshan.* is a Darshan before 3\.4\.0"
    ):
        sources.check(found)
    sources.check({**found, "has_core": True})


def test_unknown_source_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="'auto', 'builtin' or 'libdarshan'"):
        sources.chosen("strace")
    monkeypatch.setenv(sources.SOURCE_VARIABLE, "libdarshan")
    assert sources.chosen("auto") == "libdarshan"
    assert sources.chosen("builtin") == "builtin"


@pytest.mark.parametrize(
    ("library", "reason"),
    [("/nowhere/libdarshan.so", "cannot open shared object"), ("libm.so.6", "is not Darshan's")],
)
def test_library_that_cannot_be_loaded_is_told(library: str, reason: str) -> None:
    code = """
import sys
from tensorboard_plugin_darshan import attach
from tensorboard_plugin_darshan.recording.recorder import RecordingUnavailableError
try:
    attach("libdarshan", library=sys.argv[1])
except RecordingUnavailableError as error:
    print(error)
recorder = attach()
print(recorder.facts()["source"])
recorder.detach()
"""
    unset = {"LIBDARSHAN": "", "LD_PRELOAD": ""}
    done = compiling.run_python(code, library, environment=unset)
    assert done.returncode == 0, done.stderr
    sentence, source = done.stdout.splitlines()
    assert sentence.startswith(f"libdarshan cannot be loaded from {library}")
    assert reason in sentence
    assert sources.LIBRARY_VARIABLE in sentence
    assert source == "builtin"


def test_library_given_goes_before_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sources.LIBRARY_VARIABLE, "/from/variable.so")
    assert sources.library_to_load("/given.so") == "/given.so"
    assert sources.library_to_load(None) == "/from/variable.so"
    monkeypatch.delenv(sources.LIBRARY_VARIABLE)
    assert sources.library_to_load(None) == "libdarshan.so"


@pytest.mark.parametrize(
    ("module", "is_full_of_names", "settings"),
    [
        ("POSIX", False, ["'MAX_RECORDS <number> POSIX'", "DARSHAN_CONFIG_PATH", "DARSHAN_MODMEM"]),
        ("POSIX", True, ["DARSHAN_NAMEMEM"]),
        ("DXT_POSIX", False, ["'MAX_RECORDS <number> DXT_POSIX'"]),
    ],
)
def test_module_that_ran_out_of_room(
    module: str, is_full_of_names: bool, settings: list[str]
) -> None:
    note = partial_note(module, is_full_of_names)
    assert module in note
    assert "lower bounds" in note
    assert all(setting in note for setting in settings)


def test_heat_map_that_has_no_room_is_nothing_to_worry_about() -> None:
    assert "lower bounds" not in partial_note("HEATMAP", False)


def test_findings_of_a_libdarshan() -> None:
    facts = {
        "source": "libdarshan",
        "library": "/opt/lib/libdarshan.so",
        "source_version": "3.5.0",
        "how": "loaded before",
        "log_format": "3.41",
        "mapped_log": False,
        "modules": {"POSIX": 4, "H5D": 2},
        "partial_modules": ["POSIX"],
        "limits": {"POSIX records": 1024},
        "events": ["heatmap_update"],
        "notes": ["A note."],
    }
    text = os.linesep.join(findings(facts))
    expected = ("/opt/lib/libdarshan.so, Darshan 3.5.0, loaded before", "without memory-mapped")
    for part in (*expected, "POSIX (format 4), H5D (format 2)", "POSIX records: 1024", "A note."):
        assert part in text, part
