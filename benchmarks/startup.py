"""What the package adds to start-up times.

Prints a table; `--json` prints the figures alone. Each row compares a fresh process with the package
to one without it, in turns, so that whatever else the machine does meets both alike.
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
from pathlib import Path
from typing import Final

_ADDRESS: Final = re.compile(r"http://[^\s:/]+:(\d+)/")
_DEADLINE_SECONDS: Final = 60.0

_WITHOUT_PLUGIN: Final = """
import sys
from importlib import metadata
found = metadata.entry_points
def entry_points(**wanted):
    return [] if wanted.get("group") == "tensorboard_plugins" else found(**wanted)
metadata.entry_points = entry_points
from tensorboard.main import run_main
sys.argv[0] = "tensorboard"
run_main()
"""
"""Starts TensorBoard as if no package had brought a plugin of its own."""

_WITH_PLUGIN: Final = """
import sys
from tensorboard.main import run_main
sys.argv[0] = "tensorboard"
run_main()
"""


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


class Comparison:
    """Times of pairs of processes, one without and one with what is measured.

    Args:
        name: what is measured.
        without: gives seconds without it.
        with_it: gives seconds with it.
        pairs: how often.
    """

    def __init__(
        self, name: str, without: Callable[[], float], with_it: Callable[[], float], pairs: int
    ) -> None:
        self.name = name
        without(), with_it()  # fills the page cache
        self.without: list[float] = []
        self.with_it: list[float] = []
        for i in range(pairs):
            for measure, times in sorted(
                [(without, self.without), (with_it, self.with_it)],
                key=lambda side, i=i: (side[1] is self.with_it) ^ (i % 2),  # type: ignore[misc]
            ):
                times.append(measure())

    def figures(self) -> dict[str, float]:
        """Medians in milliseconds; `added` is the median of the pairs' differences."""
        added = [b - a for a, b in zip(self.without, self.with_it, strict=True)]
        return {
            "without": round(statistics.median(self.without) * 1e3, 1),
            "with": round(statistics.median(self.with_it) * 1e3, 1),
            "added": round(statistics.median(added) * 1e3, 1),
            "least_added": round((min(self.with_it) - min(self.without)) * 1e3, 1),
        }


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--imports", type=int, default=15, help="pairs of interpreters")
    parser.add_argument("--starts", type=int, default=7, help="pairs of TensorBoards")
    options = parser.parse_args()
    package = "import tensorboard_plugin_darshan"
    base = "from tensorboard.plugins import base_plugin"
    comparisons = [
        Comparison(
            "import of the package",
            lambda: python_seconds("pass"),
            lambda: python_seconds(package),
            options.imports,
        ),
        Comparison(
            "import of the entry point (beside TensorBoard's own base_plugin)",
            lambda: python_seconds(base),
            lambda: python_seconds(f"{package}.dashboard.plugin"),
            options.imports,
        ),
        Comparison(
            "start of TensorBoard until it serves",
            lambda: tensorboard_seconds(_WITHOUT_PLUGIN),
            lambda: tensorboard_seconds(_WITH_PLUGIN),
            options.starts,
        ),
    ]
    figures = {one.name: one.figures() for one in comparisons}
    if options.json:
        print(json.dumps(figures, indent=1))
        return
    print(f"{'milliseconds, medians':66}{'without':>9}{'with':>9}{'added':>9}")
    for name, row in figures.items():
        print(f"{name:66}{row['without']:9.1f}{row['with']:9.1f}{row['added']:9.1f}")


if __name__ == "__main__":
    main()
