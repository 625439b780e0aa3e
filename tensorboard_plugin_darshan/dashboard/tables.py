"""A run's windows and files as tables, in CSV or JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tensorboard_plugin_darshan.dashboard import file_table
from tensorboard_plugin_darshan.dashboard.query import finite
from tensorboard_plugin_darshan.dashboard.run import Run
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.window import BIN_COLUMNS, PROCESS_IO

_ROWS_AT_ONCE: Final = 1000

Row = dict[str, Any]


def window_rows(run: Run) -> Iterator[Row]:
    """One row a window and module: when, what the training did, what the module did in it.

    Times are seconds since the run began. Columns of the kernel's counts are about the whole
    window, whatever the module; None where not known.
    """
    for recording in run.recordings:
        windows, offset = recording.windows, run.offset(recording)
        for i in range(len(windows)):
            kernel = [None if n < 0 else n for n in windows.process_io[i].tolist()]
            for name, module in windows.modules.items():
                if not module.present[i]:
                    continue
                yield {
                    "recording": recording.name,
                    "sequence": int(windows.sequence[i]),
                    "start_seconds": float(windows.start[i]) + offset,
                    "end_seconds": float(windows.end[i]) + offset,
                    "phase": windows.phase[i],
                    "epoch": int(windows.epoch[i]),
                    "step": int(windows.step[i]),
                    "module": name,
                    "files": int(module.files_active[i]),
                    **dict(zip(BIN_COLUMNS, module.bin_sums[i].tolist(), strict=True)),
                    **{f"kernel_{key}": n for key, n in zip(PROCESS_IO, kernel, strict=True)},
                }


def file_rows(run: Run) -> Iterator[Row]:
    """One row a file and module, as the table of files in the tab has them, by path."""
    rows = file_table.file_rows(Selection(run, None, None, run.modules))
    for offset in range(0, len(rows), _ROWS_AT_ONCE):
        yield from file_table.page(rows, "", "path", _ROWS_AT_ONCE, offset).rows


def write_json(run: Run, out: Path) -> None:
    """Writes `{"run", "begin", "windows", "files"}` to a file."""
    content = {
        "run": run.name,
        "begin": run.begin,
        "windows": list(window_rows(run)),
        "files": list(file_rows(run)),
    }
    out.write_text(json.dumps(finite(content), allow_nan=False, indent=1) + "\n")


def write_csv(run: Run, out: Path) -> list[Path]:
    """Writes `windows.csv` and `files.csv` into a directory, which is made; answers their paths."""
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name, rows in (("windows", window_rows(run)), ("files", file_rows(run))):
        path = out / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
            first = next(rows, None)
            if first is not None:
                table = csv.DictWriter(file, list(first))
                table.writeheader()
                table.writerow(first)
                table.writerows(rows)
        written.append(path)
    return written
