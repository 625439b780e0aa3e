"""Files and functions stay small enough to be read at one go."""

from __future__ import annotations

import ast

from tests.layering.imports import ROOT, module_files

SHIPPED_LINES = {"*.py": 300, "*.js": 300, "*.c": 400, "*.h": 400}
FUNCTION_LINES = 60


def test_files_are_short() -> None:
    too_long = [
        f"{path.relative_to(ROOT)}: {lines} lines"
        for folder in ("tensorboard_plugin_darshan", "frontend", "native", "benchmarks", "docs")
        for pattern, most in SHIPPED_LINES.items()
        for path in (ROOT / folder).rglob(pattern)
        if "node_modules" not in path.parts and (lines := len(path.read_text().splitlines())) > most
    ]
    assert too_long == []


def test_functions_are_short() -> None:
    too_long = [
        f"{name}.{node.name}: {lines} lines"
        for name, path in module_files().items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (lines := (node.end_lineno or 0) - node.lineno + 1) > FUNCTION_LINES
    ]
    assert too_long == []
