"""The recorder's tests in C, plain, under sanitizers and under valgrind."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import compiling

pytestmark = pytest.mark.native

TESTS = sorted(path.stem for path in Path(__file__).parent.glob("test_*.c"))
IN_A_DIRECTORY = ("test_arena", "test_recorder")
VARIANTS = {
    "plain": ("-O2",),
    "address": ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    # the sanitizer does not follow fences, which no test here needs
    "thread": ("-O1", "-fsanitize=thread", "-Wno-tsan"),
}
VALGRIND = (
    *("valgrind", "--quiet", "--error-exitcode=9", "--fair-sched=try"),
    *("--leak-check=full", "--errors-for-leak-kinds=definite"),
)
Build = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Gives the program of a test in a variant, compiling what is not there yet."""

    @functools.cache
    def archive(variant: str) -> Path:
        return compiling.build_archive(tmp_path_factory.mktemp(variant), VARIANTS[variant])

    def program(variant: str, name: str) -> Path:
        library = archive(variant)
        output = library.parent / name
        if not output.exists():
            source = Path(__file__).with_name(f"{name}.c")
            flags = (*compiling.COMMON, *VARIANTS[variant])
            compiling.run_compiler([*flags, source, library, "-o", output, "-ldl"])
        return output

    return program


def run_test(
    program: Path,
    directory: Path,
    *arguments: str,
    prefix: tuple[str, ...] = (),
    slow: bool = False,
    forks: bool = False,
) -> None:
    command = [*prefix, str(program)]
    if program.name in IN_A_DIRECTORY:
        command.append(str(directory))
    environment = dict(os.environ)
    if slow:
        environment["SLOW_MACHINE"] = "1"
    if not forks:
        environment["NO_FORKS"] = "1"
    done = subprocess.run(
        [*command, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=directory,
        env=environment,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", TESTS)
def test_c(name: str, variant: str, build: Build, tmp_path: Path) -> None:
    # allocators of sanitizers may be locked for ever in a child that was forked under threads
    forks, slow = variant == "plain", variant == "thread"
    run_test(build(variant, name), tmp_path, slow=slow, forks=forks)


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.parametrize("name", TESTS)
def test_c_under_valgrind(name: str, build: Build, tmp_path: Path) -> None:
    run_test(build("plain", name), tmp_path, prefix=VALGRIND, slow=True)


@pytest.fixture
def tiny_file_system(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    directory = tmp_path / "tiny"
    directory.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tiny", str(directory)]
    mounted = subprocess.run(command, capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.strip()}")
    yield directory
    subprocess.run(["umount", str(directory)], check=True)


def test_full_file_system(build: Build, tmp_path: Path, tiny_file_system: Path) -> None:
    run_test(build("address", "test_arena"), tmp_path, str(tiny_file_system))


def test_python_part_compiles_without_warnings(tmp_path: Path) -> None:
    limited = "-DPy_LIMITED_API=0x030A0000"
    flags = ("-O2", "-fvisibility=hidden", limited, compiling.python_include())
    source, output = compiling.NATIVE / "module.c", tmp_path / "module.o"
    compiling.run_compiler([*compiling.COMMON, *flags, "-c", source, "-o", output])
