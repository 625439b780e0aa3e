"""The recorder and an independent model agree on random programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import compiling

pytestmark = pytest.mark.native

HERE = Path(__file__).parent
SEEDS_AT_ONCE = 25
FIRST_SEEDS = range(0, 100, SEEDS_AT_ONCE)


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("player") / "player.so"
    return compiling.build_shared(HERE / "player.c", output, ["-O1", "-fno-builtin"])


@pytest.mark.parametrize("mode", ["builtin", "extended"])
@pytest.mark.parametrize("first", FIRST_SEEDS)
def test_random_programs(first: int, mode: str, player: Path, tmp_path: Path) -> None:
    script = (HERE / "compare_random.py").read_text()
    directory = tmp_path / "program"
    arguments = (player, directory, mode, str(first), str(SEEDS_AT_ONCE))
    done = compiling.run_python(script, *arguments, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
