"""What the package adds to start-up times.

Prints a table; `--json` prints the figures alone. Fresh processes with what is measured are held
against fresh ones without it, in turns, so that whatever else the machine does meets both alike.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Final

_ADDRESS: Final = re.compile(r"http://[^\s:/]+:(\d+)/")
_DEADLINE_SECONDS: Final = 60.0

_WITH_PLUGIN: Final = """
import sys
sys.modules["tensorflow"] = None
from tensorboard import default, main
sys.argv[0] = "tensorboard"
main.run_main()
"""
"""Starts TensorBoard as if TensorFlow were not installed: its import takes seconds and would hide
what is measured.
"""

_WITHOUT_PLUGIN: Final = _WITH_PLUGIN.replace(
    "main.run_main", "default.get_dynamic_plugins = list\nmain.run_main"
)
"""The same as if no package had brought a plugin of its own."""


def python_seconds(statement: str) -> float:
    """How long a fresh interpreter takes for a statement, from its start to its end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - began


def tensorboard_seconds(code: str) -> float:
    """How long TensorBoard takes from its start until it says its address.

    Raises:
        RuntimeError: it says none.
    """
    with tempfile.TemporaryDirectory() as log_dir:
        command = [sys.executable, "-c", code, "--logdir", log_dir, "--port", "0"]
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        assert process.stderr is not None
        try:
            said = []
            for line in process.stderr:
                said.append(line)
                if _ADDRESS.search(line):
                    return time.perf_counter() - began
        finally:
            process.terminate()
            process.wait(_DEADLINE_SECONDS)
            process.stderr.close()
    raise RuntimeError("TensorBoard does not start: " + "".join(said))


def compare(
    without: Callable[[], float], with_it: Callable[[], float], pairs: int
) -> dict[str, float]:
    """Medians in milliseconds of what the two take; `added` is that of the pairs' differences."""
    without(), with_it()  # fills the page cache
    times: dict[Callable[[], float], list[float]] = {without: [], with_it: []}
    for i in range(pairs):
        for measure in (without, with_it) if i % 2 else (with_it, without):
            times[measure].append(measure() * 1e3)
    added = [b - a for a, b in zip(times[without], times[with_it], strict=True)]
    return {
        "without": round(statistics.median(times[without]), 1),
        "with": round(statistics.median(times[with_it]), 1),
        "added": round(statistics.median(added), 1),
    }


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--imports", type=int, default=15, help="pairs of interpreters")
    parser.add_argument("--starts", type=int, default=7, help="pairs of TensorBoards")
    options = parser.parse_args()
    package = "import tensorboard_plugin_darshan"
    figures = {
        "import of the package": compare(
            lambda: python_seconds("pass"), lambda: python_seconds(package), options.imports
        ),
        "import of the entry point, beyond TensorBoard's own part": compare(
            lambda: python_seconds("from tensorboard.plugins import base_plugin"),
            lambda: python_seconds(f"{package}.dashboard.plugin"),
            options.imports,
        ),
        "start of TensorBoard until it serves": compare(
            lambda: tensorboard_seconds(_WITHOUT_PLUGIN),
            lambda: tensorboard_seconds(_WITH_PLUGIN),
            options.starts,
        ),
    }
    if options.json:
        print(json.dumps(figures, indent=1))
        return
    print(f"{'milliseconds, medians':58}{'without':>9}{'with':>9}{'added':>9}")
    for name, row in figures.items():
        print(f"{name:58}{row['without']:9.1f}{row['with']:9.1f}{row['added']:9.1f}")


if __name__ == "__main__":
    main()
