"""What the frontend may load and how it may write into the page."""

from __future__ import annotations

import re

from tests.layering.imports import ROOT

FRONTEND = ROOT / "frontend"
SPECIFIER = re.compile(
    r"""^(?:import|export)\b(?:[^'";()]*\bfrom)?\s*['"]([^'"]+)['"]""", re.MULTILINE
)
DYNAMIC = re.compile(r"(?<![.\w])import\((?!'\./)")
COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*", re.DOTALL | re.MULTILINE)


def modules() -> dict[str, str]:
    """Name of a module → its source without comments."""
    return {
        path.name: COMMENT.sub("", path.read_text())
        for path in sorted(FRONTEND.iterdir())
        if path.suffix in (".js", ".css")
    }


def test_modules_import_their_neighbours_only() -> None:
    names = set(modules())
    n_imports = 0
    for name, source in modules().items():
        for specifier in SPECIFIER.findall(source):
            n_imports += 1
            assert specifier.removeprefix("./") in names, f"{name} imports {specifier}"
            assert specifier.startswith("./"), f"{name} imports {specifier}"
        assert not DYNAMIC.search(source), name
    assert n_imports > len(names) / 2


def test_modules_import_each_other_in_one_direction() -> None:
    uses = {
        name: {specifier.removeprefix("./") for specifier in SPECIFIER.findall(source)}
        for name, source in modules().items()
    }
    while uses:
        free = {name for name, used in uses.items() if not used & uses.keys()}
        assert free, f"these import each other in a circle: {sorted(uses)}"
        uses = {name: used for name, used in uses.items() if name not in free}


def test_nothing_comes_from_another_host() -> None:
    allowed = ("http://www.w3.org/",)  # names of XML namespaces, never fetched
    for name, source in modules().items():
        for url in re.findall(r"""(?:https?:)?//[a-z][^\s'"`)]*""", source):
            assert url.startswith(allowed), f"{name}: {url}"


def test_text_never_becomes_markup() -> None:
    for name, source in modules().items():
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert way not in source, f"{name} uses {way}"
