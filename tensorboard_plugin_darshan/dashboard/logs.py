"""Which Darshan logs lie below the log directory, and the runs they make.

A thread of its own looks through the directory, so that neither TensorBoard's start nor a
request waits for a slow file system; of each log it reads the first bytes once.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tensorboard_plugin_darshan import modules
from tensorboard_plugin_darshan.dashboard.log_cache import LogCache
from tensorboard_plugin_darshan.dashboard.log_header import BadLogError, Header
from tensorboard_plugin_darshan.dashboard.log_process import read_logs
from tensorboard_plugin_darshan.dashboard.log_run import LogRun, log_run
from tensorboard_plugin_darshan.dashboard.log_scan import Found, LogScan

MAX_CACHED_BYTES: Final = 256 * 1024**2
FIRST_WAIT_SECONDS: Final = 2.0
WAIT_SECONDS: Final = 0.02
"""How long a request waits for the first look through the directory, and for later ones."""

_PAUSE_SECONDS: Final = 1.0
_PAUSE_RATIO: Final = 10.0
"""Looking again waits this long, and this many times as long as the last look took."""

Entry = dict[str, Any]


@dataclass(frozen=True)
class _Known:
    """What the last look found."""

    runs: Mapping[str, tuple[Found, ...]]
    entries: tuple[Entry, ...]


def roots(context: Any) -> dict[str, Path]:
    """Directories on this machine below which TensorBoard looks for runs, by prefix of names."""
    flags = getattr(context, "flags", None)
    logdir = getattr(context, "logdir", None) or getattr(flags, "logdir", None) or ""
    spec = getattr(flags, "logdir_spec", None) or ""
    found = {} if not logdir or spec else {"": logdir}
    for part in filter(None, spec.split(",")):
        name, colon, path = part.partition(":")
        is_named = bool(colon) and "/" not in name and not path.startswith("//")
        found[name if is_named else ""] = path if is_named else part
    return {prefix: Path(path).expanduser() for prefix, path in found.items() if "://" not in path}


class LogStore:
    """The runs that logs make. All methods may be called from any thread.

    Args:
        roots: prefix of names → directory to look through.
        cache: where what was read is kept; the user's cache directory without it.
    """

    def __init__(self, roots: Mapping[str, Path], cache: LogCache | None = None) -> None:
        self._scan = LogScan(roots)
        self._cache = cache
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._known = _Known({}, ())
        self._first = threading.Event()
        self._looked = threading.Event()
        self._looking = False
        self._next = 0.0
        self._runs: OrderedDict[str, tuple[Any, LogRun]] = OrderedDict()

    @property
    def has_any(self) -> bool:
        """Whether the last look found a log; asks for another look and does not wait for it."""
        self._look()
        return bool(self._known.runs)

    def entries(self) -> tuple[Entry, ...]:
        """What `/runs` says of the logs, newest first; opens nothing."""
        self._look()
        if not self._first.wait(FIRST_WAIT_SECONDS):
            return ()
        self._looked.wait(WAIT_SECONDS)
        return self._known.entries

    @property
    def is_looking_first(self) -> bool:
        """Whether the first look through the directory is not done yet."""
        return not self._first.is_set()

    def knows(self, name: str) -> bool:
        """Whether there is a run of that name."""
        self._look()
        self._first.wait(FIRST_WAIT_SECONDS)
        if name not in self._known.runs:
            self._looked.wait(WAIT_SECONDS)
        return name in self._known.runs

    def load(self, name: str) -> LogRun:
        """A run that `knows` knows, as its files are now."""
        logs = self._known.runs[name]
        stamp = tuple(_stamp(log.path) for log in logs)
        with self._lock:
            known = self._runs.get(name)
            if known is not None and known[0] == stamp:
                self._runs.move_to_end(name)
                return known[1]
        with self._reading:
            with self._lock:
                known = self._runs.get(name)
            if known is None or known[0] != stamp:
                known = (stamp, self._read(name, logs))
        with self._lock:
            self._runs[name] = known
            self._runs.move_to_end(name)
            total = sum(run.nbytes for _, run in self._runs.values())
            while total > MAX_CACHED_BYTES and len(self._runs) > 1:
                total -= self._runs.popitem(last=False)[1][1].nbytes
        return known[1]

    def _read(self, name: str, logs: tuple[Found, ...]) -> LogRun:
        contents: dict[str, Any] = {}
        fresh = [log.look() for log in logs]
        good = [log for log in fresh if isinstance(log.header, Header)]
        if good:
            self._cache = self._cache or LogCache()
            read = read_logs([log.path for log in good], self._cache)
            contents = {log.name: read[log.path] for log in good}
        bad = {log.name: log.header for log in fresh if isinstance(log.header, BadLogError)}
        return log_run(name, {log.name: contents.get(log.name) or bad[log.name] for log in fresh})

    def _look(self) -> None:
        """Starts looking through the directory, unless that goes on or was just done."""
        with self._lock:
            if self._looking or time.monotonic() < self._next:
                return
            self._looking = True
            self._looked.clear()
        threading.Thread(target=self._look_through, name="darshan-logs", daemon=True).start()

    def _look_through(self) -> None:
        start = time.monotonic()
        try:
            found = self._scan.scan()
            if found is not None:
                self._known = _group(found)
        finally:
            took = time.monotonic() - start
            with self._lock:
                self._looking = False
                self._next = time.monotonic() + max(_PAUSE_SECONDS, _PAUSE_RATIO * took)
            self._first.set()
            self._looked.set()


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_size, facts.st_mtime_ns


def _group(found: Iterable[Found]) -> _Known:
    """Runs and their entries: every log, and the logs of one job in one folder together."""
    runs: dict[str, tuple[Found, ...]] = {}
    jobs: dict[tuple[str, int, int], list[Found]] = {}
    for log in found:
        runs[log.name] = (log,)
        if isinstance(log.header, Header) and log.header.job_id:
            folder = log.name.rpartition("/")[0]
            jobs.setdefault((folder, log.header.uid, log.header.job_id), []).append(log)
    for (folder, _, job_id), every in jobs.items():
        logs = list({_identity(log): log for log in every}.values())
        if len(logs) > 1:
            name = f"{folder}/job-{job_id}" if folder else f"job-{job_id}"
            runs[name] = tuple(sorted(logs, key=lambda log: log.name))
    entries = [_entry(name, logs) for name, logs in runs.items()]
    entries.sort(key=lambda entry: (-(entry["begin"] or 0.0), entry["name"]))
    return _Known(runs, tuple(entries))


def _identity(log: Found) -> Any:
    """What copies of one log have in common."""
    header = log.header
    assert isinstance(header, Header)
    lengths = tuple((name, module.length) for name, module in header.modules.items())
    return header.begin, header.end, header.command, lengths


def _entry(name: str, logs: tuple[Found, ...]) -> Entry:
    headers = [log.header for log in logs if isinstance(log.header, Header)]
    begin = min((header.begin for header in headers), default=None)
    end = max((header.end for header in headers), default=None)
    present = {module for header in headers for module in header.modules}
    known = begin is not None and end is not None
    return {
        "name": name,
        "kind": "log",
        "begin": begin,
        "end": end,
        "duration_seconds": max(0.0, end - begin) if known else None,  # type: ignore[operator]
        "live": False,
        "recordings": len(logs),
        "source": "Darshan log" if headers else None,
        "hostnames": [],
        "modules": [module for module in modules.SHOWN if module in present],
        "processes": sum(header.processes for header in headers) if headers else None,
        "notes": [
            f"{log.name} {log.header}." for log in logs if isinstance(log.header, BadLogError)
        ],
    }
