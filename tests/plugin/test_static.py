from __future__ import annotations

import gzip
import importlib.resources
from pathlib import Path
from typing import Any

import pytest
from plotly.offline import get_plotlyjs

from tensorboard_plugin_darshan.dashboard import static_files
from tests.support.dashboard import PREFIX, Dashboard


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Dashboard:
    return Dashboard(tmp_path_factory.mktemp("logs"))


def packaged() -> dict[str, bytes]:
    package = importlib.resources.files(static_files.STATIC_PACKAGE)
    return {
        item.name: item.read_bytes()
        for item in package.iterdir()
        if item.name.endswith((".js", ".css"))
    }


def test_every_packaged_file_is_served_with_its_type(dashboard: Dashboard) -> None:
    assert "index.js" in packaged()
    for name, content in packaged().items():
        response = dashboard.response(name)
        assert response.status_code == 200
        assert response.get_data() == content
        assert response.mimetype == ("text/css" if name.endswith(".css") else "text/javascript")


@pytest.mark.parametrize(
    "path",
    [
        "__init__.py",
        "package.json",
        "../plugin.py",
        "..%2fplugin.py",
        "%2e%2e/plugin.py",
        "static/../index.js",
        "./index.js",
        "index.js%00",
        "%00",
        "//etc/passwd",
        "/etc/passwd",
        "INDEX.JS",
        "nothing.js",
    ],
)
def test_anything_else_is_404(dashboard: Dashboard, path: str) -> None:
    assert dashboard.client.get(f"{PREFIX}/{path}").status_code == 404


def test_missing_installation_is_404_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_files, "STATIC_PACKAGE", "no_such_package")
    status, text = Dashboard(tmp_path).error("index.js")
    assert status == 404
    assert "install tensorboard-plugin-darshan again" in text


def test_plotly_is_compressed_once_and_cacheable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []
    compress = gzip.compress
    monkeypatch.setattr(gzip, "compress", lambda *a, **k: calls.append(a) or compress(*a, **k))
    dashboard = Dashboard(tmp_path)
    url = dashboard.get("runs")["plotly"]
    for _ in range(2):
        response = dashboard.client.get(f"{PREFIX}/{url}", headers={"Accept-Encoding": "gzip"})
        assert response.headers["Content-Encoding"] == "gzip"
        assert "max-age=86400" in response.headers["Cache-Control"]
        assert response.mimetype == "text/javascript"
        assert gzip.decompress(response.get_data()).decode() == get_plotlyjs()
    assert len(calls) == 1


def test_plotly_is_plain_for_clients_without_gzip(dashboard: Dashboard) -> None:
    response = dashboard.response("plotly.min.js")
    assert "Content-Encoding" not in response.headers
    assert response.get_data(as_text=True) == get_plotlyjs()


def test_frontend_metadata(dashboard: Dashboard) -> None:
    shown = dashboard.plugin.frontend_metadata()
    assert (shown.es_module_path, shown.tab_name) == ("/index.js", "Darshan")
    assert shown.es_module_path in dashboard.plugin.get_plugin_apps()
    assert dashboard.plugin.is_active() is False
