"""What a descriptor stands for, however it was made, copied, handed over and closed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.native.nasty.conftest import Library

pytestmark = pytest.mark.native

Run = Callable[..., str]
MODES = ["True", "False"]


def test_files_open_before_attach(run: Run) -> None:
    script = """
        path, other = make("data", 5000), make("other", 100)
        fd, writer = os.open(path, os.O_RDONLY), os.open(other, os.O_RDWR)
        os.lseek(fd, 1000, os.SEEK_SET)
        recorder = attach(extended=False)  # as Darshan: unknown
        assert len(os.read(fd, 100)) == 100
        assert record_of(recorder, path) == {}
        recorder.detach()
        recorder = attach(extended=True)  # known, without an open
        assert record_of(recorder, path) == {}  # until something happens
        assert len(os.read(fd, 100)) == 100
        assert os.write(writer, bytes(30)) == 30
        record = record_of(recorder, path)
        assert (record["OPENS"], record["READS"], record["BYTES_READ"]) == (0, 1, 100)
        assert record["MAX_BYTE_READ"] == 1199  # it knows where the descriptor was
        assert bytes_of(recorder, other) == (0, 30)
        os.close(fd)
        reader, pipe = os.pipe()
        assert fd in (reader, pipe)
        os.write(pipe, b"x" * 10)
        os.read(reader, 10)
        assert bytes_of(recorder, path) == (100, 0)
    """
    run(script)


def test_stream_open_before_attach_and_closed_after(library: Library, run: Run) -> None:
    """The stream itself is unknown, but its descriptor must not outlive it."""
    script = """
        libc, path = ctypes.CDLL(None), make("data", 5000)
        libc.fopen.restype = ctypes.c_void_p
        stream = ctypes.c_void_p(libc.fopen(os.fsencode(path), b"r"))
        fd = libc.fileno(stream)
        recorder = attach(extended=True)
        assert len(os.pread(fd, 100, 0)) == 100
        assert bytes_of(recorder, path) == (100, 0)
        simple = load(sys.argv[1])
        assert simple.close_stream(stream) == 0
        reader, writer = os.pipe()
        assert fd in (reader, writer)
        os.write(writer, b"x" * 10)
        assert len(os.read(reader, 10)) == 10
        assert bytes_of(recorder, path) == (100, 0)
    """
    run(script, library("simple.c"))


@pytest.mark.parametrize("extended", MODES)
def test_standard_streams(extended: str, library: Library, run: Run) -> None:
    script = """
        simple, extended = load(sys.argv[1]), sys.argv[2] == "True"
        assert not records_of(attach(extended=extended), "STDIO").keys() & {"<STDOUT>", "<STDERR>"}
        recorder = attach(extended=extended)
        assert simple.print_lines(10) == 0
        os.write(1, b"more")
        os.write(2, b"")
        found = records_of(recorder, "STDIO")
        record = found["<STDOUT>"]
        assert (record["OPENS"], record["WRITES"], record["BYTES_WRITTEN"]) == (1, 10, 20), record
        assert record["FLUSHES"] == 1 and record["F_META_TIME"] == 0
        assert "<STDIN>" not in found and "<STDERR>" not in found  # nothing was moved
        posix = records_of(recorder)
        assert not [path for path in posix if path.startswith(("<", "pipe"))], posix
    """
    run(script, library("simple.c", "-fno-builtin"), extended)


@pytest.mark.parametrize("extended", MODES)
def test_standard_output_that_is_a_file(extended: str, run: Run) -> None:
    """Darshan does not know what was open; more than Darshan counts it as the file it is."""
    script = """
        path = os.path.abspath("out")
        fd = os.open(path, os.O_CREAT | os.O_WRONLY)
        kept = os.dup(1)
        os.dup2(fd, 1)
        recorder = attach(extended=sys.argv[1] == "True")
        os.write(1, b"x" * 100)
        print("y" * 50, flush=True)
        expected = 151 if sys.argv[1] == "True" else 0
        assert bytes_of(recorder, path) == (0, expected)
    """
    run(script, extended)


@pytest.mark.parametrize("extended", MODES)
def test_what_is_not_a_file_is_ignored(extended: str, library: Library, run: Run) -> None:
    """Also where its number was a file's, and nobody saw that file being closed."""
    script = """
        import select, socket
        children = load(sys.argv[1])
        recorder = attach(extended=sys.argv[2] == "True", children=False)

        def pipes():
            return os.pipe()

        def sockets():
            first, second = socket.socketpair()
            return first.detach(), second.detach()

        def accepted():
            listener = socket.create_server(("127.0.0.1", 0))
            client = socket.create_connection(listener.getsockname())
            server, _ = listener.accept()
            return server.detach(), client.detach()

        def event():
            fd = os.eventfd(0)
            os.write(fd, (1).to_bytes(8, sys.byteorder))
            os.read(fd, 8)
            return ()

        def memory():
            fd = os.memfd_create("memory")
            os.write(fd, b"x" * 99)
            assert os.pread(fd, 99, 0) == b"x" * 99
            return ()

        for make_them in (pipes, sockets, accepted, event, memory):
            for close in (os.close, children.close_unseen):
                path = make(f"{make_them.__name__}-{close is os.close}", 50)
                held = [os.open(path, os.O_RDWR) for _ in range(8)]
                before = bytes_of(recorder, path)
                for fd in held:
                    close(fd)
                found = make_them()
                if found:
                    reader, writer = found
                    assert os.write(writer, b"x" * 1000) == 1000
                    assert len(os.read(reader, 1000)) == 1000
                    os.close(writer)
                    os.close(reader)
                assert bytes_of(recorder, path) == before, (make_them, close)
        names = [p for p in records_of(recorder) if not p.startswith((os.getcwd(), "<"))]
        assert not [p for p in names if "pipe" in p or "socket" in p or "memfd" in p], names
    """
    run(script, library("children.c"), extended)


@pytest.mark.parametrize("extended", MODES)
def test_a_hundred_thousand_opens(extended: str, run: Run) -> None:
    script = """
        from tensorboard_plugin_darshan import _native
        path = make("data", 10)
        recorder = attach(extended=sys.argv[1] == "True")
        os.close(os.open(path, os.O_RDONLY))
        before = _native.status()["arena_bytes"], memory_kib()
        for _ in range(100_000):
            os.close(os.open(path, os.O_RDONLY))
        record = record_of(recorder, path)
        assert record["OPENS"] == 100_001, record
        after = _native.status()["arena_bytes"], memory_kib()
        assert after[0] - before[0] < 200_000, (before, after)  # time bins, at most
        assert after[1] - before[1] < 4096, (before, after)
        assert 0 < record["F_META_TIME"] < recorder.seconds()
    """
    run(script, extended)


def test_copies_over_tracked_descriptors(run: Run) -> None:
    script = """
        a, b, c = (make(name, 1000) for name in "abc")
        recorder = attach(extended=False)
        base = {path: bytes_of(recorder, path)[1] for path in (a, b, c)}
        first, second = os.open(a, os.O_RDWR), os.open(b, os.O_RDWR)
        os.dup2(first, second)  # b's number is a's now
        assert os.write(second, bytes(10)) == 10
        assert bytes_of(recorder, a)[1] == 10 and bytes_of(recorder, b)[1] == 0
        os.close(second)
        third = os.open(c, os.O_RDWR)
        assert third == second
        assert os.write(third, bytes(7)) == 7
        assert bytes_of(recorder, b)[1] == 0 and bytes_of(recorder, c)[1] == 7
        reader, writer = os.pipe()
        os.dup2(writer, third)  # a pipe over a file
        os.write(third, b"x" * 100)
        assert bytes_of(recorder, c)[1] == 7
        assert record_of(recorder, a)["DUPS"] == 1
        assert record_of(recorder, c)["DUPS"] == 0
        os.dup2(first, first, inheritable=True)
        assert os.write(first, bytes(3)) == 3
        assert bytes_of(recorder, a)[1] == 13
    """
    run(script)


def test_closed_ranges(run: Run) -> None:
    script = """
        path = make("data", 100)
        recorder = attach(extended=False)
        fds = [os.open(path, os.O_RDWR) for _ in range(10)]
        libc = ctypes.CDLL(None)
        assert libc.close_range(1 << 31, 5, 0) == -1  # not seen, being called by address
        os.closerange(fds[2], fds[5] + 1)
        for fd in fds[:2] + fds[6:]:
            assert os.pwrite(fd, bytes(1), 0) == 1  # still open and known
        assert bytes_of(recorder, path)[1] == 6
        ends = [fd for _ in range(2) for fd in os.pipe()]
        assert set(ends) == set(fds[2:6])
        for fd in ends[1::2]:
            os.write(fd, b"x" * 50)
        assert bytes_of(recorder, path)[1] == 6
    """
    run(script)


def test_listed_directories(run: Run) -> None:
    """Time of the directory, and its descriptor is gone with the listing."""
    script = """
        os.mkdir("folder")
        for i in range(50):
            make(f"folder/{i}", 1)
        folder = os.path.abspath("folder")
        recorder = attach(extended=True)
        assert len(os.listdir(folder)) == 50
        record = record_of(recorder, folder)
        assert record["F_META_TIME"] > 0 and record["OPENS"] == 0
        before = record["F_META_TIME"]
        for name in os.listdir(folder):
            os.unlink(f"folder/{name}")
        os.mkdir("folder/inner")
        os.rmdir("folder/inner")
        assert record_of(recorder, folder)["F_META_TIME"] > before
        with os.scandir(folder) as entries:
            assert list(entries) == []
        reader, writer = os.pipe()
        os.write(writer, b"x" * 50)
        assert bytes_of(recorder, folder) == (0, 0)
        assert record_of(recorder, f"{folder}/inner") == {}
        recorder.detach()
        recorder = attach(extended=False)
        os.listdir(folder)
        assert records_of(recorder).keys() <= {"<STDIN>"}
    """
    run(script)


def test_files_beyond_the_ceiling(run: Run) -> None:
    script = """
        os.closerange(3, 1000)  # files that were open count too
        recorder = attach(max_files=10)
        paths = [make(f"file{i}", 1000 + i) for i in range(100)]
        for path in paths:
            with open(path, "rb") as file:
                assert len(file.read()) >= 1000
        expected = sum(1000 + i for i in range(100))
        found = records_of(recorder)
        assert len(found) == 11, found.keys()
        assert total(recorder, "BYTES_READ") == total(recorder, "BYTES_WRITTEN") == expected
        assert total(recorder, "OPENS") == 200
        totals = recorder.own.totals("POSIX")
        assert totals.partial and totals.records == 11
        assert recorder.facts()["refused_files"] > 0
        own = [found[path]["BYTES_READ"] for path in paths[:5]]
        assert own == [1000, 1001, 1002, 1003, 1004]
        assert found["<other files>"]["BYTES_READ"] > 80 * 1000
        bins = recorder.own.drain_bins("POSIX").values.sum(axis=0)
        assert bins[0] == bins[1] == expected
        recorder.detach()
        recorder = attach()
        with open(paths[0], "rb") as file:
            file.read()
        assert not recorder.own.totals("POSIX").partial
    """
    run(script)


def test_copies_within_the_kernel(run: Run) -> None:
    script = """
        import shutil
        source, target = make("source", 300_000), os.path.abspath("target")
        recorder = attach(extended=True)
        shutil.copyfile(source, target)  # by sendfile
        assert bytes_of(recorder, source)[0] == 300_000
        assert bytes_of(recorder, target)[1] == 300_000
        assert record_of(recorder, target)["MAX_BYTE_WRITTEN"] == 299_999
        first, second = os.open(source, os.O_RDONLY), os.open("second", os.O_CREAT | os.O_RDWR)
        assert os.copy_file_range(first, second, 1000, 5000, 0) == 1000
        record = record_of(recorder, source)
        assert record["BYTES_READ"] == 301_000
        assert bytes_of(recorder, os.path.abspath("second"))[1] == 1000
        reader, writer = os.pipe()
        assert os.splice(first, writer, 500, offset_src=7) == 500
        assert os.splice(reader, second, 500, offset_dst=100) == 500
        assert bytes_of(recorder, source)[0] == 301_500
        assert bytes_of(recorder, os.path.abspath("second"))[1] == 1500
        import socket
        left, right = socket.socketpair()
        assert os.sendfile(left.fileno(), first, 0, 4000) == 4000
        assert bytes_of(recorder, source)[0] == 305_500
        recorder.detach()
        recorder = attach(extended=False)  # Darshan sees none of it
        shutil.copyfile(source, target)
        assert bytes_of(recorder, source)[0] == bytes_of(recorder, target)[1] == 0
    """
    run(script)


def test_maps_and_rings_are_told(library: Library, run: Run) -> None:
    liburing = library("liburing.c", "-Wl,-soname,liburing.so.2")
    rings = library("rings.c", str(liburing), f"-Wl,-rpath,{liburing.parent}")
    liburing.with_name("liburing.so.2").write_bytes(liburing.read_bytes())
    script = """
        import mmap
        path, rings = make("data", 5000), load(sys.argv[1])
        recorder = attach(extended=True)
        assert recorder.facts()["mapped_files"] == recorder.facts()["rings"] == 0
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            assert len(mapped[:]) == 5000
        assert recorder.facts()["mapped_files"] == 1
        assert record_of(recorder, path)["MMAPS"] == 1
        assert rings.set_up(4) == 0
        assert recorder.facts()["rings"] == 2
        assert rings.set_up(0) == -1
        assert recorder.facts()["rings"] == 2
        direct = [rings.set_up_directly() for _ in range(3)]
        if min(direct) >= 0:
            assert recorder.facts()["rings"] == 3  # by their descriptors
        recorder.detach()
        assert rings.set_up(4) == 0
    """
    run(script, rings)
