"""The bandwidth histogram counts every file, however many: held against a count of its own."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tensorboard_plugin_darshan import window
from tests.support import events
from tests.support.dashboard import Dashboard

FILES = 20_000
ROOT = Path(__file__).parents[2]

PROGRAM = """
import json, os, sys
from tensorboard_plugin_darshan import DarshanMonitor, attach
log_dir, data, files = sys.argv[1:]
recorder = attach("builtin")
with DarshanMonitor(log_dir, source="builtin", trace=False) as monitor:
    for epoch in range(2):
        with monitor.phase("train", epoch):
            for i in range(int(files)):
                with open(f"{data}/{i}", "rb", buffering=0) as file:
                    file.read()
    records = recorder.snapshot().records("POSIX")
recorder.detach()
json.dump(
    {path: [r["POSIX_BYTES_READ"], r["POSIX_F_READ_TIME"]] for path, r in records.items()
     if path.startswith(data)},
    sys.stdout,
)
"""


def place(bandwidth: float) -> int:
    """The log bin of a bandwidth, ten a decade from 1 B/s on."""
    return min(max(math.floor(math.log10(bandwidth) * 10), 0), 139)


def test_twenty_thousand_files_are_all_counted(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for i in range(FILES):
        (data / str(i)).write_bytes(bytes(i % 3000 + 1))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "logs" / "run"), str(data), str(FILES)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    records = json.loads(done.stdout)
    assert len(records) == FILES
    assert sum(read for read, _ in records.values()) == 2 * sum(i % 3000 + 1 for i in range(FILES))

    last = events.windows(tmp_path / "logs" / "run")[-1].modules["POSIX"]
    counted = Counter(place(read / seconds) for read, seconds in records.values())
    kept = last.histograms_total[window.HISTOGRAMS.index("read_bandwidth")]
    extra = int(kept.sum()) - FILES
    assert 0 <= extra <= 5, "files beside the data set, e.g. of the program's own start"
    beyond = [int(kept[bin_]) - counted.get(bin_, 0) for bin_ in range(len(kept))]
    # a bandwidth within a rounding error of an edge may fall on either side of it
    assert sum(abs(difference) for difference in beyond) <= extra + 4

    answer = Dashboard(tmp_path / "logs").get("file_bandwidth", run="run", module="POSIX")
    assert answer["files"]["read"] == FILES + extra
