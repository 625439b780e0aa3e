"""`Trace`: the single reads and writes of a recording as columns, read when they are asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from tensorboard.data import provider as provider_lib

from tensorboard_plugin_darshan import metadata, payload, summary
from tensorboard_plugin_darshan.dashboard import columns, tags
from tensorboard_plugin_darshan.dashboard.events import translated_errors
from tensorboard_plugin_darshan.segments import Segments

Array = columns.Array

MAX_CACHED_BYTES: Final = 256 * 1024**2
_KEEP_ALL: Final = 1_000_000


@dataclass(frozen=True)
class Trace:
    """Accesses `[n]` of one recording, in the order of their start.

    Attributes:
        files: `[n_files] uint64` record ids.
        threads: `[n_threads, 2] uint64` process id and thread id.
        file: `[n]` place in `files`.
        direction: `[n]` 0 read, 1 write.
        offset, length: `[n]` bytes.
        start: `[n] int64` nanoseconds since the recording began.
        duration: `[n]` nanoseconds.
        thread: `[n]` place in `threads`.
        dropped: accesses that were made but not kept.
        problems: sentences on data that could not be read.
    """

    files: Array
    threads: Array
    file: Array
    direction: Array
    offset: Array
    length: Array
    start: Array
    duration: Array
    thread: Array
    dropped: int = 0
    problems: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.start)

    @property
    def nbytes(self) -> int:
        """Memory that the columns take, in bytes."""
        arrays = (self.files, self.file, self.direction, self.offset, self.length, self.start)
        return sum(array.nbytes for array in (*arrays, self.duration, self.thread))


def build_trace(pieces: Sequence[Segments], problems: tuple[str, ...] = ()) -> Trace:
    """Columns of segments as they were written, one piece a window."""
    empty = np.zeros(0, np.int64)
    files, file = _merge([piece.files for piece in pieces], [piece.file for piece in pieces])
    threads, thread = _merge_threads(pieces)

    def column(name: str) -> Array:
        return np.concatenate([empty, *(getattr(piece, name) for piece in pieces)])

    start = column("start")
    order = np.argsort(start, kind="stable")
    return Trace(
        files,
        threads,
        columns.narrow(file[order]),
        column("direction")[order].astype(np.uint8),
        columns.narrow(column("offset")[order]),
        columns.narrow(column("length")[order]),
        start[order],
        columns.narrow((column("end") - start)[order]),
        columns.narrow(thread[order]),
        sum(piece.dropped for piece in pieces),
        problems,
    )


def _merge(tables: list[Array], places: list[Array]) -> tuple[Array, Array]:
    """Tables of ids as one without repetition, and the places in it."""
    whole = np.concatenate([np.zeros(0, np.uint64), *tables])
    unique, inverse = np.unique(whole, return_inverse=True)
    shifts = np.cumsum([0, *map(len, tables)])
    moved = [inverse[place + shift] for place, shift in zip(places, shifts, strict=False)]
    return unique, np.concatenate([np.zeros(0, np.int64), *moved])


def _merge_threads(pieces: Sequence[Segments]) -> tuple[Array, Array]:
    """The same for threads, in order of their first access."""
    known: dict[tuple[int, int], int] = {}
    moved = [np.zeros(0, np.int64)]
    for piece in pieces:
        table = [known.setdefault((p, t), len(known)) for p, t in piece.threads.tolist()]
        moved.append(np.array(table, np.int64)[piece.thread])
    return np.array(list(known), np.uint64).reshape(-1, 2), np.concatenate(moved)


@dataclass
class _Known:
    """What was read of a recording's traced accesses."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    listed: dict[str, Any] = field(default_factory=dict)
    pieces: dict[str, list[Segments]] = field(default_factory=dict)
    problems: dict[str, None] = field(default_factory=dict)
    trace: Trace | None = None


class TraceStore:
    """Traced accesses that TensorBoard's data provider has; any thread may call it.

    They are read when somebody looks at them; what was read is kept within a memory bound.

    Args:
        data_provider: TensorBoard's.
        max_bytes: memory bound; what was looked at last is always kept.
    """

    def __init__(self, data_provider: Any, max_bytes: int = MAX_CACHED_BYTES) -> None:
        self._provider = data_provider
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    def load(self, ctx: Any, experiment: str, recordings: Sequence[str]) -> list[Trace | None]:
        """The trace of each recording, None for those that have none.

        Raises:
            DataUnavailableError: the data server did not answer.
        """
        with translated_errors():
            return self._load(ctx, experiment, recordings)

    def _load(self, ctx: Any, experiment: str, recordings: Sequence[str]) -> list[Trace | None]:
        listing = self._provider.list_tensors(
            ctx,
            experiment_id=experiment,
            plugin_name=metadata.PLUGIN_NAME,
            run_tag_filter=provider_lib.RunTagFilter(runs=list(recordings)),
        )
        traces = []
        for recording in recordings:
            with self._lock:
                known = self._known.setdefault((experiment, recording), _Known())
                self._known.move_to_end((experiment, recording))
            with known.lock:
                self._refresh(ctx, experiment, recording, known, listing.get(recording, {}))
                traces.append(known.trace)
        self._drop_old(len(recordings))
        return traces

    def _refresh(
        self, ctx: Any, experiment: str, recording: str, known: _Known, listing: Mapping[str, Any]
    ) -> None:
        wanted = tags.numbered_tags(listing, metadata.SEGMENTS_TAG_PREFIX)
        if known.listed.keys() - set(wanted):
            known.listed, known.pieces, known.problems = {}, {}, {}
        stale = [tag for tag in wanted if tags.listed(listing[tag]) != known.listed.get(tag)]
        for tag in stale:  # one at a time: each may hold 32 MiB
            answer = self._provider.read_tensors(
                ctx,
                experiment_id=experiment,
                plugin_name=metadata.PLUGIN_NAME,
                downsample=_KEEP_ALL,
                run_tag_filter=provider_lib.RunTagFilter(runs=[recording], tags=[tag]),
            )
            data = answer.get(recording, {}).get(tag, ())
            known.pieces[tag] = list(_parse(known, recording, data))
            known.listed[tag] = tags.listed(listing[tag])
        if stale or (known.trace is None and known.pieces):
            pieces = [piece for tag in wanted for piece in known.pieces.get(tag, ())]
            known.trace = build_trace(pieces, tuple(known.problems))

    def _drop_old(self, kept: int) -> None:
        with self._lock:
            sizes = {
                key: 3 * known.trace.nbytes for key, known in self._known.items() if known.trace
            }
            total = sum(sizes.values())
            for key in list(self._known)[: -max(kept, 1)]:
                if total <= self._max_bytes:
                    break
                total -= sizes.get(key, 0)
                del self._known[key]


def _parse(known: _Known, recording: str, data: Sequence[Any]) -> Any:
    for datum in data:
        try:
            yield summary.parse_segments(datum.numpy)
        except payload.PayloadError as error:
            known.problems[f"{recording}: {error}"] = None
