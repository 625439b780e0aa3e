"""Runs a workload under the recorder and prints what was recorded as JSON.

Usage: record_workload.py LIBRARY DIRECTORY builtin|extended
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any

from tensorboard_plugin_darshan import attach
from tensorboard_plugin_darshan.recording.recorder import Recorder

SEGMENTS_MAX = 1_000_000


def below(directory: str, path: str) -> str | None:
    """A path as golden recordings give it, None for one that is elsewhere."""
    relative = os.path.relpath(path, directory)
    return None if relative.startswith("..") else relative


def segments_by_path(recorder: Recorder, directory: str) -> dict[str, Any]:
    arrays = recorder.own.arrays("POSIX")
    names = dict(zip(arrays.places.tolist(), arrays.names, strict=True))
    found: dict[str, Any] = {}
    segments = sorted(recorder.segments().tolist(), key=lambda segment: segment[2])
    for place, direction, _, offset, length, start, end, thread in segments:
        assert 0 < start <= end, "times of a segment"
        assert thread != 0
        path = below(directory, names[place])
        if path is not None:
            kinds = found.setdefault(path, {"read_segments": [], "write_segments": []})
            kinds[("read_segments", "write_segments")[direction]].append([offset, length])
    return found


def main(library: str, directory: str, mode: str) -> None:
    os.umask(0o022)
    run = ctypes.CDLL(library).run
    recorder = attach("builtin", extended=mode == "extended", max_segments=SEGMENTS_MAX)
    assert run(os.fsencode(directory)) == 0
    snapshot = recorder.snapshot()
    result: dict[str, Any] = {"modules": {}, "bins": {}, "totals": {}}
    for module in snapshot.modules:
        found = {}
        for path, record in snapshot.records(module).items():
            relative = below(directory, path)
            if relative is not None:
                assert relative not in found, "two spellings of a path"
                found[relative] = record
        result["modules"][module] = found
        bins = recorder.own.drain_bins(module)
        result["bins"][module] = bins.values.sum(axis=0).tolist()
        result["totals"][module] = recorder.own.totals(module).sums.tolist()
    result["segments"] = segments_by_path(recorder, directory)
    result["facts"] = recorder.facts()
    recorder.detach()
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
