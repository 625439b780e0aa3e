"""The compiled recorder. Arrays come as bytes in the machine's order, see `recording/reader.py`."""

from typing import TypedDict

class Redirected(TypedDict):
    objects: int
    slots: int
    skipped: int
    skips: list[tuple[bytes, bytes, bytes]]

class Status(TypedDict):
    begin: float
    begin_monotonic: int
    segments_dropped: int
    arena_bytes: int
    arena: str
    session: str
    leads: bool
    children: bool
    extended: bool

class ViewFacts(TypedDict):
    pid: int
    parent: int
    alive: bool
    own_writer: bool
    ended: int
    exit_status: int
    refused: int
    mappings: int
    rings: int
    programs: int
    program_names: list[bytes]

DARSHAN_EXCLUDED: list[bytes]
DARSHAN_INCLUDED: list[bytes]

def start(
    arena_directory: str | None,
    arena_ceiling: int,
    files_ceiling: int,
    segments_max: int,
    extended: bool,
    excluded: list[bytes],
    included: list[bytes],
    session: str,
    leads: bool,
    children: bool,
    begin: int,
    begin_wall: float,
    /,
) -> Redirected: ...
def stop() -> None: ...
def is_active() -> bool: ...
def now() -> float: ...
def mute(muted: bool, /) -> bool: ...
def records(
    view: int, module: int, lately: bool, /
) -> tuple[bytearray, bytearray, bytearray, bytearray]: ...
def names(view: int, module: int, places: bytes, /) -> list[bytes]: ...
def totals(view: int, module: int, /) -> tuple[int, bytes, bytes, bytes, bytes, bytes, bytes]: ...
def drain_bins(view: int, module: int, /) -> tuple[int, int, bytes, bytes]: ...
def open_view(path: str, /) -> int: ...
def close_view(view: int, removes: bool, /) -> None: ...
def view_facts(view: int, /) -> ViewFacts: ...
def claim() -> None: ...
def drain_segments() -> bytes: ...
def status() -> Status: ...
def redirected() -> Redirected: ...
def hook_names() -> list[tuple[str, str]]: ...

class Libdarshan(TypedDict, total=False):
    found: bool
    reason: bytes | None
    path: bytes
    was_loaded: bool
    has_core: bool
    has_mpi: bool
    active: bool
    mpi_runs: bool
    time_zero: float

class LibdarshanRedirected(TypedDict):
    objects: int
    slots: int
    skipped: int

class EventFacts(TypedDict):
    segments_dropped: int
    own: bytes
    forked: int
    processes: bytes

def libdarshan_find(path: str | None, /) -> Libdarshan: ...
def libdarshan_begin() -> None: ...
def libdarshan_log() -> tuple[int, int, int, int, int, int] | None: ...
def libdarshan_regions(core: int, n: int, used: int, /) -> list[tuple[int, int, int]] | None: ...
def libdarshan_names_size(core: int, /) -> int | None: ...
def libdarshan_copy(
    core: int, address: int, size: int, record_size: int, frees: bool, /
) -> bytearray | None: ...
def libdarshan_redirect() -> LibdarshanRedirected: ...
def libdarshan_redirect_new() -> LibdarshanRedirected: ...
def libdarshan_put_back() -> None: ...
def libdarshan_watch(library_zero: float, begin: float, segments_max: int, /) -> list[str]: ...
def libdarshan_unwatch() -> None: ...
def libdarshan_now() -> float: ...
def libdarshan_drain_bins(module: int, /) -> tuple[int, int, bytes, bytes]: ...
def libdarshan_take_segments() -> bytearray: ...
def libdarshan_event_facts() -> EventFacts: ...
