"""What is built from the repository holds what belongs into it, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tensorboard_plugin_darshan.recording.native import is_available

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "tensorboard_plugin_darshan"
SOURCES = ("LICENSE", "README.md", "frontend", "native", "pyproject.toml", "setup.py", PACKAGE)

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a source archive, and the wheel built from it, as pip does both."""
    source, dist = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    leave_out = shutil.ignore_patterns("__pycache__", "*.so", "node_modules")
    for name in SOURCES:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, source / name, ignore=leave_out)
        else:
            shutil.copy(path, source / name)
    build("build_sdist", source, dist)
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        archive.extractall(dist, filter="data")
    unpacked = next(path for path in dist.iterdir() if path.is_dir())
    build("build_wheel", unpacked, dist)
    return dist


def build(what: str, source: Path, dist: Path) -> None:
    code = f"from setuptools import build_meta; build_meta.{what}({str(dist)!r})"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def wheel_names(dist: Path) -> set[str]:
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as archive:
        return set(archive.namelist())


def test_source_archive_holds_what_compiles(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    native = {f"native/{path.name}" for path in (ROOT / "native").glob("*.[ch]")}
    assert native <= names
    assert {"LICENSE", "README.md", "setup.py", "pyproject.toml"} <= names


def test_wheel_holds_the_package_and_the_frontend(built: Path) -> None:
    names = wheel_names(built)
    expected = {
        str(path.relative_to(ROOT))
        for path in (ROOT / PACKAGE).rglob("*")
        if path.suffix in (".py", ".pyi", ".md") or path.name == "py.typed"
    }
    expected |= {
        f"{PACKAGE}/static/{path.name}"
        for path in (ROOT / "frontend").iterdir()
        if path.suffix in (".js", ".css")
    }
    assert expected <= names
    assert f"{PACKAGE}/static/index.js" in names
    assert f"{PACKAGE}_join.pth" in names, "started Pythons would not join a recording"
    assert (f"{PACKAGE}/_native.abi3.so" in names) == is_available()


def test_wheel_holds_nothing_else(built: Path) -> None:
    tops = {name.partition("/")[0] for name in wheel_names(built)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        PACKAGE,
        f"{PACKAGE}_join.pth",
    }


def test_wheel_fits_every_python_and_names_the_plugin(built: Path) -> None:
    wheel = next(built.glob("*.whl"))
    if is_available():
        assert "-cp310-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        info = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
        points = archive.read(info).decode()
    assert f"darshan = {PACKAGE}.dashboard.plugin:DarshanLoader" in points
    assert f"tensorboard-darshan = {PACKAGE}.cli:main" in points
