"""Importing the package, and what TensorBoard loads at its start, costs next to nothing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("darshan", "keras", "numpy", "pandas", "plotly", "tensorflow", "torch")


def modules_after(statement: str) -> set[str]:
    """Top-level packages in a fresh interpreter after a statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    printed = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    return {name.partition(".")[0] for name in json.loads(printed)}


@pytest.mark.parametrize(
    "statement",
    [
        "import tensorboard_plugin_darshan",
        "import tensorboard_plugin_darshan; dir(tensorboard_plugin_darshan)",
        "import tensorboard_plugin_darshan.dashboard.plugin",
    ],
)
def test_import_loads_no_heavy_package(statement: str) -> None:
    modules = modules_after(statement)
    assert "tensorboard_plugin_darshan" in modules
    assert not modules & set(HEAVY)


def test_recording_any_loop_loads_no_framework() -> None:
    modules = modules_after("from tensorboard_plugin_darshan import DarshanMonitor, attach")
    assert not modules & (set(HEAVY) - {"numpy"})


def test_public_names_are_there() -> None:
    import tensorboard_plugin_darshan as package

    assert set(package.__all__) <= set(dir(package))
    assert callable(package.attach)
    assert package.DarshanMonitor.__doc__
    with pytest.raises(AttributeError, match="has no attribute 'atach'"):
        _ = package.atach
