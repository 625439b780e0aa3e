"""The compiled recorder. Arrays come as bytes in the machine's order, see `recording/recorder.py`."""

from typing import TypedDict

class Redirected(TypedDict):
    objects: int
    slots: int
    skipped: int
    skips: list[tuple[bytes, bytes, bytes]]

class Status(TypedDict):
    begin: float
    refused: int
    mappings: int
    rings: int
    segments_dropped: int
    arena_bytes: int
    arena: str

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
    /,
) -> Redirected: ...
def stop() -> None: ...
def is_active() -> bool: ...
def now() -> float: ...
def mute(muted: bool, /) -> bool: ...
def records(module: int, lately: bool, /) -> tuple[bytearray, bytearray, bytearray, bytearray]: ...
def names(module: int, places: bytes, /) -> list[bytes]: ...
def totals(module: int, /) -> tuple[int, bytes, bytes, bytes, bytes, bytes, bytes]: ...
def drain_bins(module: int, /) -> tuple[int, int, bytes, bytes]: ...
def drain_segments() -> bytes: ...
def status() -> Status: ...
def redirected() -> Redirected: ...
def hook_names() -> list[tuple[str, str]]: ...
