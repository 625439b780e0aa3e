"""What `tensorboard-darshan doctor` tells of how a process is recorded, a line each."""

from __future__ import annotations

import ctypes.util
import os
from collections.abc import Iterator, Mapping
from typing import Any

from tensorboard_plugin_darshan.recording import sources
from tensorboard_plugin_darshan.recording.native import RecordingUnavailableError


def findings(facts: Mapping[str, Any]) -> Iterator[str]:
    """What a recorder's facts say."""
    if facts["source"] == "libdarshan":
        yield from _of_libdarshan(facts)
    else:
        yield from _of_builtin(facts)
        yield from _of_other_libraries()
    yield from facts.get("notes", ())


def _of_builtin(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"calls redirected: {facts['slots']}, in {facts['objects']} loaded objects"
    yield f"calls that could not be redirected: {facts['skipped_slots']}"
    for skip in facts["skips"]:
        yield f"  {': '.join(skip)}"
    also = ", and those that it misses" if facts["extended"] else ""
    yield f"calls recorded: those of Darshan 3.5.0{also}"
    yield f"paths left out: {', '.join(facts['exclusions']) or 'none'}"
    yield f"  but recorded: {', '.join(facts['inclusions']) or 'none'}"


def _of_libdarshan(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"library: {facts['library']}, Darshan {facts['source_version']}, {facts['how']}"
    mapped = "with" if facts["mapped_log"] else "without"
    yield f"its log: format {facts['log_format']}, {mapped} memory-mapped logs"
    modules = (f"{name} (format {version})" for name, version in facts["modules"].items())
    yield f"modules in use: {', '.join(modules) or 'none so far'}"
    yield f"modules that ran out of room: {', '.join(facts['partial_modules']) or 'none'}"
    for name, value in facts["limits"].items():
        yield f"  {name}: {value}"
    yield f"activity over time from: {', '.join(facts['events']) or 'nothing'}"


def _of_other_libraries() -> Iterator[str]:
    """What there is of Darshan, where it does not record."""
    found = sources.find_loaded()
    if found is None:
        path = _library_at_hand()
        if path is None:
            yield "libdarshan: none in this process, and none to load"
        else:
            yield f"libdarshan could be loaded from {path}, with source='libdarshan'"
        return
    path = os.fsdecode(found["path"])
    try:
        sources.check(found)
    except RecordingUnavailableError as error:
        yield f"libdarshan is in this process, but: {error}"
        return
    if not found["active"]:
        yield (
            f"libdarshan is in this process ({path}) and does not record: DARSHAN_DISABLE is set, "
            "or DARSHAN_ENABLE_NONMPI is not"
        )


def _library_at_hand() -> str | None:
    path = os.environ.get(sources.LIBRARY_VARIABLE)
    if path:
        return path if os.path.exists(path) else f"nowhere: {path} does not exist"
    return ctypes.util.find_library("darshan")
