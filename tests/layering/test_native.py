"""Who may include whom in the compiled part; native/README.md says why."""

from __future__ import annotations

import re
from pathlib import Path

from tests.layering.imports import ROOT

NATIVE = ROOT / "native"
OWN_INCLUDE = re.compile(r'^#include "([^"]+)\.h"', re.MULTILINE)
SYSTEM_INCLUDE = re.compile(r"^#include <([^>]+)>", re.MULTILINE)

PURE = ("counters", "bins")
"""Rules without system calls and without a clock, so that tests drive them with invented times."""

CALLS = {"fcntl.h", "pthread.h", "stdio.h", "sys/mman.h", "sys/stat.h", "time.h", "unistd.h"}
"""Headers of what a pure part must not do."""


def sources() -> list[Path]:
    return sorted([*NATIVE.glob("*.c"), *NATIVE.glob("*.h")])


def included(part: str) -> set[str]:
    """What a part, `<part>.c` and `<part>.h`, includes of the others."""
    names: set[str] = set()
    for path in (NATIVE / f"{part}.c", NATIVE / f"{part}.h"):
        if path.exists():
            names |= set(OWN_INCLUDE.findall(path.read_text()))
    return names - {part}


def reached(part: str) -> set[str]:
    """What a part includes, directly or not."""
    found: set[str] = set()
    left = included(part)
    while left:
        found |= left
        left = set().union(*map(included, left)) - found
    return found


def test_only_the_modules_know_python() -> None:
    users = {path.name for path in sources() if "Python.h" in path.read_text()}
    assert users == {"module.c", "module_libdarshan.h", "module_reading.h"}


def test_headers_include_each_other_in_one_direction() -> None:
    for path in sources():
        assert path.stem not in reached(path.stem), f"{path.name} includes itself in the end"


def test_redirection_knows_neither_hooks_nor_the_recorder() -> None:
    assert reached("got") == {"object", "spin"}


def test_only_control_and_libdarshan_redirect() -> None:
    users = {path.stem for path in sources() if "got" in OWN_INCLUDE.findall(path.read_text())}
    assert users == {"got", "control", "libdarshan"}


def test_hooks_know_nothing_of_control() -> None:
    for path in sources():
        if path.stem.startswith(("hooks", "recorder", "reports", "table", "arena")):
            assert not reached(path.stem) & {"control", "got"}, path.name


def test_rules_are_pure() -> None:
    for part in PURE:
        assert reached(part) <= {*PURE, "clock"}, part
        for path in (NATIVE / f"{part}.c", NATIVE / f"{part}.h"):
            assert not CALLS & set(SYSTEM_INCLUDE.findall(path.read_text())), path.name
