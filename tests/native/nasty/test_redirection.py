"""Whose calls are seen: every way in which libraries come, call and go."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.native.nasty.conftest import Library

pytestmark = pytest.mark.native

Run = Callable[..., str]
SIZE = 5000
LINKED = {
    "lazy": ("-Wl,-z,lazy",),
    "now": ("-Wl,-z,now", "-Wl,-z,relro"),
    "no_plt": ("-fno-plt", "-Wl,-z,now", "-Wl,-z,relro"),
    "no_plt_lazy": ("-fno-plt", "-Wl,-z,lazy", "-Wl,-z,norelro"),
    "symbolic": ("-Wl,-Bsymbolic", "-Wl,--hash-style=sysv"),
}


@pytest.mark.parametrize("linked", LINKED)
@pytest.mark.parametrize("loaded", ["before", "after"])
def test_library_is_seen_however_it_is_linked(
    linked: str, loaded: str, library: Library, run: Run
) -> None:
    script = """
        path, when = make("data", 5000), sys.argv[2]
        if when == "before":
            simple = load(sys.argv[1])
            simple.read_file(path)
        recorder = attach(extended=False)
        if when == "after":
            simple = load(sys.argv[1])
        assert simple.read_file(path) == 5000
        assert simple.write_file(path, 300) == 300
        assert bytes_of(recorder, path) == (5000, 300)
        recorder.detach()
        assert simple.read_file(path) == 300  # goes on by itself

        with open("/proc/self/maps") as maps:
            mine = [line.split()[1] for line in maps if sys.argv[1] in line]
        assert not any(set("wx") <= set(rights) for rights in mine), mine
        print(sum(rights == "r--p" for rights in mine))
    """
    path = library("simple.c", *LINKED[linked])
    read_only = int(run(script, path, loaded))
    assert read_only >= 2  # pages that were made writable are read-only again


def test_stored_function_pointers(library: Library, run: Run) -> None:
    """Seen: what the loader filled in, and what was kept while attached. Not seen: what was kept
    before, and what dlsym gave. After a detach all of them work."""
    script = """
        pointers, path = load(sys.argv[1]), make("data", 5000)
        pointers.keep()  # before
        recorder = attach(extended=False)
        fd = os.open(path, os.O_RDONLY)

        def seen(name):
            before = record_of(recorder, path)["READS"]
            assert getattr(pointers, name)(fd, 10) == 10
            return record_of(recorder, path)["READS"] - before

        pointers.find()
        assert [seen(n) for n in ("read_in_data", "read_kept", "read_found")] == [1, 0, 0]
        pointers.keep()  # while attached
        assert seen("read_kept") == 1
        recorder.detach()
        for name in ("read_in_data", "read_kept", "read_found"):
            assert getattr(pointers, name)(fd, 10) == 10
        recorder = attach(extended=False)
        fd = os.open(path, os.O_RDONLY)
        assert seen("read_kept") == 1  # still leads through the wrapper
    """
    run(script, library("pointers.c"))


@pytest.mark.parametrize("mode", [os.RTLD_LOCAL | os.RTLD_NOW, os.RTLD_LOCAL | os.RTLD_LAZY])
def test_library_loaded_by_a_library(mode: int, library: Library, run: Run) -> None:
    script = """
        loader, path = load(sys.argv[1]), make("data", 5000)
        recorder = attach(extended=False)
        assert loader.load(sys.argv[2], int(sys.argv[3])) == 0
        assert loader.call(path) == 5000
        assert bytes_of(recorder, path) == (5000, 0)
    """
    run(script, library("loader.c"), library("simple.c"), str(mode))


@pytest.mark.parametrize("tags", ["--enable-new-dtags", "--disable-new-dtags"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_library_found_by_the_callers_search_path(
    tags: str, when: str, library: Library, run: Run, tmp_path: Path
) -> None:
    """The real dlopen must see who called it, or $ORIGIN leads elsewhere."""
    own, beside = tmp_path / "own", tmp_path / "own" / "beside"
    hidden = library("simple.c", output=beside / "libhidden_for_test.so")
    search = (f"-Wl,{tags}", "-Wl,-rpath,$ORIGIN/beside")
    loader = library("loader.c", *search, output=own / "loader.so")
    needs = (*search, f"-L{beside}", "-lhidden_for_test")
    dependent = library("dependent.c", *needs, output=own / "dependent.so")
    script = """
        loader = load(sys.argv[1]) if sys.argv[4] == "before" else None
        path = make("data", 5000)
        recorder = attach(extended=False)
        loader = loader or load(sys.argv[1])
        assert loader.load(sys.argv[3], os.RTLD_NOW) == 0
        assert loader.call(path) == 5000
        dependent = load(sys.argv[2])
        assert dependent.read_through_dependency(path) == 5000
        assert bytes_of(recorder, path) == (10000, 0)
    """
    run(script, loader, dependent, hidden.name, when)


def test_call_bound_to_another_library_is_left_alone(library: Library, run: Run) -> None:
    own = library("own_write.c")
    user = library("simple.c", str(own), f"-Wl,-rpath,{own.parent}")
    script = """
        path = os.path.abspath("data")
        own, user = load(sys.argv[1]), load(sys.argv[2], os.RTLD_DEEPBIND)
        recorder = attach(extended=False)
        assert user.write_file(path, 100) == 100
        assert own.own_writes() == 1
        facts = recorder.facts()
        assert [sys.argv[2], "write", "bound to another library"] in facts["skips"], facts
        assert facts["skipped_slots"] == len(facts["skips"])
        assert bytes_of(recorder, path) == (0, 100)  # by the writev beneath
    """
    run(script, own, user)


def test_facts_count_objects_and_slots(library: Library, run: Run) -> None:
    script = """
        recorder = attach(extended=False)
        before = recorder.facts()
        assert before["objects"] > 3 and before["slots"] > 50, before
        simple = load(sys.argv[1])
        after = recorder.facts()
        assert after["objects"] == before["objects"] + 1
        assert after["slots"] > before["slots"]
        recorder.detach()
        recorder = attach()
        assert recorder.facts()["slots"] > after["slots"]  # more calls
    """
    run(script, library("simple.c"))


def test_cxx_streams(library: Library, run: Run) -> None:
    script = """
        streams, simple = load(sys.argv[1]), load(sys.argv[2])
        recorder, others = attach(), [make(f"other{i}", 100) for i in range(5)]
        path = os.path.abspath("text")
        size = streams.write_stream(path, 5000)
        assert size == os.path.getsize(path) == 5000 * 10 + 20000
        for other in others:  # numbers of descriptors go round
            assert simple.read_file(other) == 100
        assert streams.read_stream(path) == size
        reader, writer = os.pipe()
        os.write(writer, b"x" * 1000)
        assert len(os.read(reader, 1000)) == 1000
        assert streams.update_stream(path) > 0
        posix, stdio = record_of(recorder, path), record_of(recorder, path, "STDIO")
        assert stdio["OPENS"] == 3
        assert posix["BYTES_WRITTEN"] + stdio["BYTES_WRITTEN"] == size + 3
        assert posix["BYTES_READ"] + stdio["BYTES_READ"] >= size
        for other in others:
            assert bytes_of(recorder, other) == (100, 100)
    """
    run(script, library("streams.cc"), library("simple.c"))


def test_library_unloaded_while_attached(library: Library, run: Run) -> None:
    """Its slots are gone at the detach, and others may lie where they were."""
    script = """
        import _ctypes
        path, libraries = make("data", 5000), sys.argv[1:]
        for round in range(30):
            recorder = attach(extended=False)
            first = load(libraries[round % 3])
            assert first.read_file(path) == 5000
            _ctypes.dlclose(first.handle)
            second = load(libraries[(round + 1) % 3])
            assert second.read_file(path) == 5000
            assert bytes_of(recorder, path) == (10000, 0)
            if round % 2:
                _ctypes.dlclose(second.handle)
            recorder.detach()
            if not round % 2:
                assert second.read_file(path) == 5000
                _ctypes.dlclose(second.handle)
    """
    large = ("-Wl,-z,now", "-Wl,-z,max-page-size=2097152")
    run(script, library("simple.c"), library("simple.c", *large), library("simple.c", "-fno-plt"))


def test_attach_and_detach_a_hundred_times_under_reading_threads(
    library: Library, run: Run
) -> None:
    script = """
        busy, path = load(sys.argv[1]), make("data", 5000)
        stopping = threading.Event()

        def read_on():
            while not stopping.is_set():
                with open(path, "rb") as file:
                    assert len(file.read()) == 5000

        threads = [threading.Thread(target=read_on) for _ in range(2)]
        for thread in threads:
            thread.start()
        busy.start_threads(path)
        for round in range(100):
            recorder = attach(extended=bool(round % 2), max_segments=10000 * (round % 3))
            time.sleep(0.002)
            recorder.snapshot()
            recorder.segments()
            recorder.own.drain_bins("POSIX")
            recorder.detach()
            if round == 30:
                before = memory_kib(), memory_kib("VmSize")
        stopping.set()
        for thread in threads:
            thread.join()
        assert busy.stop_threads() > 1000
        after = memory_kib(), memory_kib("VmSize")
        assert after[0] - before[0] < 8 * 1024, (before, after)
        assert after[1] - before[1] < 256 * 1024, (before, after)
        assert not [n for n in os.listdir("/dev/shm") if f"darshan-{os.getpid()}" in n]
    """
    run(script, library("busy.c"))


def test_detach_while_another_thread_reads_records(run: Run) -> None:
    script = """
        path = make("data", 5000)
        for round in range(60):
            recorder = attach(max_segments=1000)
            with open(path, "rb") as file:
                file.read()

            def look():
                try:
                    while True:
                        recorder.snapshot()
                        recorder.own.totals("POSIX")
                        recorder.own.drain_bins("POSIX")
                        recorder.segments()
                        recorder.facts()
                except RuntimeError as error:
                    messages.append(str(error))

            messages = []
            threads = [threading.Thread(target=look) for _ in range(2)]
            for thread in threads:
                thread.start()
            time.sleep(0.003)
            recorder.detach()
            for thread in threads:
                thread.join()
            assert len(messages) == 2, messages
            assert set(messages) <= {
                "this recorder was detached",
                "nothing is being recorded in this process",
            }, messages
    """
    run(script)
