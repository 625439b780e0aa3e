"""Each rule about how files are read, on a real run that triggers it and on one that must not."""

from __future__ import annotations

import ctypes
import os

import pytest

from tensorboard_plugin_darshan.dashboard import insights_input as rules
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tests.support.compiling import build_shared
from tests.support.real_runs import read_file, run_of, write_files

LINES_C = """
#include <stdio.h>

int read_lines(const char *path)
{
    char line[100];
    int n = 0;
    FILE *stream = fopen(path, "r");

    while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
        n++;
    if (stream != NULL)
        fclose(stream);
    return n;
}
"""


def facts_of(tape, **job):
    run = run_of(tape.recording(**job))
    return Facts(Selection(run, modules=run.modules))


def data(tape, directory, sizes, ending=".bin"):
    with tape.muted():
        return write_files(directory, sizes, ending)


def test_tiny_files(tape, tmp_path):
    for path in data(tape, tmp_path, [3000] * 150):
        read_file(path)
    tape.cut()
    finding = rules.tiny_files(facts_of(tape))
    assert finding is not None
    assert "150" in finding.title
    assert finding.files[0].startswith(str(tmp_path))


def test_no_tiny_files_when_files_are_large(tape, tmp_path):
    for path in data(tape, tmp_path, [2 << 20] * 20 + [100] * 10):
        read_file(path)
    tape.cut()
    assert rules.tiny_files(facts_of(tape)) is None


def test_tiny_reads(tape, tmp_path):
    for path in data(tape, tmp_path, [4 << 20]):
        read_file(path, piece=2048)
    tape.cut()
    finding = rules.tiny_reads(facts_of(tape))
    assert finding is not None
    assert "2 KiB" in finding.title


def test_no_tiny_reads_of_whole_small_files(tape, tmp_path):
    for path in data(tape, tmp_path, [2048] * 1200):
        read_file(path, tail=False)
    tape.cut()
    assert rules.tiny_reads(facts_of(tape)) is None


def test_zero_byte_reads(tape, tmp_path):
    for path in data(tape, tmp_path, [88_000] * 120):
        read_file(path)
    tape.cut()
    finding = rules.zero_byte_reads(facts_of(tape))
    assert finding is not None
    assert finding.title.startswith("50 %")


def test_no_zero_byte_reads_when_sizes_are_known(tape, tmp_path):
    for path in data(tape, tmp_path, [88_000] * 120):
        read_file(path, tail=False)
    tape.cut()
    assert rules.zero_byte_reads(facts_of(tape)) is None


def test_reopened_files(tape, tmp_path):
    paths = data(tape, tmp_path, [1000] * 10)
    for _ in range(2):
        for path in paths:
            for _ in range(6):
                read_file(path)
        tape.cut(epoch=len(tape.windows))
    finding = rules.reopened_files(facts_of(tape))
    assert finding is not None
    assert "12 times each in 2 epochs" in finding.title


def test_not_reopened_when_once_an_epoch(tape, tmp_path):
    paths = data(tape, tmp_path, [1000] * 30)
    for epoch in range(6):
        for path in paths:
            read_file(path)
        tape.cut(epoch=epoch)
    assert rules.reopened_files(facts_of(tape)) is None


def test_random_reads(tape, tmp_path):
    (path,) = data(tape, tmp_path, [8 << 20])
    fd = os.open(path, os.O_RDONLY)
    for i in range(1500):
        os.pread(fd, 4096, (i * 7919 % 2048) * 4096)
    os.close(fd)
    tape.cut()
    assert rules.random_reads(facts_of(tape)) is not None


def test_no_random_reads_from_begin_to_end(tape, tmp_path):
    for path in data(tape, tmp_path, [2 << 20] * 10):
        read_file(path, piece=8192)
    tape.cut()
    assert rules.random_reads(facts_of(tape)) is None


def test_misaligned(tape, tmp_path):
    (path,) = data(tape, tmp_path, [4 << 20])
    fd = os.open(path, os.O_RDONLY)
    for i in range(1500):
        os.pread(fd, 1000, i * 1000)
    os.close(fd)
    tape.cut()
    assert rules.misaligned(facts_of(tape)) is not None


def test_not_misaligned_in_blocks(tape, tmp_path):
    for path in data(tape, tmp_path, [2 << 20] * 4):
        read_file(path, piece=4096)
    tape.cut()
    assert rules.misaligned(facts_of(tape)) is None


def test_metadata_heavy(tape, tmp_path):
    paths = data(tape, tmp_path, [10] * 400)
    for path in paths:
        for _ in range(3):
            os.stat(path)
        read_file(path, tail=False)
    tape.cut()
    finding = rules.metadata_heavy(facts_of(tape))
    assert finding is not None
    assert "stats" in finding.evidence[1]


def test_not_metadata_heavy_when_data_dominates(tape, tmp_path):
    for path in data(tape, tmp_path, [8 << 20] * 4):
        read_file(path, piece=4096)
    tape.cut()
    assert rules.metadata_heavy(facts_of(tape)) is None


def test_text_by_line(tape, tmp_path):
    (path,) = data(tape, tmp_path, [8 << 20], ".csv")
    read_file(path, piece=8192)
    tape.cut()
    assert rules.text_by_line(facts_of(tape)) is not None


@pytest.mark.native
def test_text_by_line_through_a_stream(tape, tmp_path):
    with tape.muted():
        path = tmp_path / "lines"
        path.write_bytes(b"a line of text\n" * 2000)
        source = tmp_path / "lines.c"
        source.write_text(LINES_C)
        library = ctypes.CDLL(str(build_shared(source, tmp_path / "lines.so")))
    assert library.read_lines(os.fsencode(path)) == 2000
    tape.cut()
    assert rules.text_by_line(facts_of(tape)) is not None


def test_no_text_by_line_through_a_large_buffer(tape, tmp_path):
    for path in data(tape, tmp_path, [4 << 20], ".csv"):
        read_file(path, piece=1 << 20)
    tape.cut()
    assert rules.text_by_line(facts_of(tape)) is None
