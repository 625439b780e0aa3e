"""Calls whose meaning in Darshan is a surprise, or that it does not know."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.native.nasty.conftest import Library

pytestmark = pytest.mark.native

Run = Callable[..., str]
MODES = ["True", "False"]


@pytest.mark.parametrize("extended", MODES)
def test_asynchronous_calls(extended: str, library: Library, run: Run) -> None:
    """Counted when the result is fetched, with all the time since the submission."""
    script = """
        calls = load(sys.argv[1])
        path, late, listed = (make(name, 5000) for name in ("data", "late", "listed"))
        recorder = attach(extended=sys.argv[2] == "True", max_segments=100)
        assert calls.read_and_write(path, 100_000) == 200
        record = record_of(recorder, path)
        assert (record["READS"], record["WRITES"]) == (1, 1)
        assert (record["MAX_BYTE_READ"], record["MAX_BYTE_WRITTEN"]) == (99, 1099)
        assert 0.099 <= record["F_READ_TIME"] < 5, record
        assert record["F_READ_START_TIMESTAMP"] < record["F_READ_END_TIMESTAMP"] - 0.099
        assert calls.fetch_too_late(late) == 100
        record = record_of(recorder, late)
        assert (record["OPENS"], record["READS"]) == (1, 0)
        assert calls.read_list(listed) == 200
        record = record_of(recorder, listed)
        assert (record["BYTES_READ"], record["BYTES_WRITTEN"]) == (100, 100)
        assert record["MAX_BYTE_WRITTEN"] == 399
        assert len(recorder.segments()) == 4
    """
    run(script, library("calls.c"), extended)


def test_offset_minus_one(library: Library, run: Run) -> None:
    script = """
        calls, path = load(sys.argv[1]), make("data", 5000)
        recorder = attach(extended=False)
        assert calls.at_no_offset(path) == 200
        record = record_of(recorder, path)
        assert (record["MAX_BYTE_READ"], record["MAX_BYTE_WRITTEN"]) == (98, 98)  # taken literally
        recorder.detach()
        recorder = attach(extended=True)
        assert calls.at_no_offset(path) == 200
        record = record_of(recorder, path)
        assert (record["MAX_BYTE_READ"], record["MAX_BYTE_WRITTEN"]) == (699, 599)
    """
    run(script, library("calls.c"))


@pytest.mark.parametrize("extended", MODES)
def test_file_without_a_name(extended: str, library: Library, run: Run) -> None:
    script = """
        calls, here = load(sys.argv[1]), os.getcwd()
        recorder = attach(extended=sys.argv[2] == "True")
        assert calls.write_nameless(here) == 50
        record = record_of(recorder, here)  # that of its directory, as in Darshan
        assert (record["OPENS"], record["BYTES_WRITTEN"], record["MODE"]) == (1, 50, 0)
    """
    run(script, library("calls.c"), extended)


@pytest.mark.parametrize("extended", MODES)
def test_streams_without_a_file(extended: str, library: Library, run: Run) -> None:
    script = """
        calls = load(sys.argv[1])
        recorder = attach(extended=sys.argv[2] == "True", children=False)
        for _ in range(3):
            assert calls.use_other_streams() == 7
        assert records_of(recorder, "STDIO") == {}
        assert total(recorder, "BYTES_READ") == total(recorder, "BYTES_WRITTEN") == 0
    """
    run(script, library("calls.c"), extended)


@pytest.mark.parametrize("extended", MODES)
def test_descriptor_beneath_a_standard_stream(extended: str, library: Library, run: Run) -> None:
    script = """
        calls = load(sys.argv[1])
        recorder = attach(extended=sys.argv[2] == "True")
        assert calls.write_beneath_stdout() == 8
        os.write(1, b"more")
        record = record_of(recorder, "<STDOUT>")
        assert (record["OPENS"], record["FILENOS"], record["BYTES_WRITTEN"]) == (1, 1, 12), record
        assert record["FILE_ALIGNMENT"] == -1
        assert record_of(recorder, "<STDOUT>", "STDIO") == {}
    """
    run(script, library("calls.c"), extended)


def test_rename_of_a_file_that_was_never_opened(run: Run) -> None:
    script = """
        path, known = make("data", 100), make("known", 100)
        recorder = attach(extended=False)
        os.rename(path, path + "2")
        assert records_of(recorder).keys() <= {"<STDIN>"}
        os.close(os.open(known, os.O_RDONLY))
        os.rename(known, known + "2")
        os.rename(known + "2", known + "3")  # the target has a record by now
        found = records_of(recorder)
        assert found[known]["RENAME_SOURCES"] == 1
        assert (found[known + "2"]["RENAME_TARGETS"], found[known + "2"]["OPENS"]) == (1, 0)
        assert found[known + "3"]["RENAME_TARGETS"] == 1
        try:
            os.rename("missing", "other")
        except FileNotFoundError:
            pass
        assert os.path.abspath("other") not in records_of(recorder)
    """
    run(script)


def test_pythons_own_files(run: Run) -> None:
    """What CPython's files do beneath, as Darshan sees it."""
    script = """
        path = os.path.abspath("data")
        recorder = attach(extended=False)
        with open(path, "wb") as file:
            file.write(bytes(1000))
        record = record_of(recorder, path)
        assert (record["OPENS"], record["WRITES"], record["SEEKS"]) == (1, 1, 1), record
        assert record["MODE"] == 0o666
        with open(path, "rb") as file:
            assert len(file.read()) == 1000
        record = record_of(recorder, path)
        assert (record["READS"], record["SEEKS"]) == (2, 3), record  # data, and the end
        assert (record["SEQ_READS"], record["CONSEC_READS"]) == (1, 1)
        with open(path, "ab") as file:
            file.write(bytes(10))
        record = record_of(recorder, path)
        assert record["MAX_BYTE_WRITTEN"] == 1009 and record["SEEKS"] == 5, record
        assert record["STATS"] == 0 and record["MMAPS"] == -1
    """
    run(script)


def test_calls_that_the_compiler_checks(library: Library, run: Run) -> None:
    fortified = library("fortified.c", "-O2", "-D_FORTIFY_SOURCE=2")
    script = """
        fortified, path, text = load(sys.argv[1]), make("data", 5000), os.path.abspath("text")

        def use():
            assert fortified.read_checked(path, ctypes.c_size_t(100)) == 200
            assert fortified.use_checked_streams(text, ctypes.c_size_t(25), 10) == 10125
            stdio = record_of(recorder, text, "STDIO")
            return (*bytes_of(recorder, path), stdio["BYTES_READ"], stdio["BYTES_WRITTEN"])

        recorder = attach(extended=False)
        assert use() == (0, 0, 0, 0)  # Darshan sees none of them
        recorder.detach()
        recorder = attach(extended=True)
        assert use() == (200, 0, 30, 100)
        assert record_of(recorder, text, "STDIO")["READS"] == 2
    """
    run(script, fortified)
