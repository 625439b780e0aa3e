"""Reads the records of one process that a real libdarshan makes, where they lie."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from tensorboard_plugin_darshan.modules import SHOWN
from tensorboard_plugin_darshan.recording import darshan_layouts as layouts
from tensorboard_plugin_darshan.recording.darshan_memory import (
    DarshanLog,
    find_rows,
    parse_stripes,
)
from tensorboard_plugin_darshan.recording.libdarshan_memory import is_alive, parent_of
from tensorboard_plugin_darshan.recording.libdarshan_rows import (
    NOT_COUNTED,
    Rows,
    common_sizes,
    no_rows,
    padded,
)
from tensorboard_plugin_darshan.recording.native import native
from tensorboard_plugin_darshan.recording.reader import (
    OWN_HANDLE,
    Ending,
    ProcessFacts,
    ProcessReader,
)
from tensorboard_plugin_darshan.recording.records import (
    SEGMENT_DTYPE,
    ModuleArrays,
    SegmentArray,
    Totals,
)
from tensorboard_plugin_darshan.window import (
    BIN_COLUMNS,
    BinSeries,
    Int64Array,
    UInt64Array,
)

EVENT_MODULES: Final = ("POSIX", "STDIO", "MPI-IO", "DFS", "DAOS")
"""Modules with activity over time; `enum event_module` of `native/libdarshan_events.h`."""
EVENT_DTYPE: Final = np.dtype(
    [
        ("id", "<u8"),
        ("module", "<u4"),
        ("direction", "<u4"),
        ("offset", "<i8"),
        ("length", "<i8"),
        ("start", "<i8"),
        ("end", "<i8"),
        ("thread", "<u8"),
    ]
)
"""A traced access as `struct event_segment` has it; `module` is a place in `EVENT_MODULES`."""
_NANOSECONDS: Final = 1e9


class LibdarshanReader(ProcessReader):
    """The records of one process.

    A record's place is its number in the library's memory, where it stays.

    Windows are about what happened since the recording began, while the library may have counted
    before: `arrays` with `lately`, and `totals`, leave that out, and the recorder's own files too.
    All else gives Darshan's records as they are.

    Args:
        log: what the process makes.
        pid: of the process.
        handle: tells processes apart.
        library_seconds: the recording's time zero, in seconds since the library's.
        began_before: whether the library had counted something when the recording began.
    """

    def __init__(
        self,
        log: DarshanLog,
        pid: int,
        handle: int = OWN_HANDLE,
        library_seconds: float = 0.0,
        began_before: bool = False,
    ) -> None:
        super().__init__(handle)
        self.log: Final = log
        self.pid: Final = pid
        self.notes: Callable[[], tuple[str, ...]] = tuple
        """Gives sentences on what cannot be seen."""
        self._library_seconds = library_seconds
        self._orders: dict[tuple[int, int], int] = {}
        self._traced: Int64Array = np.zeros(0, np.int64)
        self._last: dict[str, Rows] = {}
        self._seen: dict[str, Rows] = {}
        self._before: dict[str, Rows] = {}
        if began_before:
            self._before = {name: self.rows(name) for name in log.modules}

    def facts(self) -> ProcessFacts:
        """What is known of the process now."""
        return ProcessFacts(
            pid=self.pid,
            parent=os.getppid() if self.pid == os.getpid() else parent_of(self.pid),
            alive=self.pid == os.getpid() or is_alive(self.pid),
            own_writer=False,
            ending=Ending.NONE if self.pid == os.getpid() or is_alive(self.pid) else Ending.EXITED,
            exit_status=0,
            refused_files=0,
            mapped_files=0,
            rings=0,
            programs=(),
            notes=self.notes(),
        )

    def rows(self, module: str) -> Rows:
        """Darshan's records of a module as they are; the last ones, once there are no more."""
        self.log.refresh()
        layout, names = self.log.layout(module), SHOWN[module]
        data = None if layout is None else self.log.records(module, layout.size)
        if data is not None and layout is not None:
            found = np.frombuffer(data, layout.dtype(len(names.counters), len(names.fcounters)))
            found = found[: find_rows(found["id"])]
            self._last[module] = Rows(found["id"], found["ints"], found["floats"])
        return self._last.get(module, no_rows(names))

    def names(self, module: str, places: Int64Array) -> list[str]:
        """Paths of the records at `places`."""
        ids = self._last[module].ids[places] if len(places) else ()
        return [self.log.names.get(int(key), f"<record {int(key)}>") for key in ids]

    def arrays(
        self,
        module: str,
        lately: bool = False,
        find_names: Callable[[Int64Array], Sequence[str]] | None = None,
    ) -> ModuleArrays:
        """Records of a module: all, or with `lately` those that changed since the last such call,
        as counted since the recording began.
        """
        rows = self.rows(module)
        places = np.arange(len(rows))
        if lately:
            seen = self._seen.get(module, self._before.get(module, no_rows(SHOWN[module])))
            ints, floats = padded(seen, len(rows))
            changed = np.any(rows.counters != ints, axis=1) | np.any(
                rows.fcounters != floats, axis=1
            )
            changed[len(seen) :] = True
            if module == "POSIX":  # traced before it is counted
                changed[self._traced] = True
            self._seen[module] = rows
            places = np.flatnonzero(changed & ~self._is_own(rows.ids))
            rows = self._since_begin(module, rows)
        return ModuleArrays(
            rows.ids[places],
            rows.counters[places],
            rows.fcounters[places],
            places,
            find_names or functools.partial(self.names, module),
        )

    def _is_own(self, ids: UInt64Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which records are of files that the recorder itself writes."""
        if self.handle != OWN_HANDLE:
            return np.zeros(len(ids), np.bool_)
        own = np.frombuffer(native().libdarshan_event_facts()["own"], np.uint64)
        return np.isin(ids, own)

    def _since_begin(self, module: str, rows: Rows) -> Rows:
        """Records less what was counted before, times since the recording began."""
        names = SHOWN[module]
        ints, floats = rows.counters.copy(), rows.fcounters.copy()
        before, fbefore = padded(self._before.get(module, no_rows(names)), len(rows))
        adds, fadds = names.where("sum"), names.fwhere("sum")
        ints[:, adds] = np.where(
            ints[:, adds] == NOT_COUNTED, 0, ints[:, adds] - np.maximum(before[:, adds], 0)
        )
        floats[:, fadds] -= fbefore[:, fadds]
        stamps = np.array([name.endswith("_TIMESTAMP") for name in names.fcounters])
        floats[:, stamps] = np.maximum(floats[:, stamps] - self._library_seconds, 0.0)
        return Rows(rows.ids, ints, floats)

    def totals(self, module: str) -> Totals:
        """All records of a module as one, since the recording began."""
        rows, names = self.rows(module), SHOWN[module]
        kept = ~self._is_own(rows.ids)
        since = self._since_begin(module, rows)
        ints, floats = since.counters[kept], since.fcounters[kept]
        first = np.where(floats > 0, floats, np.inf).min(axis=0, initial=np.inf)
        return Totals(
            records=int(kept.sum()),
            sums=ints.sum(axis=0),
            maxima=ints.max(axis=0, initial=0),
            fsums=floats.sum(axis=0),
            fmaxima=floats.max(axis=0, initial=0.0),
            fminima=np.where(np.isfinite(first), first, 0.0),
            common_sizes=common_sizes(
                names, rows.counters[kept], self._before.get(module, no_rows(names)).counters
            ),
            partial=module in self.log.header.partial,
        )

    def drain_bins(self, module: str) -> BinSeries:
        """Activity of a module over time since the last call: reads and writes, since Darshan does
        not tell when else it counts something.
        """
        if self.handle != OWN_HANDLE or module not in EVENT_MODULES:
            return BinSeries()
        width, first, rows, idle = native().libdarshan_drain_bins(EVENT_MODULES.index(module))
        values = np.frombuffer(rows, np.int64).reshape(-1, len(BIN_COLUMNS) - 1)
        busy = np.rint(width * (1.0 - np.frombuffer(idle, np.float64))).astype(np.int64)
        return BinSeries(width / _NANOSECONDS, first, np.column_stack([values, busy]))

    def drain_segments(self) -> tuple[SegmentArray, int]:
        """Traced accesses of the POSIX module `[n] SEGMENT_DTYPE` since the last call, the oldest
        first, and how many found no room since the recording began.
        """
        if self.handle != OWN_HANDLE:
            return np.zeros(0, SEGMENT_DTYPE), 0
        events = np.frombuffer(native().libdarshan_take_segments(), EVENT_DTYPE)
        events = events[events["module"] == EVENT_MODULES.index("POSIX")]
        ids = self.rows("POSIX").ids
        events = events[np.isin(events["id"], ids)]
        order = np.argsort(ids)
        segments = np.zeros(len(events), SEGMENT_DTYPE)
        for name in ("direction", "offset", "length", "start", "end", "thread"):
            segments[name] = events[name]
        segments["record"] = order[np.searchsorted(ids, events["id"], sorter=order)]
        segments["order"] = [self._next(*key) for key in segments[["record", "direction"]].tolist()]
        self._traced = np.unique(segments["record"]).astype(np.int64)
        return segments, int(native().libdarshan_event_facts()["segments_dropped"])

    def _next(self, place: int, direction: int) -> int:
        number = self._orders.get((place, direction), 0)
        self._orders[place, direction] = number + 1
        return number

    def heatmaps(self) -> dict[str, tuple[float, Int64Array, Int64Array]]:
        """Darshan's own heat maps: name → seconds a bin, bytes read and written in each."""
        if self.log.header.versions.get("HEATMAP") != layouts.HEATMAP_VERSION:
            return {}
        self.log.refresh()
        data = self.log.records("HEATMAP", layouts.HEATMAP_DTYPE.itemsize)
        found = np.frombuffer(data or b"", layouts.HEATMAP_DTYPE)
        return {
            self.log.names.get(int(row["id"]), ""): (
                float(row["bin_seconds"]),
                row["read"].copy(),
                row["written"].copy(),
            )
            for row in found[: find_rows(found["id"])]
            if row["n_bins"] == layouts.HEATMAP_BINS
        }

    def stripes(self) -> Mapping[str, list[dict[str, int | str]]]:
        """How Lustre stripes files: path → its components, each counter by Darshan's name."""
        region = self.log.header.regions.get("LUSTRE")
        if self.log.header.versions.get("LUSTRE") != layouts.LUSTRE_VERSION or region is None:
            return {}
        data = self.log.records("LUSTRE", 1) or bytearray()
        return parse_stripes(bytes(data), self.log.names)

    def close(self) -> None:
        """Forgets the process."""
