"""Holds `http_api.md` against the code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorboard_plugin_darshan.dashboard
from tensorboard_plugin_darshan.dashboard import file_table, static_files
from tests.support.dashboard import Dashboard
from tests.support.recordings import Recorder, Use, write_recording

PAGE = Path(tensorboard_plugin_darshan.dashboard.__file__).with_name("http_api.md").read_text()
ROUTES = (
    "runs",
    "overview",
    "timeline",
    "file_bandwidth",
    "access_sizes",
    "files",
    "lanes",
    "insights",
    "processes",
    "heatmap",
    "page_cache",
)


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Dashboard:
    log_dir = tmp_path_factory.mktemp("logs")
    recorder = Recorder()
    modules = {"POSIX": [Use("/a", reads=2, writes=1)]}
    io = np.array([10, 10, 5, 5])
    one = np.array([[4711, 1, 0, 2000, 1000, 4, 9]])
    windows = [
        recorder.window(modules, phase="train", epoch=0, process_io=io, processes=one)
        for _ in range(3)
    ]
    write_recording(log_dir / "a", windows)
    return Dashboard(log_dir)


def section(route: str) -> str:
    return PAGE.split(f"\n## `/{route}`\n")[1].split("\n## ")[0]


def example(route: str) -> Any:
    text = re.search(r"```json\n(.*?)```", section(route), re.DOTALL)
    assert text is not None
    return json.loads(text.group(1))


def shape(value: Any) -> Any:
    """Names of the keys, all the way down; lists by their first entry."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [shape(value[0])]
    return None


def test_every_route_is_described_and_every_description_is_a_route(dashboard: Dashboard) -> None:
    apps = {path.removeprefix("/") for path in dashboard.plugin.get_plugin_apps()}
    statics = set(static_files.names())
    described = set(re.findall(r"^## `/([^`]+)`", PAGE, re.MULTILINE))
    assert described == apps - statics
    table = set(re.findall(r"^\| \[`/([^`]+)`", PAGE, re.MULTILINE))
    assert table == described | {static_files.INDEX}


@pytest.mark.parametrize("route", ROUTES)
def test_answer_has_the_keys_of_the_example(dashboard: Dashboard, route: str) -> None:
    parameters = {} if route == "runs" else {"run": "a"}
    if route == "heatmap":
        parameters["by"] = "process"
    answer = dashboard.get(route, **parameters)
    documented = example(route)
    assert answer.keys() == documented.keys()
    open_ended = {"job", "definitions", "modules", "figure", "pattern_figure", "findings"}
    for key in answer.keys() - open_ended:
        known, said = shape(answer[key]), shape(documented[key])
        if said:
            assert known == said, key


def test_module_totals_are_those_of_the_example(dashboard: Dashboard) -> None:
    answer = dashboard.get("overview", run="a")["modules"]["POSIX"]
    assert answer.keys() == example("overview")["modules"]["POSIX"].keys()


def test_every_parameter_is_described() -> None:
    for name in ("run", "start", "end", "module", "theme"):
        assert re.search(rf"^\| .*`{name}`", PAGE, re.MULTILINE)
    for name in ("by", "search", "lanes"):
        assert re.search(rf"^\| `{name}`", section("lanes"), re.MULTILINE)
    for name in ("search", "sort", "limit", "offset"):
        assert re.search(rf"^\| `{name}`", section("files"), re.MULTILINE)


def test_every_column_to_sort_by_is_described() -> None:
    text = section("files").split("Columns to sort by: ")[1].split(";")[0]
    assert tuple(re.findall(r"`(\w+)`", text)) == file_table.SORT_COLUMNS
