"""Compiles C for tests: strict, and once for each set of flags."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "native"
STRICT = ("-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror")
COMMON = ("-std=c11", "-D_GNU_SOURCE", "-g", "-pthread", f"-I{NATIVE}", *STRICT)


def run_compiler(arguments: Sequence[str | Path], compiler: str = "cc") -> None:
    """Runs the compiler; its complaints become the test's."""
    done = subprocess.run([compiler, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def build_archive(directory: Path, flags: Sequence[str]) -> Path:
    """The recorder without its Python part as a static library."""
    sources = sorted(
        source for source in NATIVE.glob("*.c") if not source.name.startswith("module")
    )
    objects = [directory / f"{source.stem}.o" for source in sources]

    def compile_one(source: Path, output: Path) -> None:
        run_compiler([*COMMON, *flags, "-c", source, "-o", output])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, sources, objects))
    archive = directory / "libnative.a"
    subprocess.run(["ar", "rcs", archive, *objects], check=True)
    return archive


def build_shared(
    source: Path, output: Path, flags: Sequence[str] = (), *, cxx: bool = False
) -> Path:
    """A shared object of one source file, as a program's library would be."""
    language = () if cxx else ("-std=c11", "-D_GNU_SOURCE")
    run_compiler(
        ["-shared", "-fPIC", "-pthread", *language, source, "-o", output, *flags],
        "c++" if cxx else "cc",
    )
    return output


def python_include() -> str:
    """The flag under which Python.h is found."""
    return f"-I{sysconfig.get_paths()['include']}"


def run_python(
    code: str,
    *arguments: str | Path,
    timeout: float = 60.0,
    environment: dict[str, str] | None = None,
    options: Sequence[str] = ("-X", "faulthandler"),
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a piece of Python in a process of its own that finds this package."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    return subprocess.run(
        [sys.executable, *options, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=timeout,
        env=variables,
        cwd=cwd,
    )
