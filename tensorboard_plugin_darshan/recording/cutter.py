"""Cuts windows: what happened since the last cut, in this process and its children."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorboard_plugin_darshan import counters, window
from tensorboard_plugin_darshan.all_files import AllFiles
from tensorboard_plugin_darshan.recording import file_columns, file_summary, tracing
from tensorboard_plugin_darshan.recording.bins import merge_bins
from tensorboard_plugin_darshan.recording.file_rows import Change, FileRows
from tensorboard_plugin_darshan.recording.processes import ProcessTable, read_process_io
from tensorboard_plugin_darshan.recording.reader import ProcessFacts, ProcessReader
from tensorboard_plugin_darshan.recording.recorder import Recorder
from tensorboard_plugin_darshan.recording.records import Totals
from tensorboard_plugin_darshan.window import Float64Array, Int64Array

_COMMON_SIZES: Final = 64


class _ModuleTotals:
    """Sums over all records of a module in all processes, at the last cut."""

    def __init__(self, module: str) -> None:
        self._layout = layout = counters.LAYOUTS[module]
        self._sums = np.zeros(len(layout.counters), np.int64)
        self._fsums = np.zeros(len(layout.fcounters))
        self._ended: list[Totals] = []

    def end(self, totals: Totals) -> None:
        """Keeps what a process that ended had counted, as one with all that ended before."""
        self._ended = [_add_totals([*self._ended, totals])]

    def cut(self, processes: list[Totals]) -> tuple[Int64Array, Float64Array, Totals]:
        """Counters of the window: differences of what adds up, the present value of the rest."""
        layout, now = self._layout, _add_totals([*self._ended, *processes])
        ints = np.where(layout.where("max"), now.maxima, 0)
        ints = np.where(layout.where("sum"), now.sums - self._sums, ints)
        floats = np.where(layout.fwhere("max"), now.fmaxima, 0.0)
        floats = np.where(layout.fwhere("min"), now.fminima, floats)
        floats = np.where(layout.fwhere("sum"), now.fsums - self._fsums, floats)
        self._sums, self._fsums = now.sums, now.fsums
        return ints, floats, now


@dataclass
class _Cut:
    """A cut in progress.

    Attributes:
        readers: who is read, this process first, with what was known before reading.
        names: record id → path, of files that the window mentions.
        table: what each process did.
    """

    readers: list[tuple[ProcessReader, ProcessFacts]]
    names: dict[int, str]
    table: ProcessTable


class WindowCutter:
    """Cuts a recording into windows that follow each other without gap or overlap.

    Only one cutter can follow a recorder, since it empties the recorder's time bins.
    """

    def __init__(self, recorder: Recorder, max_listed_files: int = 500) -> None:
        self._recorder = recorder
        recorder.claim()
        self._max_listed = max_listed_files
        self._files = {module: FileRows() for module in counters.LAYOUTS}
        self._totals = {module: _ModuleTotals(module) for module in counters.LAYOUTS}
        self._end = 0.0
        self._sequence = 0
        self._named: set[int] = set()
        self._process_io = read_process_io(())
        self._traces = (
            tracing.TraceCollector(self._files[tracing.MODULE]) if recorder.traces else None
        )

    def cut(self, phase: str = "", epoch: int = -1, step: int = -1) -> window.Window:
        """The window from the last cut (the first: the recording's begin) to now."""
        start = self._end
        # who has ended by now has counted everything: this cut sees it to its end
        everyone = [self._recorder.own, *self._recorder.children.refresh()]
        readers = [(reader, reader.facts()) for reader in everyone]
        if self._traces is not None:
            for reader, facts in readers:
                self._traces.drain(reader, facts)
        self._end = self._recorder.seconds()
        cut = _Cut(readers, {}, ProcessTable([facts for _, facts in readers]))
        modules = {module: self._cut_module(module, cut) for module in counters.LAYOUTS}
        for child, facts in readers:
            if not facts.alive:
                self._recorder.children.drop(child)
        before, self._process_io = self._process_io, read_process_io(cut.table.running)
        known = (before >= 0) & (self._process_io >= 0)
        names = self.names_for_window(cut.names)
        self._sequence += 1
        return window.Window(
            sequence=self._sequence - 1,
            start_seconds=start,
            end_seconds=self._end,
            phase=phase,
            epoch=epoch,
            step=step,
            modules=modules,
            names=names,
            process_io=np.where(known, np.maximum(self._process_io - before, 0), -1),
            processes=cut.table.rows(),
            notes=cut.table.notes(),
        )

    def take_traced(self) -> tracing.Traced | None:
        """Accesses that the cuts since the last call gathered; None when none are traced."""
        return None if self._traces is None else self._traces.take()

    def names_for_window(self, names: Mapping[int, str]) -> dict[int, str]:
        """Those of record id → path that no window mentioned yet; the present one must."""
        fresh = {key: name for key, name in names.items() if key not in self._named}
        self._named.update(fresh)
        return fresh

    def all_files(self, max_files: int) -> AllFiles:
        """What every file did until the last cut; `max_files` of them by name."""
        return file_summary.build_all_files(self._files, max_files, self._sequence - 1, self._end)

    def _cut_module(self, module: str, cut: _Cut) -> window.ModuleWindow:
        files, totals = self._files[module], self._totals[module]
        changes, bins, found = [], [], []
        for place, (reader, _) in enumerate(cut.readers):
            arrays = reader.arrays(module, lately=True)
            changes.append(files.update(reader.handle, module, arrays))
            cut.table.add(place, changes[-1].columns)
            bins.append(reader.drain_bins(module))
            found.append(reader.totals(module))
        if module == tracing.MODULE and self._traces is not None:
            self._traces.find_files()
        change = files.apply(changes)
        ints, floats, now = totals.cut(found)
        for (reader, facts), its in zip(cut.readers, found, strict=True):
            if not facts.alive:
                totals.end(its)
                files.end(reader.handle)
        listed, folded = self._list_files(change, cut.names)
        is_slow = np.isin(change.ids, files.slow.ids)
        cut.names.update(
            (int(change.ids[i]), change.names[i]) for i in np.flatnonzero(is_slow).tolist()
        )
        return window.ModuleWindow(
            counters=ints,
            fcounters=floats,
            files_active=len(change.ids),
            files_total=files.n,
            bins=merge_bins(bins),
            files=listed,
            folded=folded,
            histograms=file_columns.count_places(file_columns.histogram_places(change.columns)),
            histograms_total=files.histograms,
            slow=files.slow,
            common_sizes=now.common_sizes,
            partial=now.partial,
        )

    def _list_files(
        self, change: Change, names: dict[int, str]
    ) -> tuple[window.FileTable, window.FileTable]:
        """The busiest files, by time in calls, and the rest by directory."""
        order = np.argsort(-file_columns.busy_nanoseconds(change.columns), kind="stable")
        listed, rest = order[: self._max_listed], order[self._max_listed :]
        names.update((int(change.ids[i]), change.names[i]) for i in listed.tolist())
        directories, rows = file_summary.fold_by_directory(
            [change.names[i] for i in rest.tolist()], change.columns[rest]
        )
        folded_ids = np.array([directory_id(path) for path in directories], np.uint64)
        names.update(zip(folded_ids.tolist(), directories, strict=True))
        return (
            window.FileTable(change.ids[listed], change.columns[listed]),
            window.FileTable(folded_ids, rows),
        )


def _add_totals(totals: list[Totals]) -> Totals:
    if len(totals) == 1:
        return totals[0]
    starts = [np.where(one.fminima > 0, one.fminima, np.inf) for one in totals]
    first = np.min(starts, axis=0)
    sizes = np.concatenate([one.common_sizes for one in totals])
    values, inverse = np.unique(sizes[:, 0], return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, inverse, sizes[:, 1])
    order = np.lexsort((values, -counts))[:_COMMON_SIZES]
    return Totals(
        records=sum(one.records for one in totals),
        sums=np.sum([one.sums for one in totals], axis=0),
        maxima=np.max([one.maxima for one in totals], axis=0),
        fsums=np.sum([one.fsums for one in totals], axis=0),
        fmaxima=np.max([one.fmaxima for one in totals], axis=0),
        fminima=np.where(np.isfinite(first), first, 0.0),
        common_sizes=np.stack([values[order], counts[order]], axis=1),
        partial=any(one.partial for one in totals),
    )


def directory_id(path: str) -> int:
    """A key for a folded directory: FNV-1a of its path, apart from Darshan's ids of files."""
    key = 0xCBF29CE484222325
    for byte in os.fsencode(path):
        key = ((key ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return key
