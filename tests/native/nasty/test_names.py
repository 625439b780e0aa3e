"""Names of files, however they are spelled."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.native.nasty.conftest import Library

pytestmark = pytest.mark.native

Run = Callable[..., str]
MODES = ["True", "False"]


@pytest.mark.parametrize("extended", MODES)
def test_spellings(extended: str, library: Library, run: Run) -> None:
    """Slashes and `/./` fold; links, `..` and hard links are files of their own, as in Darshan."""
    script = """
        simple, here = load(sys.argv[1]), os.getcwd()
        os.mkdir("sub")
        make("data", 100)
        os.symlink("data", "link")
        os.link("data", "hard")
        recorder = attach(extended=sys.argv[2] == "True")
        for spelling in ("data", "./data", f"{here}//data", f"{here}/././/data", "././/data"):
            assert simple.read_file(spelling) == 100, spelling
        for spelling in ("sub/../data", "link", "hard", f"{here}/sub/../data"):
            assert simple.read_file(spelling) == 100, spelling
        os.chdir("sub")
        assert simple.read_file("../data") == 100
        names = {path.removeprefix(here): record["BYTES_READ"]
                 for path, record in records_of(recorder).items() if path.startswith(here)}
        assert names == {"/data": 500, "/sub/../data": 300, "/link": 100, "/hard": 100}, names
    """
    run(script, library("simple.c"), extended)


def test_names_that_are_not_utf8(library: Library, run: Run) -> None:
    script = r"""
        simple, here = load(sys.argv[1]), os.getcwd()
        names = [b"\xff\xfe", b"caf\xe9", "naïve 数据 <b>&.bin".encode(), b"a\nb\tc", b"<x", b" "]
        for name in names:
            make(os.fsdecode(name), 100)
        recorder = attach(extended=False)
        for name in names:
            assert simple.read_file(os.fsdecode(os.path.join(os.fsencode(here), name))) == 100
        found = {os.fsencode(path) for path in records_of(recorder)}
        assert found >= {os.path.join(os.fsencode(here), name) for name in names}, found
    """
    run(script, library("simple.c"))


@pytest.mark.parametrize("extended", MODES)
def test_names_of_four_thousand_bytes(extended: str, library: Library, run: Run) -> None:
    script = """
        simple, path = load(sys.argv[1]), os.getcwd()
        while len(path) < 3740:
            path += "/" + "d" * 250
        os.makedirs(path)
        path += "/" + "f" * (4000 - len(path) - 1)
        assert len(path) == 4000
        recorder = attach(extended=sys.argv[2] == "True")
        assert simple.write_file(path, 300) == 300
        assert simple.read_file(path) == 300
        assert bytes_of(recorder, path) == (300, 300)
        if sys.argv[2] == "True":
            assert os.stat(path).st_size == 300
            assert record_of(recorder, path)["STATS"] == 1
            os.unlink(path)
            assert record_of(recorder, os.path.dirname(path))["F_META_TIME"] > 0
    """
    run(script, library("simple.c"), extended)


def test_names_that_no_system_call_takes(library: Library, run: Run) -> None:
    """Deeper than a path may be long, step by step, relative and beside a descriptor."""
    script = """
        import shutil
        simple, here = load(sys.argv[1]), os.getcwd()
        recorder = attach(extended=True)
        part, depth = "d" * 250, 40  # 10,000 bytes
        for _ in range(depth):
            os.mkdir(part)
            os.chdir(part)
        assert simple.write_file("data", 300) == 300  # too long for a record
        assert simple.read_file("data") == 300
        fd = os.open(".", os.O_RDONLY)
        inner = os.open("data", os.O_RDONLY, dir_fd=fd)
        assert len(os.read(inner, 1000)) == 300
        assert simple.read_file("x" * 5000) == 0
        assert simple.read_file("") == 0
        os.close(inner)
        os.close(fd)
        found = [path for path in records_of(recorder) if path.endswith("/data")]
        assert len(found) <= 1, found
        os.chdir(here)
        shutil.rmtree(part)
    """
    run(script, library("simple.c"))


@pytest.mark.parametrize("extended", MODES)
def test_names_beside_a_directory(extended: str, run: Run) -> None:
    """Where the directory's descriptor is unknown, Darshan takes the current directory."""
    script = """
        here, extended = os.getcwd(), sys.argv[1] == "True"
        os.makedirs("one/two")
        make("one/two/data", 100)
        before = os.open("one", os.O_RDONLY)
        recorder = attach(extended=extended)
        known = os.open("one/two", os.O_RDONLY)
        fd = os.open("data", os.O_RDONLY, dir_fd=known)
        assert len(os.read(fd, 1000)) == 100
        assert bytes_of(recorder, f"{here}/one/two/data")[0] == 100
        fd = os.open("two/data", os.O_RDONLY, dir_fd=before)
        assert len(os.read(fd, 1000)) == 100
        right = bytes_of(recorder, f"{here}/one/two/data")[0]
        wrong = bytes_of(recorder, f"{here}/two/data")[0]
        assert (right, wrong) == ((200, 0) if extended else (100, 100))
        fd = os.open(f"{here}/one/two/data", os.O_RDONLY, dir_fd=before)
        assert len(os.read(fd, 1000)) == 100  # absolute: the directory does not matter
        assert bytes_of(recorder, f"{here}/one/two/data")[0] == right + 100
        if extended:
            os.rename("two/data", "moved", src_dir_fd=before, dst_dir_fd=known)
            assert record_of(recorder, f"{here}/one/two/data")["RENAME_SOURCES"] == 1
            assert record_of(recorder, f"{here}/one/two/moved")["RENAME_TARGETS"] == 1
            os.stat("moved", dir_fd=known)
            assert record_of(recorder, f"{here}/one/two/moved")["STATS"] == 1
            os.stat(fd)
            assert record_of(recorder, f"{here}/one/two/data")["STATS"] == 1
            os.unlink("moved", dir_fd=known)
            os.mkdir("new", dir_fd=known)
            assert record_of(recorder, f"{here}/one/two/new") == {}
    """
    run(script, extended)


@pytest.mark.parametrize("extended", MODES)
def test_what_is_left_out(extended: str, library: Library, run: Run) -> None:
    script = """
        import tempfile
        simple, extended = load(sys.argv[1]), sys.argv[2] == "True"
        recorder = attach(extended=extended)
        with tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="seen-") as file:
            assert simple.write_file(file.name, 10) == 10
            assert bytes_of(recorder, file.name) == ((0, 10) if extended else (0, 0))
        assert simple.read_file("/etc/hostname") > 0
        assert simple.read_file("/proc/self/status") > 0
        assert simple.read_file(sys.executable) > 0
        names = records_of(recorder).keys()
        assert not [n for n in names if n.startswith(("/etc", "/proc"))], names
        recorder.detach()
        recorder = attach(extended=extended, exclude=[os.path.abspath("no")])
        os.mkdir("no")
        os.mkdir("note")
        for name in ("no/data", "note/data"):
            assert simple.write_file(name, 10) == 10
        assert bytes_of(recorder, os.path.abspath("no/data")) == (0, 0)
        assert bytes_of(recorder, os.path.abspath("note/data")) == (0, 10)
        assert simple.read_file("/etc/hostname") > 0
        assert bytes_of(recorder, "/etc/hostname")[0] > 0
    """
    run(script, library("simple.c"), extended)
