"""Wrappers change neither what a call gives nor errno, when it succeeds and when it fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tensorboard_plugin_darshan import _native
from tests.native.nasty.conftest import Library

pytestmark = pytest.mark.native

Run = Callable[..., str]
GROUPS = ["files", "streams"]
UNTOUCHED = 77
NOT_BOTH = {
    *("_exit", "_Exit", "execv", "execve", "execvp", "execvpe", "vfork"),  # return once or never
    *("dlopen", "dlmopen", "dlsym", "dlvsym"),  # have errors of their own
    *("aio_return", "aio_return64", "closefrom", "inotify_init", "inotify_init1", "readdir"),
    *("readdir64", "getchar", "printf", "putchar", "puts", "vprintf", "__printf_chk"),
    *("__vprintf_chk", "accept", "accept4", "remove"),
}
"""Calls that cannot well be made to fail, or always leave errno changed."""
RINGS = {"io_uring_queue_init", "io_uring_queue_init_params"}
"""Of a library that is not there; `test_descriptors.py` has them."""

SCRIPT = """
    import json
    _, library, group, mode, directory, output = sys.argv
    make(f"{directory}/data", 5000)
    os.chdir(directory)
    told, leads = [], {}

    class Found(ctypes.Structure):
        _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p),
                    ("symbol", ctypes.c_char_p), ("address", ctypes.c_void_p)]

    @ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_long,
                      ctypes.c_int)
    def tell(name, call, address, result, error):
        told.append([name.decode(), call.decode(), result, error])
        found = Found()
        ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(found))
        leads[name.decode()] = b"/_native." in (found.file or b"")

    recorder = attach(extended=mode == "extended", max_segments=1000) if mode != "without" else None
    getattr(ctypes.CDLL(library), f"run_{group}")(tell)
    if recorder is not None:
        recorder.detach()
    with open(output, "w") as file:
        json.dump({"told": told, "redirected": [name for name in leads if leads[name]]}, file)
"""


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[str, str], Any]:
    return {}


@pytest.fixture
def outcome(
    library: Library, run: Run, outcomes: dict[tuple[str, str], Any], tmp_path: Any
) -> Callable[[str, str], Any]:
    """What all calls of a group gave in a mode: name, call, result, errno."""

    def find(group: str, mode: str) -> Any:
        if (group, mode) not in outcomes:
            cases = library(f"errno_{group}.c", "-O0", "-fno-builtin", "-fno-plt")
            (tmp_path / f"{group}-{mode}").mkdir()
            output = tmp_path / f"{mode}.json"
            options = ("-W", "ignore::ResourceWarning")
            run(SCRIPT, cases, group, mode, tmp_path / f"{group}-{mode}", output, options=options)
            outcomes[group, mode] = json.loads(output.read_text())
        return outcomes[group, mode]

    return find


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("mode", ["builtin", "extended"])
def test_result_and_errno_stay(group: str, mode: str, outcome: Callable[[str, str], Any]) -> None:
    without, recorded = outcome(group, "without")["told"], outcome(group, mode)["told"]
    assert len(without) > 100
    assert recorded == without


def without_prefix(names: list[str]) -> set[str]:
    return {name.removeprefix("plain_") for name in names}


def test_every_call_is_made_and_redirected(outcome: Callable[[str, str], Any]) -> None:
    names = dict(_native.hook_names())
    told = [case[0] for group in GROUPS for case in outcome(group, "extended")["told"]]
    absent = {"__isoc23_fscanf", "__isoc23_vfscanf"} - set(told)  # of newer C libraries
    assert names.keys() - without_prefix(told) == RINGS | absent
    for mode, lists in (("builtin", {"darshan", "bookkeeping"}), ("extended", set(names.values()))):
        wanted = {name for name, kind in names.items() if kind in lists} - RINGS - absent
        found = [name for group in GROUPS for name in outcome(group, mode)["redirected"]]
        assert without_prefix(found) == wanted
        assert outcome("files", "without")["redirected"] == []


def test_calls_fail_and_succeed(outcome: Callable[[str, str], Any]) -> None:
    """The cases are what they say: most calls are there with and without an error."""
    errors: dict[str, set[bool]] = {}
    for group in GROUPS:
        for name, _, _, error in outcome(group, "without")["told"]:
            errors.setdefault(name, set()).add(error == UNTOUCHED)
    only_one = {name for name, found in errors.items() if len(found) < 2}
    assert only_one == NOT_BOTH
