"""Writes Darshan logs, through the writer of the library that PyDarshan ships."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import cffi

from tensorboard_plugin_darshan.dashboard.log_bins import NANO

POSIX, STDIO, DXT_POSIX, HEATMAP = 1, 9, 10, 15
"""Ids of modules in the log format that is written (3.41)."""

VERSIONS: Final[Mapping[int, int]] = {POSIX: 4, STDIO: 2, DXT_POSIX: 1, HEATMAP: 1}
"""Version of each module's records that is written."""

_DECLARATIONS: Final = """
struct darshan_job {
    int64_t uid, start_time_sec, start_time_nsec, end_time_sec, end_time_nsec, nprocs, jobid;
    char metadata[1024];
};
struct darshan_mnt_info { char mnt_type[3015]; char mnt_path[3015]; };
struct name_ref {
    void *name_record;
    void *table, *previous, *next, *hash_previous, *hash_next, *key;
    unsigned key_length, hash;
};
void *darshan_log_create(const char *, int, uint64_t);
int darshan_log_put_job(void *, struct darshan_job *);
int darshan_log_put_exe(void *, char *);
int darshan_log_put_mounts(void *, struct darshan_mnt_info *, int);
int darshan_log_put_namehash(void *, struct name_ref *);
int darshan_log_put_mod(void *, int, void *, int, int);
void darshan_log_close(void *);
"""
_ZLIB: Final = 0
_MAX_TEXT: Final = 3014
_MAX_METADATA: Final = 1023
_MAX_COMMAND: Final = 3000


class ExportError(RuntimeError):
    """The log cannot be written; the text says why."""


@dataclass(frozen=True)
class JobFacts:
    """Who ran when; times in seconds since 1970."""

    begin: float
    end: float
    processes: int
    uid: int = 0
    job_id: int = 0
    command: str = ""
    metadata: Mapping[str, str] | None = None


def write_log(
    path: str | os.PathLike[str],
    job: JobFacts,
    mounts: Sequence[tuple[str, str]],
    names: Mapping[int, str],
    records: Mapping[int, Iterable[bytes]],
) -> None:
    """Writes a log.

    Args:
        path: where; replaced when it exists.
        job: the job.
        mounts: mount point and type of each file system.
        names: record id → name.
        records: module's id → its records as the log holds them, in any number.

    Raises:
        ExportError: the library cannot write it.
    """
    ffi, library = _library()
    temporary = f"{os.fspath(path)}.part"
    if os.path.exists(temporary):
        os.unlink(temporary)
    log = library.darshan_log_create(os.fsencode(temporary), _ZLIB, 0)
    if log == ffi.NULL:
        raise ExportError(f"Darshan's library cannot create {temporary}")
    try:
        _put(library.darshan_log_put_job(log, _job(ffi, job)), "the job")
        command = job.command.encode("utf-8", "surrogateescape")[:_MAX_COMMAND] or b" "
        _put(library.darshan_log_put_exe(log, ffi.new("char[]", command)), "the command")
        found = _mounts(ffi, mounts)
        _put(library.darshan_log_put_mounts(log, found, len(mounts)), "the mounts")
        keep: list[Any] = []
        _put(library.darshan_log_put_namehash(log, _names(ffi, names, keep)), "the names")
        for module in sorted(records):
            for record in records[module]:
                buffer = ffi.from_buffer(record)
                status = library.darshan_log_put_mod(
                    log, module, buffer, len(record), VERSIONS[module]
                )
                _put(status, f"records of module {module}")
    except BaseException:
        library.darshan_log_close(log)
        os.unlink(temporary)
        raise
    library.darshan_log_close(log)
    os.replace(temporary, path)


def _library() -> tuple[Any, Any]:
    from darshan.discover_darshan import find_utils

    ffi = cffi.FFI()
    ffi.cdef(_DECLARATIONS)
    library = find_utils(ffi, None)
    try:
        assert library.darshan_log_create
        assert library.darshan_log_put_mod
    except AttributeError as error:
        raise ExportError(
            "the installed package darshan cannot write logs; install darshan 3.4.4 or newer"
        ) from error
    return ffi, library


def _put(status: int, what: str) -> None:
    if status < 0:
        raise ExportError(f"Darshan's library cannot write {what}; is the disk full?")


def _job(ffi: Any, job: JobFacts) -> Any:
    lines = "".join(f"{key}={value}\n" for key, value in (job.metadata or {}).items())
    begin, end = round(job.begin * NANO), round(job.end * NANO)
    return ffi.new(
        "struct darshan_job *",
        {
            "uid": job.uid,
            "start_time_sec": begin // NANO,
            "start_time_nsec": begin % NANO,
            "end_time_sec": end // NANO,
            "end_time_nsec": end % NANO,
            "nprocs": job.processes,
            "jobid": job.job_id,
            "metadata": lines.encode()[:_MAX_METADATA],
        },
    )


def _mounts(ffi: Any, mounts: Sequence[tuple[str, str]]) -> Any:
    found = ffi.new("struct darshan_mnt_info[]", max(1, len(mounts)))
    for one, (point, kind) in zip(found, mounts, strict=False):
        one.mnt_path = point.encode("utf-8", "surrogateescape")[:_MAX_TEXT]
        one.mnt_type = kind.encode("utf-8", "surrogateescape")[:_MAX_TEXT]
    return found


def _names(ffi: Any, names: Mapping[int, str], keep: list[Any]) -> Any:
    """The names as the chain that the library walks; `keep` holds its memory."""
    if not names:
        return ffi.NULL
    chain = ffi.new("struct name_ref[]", len(names))
    keep.append(chain)
    for i, (record_id, name) in enumerate(names.items()):
        text = name.encode("utf-8", "surrogateescape")[:4095]
        record = ffi.new("char[]", record_id.to_bytes(8, "little") + text)
        keep.append(record)
        chain[i].name_record = record
        chain[i].next = chain + i + 1 if i + 1 < len(names) else ffi.NULL
    return chain
