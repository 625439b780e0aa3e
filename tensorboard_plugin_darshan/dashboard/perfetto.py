"""A run as trace events, which ui.perfetto.dev and chrome://tracing open.

Events are made one after the other and never held together, so that the memory needed does not
grow with their number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan.dashboard import file_table, lanes, phases
from tensorboard_plugin_darshan.dashboard.offline import OfflineRun
from tensorboard_plugin_darshan.dashboard.rank_lanes import lane_names
from tensorboard_plugin_darshan.dashboard.run import Recording
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.dashboard.timeline import timeline
from tensorboard_plugin_darshan.segments import Segments

MAX_FILE_LANES: Final = 200
"""Files with a lane of their own, the busiest; all accesses are in the lanes of threads."""

_MAX_COUNTER_BINS: Final = 20_000
_NANO: Final = 1_000_000_000
_FIRST_PROCESS: Final = 1_000_000_000
"""Process ids of the lanes: larger than those of real processes, which a merged trace may have."""

_PER_RECORDING: Final = 2
_NAMES: Final = ("read", "write")
_MODULE: Final = "POSIX"


def trace_events(offline: OfflineRun, zero: int) -> Iterator[str]:
    """The run's events as JSON texts.

    Args:
        offline: the run.
        zero: where the trace's axis begins, in nanoseconds since 1970.
    """
    run = offline.run
    shift = round(run.begin * _NANO) - zero
    yield _meta("process_name", _FIRST_PROCESS, 0, name="File I/O: phases, steps, bandwidth")
    yield from _phases(offline, shift)
    yield from _counters(offline, shift)
    several = len(run.recordings) > 1
    busiest = _busiest_files(offline)
    for place, (recording, name) in enumerate(zip(run.recordings, lane_names(run), strict=True)):
        prefix = f"rank {name}: " if several else ""
        process = _FIRST_PROCESS + 1 + _PER_RECORDING * place
        offset = shift + round(run.offset(recording) * _NANO)
        yield from _steps(recording, offset, prefix, place)
        yield _meta("process_name", process, 0, name=f"{prefix}file I/O by thread")
        yield _meta("process_name", process + 1, 0, name=f"{prefix}file I/O by file")
        yield from _Accesses(recording, process, busiest).events(offline, offset)


def _meta(kind: str, process: int, thread: int, **arguments: Any) -> str:
    return json.dumps({"ph": "M", "name": kind, "pid": process, "tid": thread, "args": arguments})


def _time(nanoseconds: int) -> str:
    """Microseconds, with three decimals."""
    sign, whole = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    return f"{sign}{whole // 1000}.{whole % 1000:03d}"


def _phases(offline: OfflineRun, shift: int) -> Iterator[str]:
    yield _meta("thread_name", _FIRST_PROCESS, 1, name="phases")
    for stretch in phases.stretches(_whole(offline)):
        if not stretch.phase:
            continue
        epoch = f", epoch {stretch.epoch + 1}" if stretch.epoch >= 0 else ""
        start = round(stretch.start * _NANO) + shift
        duration = round((stretch.end - stretch.start) * _NANO)
        yield (
            f'{{"ph":"X","pid":{_FIRST_PROCESS},"tid":1,"ts":{_time(start)},'
            f'"dur":{_time(duration)},"name":{json.dumps(stretch.phase + epoch)},"cat":"phase"}}'
        )


def _steps(recording: Recording, offset: int, prefix: str, place: int) -> Iterator[str]:
    """A mark at the end of each window in which the training step rose."""
    thread = 2 + place
    yield _meta("thread_name", _FIRST_PROCESS, thread, name=f"{prefix}steps")
    windows, last = recording.windows, -1
    for step, end in zip(windows.step.tolist(), windows.end.tolist(), strict=True):
        if step > last:
            last = step
            yield (
                f'{{"ph":"i","s":"t","pid":{_FIRST_PROCESS},"tid":{thread},'
                f'"ts":{_time(round(end * _NANO) + offset)},"name":"step {step}","cat":"step"}}'
            )


def _counters(offline: OfflineRun, shift: int) -> Iterator[str]:
    """Bandwidth, at each change of it."""
    line = timeline(_whole(offline), _MAX_COUNTER_BINS, ("read_bytes", "write_bytes"))
    if line is None:
        return
    for name, values in (("read", line.read_bandwidth), ("write", line.write_bandwidth)):
        shown = np.round(np.append(values, 0.0) / 1024**2, 3)
        changed = np.flatnonzero(np.diff(shown, prepend=-1.0))
        times = np.round(line.edges[changed] * _NANO).astype(np.int64) + shift
        for time, value in zip(times.tolist(), shown[changed].tolist(), strict=True):
            yield (
                f'{{"ph":"C","pid":{_FIRST_PROCESS},"tid":0,"ts":{_time(time)},'
                f'"name":"{name} bandwidth (MiB/s)","args":{{"MiB/s":{value}}}}}'
            )


def _whole(offline: OfflineRun) -> Selection:
    return Selection(offline.run, None, None, offline.run.modules)


def _busiest_files(offline: OfflineRun) -> set[str]:
    rows = file_table.file_rows(Selection(offline.run, None, None, (_MODULE,)))
    if not len(rows):
        return set()
    busy = rows.values["read_seconds"] + rows.values["write_seconds"]
    return {rows.paths[i] for i in np.argsort(-busy, kind="stable")[:MAX_FILE_LANES].tolist()}


class _Accesses:
    """Events of a recording's single accesses.

    Args:
        recording: the recording.
        process: of the lanes by thread; that of the lanes by file follows.
        busiest: paths of files with lanes of their own.
    """

    def __init__(self, recording: Recording, process: int, busiest: set[str]) -> None:
        self._recording = recording
        self._process = process
        self._busiest = busiest
        self._paths: dict[int, str] = {}
        self._threads: dict[tuple[int, int], int] = {}
        self._lanes: dict[tuple[int, int], int] = {}

    def events(self, offline: OfflineRun, offset: int) -> Iterator[str]:
        """The accesses, each in its thread's lane and, where it has one, in its file's.

        Args:
            offline: the run.
            offset: the recording's begin on the trace's axis, in nanoseconds.
        """
        for piece in offline.segments(self._recording):
            yield from self._name_lanes(piece)
            yield from self._piece(piece, offset)

    def _path(self, record_id: int) -> str:
        """A file's path as JSON text."""
        text = self._paths.get(record_id)
        if text is None:
            path = self._recording.index.path_of(record_id)
            text = json.dumps(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
            self._paths[record_id] = text
        return text

    def _name_lanes(self, piece: Segments) -> Iterator[str]:
        """Events that name the lanes which are new in a piece."""
        for thread in map(tuple, piece.threads.tolist()):
            if thread not in self._threads:
                self._threads[thread] = len(self._threads) + 1
                name = lanes.thread_names(list(self._threads))[-1]
                yield _meta("thread_name", self._process, len(self._threads), name=name)
        pairs = np.unique(np.stack([piece.file, piece.thread]), axis=1).T.tolist()
        threads = [self._threads[p, t] for p, t in piece.threads.tolist()]
        for file, place in pairs:
            record_id, thread_number = int(piece.files[file]), threads[place]
            path = self._recording.index.path_of(record_id)
            if path in self._busiest and (record_id, thread_number) not in self._lanes:
                lane = self._lanes[record_id, thread_number] = len(self._lanes) + 1
                name = f"{json.loads(self._path(record_id))} (thread {thread_number})"
                yield _meta("thread_name", self._process + 1, lane, name=name)

    def _piece(self, piece: Segments, offset: int) -> Iterator[str]:
        ids = piece.files.tolist()
        paths = [self._path(record_id) for record_id in ids]
        threads = [self._threads[p, t] for p, t in piece.threads.tolist()]
        heads = [f'{{"ph":"X","cat":"io","name":"{name}","pid":' for name in _NAMES]
        one, other = self._process, self._process + 1
        rows = zip(
            piece.file.tolist(),
            piece.direction.tolist(),
            piece.offset.tolist(),
            piece.length.tolist(),
            (piece.start + offset).tolist(),
            (piece.end - piece.start).tolist(),
            piece.thread.tolist(),
            strict=True,
        )
        for file, direction, at, length, start, took, place in rows:
            thread, head = threads[place], heads[direction]
            times = (
                f'"ts":{start // 1000}.{start % 1000:03d},"dur":{took // 1000}.{took % 1000:03d},'
                if start >= 0
                else f'"ts":{_time(start)},"dur":{_time(took)},'
            )
            what = f'{times}"args":{{"file":{paths[file]},"offset":{at},"length":{length}}}}}'
            yield f'{head}{one},"tid":{thread},{what}'
            lane = self._lanes.get((ids[file], thread))
            if lane is not None:
                yield f'{head}{other},"tid":{lane},{what}'
