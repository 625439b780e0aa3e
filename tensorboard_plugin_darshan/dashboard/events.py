"""TensorBoard's data provider → `Run`.

What was read is kept: a tag is read again only when the provider lists something new for it, and
of what it then gives only the new windows are decoded. Runs that were not looked at for longest
are dropped when all together pass a memory bound.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from tensorboard.data import provider as provider_lib

from tensorboard_plugin_darshan import metadata, payload, summary
from tensorboard_plugin_darshan.dashboard import tags as tags_lib
from tensorboard_plugin_darshan.dashboard.run import Job, Run, is_live, moment, sentences

MAX_CACHED_BYTES: Final = 512 * 1024**2

_KEEP_ALL: Final = 1_000_000
"""The provider wants a number of samples; this is more than any tag has."""

Listing = Mapping[str, Mapping[str, Any]]


class UnknownRunError(LookupError):
    """There is no such run; its text says which name was wrong."""


class DataUnavailableError(RuntimeError):
    """TensorBoard's data server did not answer; its text says what to do."""


@dataclass(frozen=True)
class RunSummary:
    """What the list of runs says about one; times in seconds since 1970 or None if unknown."""

    name: str
    begin: float | None
    end: float | None
    duration_seconds: float | None
    live: bool
    jobs: tuple[Job, ...]
    notes: tuple[str, ...]
    recordings: int


@dataclass
class _JobState:
    """A recording's job description as it was last read."""

    listed: Any = None
    job: Job = field(default_factory=dict)
    problem: str | None = None


@dataclass
class _RunState:
    """What is kept of a run between requests."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    recordings: dict[str, tags_lib.RecordingState] = field(default_factory=dict)
    run: Run | None = None


class RunStore:
    """The runs that TensorBoard's data provider has. All methods may be called from any thread.

    Args:
        data_provider: TensorBoard's.
        max_bytes: memory bound of the decoded runs; the run looked at last is always kept.
    """

    def __init__(self, data_provider: Any, max_bytes: int = MAX_CACHED_BYTES) -> None:
        self._provider = data_provider
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._runs: OrderedDict[tuple[str, str], _RunState] = OrderedDict()
        self._jobs: dict[tuple[str, str], _JobState] = {}

    def list_runs(self, ctx: Any, experiment: str, now: float) -> list[RunSummary]:
        """All runs, newest first; `now` in seconds since 1970.

        Raises:
            DataUnavailableError: the data server did not answer.
        """
        with translated_errors():
            listing = self._list(ctx, experiment, None)
            self._read_jobs(ctx, experiment, listing)
        with self._lock:
            known = {key[1]: key for key in self._jobs if key[0] == experiment}
            for name in known.keys() - listing.keys():
                del self._jobs[known[name]]
        groups: dict[str, list[str]] = {}
        for name in sorted(listing):
            groups.setdefault(run_name(name), []).append(name)
        found = [
            self._summarize(experiment, name, {r: listing[r] for r in recordings}, now)
            for name, recordings in groups.items()
        ]
        return sorted(found, key=lambda run: (-(run.begin or 0.0), run.name))

    def load(self, ctx: Any, experiment: str, name: str) -> Run:
        """The run as it is now.

        Raises:
            UnknownRunError: there is no such run.
            DataUnavailableError: the data server did not answer.
        """
        with translated_errors():
            return self._load(ctx, experiment, name)

    def _load(self, ctx: Any, experiment: str, name: str) -> Run:
        every = self._provider.list_runs(ctx, experiment_id=experiment)
        recordings = [run.run_name for run in every if run_name(run.run_name) == name]
        listing = self._list(ctx, experiment, recordings) if recordings else {}
        if not listing:
            raise UnknownRunError(f"there is no run {name!r}")
        self._read_jobs(ctx, experiment, listing)
        state = self._state(experiment, name)
        with state.lock:
            run = self._refresh(ctx, experiment, name, state, listing)
        self._drop_old()
        return run

    def _refresh(
        self, ctx: Any, experiment: str, name: str, state: _RunState, listing: Listing
    ) -> Run:
        """Reads what is new into `state`, whose lock is held."""

        def read(recording: str, tags: list[str]) -> Any:
            return self._read(ctx, experiment, {recording}, set(tags)).get(recording, {})

        changed = state.run is None or state.recordings.keys() != listing.keys()
        state.recordings = {
            recording: state.recordings.get(recording) or tags_lib.RecordingState(recording)
            for recording in sorted(listing)
        }
        for recording, known in state.recordings.items():
            job = self._jobs.get((experiment, recording)) or _JobState()
            changed |= known.refresh(listing[recording], job.job, job.problem, read)
        if changed or state.run is None:
            state.run = Run(name, tuple(known.recording for known in state.recordings.values()))
        return state.run

    def _state(self, experiment: str, name: str) -> _RunState:
        with self._lock:
            state = self._runs.setdefault((experiment, name), _RunState())
            self._runs.move_to_end((experiment, name))
            return state

    def _drop_old(self) -> None:
        with self._lock:
            sizes = {key: state.run.nbytes for key, state in self._runs.items() if state.run}
            total = sum(sizes.values())
            for key in list(self._runs)[:-1]:
                if total <= self._max_bytes:
                    break
                total -= sizes.get(key, 0)
                del self._runs[key]

    def _list(self, ctx: Any, experiment: str, runs: list[str] | None) -> Listing:
        listed = self._provider.list_tensors(
            ctx,
            experiment_id=experiment,
            plugin_name=metadata.PLUGIN_NAME,
            run_tag_filter=provider_lib.RunTagFilter(runs=runs),
        )
        return {run: tags for run, tags in listed.items() if tags}

    def _read(self, ctx: Any, experiment: str, runs: set[str], tags: set[str]) -> Any:
        return self._provider.read_tensors(
            ctx,
            experiment_id=experiment,
            plugin_name=metadata.PLUGIN_NAME,
            downsample=_KEEP_ALL,
            run_tag_filter=provider_lib.RunTagFilter(runs=runs, tags=tags),
        )

    def _read_jobs(self, ctx: Any, experiment: str, listing: Listing) -> None:
        """Reads the job descriptions that are new or have changed."""
        wanted = {}
        with self._lock:
            for recording, tags in listing.items():
                known = self._jobs.setdefault((experiment, recording), _JobState())
                listed = tags_lib.listed(tags.get(metadata.JOB_TAG))
                if listed != known.listed:
                    wanted[recording] = listed
        if not wanted:
            return
        answer = self._read(ctx, experiment, set(wanted), {metadata.JOB_TAG})
        for recording, listed in wanted.items():
            data = answer.get(recording, {}).get(metadata.JOB_TAG, [])
            fresh = _parse_job(recording, data, listed)
            with self._lock:
                self._jobs[experiment, recording] = fresh

    def _summarize(self, experiment: str, name: str, recordings: Listing, now: float) -> RunSummary:
        with self._lock:
            states = [self._jobs.get((experiment, r)) or _JobState() for r in recordings]
        newest = [tags_lib.newest(tags) for tags in recordings.values()]
        spans = [_span(state.job, last) for state, last in zip(states, newest, strict=True)]
        begins = [begin for begin, _, _ in spans if begin is not None]
        ends = [end for _, end, _ in spans]
        lasts = [last for _, _, last in spans]
        begin = min(begins, default=None)
        problems = [state.problem for state in states if state.problem]
        notes = [note for state in states for note in sentences(state.job.get("notes"))]
        return RunSummary(
            name=name,
            begin=begin,
            end=max(end for end in ends if end is not None) if all(ends) else None,
            duration_seconds=None if begin is None else max(0.0, max(lasts) - begin),
            live=any(
                is_live(state.job, last, now) and not state.problem
                for state, last in zip(states, newest, strict=True)
            ),
            jobs=tuple(state.job for state in states),
            notes=tuple(dict.fromkeys([*problems, *notes])),
            recordings=len(states),
        )


def run_name(recording: str) -> str:
    """Name of our run that a TensorBoard run with a recording belongs to: what stands before
    `/darshan/`, or `.` when nothing does.
    """
    parent = recording.rpartition("/")[0]
    directory, _, last = parent.rpartition("/")
    return (directory if last == metadata.RECORDINGS_DIRECTORY else parent) or "."


def _parse_job(recording: str, data: list[Any], listed: Any) -> _JobState:
    if not data:
        return _JobState(listed)
    try:
        return _JobState(listed, summary.parse_job(data[-1].numpy))
    except payload.PayloadError as error:
        if isinstance(error, payload.NewerVersionError):
            return _JobState(listed, problem=f"{recording}: {error}")
        return _JobState(
            listed,
            problem=f"The description of the recording {recording} could not be read, because the "
            "event file is damaged: host, rank and versions are not known. If the files were "
            "copied, copy them again.",
        )


def _span(job: Job, newest: float) -> tuple[float | None, float | None, float]:
    """Begin, end if it has ended, and last sign of life of a recording, seconds since 1970."""
    end = moment(job, "end") if job.get("finished") is True else None
    return moment(job, "begin"), end, newest if end is None else end


@contextmanager
def translated_errors() -> Iterator[None]:
    """Errors of the data server, which are no errors of TensorBoard's own kind, as ours. Without
    grpc loaded there is no data server.
    """
    grpc = sys.modules.get("grpc")
    kind: Any = grpc.RpcError if grpc is not None else ()
    try:
        yield
    except kind as error:
        detail = error.details() if hasattr(error, "details") else str(error)
        raise DataUnavailableError(
            f"TensorBoard's data server did not answer ({detail}); reload in a few seconds, "
            "and start TensorBoard again if that does not help"
        ) from error
