"""Children of a recorded training: each counts, once, however it starts and ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.children.worker import ONE_PASS, make_files

ROOT = Path(__file__).parents[2]
PREAMBLE = """
import json, multiprocessing, os, subprocess, sys, threading, time
from tensorboard_plugin_darshan import attach, window
from tensorboard_plugin_darshan.counters import POSIX
from tensorboard_plugin_darshan.recording.cutter import WindowCutter
from tests.children.worker import FILES, ONE_PASS, read_all

directory = sys.argv[1]

def files_of(cut):
    "What a window's files of the directory add up to, by column."
    module, sums = cut.modules["POSIX"], {}
    for key, row in zip(module.files.ids.tolist(), module.files.values.tolist()):
        names[key] = names.get(key) or cut.names[key]
        if names[key].startswith(directory):
            for column, value in zip(window.FILE_COLUMNS, row):
                so_far = sums.get(column, 0)
                largest = column in window.MAXIMUM_COLUMNS
                sums[column] = max(so_far, value) if largest else so_far + value
    return sums

names = {}

def cut():
    made = cutter.cut()
    names.update(made.names)
    return made

def states(made):
    return [window.PROCESS_STATES[row[2]] for row in made.processes.tolist()]
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    make_files(tmp_path / "data")
    return tmp_path / "data"


def run(directory: Path, body: str, *arguments: str, **environment: str) -> dict[str, object]:
    """Runs a recorded program in a process of its own; it prints one line of JSON last."""
    guarded = textwrap.indent(textwrap.dedent(body), "    ")
    program = directory.parent / "program.py"
    program.write_text(f"{PREAMBLE}\nif __name__ == '__main__':\n{guarded}\n")
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(program), str(directory), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return result


ENDINGS = {
    "return": "ended",
    "_exit": "ended",
    "failure": "ended badly",
    "SIGKILL": "ended badly",
    "SIGTERM": "ended badly",
    "crash": "ended badly",
}


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_child_counts_to_its_last_call(directory: Path, method: str, ending: str) -> None:
    result = run(
        directory,
        """
        recorder = attach("builtin")
        cutter = WindowCutter(recorder)
        cut()
        method, ending = sys.argv[2:]
        child = multiprocessing.get_context(method).Process(
            target=read_all, args=(directory, ending))
        child.start()
        pid = child.pid
        child.join()
        made = cut()
        its = [row for row in made.processes.tolist() if row[0] == pid]
        recorder.detach()
        bins = made.modules["POSIX"].bins.values
        print(json.dumps({"files": files_of(made), "bins": int(bins[:, 0].sum()),
                          "state": [window.PROCESS_STATES[row[2]] for row in its],
                          "read": [row[3] for row in its],
                          "left": [n for n in os.listdir("/dev/shm") if f".{pid}." in n]}))
        """,
        method,
        ending,
    )
    assert result["files"]["bytes_read"] == ONE_PASS
    assert result["files"]["opens"] == 20
    assert result["files"]["processes"] == 1
    assert result["state"] == [ENDINGS[ending]]
    assert result["read"][0] >= ONE_PASS
    assert result["bins"] >= ONE_PASS
    assert result["left"] == []


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_grandchildren_count_too(directory: Path, method: str) -> None:
    result = run(
        directory,
        """
        recorder = attach("builtin")
        cutter = WindowCutter(recorder)
        child = multiprocessing.get_context(sys.argv[2]).Process(
            target=read_all, args=(directory, "grandchild"))
        child.start(); child.join()
        print(json.dumps(files_of(cut())))
        recorder.detach()
        """,
        method,
    )
    assert result["bytes_read"] == 2 * ONE_PASS


def test_a_started_python_joins_and_another_program_is_named(directory: Path) -> None:
    result = run(
        directory,
        """
        recorder = attach("builtin")
        cutter = WindowCutter(recorder)
        code = f"[open('{directory}/%d.bin' % i, 'rb').read() for i in range({FILES})]"
        subprocess.run([sys.executable, "-c", code], check=True)
        subprocess.run(["cat", f"{directory}/1.bin"], check=True, stdout=subprocess.DEVNULL)
        made = cut()
        print(json.dumps({"files": files_of(made), "notes": made.notes}))
        recorder.detach()
        """,
    )
    assert result["files"]["bytes_read"] == ONE_PASS
    assert any("not recorded: cat" in note for note in result["notes"])


def test_pools_of_workers(directory: Path) -> None:
    result = run(
        directory,
        """
        recorder = attach("builtin")
        cutter = WindowCutter(recorder)
        counts = {}
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(3) as pool:
                pool.map(read_all, [directory] * 8)
            counts[method] = files_of(cut())["bytes_read"]
        print(json.dumps(counts))
        recorder.detach()
        """,
    )
    assert result == {"fork": 8 * ONE_PASS, "spawn": 8 * ONE_PASS}


def test_a_live_child_is_seen_while_it_runs_and_nothing_counts_twice(directory: Path) -> None:
    result = run(
        directory,
        """
        recorder = attach("builtin")
        cutter = WindowCutter(recorder)
        context = multiprocessing.get_context("fork")
        go_on, done = context.Event(), context.Event()
        def work():
            read_all(directory)
            done.set(); go_on.wait()
            read_all(directory)
        child = context.Process(target=work)
        child.start()
        done.wait()
        first = cut()
        go_on.set(); child.join()
        second = cut()
        third = cut()
        cuts = (first, second, third)
        print(json.dumps({"reads": [files_of(made).get("bytes_read", 0) for made in cuts],
                          "states": [states(made)[1:] for made in cuts]}))
        recorder.detach()
        """,
    )
    assert result["reads"] == [ONE_PASS, ONE_PASS, 0]
    assert result["states"] == [["running"], ["ended"], []]


def test_a_file_knows_how_many_processes_used_it(directory: Path) -> None:
    result = run(
        directory,
        """
        recorder = attach("builtin")
        cutter = WindowCutter(recorder)
        found = []
        for method in (None, "fork", "spawn", "fork"):
            if method is None:
                read_all(directory)
            else:
                child = multiprocessing.get_context(method).Process(
                    target=read_all, args=(directory,))
                child.start(); child.join()
            read_all(directory)
            found.append(files_of(cut())["processes"])
        children = [multiprocessing.get_context("fork").Process(
            target=read_all, args=(directory,)) for _ in range(3)]
        for child in children: child.start()
        for child in children: child.join()
        found.append(files_of(cut())["processes"])
        print(json.dumps({"processes": found}))
        recorder.detach()
        """,
    )
    assert result == {"processes": [1, 2, 3, 4, 7]}


def test_inherited_descriptors_count_in_the_child(directory: Path) -> None:
    result = run(
        directory,
        """
        recorder = attach("builtin")
        cutter = WindowCutter(recorder)
        fd = os.open(f"{directory}/3.bin", os.O_RDONLY)
        os.read(fd, 100)
        pid = os.fork()
        if pid == 0:
            os.read(fd, 500)
            os._exit(0)
        os.waitpid(pid, 0)
        made = cut()
        print(json.dumps(files_of(made)))
        recorder.detach()
        """,
    )
    assert (result["opens"], result["reads"], result["bytes_read"]) == (1, 2, 600)


def test_forks_while_threads_read_neither_hang_nor_lose(directory: Path) -> None:
    result = run(
        directory,
        """
        recorder = attach("builtin")
        cutter = WindowCutter(recorder)
        finished, passes = threading.Event(), []
        def work():
            n = 0
            while not finished.is_set():
                read_all(directory)
                n += 1
            passes.append(n)
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads: thread.start()
        totals, children = 0, 200
        for i in range(children):
            pid = os.fork()
            if pid == 0:
                fd = os.open(f"{directory}/0.bin", os.O_RDONLY)
                os.read(fd, 1)
                os._exit(0)
            os.waitpid(pid, 0)
            if i % 50 == 0: totals += files_of(cut()).get("bytes_read", 0)
        finished.set()
        for thread in threads: thread.join()
        totals += files_of(cut()).get("bytes_read", 0)
        recorder.detach()
        print(json.dumps({"read": totals, "expected": sum(passes) * ONE_PASS + children,
                          "left": [name for name in os.listdir("/dev/shm") if f".{pid}." in name]}))
        """,
    )
    assert result["read"] == result["expected"]
    assert result["left"] == []


def test_without_children_a_child_is_left_alone(directory: Path) -> None:
    result = run(
        directory,
        """
        recorder = attach("builtin", children=False)
        cutter = WindowCutter(recorder)
        for method in ("fork", "spawn"):
            child = multiprocessing.get_context(method).Process(target=read_all, args=(directory,))
            child.start(); child.join()
        print(json.dumps({"read": files_of(cut()).get("bytes_read", 0),
                          "invited": "TENSORBOARD_DARSHAN_JOIN" in os.environ}))
        recorder.detach()
        """,
    )
    assert result == {"read": 0, "invited": False}


def test_a_child_with_a_recording_of_its_own_is_not_counted_by_its_parent(directory: Path) -> None:
    result = run(
        directory,
        """
        from tensorboard_plugin_darshan import DarshanMonitor
        recorder = attach("builtin")
        cutter = WindowCutter(recorder)
        def rank():
            with DarshanMonitor(f"{directory}-logs") as monitor:
                read_all(directory)
        child = multiprocessing.get_context("fork").Process(target=rank)
        child.start(); child.join()
        print(json.dumps({"read": files_of(cut()).get("bytes_read", 0), "exit": child.exitcode,
                          "recordings": os.listdir(f"{directory}-logs/darshan")}))
        recorder.detach()
        """,
    )
    assert result == {"read": 0, "exit": 0, "recordings": ["rank0"]}


def test_the_kernel_counts_what_children_read(directory: Path) -> None:
    result = run(
        directory,
        """
        recorder = attach("builtin")
        cutter = WindowCutter(recorder)
        cut()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            pool.map(read_all, [directory] * 50)
        made = cut()
        print(json.dumps({"seen": files_of(made)["bytes_read"], "kernel": int(made.process_io[0])}))
        recorder.detach()
        """,
    )
    assert result["seen"] == 50 * ONE_PASS
    # the kernel also counts what the pool says through pipes
    assert result["seen"] <= result["kernel"] < 1.2 * result["seen"]


def test_memory_of_a_killed_training_is_removed_by_the_next(tmp_path: Path) -> None:
    program = """
import os, signal, sys
from tensorboard_plugin_darshan import attach
from tensorboard_plugin_darshan.recording.native import native
recorder = attach("builtin")
ready, told = os.pipe()
if os.fork() == 0:
    os.write(told, b"x")
    signal.pause()
os.read(ready, 1)
print(native().status()["arena"], flush=True)
sys.stdin.read()
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    killed = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment,
    )
    assert killed.stdout is not None
    arena = Path(killed.stdout.readline().strip())
    memory = list(arena.parent.glob(f"{arena.name}*"))
    assert len(memory) == 2
    attach_and_detach = "from tensorboard_plugin_darshan import attach; attach('builtin').detach()"
    command = [sys.executable, "-c", attach_and_detach]
    subprocess.run(command, check=True, env=environment)
    assert all(path.exists() for path in memory), "a living training's memory was removed"
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    subprocess.run(command, check=True, env=environment)
    assert not any(path.exists() for path in memory)
