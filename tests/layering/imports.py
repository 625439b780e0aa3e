"""What Python modules import, and when, read from their source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "tensorboard_plugin_darshan"

When = Literal["at import", "in a function", "for types"]


@dataclass(frozen=True)
class Import:
    """One imported name.

    Attributes:
        importer: module that imports, without the package's name, e.g. `dashboard.run`.
        imported: full dotted name of the module, e.g. `numpy.typing`.
        when: when it happens.
        line: where.
    """

    importer: str
    imported: str
    when: When
    line: int

    def is_of(self, *names: str) -> bool:
        """Whether a module or anything below it is imported; names of the package's own modules
        begin with a dot.
        """
        full = [PACKAGE + name if name.startswith(".") else name for name in names]
        return any(self.imported == name or self.imported.startswith(f"{name}.") for name in full)

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported} {self.when}"


def module_files() -> dict[str, Path]:
    """Module, without the package's name, → its file; the package itself is `__init__`."""
    folder = ROOT / PACKAGE
    return {
        ".".join(path.relative_to(folder).with_suffix("").parts): path
        for path in sorted(folder.rglob("*.py"))
    }


def all_imports() -> list[Import]:
    """All imports of the package."""
    return [
        found
        for name, path in module_files().items()
        for found in imports_of(name, path.read_text())
    ]


def imports_of(importer: str, source: str) -> Iterator[Import]:
    """All imports of one module. `from package import name` counts as `package.name`, since `name`
    may be a module.
    """
    yield from _walk(importer, ast.parse(source), "at import")


def _walk(importer: str, node: ast.AST, when: When) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(importer, alias.name, when, child.lineno)
        elif isinstance(child, ast.ImportFrom):
            if child.level:
                raise AssertionError(f"{importer}:{child.lineno}: write the whole name of a module")
            for alias in child.names:
                yield Import(importer, f"{child.module}.{alias.name}", when, child.lineno)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _walk(importer, ast.Module(child.body, []), "for types")
            yield from _walk(importer, ast.Module(child.orelse, []), when)
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _walk(importer, child, "in a function")
        else:
            yield from _walk(importer, child, when)
