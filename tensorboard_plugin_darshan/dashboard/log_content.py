"""All that the tab needs of a log: totals, files, distributions, time, ranks, and what is amiss."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan import modules, window
from tensorboard_plugin_darshan.dashboard import log_header, log_records, log_window
from tensorboard_plugin_darshan.dashboard.log_activity import Axis, Grid
from tensorboard_plugin_darshan.dashboard.log_records import Log, Records

DAMAGE: Final = "is damaged"
"""What a sentence about a damaged log begins with."""

_INVALID: Final = re.compile(r"Invalid (.+?) module version number \(got (\d+)\)")
_HEATMAPS: Final = {
    "heatmap:POSIX": "POSIX",
    "heatmap:STDIO": "STDIO",
    "heatmap:MPIIO": "MPI-IO",
    "heatmap:DFS": "DFS",
    "heatmap:DAOS": "DAOS",
}
_SHOWN_OTHERWISE: Final = ("LUSTRE", "HEATMAP", *log_records.TRACES)

_CLOCK_STEP: Final = 0.01
"""Seconds below zero that a clock which is set back a little makes."""

Meta = dict[str, Any]


class LogReading:
    """One log while it is read, in the child process.

    Args:
        path: the log.
        errors: the file to which the library's complaints go.
    """

    def __init__(self, path: str, errors: Any) -> None:
        self._errors = errors
        self.header = log_header.read_header(path)
        self.log = Log(path)
        self.names = self.log.names()
        self.notes: list[str] = []
        self.records: dict[str, Records] = {}
        self.unread: dict[str, str] = {}

    def read(self) -> tuple[Meta, dict[str, Any]]:
        """What the log holds.

        Raises:
            log_header.BadLogError: nothing of it can be read.
        """
        header = self.header
        for name in self.log.modules:
            if name in modules.SHOWN:
                self._read_records(name)
        axis = Axis(self._duration(), max(1, header.processes))
        grids = self._grids(axis)
        stripings = self._guarded("LUSTRE", self._stripings, [])
        self._explain_unread()
        if self.unread and not any(len(r.ids) for r in self.records.values()):
            raise log_header.BadLogError(f"{DAMAGE}: " + "; ".join(self.unread.values()))
        parts = {
            name: log_window.module_window(name, records, grids[name].finish())
            for name, records in self.records.items()
            if len(records.ids)
        }
        self._note_outside(grids)
        whole = window.Window(0, 0.0, axis.duration, modules=parts, names=self._used(parts))
        meta = {
            "job": self._job(),
            "notes": self.notes,
            "present": list(self.log.modules),
            "not_shown": self._not_shown(),
            "partial": [name for name, module in header.modules.items() if module.partial],
            "sources": {name: grids[name].source for name in parts},
            "busy_known": [name for name in parts if grids[name].busy_is_known],
            "processes": header.processes,
            "ranks_per_row": axis.ranks_per_row,
            "rank_seconds": next((grid.rank_width for grid in grids.values()), 1.0),
            "shared": [
                row
                for name, records in self.records.items()
                for row in log_window.shared_files(name, records, self.names)
            ],
            "stripings": stripings,
        }
        arrays = {"window": np.frombuffer(window.encode(whole), np.uint8)}
        arrays |= {f"ranks/{name}": grids[name].rank_cells() for name in parts}
        return meta, arrays

    def _read_records(self, name: str) -> None:
        records = self.log.records(name)
        self.records[name] = records
        kinds = ("read_seconds", "write_seconds", "metadata_seconds")
        times = [log_window.quantity(name, kind, records) for kind in kinds]
        if any(((seconds < -_CLOCK_STEP) & (seconds != -1.0)).any() for seconds in times):
            self.notes.append(
                f"The log holds negative times for {name}, so that its times and bandwidths mean "
                "little."
            )
        if records.failed or (not len(records.ids) and self.log.modules[name]["len"]):
            read = f"only {len(records.ids)} of its records" if len(records.ids) else "nothing"
            self.unread[name] = f"of {name} {read} could be read"

    def _guarded(self, name: str, read: Any, default: Any) -> Any:
        """What `read` gives, or a default when the module is missing or damaged."""
        if name not in self.log.modules:
            return default
        try:
            found = read()
        except log_records.DamagedError:
            self.unread[name] = f"{name} could not be read to its end"
            return default
        if not found:
            self.unread[name] = f"of {name} nothing could be read"
        return found

    def _duration(self) -> float:
        """Length of the axis of time in seconds."""
        header = self.header
        runtime = max(0.0, header.end - header.begin)
        moment = 2 * runtime + 3600.0
        last, impossible = 0.0, 0
        for name, records in self.records.items():
            found, wrong = log_window.latest(name, records, moment)
            last, impossible = max(last, found), impossible + wrong
        if header.end < header.begin:
            self.notes.append("The log says that the job ended before it began.")
        elif runtime == 0.0:
            self.notes.append(
                "The log says that the job took 0 s; time is shown up to the last timestamp."
            )
        elif last > runtime + 1.0:
            self.notes.append(
                f"Some accesses lie after the job's end: it ended after {runtime:.6g} s, they "
                f"reach to {last:.6g} s."
            )
        if impossible:
            self.notes.append(
                f"{impossible} timestamps are negative or far after the job's end and are left "
                "out of the timeline."
            )
        return max(runtime, last * (1 + 1e-9), 1e-3)

    def _grids(self, axis: Axis) -> dict[str, Grid]:
        grids = {name: Grid(axis) for name in self.records}
        for trace, name in log_records.TRACES.items():
            grid = grids.setdefault(name, Grid(axis))
            if self._guarded(trace, lambda t=trace, g=grid: self._fill_trace(t, g), 0):
                grid.source = "DXT"
        self._guarded("HEATMAP", lambda: self._fill_heatmaps(grids), 0)
        for name, records in self.records.items():
            grids[name].source = grids[name].source or "timestamps"
            log_window.fill_coarse(name, records, grids[name], axis.duration)
        return grids

    def _fill_trace(self, name: str, grid: Grid) -> int:
        n = 0
        for trace in self.log.traces(name):
            grid.add_accesses(0, trace.rank, trace.reads)
            grid.add_accesses(1, trace.rank, trace.writes)
            n += 1
        return n

    def _fill_heatmaps(self, grids: Mapping[str, Grid]) -> int:
        n = 0
        pieces: dict[str, list[tuple[Any, ...]]] = {}
        for record in self.log.heatmaps():
            n += 1
            name = _HEATMAPS.get(self.names.get(record.record_id, ""), "")
            if name in grids and grids[name].source != "DXT":
                starts = np.arange(len(record.writes)) * record.bin_seconds
                ends = starts + record.bin_seconds
                ranks = np.full(len(starts), record.rank)
                pieces.setdefault(name, []).append(
                    (ranks, starts, ends, record.reads, record.writes)
                )
        for name, parts in pieces.items():
            grid = grids[name]
            grid.source = "HEATMAP"
            ranks, starts, ends, *moved = map(np.concatenate, zip(*parts, strict=True))
            ends = np.minimum(ends, grid.axis.duration)
            for write, amount in enumerate(moved):
                some = amount > 0
                grid.add_bytes(write, ranks[some], starts[some], ends[some], amount[some])
        return n

    def _stripings(self) -> list[list[int]]:
        """How many files lie on Lustre in which way: stripe size, stripe count, components, files,
        storage targets in use.
        """
        found: dict[tuple[int, int, int], tuple[int, set[int]]] = {}
        for one in self.log.stripings():
            first = one.components[0] if one.components else {}
            size, count = first.get("STRIPE_SIZE", -1), first.get("STRIPE_COUNT", -1)
            key = (size, count, len(one.components))
            files, targets = found.get(key, (0, set()))
            found[key] = (files + 1, targets | set(one.targets))
        return [[*key, files, len(targets)] for key, (files, targets) in sorted(found.items())]

    def _explain_unread(self) -> None:
        """Sentences about modules that could not be read: newer records, or damage."""
        newer = dict(_INVALID.findall(self._said()))
        newer = {name.replace(" ", "_"): version for name, version in newer.items()}
        for name in self.unread:
            version = newer.get(name)
            if version is None:
                self.notes.append(f"The log is damaged: {self.unread[name]}.")
            else:
                self.unread[name] = (
                    f"{name} has records of version {version}, newer than the installed PyDarshan "
                    "reads, which drops them; update the package darshan where TensorBoard runs"
                )
                self.notes.append(f"{self.unread[name]}.")

    def _said(self) -> str:
        """What the library printed so far."""
        self._errors.seek(0)
        return str(self._errors.read().decode("utf-8", "replace"))

    def _note_outside(self, grids: Mapping[str, Grid]) -> None:
        outside = sum(grid.outside for grid in grids.values())
        if outside:
            self.notes.append(
                f"{outside} traced accesses lie outside the job and count at its begin or end."
            )

    def _used(self, parts: Mapping[str, window.ModuleWindow]) -> dict[int, str]:
        """Names of the files in the window."""
        used = {i for part in parts.values() for i in part.files.ids.tolist()}
        named = {i: self.names[i].replace("\0", "") for i in used if i in self.names}
        return {i: name for i, name in named.items() if name}

    def _not_shown(self) -> list[str]:
        shown = {*modules.SHOWN, *_SHOWN_OTHERWISE}
        return [name for name in self.log.modules if name not in shown]

    def _job(self) -> Meta:
        header = self.header
        return {
            "source": "Darshan log",
            "source_version": header.metadata.get("lib_ver"),
            "format_version": header.format_version,
            "command": header.command,
            "begin": header.begin,
            "end": header.end,
            "finished": True,
            "processes": header.processes,
            "job_id": header.job_id,
            "uid": header.uid,
            "mounts": self.log.mounts(),
        }
