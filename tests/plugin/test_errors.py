from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from tests.support.dashboard import PREFIX, Dashboard
from tests.support.recordings import Recorder, Use, write_recording

RUN_ROUTES = ("overview", "timeline", "file_bandwidth", "access_sizes", "files")


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Dashboard:
    log_dir = tmp_path_factory.mktemp("logs")
    recorder = Recorder()
    write_recording(log_dir / "a", [recorder.window({"POSIX": [Use("/data/a", reads=1)]})])
    return Dashboard(log_dir)


@pytest.mark.parametrize("route", RUN_ROUTES)
@pytest.mark.parametrize("run", ["nope", "../a", "a/darshan/rank0", "a\0", "a/", "%61", "."])
def test_unknown_run_is_404_and_is_named(dashboard: Dashboard, route: str, run: str) -> None:
    status, text = dashboard.error(route, run=run)
    assert status == 404
    assert repr(run) in text
    assert "/runs" in text


@pytest.mark.parametrize("route", RUN_ROUTES)
@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({}, "run"),
        ({"run": ""}, "run"),
        ({"run": "a", "start": "x"}, "start"),
        ({"run": "a", "start": ""}, "start"),
        ({"run": "a", "start": "nan"}, "start"),
        ({"run": "a", "start": "-1"}, "start"),
        ({"run": "a", "end": "inf"}, "end"),
        ({"run": "a", "end": "1e999"}, "end"),
        ({"run": "a", "end": "0"}, "end"),
        ({"run": "a", "end": "1e308"}, "out of range"),
        ({"run": "a", "start": "1_0"}, "start"),
        ({"run": "a", "start": " 1"}, "start"),
        ({"run": "a", "start": "+1"}, "start"),
        ({"run": "a", "start": "١"}, "start"),
        ({"run": "a", "start": "1e"}, "start"),
        ({"run": "a", "start": "0x1"}, "start"),
        ({"run": "a", "start": "2", "end": "2"}, "start"),
        ({"run": "a", "start": "3", "end": "2"}, "start"),
        ({"run": "a", "module": "posix"}, "module"),
        ({"run": "a", "module": ""}, "module"),
    ],
)
def test_impossible_parameter_is_400_and_is_named(
    dashboard: Dashboard, route: str, arguments: dict[str, Any], word: str
) -> None:
    status, text = dashboard.error(route, **arguments)
    assert status == 400
    assert word in text


@pytest.mark.parametrize("route", ["timeline", "file_bandwidth", "access_sizes"])
def test_unknown_theme_is_400(dashboard: Dashboard, route: str) -> None:
    status, text = dashboard.error(route, run="a", theme="blue")
    assert (status, "light, dark" in text) == (400, True)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"sort": "speed"}, "bytes_read"),
        ({"sort": "--bytes"}, "bytes_read"),
        ({"sort": ""}, "bytes_read"),
        ({"limit": "0"}, "1 to 1000"),
        ({"limit": "1001"}, "1 to 1000"),
        ({"limit": "ten"}, "limit"),
        ({"limit": "1.5"}, "limit"),
        ({"limit": "²"}, "limit"),
        ({"offset": "-1"}, "offset"),
        ({"offset": "9" * 5000}, "offset"),
        ({"offset": "١"}, "offset"),
        ({"offset": "1_0"}, "offset"),
    ],
)
def test_impossible_page_is_400(dashboard: Dashboard, arguments: dict[str, str], word: str) -> None:
    status, text = dashboard.error("files", run="a", **arguments)
    assert status == 400
    assert word in text


@pytest.mark.parametrize(
    "arguments", [{"sort": "x" * 5000}, {"limit": "7" * 5000}, {"start": "y" * 5000}]
)
def test_errors_repeat_only_the_begin_of_a_long_value(
    dashboard: Dashboard, arguments: dict[str, str]
) -> None:
    status, text = dashboard.error("files", run="a", **arguments)
    assert status == 400
    assert len(text) < 500


@pytest.mark.parametrize("offset", ["1000", "9" * 15, "9" * 30, "9" * 300])
def test_page_beyond_the_last_row_is_empty(dashboard: Dashboard, offset: str) -> None:
    answer = dashboard.get("files", run="a", offset=offset)
    assert (answer["total"], answer["rows"]) == (1, [])


@pytest.mark.parametrize(("text", "end"), [("1", 1.0), ("0.5", 0.5), ("5e-1", 0.5), ("1.", 1.0)])
def test_plain_forms_of_numbers_are_taken(dashboard: Dashboard, text: str, end: float) -> None:
    assert dashboard.get("overview", run="a", end=text)["range"]["end"] == end


@pytest.mark.parametrize("route", ["runs", "overview?run=a", "index.js", "plotly.min.js"])
def test_only_get_and_head_are_answered(dashboard: Dashboard, route: str) -> None:
    assert dashboard.client.head(f"{PREFIX}/{route}").status_code == 200
    for method in ("post", "put", "delete", "patch"):
        response = getattr(dashboard.client, method)(f"{PREFIX}/{route}")
        assert response.status_code == 405
        assert response.headers["Allow"] == "GET, HEAD"
        assert "GET and HEAD" in response.get_data(as_text=True)


@pytest.mark.parametrize("route", RUN_ROUTES)
def test_stretch_beyond_the_run_is_no_error(dashboard: Dashboard, route: str) -> None:
    answer = dashboard.get(route, run="a", start=50, end=60)
    assert (answer["range"], answer["counted"]) == (None, None)
    assert any("after 50 s and before 60 s" in note for note in answer["notes"])


class RpcError(Exception):
    def details(self) -> str:
        return "Socket closed"


def test_silent_data_server_is_503_with_a_sentence(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    grpc = types.ModuleType("grpc")
    monkeypatch.setattr(grpc, "RpcError", RpcError, raising=False)
    monkeypatch.setitem(sys.modules, "grpc", grpc)

    def fail(*_: Any, **__: Any) -> Any:
        raise RpcError

    monkeypatch.setattr(dashboard.provider, "list_runs", fail)
    monkeypatch.setattr(dashboard.provider, "list_tensors", fail)
    for route in ("runs", "overview"):
        status, text = dashboard.error(route, run="a")
        assert status == 503
        assert "Socket closed" in text
        assert "start TensorBoard again" in text


def test_other_errors_are_not_hidden(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(dashboard.provider, "list_tensors", fail)
    with pytest.raises(ZeroDivisionError):
        dashboard.response("runs")
