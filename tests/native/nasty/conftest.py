"""Small nasty libraries, compiled once, and Pythons that are recorded while they use them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support import compiling

HERE = Path(__file__).parent
PRELUDE = """
import ctypes, os, sys, time, threading
from tensorboard_plugin_darshan import attach
from tests.native.nasty.watching import *
"""

Library = Callable[..., Path]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Compiles `nasty/NAME` with flags, once for each pair."""
    built: dict[tuple[Any, ...], Path] = {}

    def build(name: str, *flags: str, output: Path | None = None) -> Path:
        key = (name, flags, output)
        if key not in built:
            source = HERE / name
            target = output or tmp_path_factory.mktemp(source.stem) / f"{source.stem}.so"
            target.parent.mkdir(parents=True, exist_ok=True)
            cxx = source.suffix == ".cc"
            built[key] = compiling.build_shared(source, target, ["-O1", *flags], cxx=cxx)
        return built[key]

    return build


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Runs a script in a Python of its own, in an empty directory; gives what it printed.

    Arguments are in `sys.argv[1:]`. Beside what `watching.py` has, the script knows `attach`.
    """

    def run_script(
        script: str,
        *arguments: str | Path,
        environment: dict[str, str] | None = None,
        options: Sequence[str] = (),
        status: int = 0,
    ) -> str:
        done = compiling.run_python(
            PRELUDE + textwrap.dedent(script),
            *arguments,
            environment=environment,
            options=("-X", "faulthandler", "-W", "error", *options),
            cwd=tmp_path,
        )
        assert done.returncode == status, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run_script
