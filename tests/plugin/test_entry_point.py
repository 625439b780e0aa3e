"""What TensorBoard imports and calls at its start."""

from __future__ import annotations

import argparse
import importlib.metadata
import subprocess
import sys
from typing import Any

import pytest

from tensorboard_plugin_darshan.dashboard.plugin import DarshanLoader

HEAVY = ("pandas", "plotly", "darshan", "tensorflow", "keras", "numpy", "grpc")


def loaded_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_entry_point_imports_nothing_heavy() -> None:
    loaded = loaded_after("import tensorboard_plugin_darshan.dashboard.plugin")
    assert "tensorboard_plugin_darshan.dashboard.plugin" in loaded
    assert loaded.isdisjoint(HEAVY)
    assert "tensorboard_plugin_darshan.dashboard.routes" not in loaded


def test_backend_imports_neither_frameworks_nor_plotting() -> None:
    base = loaded_after("import tensorboard.default")
    loaded = loaded_after("import tensorboard.default, tensorboard_plugin_darshan.dashboard.routes")
    assert "tensorboard_plugin_darshan.dashboard.routes" in loaded
    assert (loaded - base).isdisjoint(HEAVY)


def test_entry_point_is_registered() -> None:
    (found,) = importlib.metadata.entry_points(group="tensorboard_plugins", name="darshan")
    assert found.load() is DarshanLoader


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, {"darshan": 0}),
        ({"scalars": 5}, {"scalars": 5, "darshan": 0}),
        ({"darshan": 50}, {"darshan": 50}),
        (None, {"darshan": 0}),
        ("", ""),
    ],
)
def test_all_samples_are_kept_unless_the_user_says_otherwise(given: Any, wanted: Any) -> None:
    flags = argparse.Namespace(samples_per_plugin=given)
    DarshanLoader().fix_flags(flags)
    assert flags.samples_per_plugin == wanted


def test_flags_without_the_setting_do_no_harm() -> None:
    flags = argparse.Namespace()
    DarshanLoader().fix_flags(flags)
    assert flags.samples_per_plugin == {"darshan": 0}
