"""Plays random programs under the recorder and compares what it has with what the model says.

Usage: compare_random.py PLAYER DIRECTORY builtin|extended FIRST_SEED SEEDS. Prints the differences
of the first program that has any, and then exits with 1. A seed always gives the same program.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from tensorboard_plugin_darshan import attach, counters
from tensorboard_plugin_darshan.recording.recorder import Recorder
from tests.golden.model import Model
from tests.golden.random_streams import StreamProgram
from tests.golden.rules import READ, WRITE, record_id

SEGMENTS_MAX = 100_000
STAMPED = {"OPEN": "OPENS", "READ": "READS", "WRITE": "WRITES"}


def alignment_of(directory: Path) -> int:
    """Block size of the mount that the recorder's rule picks: by longest prefix, without tmpfs."""
    skipped = {"tmpfs", "proc", "sysfs", "devpts", "none", "cgroup", "hugetlbfs", "debugfs"}
    with open("/etc/mtab") as table:
        mounts = [line.split()[1:3] for line in table]
    points = [point for point, kind in mounts if kind not in skipped]
    return os.statvfs(max((p for p in points if str(directory).startswith(p)), key=len)).f_bsize


def records(recorder: Recorder, module: str) -> dict[str, dict[str, Any]]:
    """Records that are not standard streams, counters that are not 0."""
    arrays = recorder.own.arrays(module)
    names, layout = arrays.names, counters.LAYOUTS[module]
    found = {}
    for name, key, row in zip(names, arrays.ids.tolist(), arrays.counters.tolist(), strict=True):
        assert key == record_id(os.fsencode(name)), name
        if not name.startswith("<"):
            pairs = zip(layout.counters, row, strict=True)
            found[name] = {counter: value for counter, value in pairs if value}
    for found_record in found.values():
        for counter in ("POSIX_MAX_READ_TIME_SIZE", "POSIX_MAX_WRITE_TIME_SIZE"):
            found_record.pop(counter, None)
    return found


def segments(recorder: Recorder) -> dict[tuple[str, str], list[tuple[int, int]]]:
    arrays = recorder.own.arrays("POSIX")
    names = dict(zip(arrays.places.tolist(), arrays.names, strict=True))
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    last = (0, 0)
    for place, direction, _, offset, size, start, end, _ in sorted(
        recorder.segments().tolist(), key=lambda segment: segment[5]
    ):
        copies = (start, end) == last  # a call that reads one file and writes another
        assert copies or last[1] <= start <= end, "calls of one thread follow each other"
        last = (start, end)
        found.setdefault((names[place], (READ, WRITE)[direction]), []).append((offset, size))
    return found


def check_times(recorder: Recorder, module: str) -> None:
    """One thread's calls follow each other: their times add up to no more than there was."""
    now, layout, arrays = recorder.seconds(), counters.LAYOUTS[module], recorder.own.arrays(module)
    for row, frow in zip(arrays.counters.tolist(), arrays.fcounters.tolist(), strict=True):
        short = (name.removeprefix(layout.prefix) for name in layout.counters)
        ints = dict(zip(short, row, strict=True))
        short = (name.removeprefix(f"{layout.prefix}F_") for name in layout.fcounters)
        times = dict(zip(short, frow, strict=True))
        spent = times["READ_TIME"] + times["WRITE_TIME"] + times["META_TIME"]
        assert 0 <= spent <= now
        for stamp, counter in STAMPED.items():
            start, end = (times[f"{stamp}_{edge}_TIMESTAMP"] for edge in ("START", "END"))
            flushed = stamp == "WRITE" and ints.get("FLUSHES", 0) > 0
            assert (start > 0) == (ints[counter] > 0 or flushed), (counter, ints, times)
            assert start <= end <= now
        assert times.get("MAX_READ_TIME", 0) <= times["READ_TIME"] + 1e-9
        assert times.get("MAX_WRITE_TIME", 0) <= times["WRITE_TIME"] + 1e-9


def differences(expected: dict[Any, Any], found: dict[Any, Any], what: str) -> list[str]:
    return [
        f"{what} {key}: expected {expected.get(key)}, found {found.get(key)}"
        for key in sorted({*expected, *found}, key=str)
        if expected.get(key) != found.get(key)
    ]


def play(player: Any, directory: Path, extended: bool, seed: int) -> list[str]:
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "sub").mkdir(parents=True)
    (directory / "link").symlink_to("f0.bin")
    os.chdir(directory)
    model = Model(extended, alignment_of(directory))
    program = StreamProgram(player, directory, model, seed)
    recorder = attach("builtin", extended=extended, max_segments=SEGMENTS_MAX)
    try:
        program.run()
        found: list[str] = []
        for module, wanted in (("POSIX", model.posix), ("STDIO", model.stdio)):
            recorded = records(recorder, module)
            expected = {name: record.counters() for name, record in wanted.items()}
            for name in sorted(expected.keys() | recorded.keys()):
                if name not in expected or name not in recorded:
                    found.append(f"{module} {name}: {expected.get(name)}, {recorded.get(name)}")
                else:
                    found += differences(expected[name], recorded[name], f"{module} {name}")
            check_times(recorder, module)
        traced = {
            (name, kind): pairs
            for name, record in model.posix.items()
            for kind, pairs in record.segments.items()
            if pairs
        }
        return found + differences(traced, segments(recorder), "segments")
    finally:
        recorder.detach()


def main(library: str, directory: str, mode: str, first: str, n: str) -> int:
    player = ctypes.CDLL(library)
    player.fill(ord("7"))
    for seed in range(int(first), int(first) + int(n)):
        found = play(player, Path(directory), mode == "extended", seed)
        if found:
            print(f"seed {seed}:", *found, sep="\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
