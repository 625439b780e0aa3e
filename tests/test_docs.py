"""What the documents say is there is there, and what is there is said."""

from __future__ import annotations

import inspect
import re
import runpy
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

import tensorboard_plugin_darshan as package
from tensorboard_plugin_darshan import counters, metadata, window

ROOT = Path(__file__).resolve().parents[1]
HTTP_API = ROOT / "tensorboard_plugin_darshan" / "dashboard" / "http_api.md"
DOCUMENTS = sorted(
    path
    for folder in (".", "benchmarks", "demo_logs", "docs", "native", "tensorboard_plugin_darshan")
    for path in (ROOT / folder).glob("*.md" if folder == "." else "**/*.md")
)
LINK = re.compile(r"""(?:\[[^\]]*\]\(|\bsrc(?:set)?=")([^)"\s]+)""")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def read(name: str) -> str:
    return (ROOT / name).read_text()


def make_targets() -> dict[str, str]:
    """Target of the Makefile → what `make help` says about it, or nothing."""
    rules = re.findall(r"^([a-z][a-z-]*):[^=\n#]*(?:## (.*))?$", read("Makefile"), re.MULTILINE)
    return dict(rules)


def anchors(document: Path) -> set[str]:
    """Anchors of a document's headings, as GitHub makes them."""
    headings = HEADING.findall(re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL))
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


def test_documents_are_there() -> None:
    names = {str(path.relative_to(ROOT)) for path in DOCUMENTS}
    assert names >= {
        *("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"),
        *("native/README.md", "benchmarks/README.md", "demo_logs/README.md"),
        str(HTTP_API.relative_to(ROOT)),
    }


def test_make_targets_in_documents_exist() -> None:
    targets = make_targets()
    named = {
        target
        for document in DOCUMENTS
        for target in re.findall(r"(?:`|^)make ([a-z-]+)", document.read_text(), re.MULTILINE)
    }
    assert {"demo", "test", "help"} <= named <= targets.keys()


def test_make_help_lists_what_a_person_calls() -> None:
    printed = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    listed = dict(re.findall(r"^make (\S+) +(.+)$", printed, re.MULTILINE))
    assert listed == {name: about for name, about in make_targets().items() if about}
    assert {"demo", "test", "lint", "format", "native", "screenshots", "clean"} <= listed.keys()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for link in LINK.findall(document.read_text()):
        if link.startswith(("https://", "http://")):
            continue
        name, _, anchor = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_are_finished_and_stand_alone(document: Path) -> None:
    text = document.read_text()
    assert not re.search(r"\b(TODO|FIXME|TBD|XXX)\b|coming soon|lorem ipsum", text, re.IGNORECASE)
    assert not re.search(r"(?<![\w/])/(home|root|Users|work)/", text), "a path of one machine only"
    assert not re.search(r"(?<![\w&])#\d+\b", text), "a number that leads nowhere without a tracker"


def test_public_names_are_in_readme() -> None:
    readme = read("README.md")
    for name in package.__all__:
        if not name.startswith("__"):
            assert re.search(rf"`{name}\b|import {name}\b", readme), name


@pytest.mark.tensorflow
def test_options_are_in_readme_with_their_defaults() -> None:
    options = read("README.md").partition("## Options")[2].partition("\n## ")[0]
    monitor = inspect.signature(package.DarshanMonitor).parameters
    callback = inspect.signature(package.DarshanCallback).parameters
    assert monitor == callback
    for name, parameter in monitor.items():
        if name in ("log_dir", "attach", "cutter"):
            continue
        row = next((line for line in options.splitlines() if f"`{name}`" in line), None)
        assert row is not None, name
        default = row.split("|")[2].strip().strip("`").replace('"', "'")
        assert default in ("", repr(parameter.default)), name
    for name, parameter in inspect.signature(package.attach).parameters.items():
        default = repr(parameter.default).replace("'", '"')
        assert f"{name}={default}" in options.replace("16_000_000", "16000000"), name


def test_environment_variables_are_in_readme() -> None:
    readme = read("README.md")
    named = {
        name
        for path in (ROOT / "tensorboard_plugin_darshan").rglob("*.py")
        for name in re.findall(r"TENSORBOARD_DARSHAN_[A-Z]+", path.read_text())
    }
    assert named
    named.remove("TENSORBOARD_DARSHAN_JOIN")  # from process to process, not from the user
    for name in named:
        assert f"`{name}`" in readme, name


def test_page_of_recorded_calls_is_made_from_the_list() -> None:
    module = runpy.run_path(str(ROOT / "docs" / "make_coverage.py"))
    assert len(module["hooks"]()) > 150
    assert read("docs/coverage.md") == module["page"](), "run docs/make_coverage.py"
    text = read("docs/coverage.md")
    assert all(f"`{name}`" in text for name in module["hooks"]())


def test_every_view_is_in_readme_in_both_themes() -> None:
    readme = read("README.md")
    script = runpy.run_path(str(ROOT / "docs" / "make_screenshots.py"))
    names = {
        script["image_name"](view, theme) for view in script["VIEWS"] for theme in script["THEMES"]
    }
    assert len(names) == 10
    for name in names:
        assert f'"docs/images/{name}"' in readme, name
    of_logs = {f"logs-{theme}.png" for theme in script["THEMES"]}
    assert all(f'"docs/images/{name}"' in readme for name in of_logs)
    assert {path.name for path in (ROOT / "docs" / "images").iterdir()} == names | of_logs


def test_scalars_are_in_readme() -> None:
    readme = read("README.md")
    for tag in metadata.SCALAR_TAGS:
        assert f"`{tag}`" in readme, tag


def test_changelog_has_unreleased_on_top() -> None:
    headings = re.findall(r"^## (.*)$", read("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    kinds = set(re.findall(r"^### (.*)$", read("CHANGELOG.md"), re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_architecture_names_every_module() -> None:
    text = read("ARCHITECTURE.md")
    names = {path.stem for path in (ROOT / package.__name__).rglob("*.py")} - {"__init__"}
    said = re.findall(r"`(\w*\*?\w*)`", text)
    missing = {name for name in names if not any(fnmatch(name, pattern) for pattern in said)}
    assert missing == set()
    native = read("native/README.md")
    parts = {path.name for path in (ROOT / "native").glob("*.c")}
    said = re.findall(r"`([\w*]+\.c)`", native)
    missing = {name for name in parts if not any(fnmatch(name, pattern) for pattern in said)}
    assert missing == set()


def test_limits_in_documents_are_those_in_force() -> None:
    assert "0.01" in str(window.BinSeries().width_seconds)
    native = read("native/README.md")
    header = read("native/bins.h")
    assert "BINS_MAX = 1024" in header
    assert "1,024" in native
    shards = re.search(r"SHARDS = (\d+)", read("native/recorder.h"))
    assert shards is not None
    assert f"There are {shards[1]} shards" in native
    assert len(counters.SIZE_BUCKETS) == 10
