"""Processes that end, fork, get signals or run with another allocator while they are recorded."""

from __future__ import annotations

import ctypes.util
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.native.nasty.conftest import Library

pytestmark = pytest.mark.native

Run = Callable[..., str]


def allocator(name: str) -> str | None:
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"):
        for path in sorted(Path(folder).glob(f"lib{name}.so*")):
            return str(path)
    return ctypes.util.find_library(name)


def test_interpreter_ends_under_reading_threads(library: Library, run: Run) -> None:
    script = """
        import json
        busy, path = load(sys.argv[1]), make("data", 5000)
        recorder = attach(max_segments=100)

        def read_on():
            while True:
                with open(path, "rb") as file:
                    file.read()

        for _ in range(4):
            threading.Thread(target=read_on, daemon=True).start()
        busy.start_threads(path)
        time.sleep(0.1)
        assert bytes_of(recorder, path)[0] > 5000
        from tensorboard_plugin_darshan import _native
        print(_native.status()["arena"])
    """
    for _ in range(5):
        arena = run(script, library("busy.c")).strip()
        assert arena.startswith("/")
        assert not os.path.exists(arena)


@pytest.mark.parametrize(
    ("how", "status", "stays"),
    [
        ("sys.exit(3)", 3, False),
        ("raise SystemExit(4)", 4, False),
        ("os.kill(os.getpid(), 9)", -9, True),
        ("os._exit(5)", 5, True),
    ],
)
def test_memory_file_of_a_process_that_ended(how: str, status: int, stays: bool, run: Run) -> None:
    script = f"""
        from tensorboard_plugin_darshan import _native
        recorder = attach()
        print(_native.status()["arena"], flush=True)
        {how}
    """
    arena = run(script, status=status).strip()
    assert os.path.exists(arena) == stays
    run("attach().detach()")  # finds what is left over
    assert not os.path.exists(arena)


@pytest.mark.parametrize("name", ["jemalloc", "tcmalloc_minimal"])
@pytest.mark.parametrize("extended", [False, True])
def test_other_allocator(name: str, extended: bool, library: Library, run: Run) -> None:
    preload = allocator(name)
    if preload is None:
        pytest.skip(f"lib{name} is not installed")
    script = """
        assert any(sys.argv[2] in line for line in open("/proc/self/maps"))
        simple, path = load(sys.argv[1]), make("data", 5000)
        for _ in range(3):
            recorder = attach(extended=sys.argv[3] == "True")
            assert simple.read_file(path) == 5000
            blocks = [bytes(1 << 20) for _ in range(50)]
            threads = [threading.Thread(target=simple.read_file, args=(path,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert bytes_of(recorder, path) == (25000, 0)
            recorder.detach()
    """
    # opened files are closed by the interpreter, as the warning says
    options = ("-W", "ignore::ResourceWarning")
    arguments = (library("simple.c"), os.path.realpath(preload), str(extended))
    run(script, *arguments, environment={"LD_PRELOAD": preload}, options=options)


def test_signal_handler_that_writes(library: Library, run: Run) -> None:
    """What it writes is recorded, but for writes that come in the middle of a report."""
    script = """
        busy, path, log = load(sys.argv[1]), make("data", 64), os.path.abspath("log")
        recorder = attach(max_segments=1_000_000)
        busy.start_signals(log, 50)
        assert busy.read_often(path, 200_000) == 200_000 * 64
        for _ in range(300):
            recorder.snapshot()  # holds locks that the handler would want
            recorder.own.drain_bins("POSIX")
            recorder.segments()
            recorder.own.totals("POSIX")
            recorder.facts()
        handled = busy.stop_signals()
        assert record_of(recorder, path)["READS"] == 200_000
        assert bytes_of(recorder, path) == (200_000 * 64, 64 * 0)
        written = bytes_of(recorder, log)[1]
        assert handled > 100 and 0 < written <= handled, (handled, written)
        recorder.detach()
    """
    run(script, library("busy.c"))


def test_signal_handler_while_recordings_begin_and_end(library: Library, run: Run) -> None:
    script = """
        busy, simple = load(sys.argv[1]), load(sys.argv[2])
        path, log = make("data", 64), os.path.abspath("log")
        busy.start_signals(log, 100)
        for round in range(50):
            recorder = attach(extended=bool(round % 2))
            assert busy.read_often(path, 100) == 6400
            import importlib
            sys.modules.pop("_bisect", None)
            importlib.import_module("_bisect")  # dlopen
            assert bytes_of(recorder, path) == (6400, 0)
            recorder.detach()
        assert busy.stop_signals() > 10
    """
    run(script, library("busy.c"), library("simple.c"))


def test_programs_that_do_not_exist(library: Library, run: Run) -> None:
    """The failed child runs in the parent's memory, or a copy of it; the parent goes on."""
    script = """
        import subprocess
        children, path, other = load(sys.argv[1]), make("data", 5000), make("other", 10)
        recorder = attach(extended=sys.argv[2] == "True", children=False)
        fd = os.open(path, os.O_RDONLY)
        kept = os.open(other, os.O_RDONLY)

        def still_recorded():
            before = bytes_of(recorder, path)[0]
            assert len(os.pread(fd, 100, 0)) == 100
            assert bytes_of(recorder, path)[0] == before + 100
            assert bytes_of(recorder, other) == (0, 0)

        still_recorded()
        for close_fds in (True, False):
            try:
                subprocess.run(["/nothing/there"], close_fds=close_fds)
            except FileNotFoundError:
                still_recorded()
        assert children.vfork_in_vain(kept) == 7
        still_recorded()
        assert len(os.read(kept, 10)) == 10  # neither closed nor forgotten
        assert bytes_of(recorder, other) == (10, 0)
        try:
            os.posix_spawn("/nothing", ["nothing"], {}, file_actions=[(os.POSIX_SPAWN_CLOSE, fd)])
        except FileNotFoundError:
            before = bytes_of(recorder, path)[0]
            assert len(os.pread(fd, 100, 0)) == 100
            assert bytes_of(recorder, path)[0] == before + 100
        done = subprocess.run(["/bin/cat", path], capture_output=True)
        assert len(done.stdout) == 5000
        assert len(os.pread(fd, 100, 0)) == 100
    """
    for extended in ("True", "False"):
        run(script, library("children.c"), extended)


@pytest.mark.parametrize("children", [False, True])
@pytest.mark.parametrize("end", ["os._exit(0)", "sys.exit(0)", "os.kill(os.getpid(), 9)"])
def test_forked_child_is_not_the_parent(end: str, children: bool, run: Run) -> None:
    script = f"""
        path, mine = make("data", 5000), make("mine", 100)
        recorder = attach(children={children})
        fd = os.open(path, os.O_RDONLY)
        assert len(os.read(fd, 1000)) == 1000
        for _ in range(3):
            child = os.fork()
            if child == 0:
                assert len(os.read(fd, 500)) == 500
                with open(mine, "rb") as file:
                    assert len(file.read()) == 100
                os.close(fd)
                {end}
            os.waitpid(child, 0)
        assert bytes_of(recorder, path) == (1000, 0)
        assert bytes_of(recorder, mine) == (0, 0)
        assert len(os.read(fd, 100)) == 100
        assert bytes_of(recorder, path) == (1100, 0)
        from tensorboard_plugin_darshan import _native
        arena = _native.status()["arena"]
        recorder.detach()
        print(arena)
    """
    arena = Path(run(script).strip())
    assert not list(arena.parent.glob(f"{arena.name}*"))


def test_forked_child_attaches_afresh(run: Run) -> None:
    script = """
        import json
        path = make("data", 5000)
        parent = attach(children=False)
        fd = os.open(path, os.O_RDONLY)
        os.read(fd, 100)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                parent.snapshot()
            except RuntimeError as error:
                assert "parent process" in str(error)
            else:
                os._exit(2)
            recorder = attach(children=False)
            assert record_of(recorder, path) == {}
            with open(path, "rb") as file:
                file.read()
            facts = recorder.facts()
            result = [bytes_of(recorder, path), facts["objects"], facts["slots"]]
            recorder.detach()
            os.write(writer, json.dumps(result).encode())
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        (read, written), objects, slots = json.loads(os.read(reader, 10000))
        assert (read, written) == (5000, 0) and objects > 3 and slots > 50
        assert bytes_of(parent, path) == (100, 0)
        print(parent.facts()["slots"], slots)
    """
    parent, child = map(int, run(script).split())
    assert parent == child


def test_fork_while_threads_are_recorded(library: Library, run: Run) -> None:
    """Locks that other threads held at the fork are nobody's in the child."""
    script = """
        busy, path = load(sys.argv[1]), make("data", 5000)
        recorder = attach(max_segments=1000, children=sys.argv[2] == "True")
        busy.start_threads(path)
        for _ in range(30):
            child = os.fork()
            if child == 0:
                with open(path, "rb") as file:
                    assert len(file.read()) == 5000
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        assert busy.stop_threads() > 10
        recorder.detach()
    """
    for children in ("True", "False"):
        run(script, library("busy.c"), children)


def test_environment_of_children_is_as_before(run: Run) -> None:
    script = """
        import json
        before = dict(os.environ)
        attach().detach()
        print(json.dumps(before == dict(os.environ)))
    """
    assert json.loads(run(script)) is True
