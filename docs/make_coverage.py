"""Makes docs/coverage.md, the list of recorded calls, from native/hook_list.h."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "coverage.md"
_HOOK: Final = re.compile(r"HOOK\((DARSHAN|EXTENDED|BOOKKEEPING), [^,]*?, (\w+),")

_KINDS: Final = (
    ("POSIX", "open", r"(__)?open(at)?(64)?(_2)?|creat(64)?|mko?stemps?(64)?"),
    ("POSIX", "open, and a duplicate", r"dup[23]?|fcntl(64)?"),
    ("POSIX", "open, and a fileno", r"fileno(_unlocked)?"),
    ("POSIX", "read", r"(__)?p?read(v|v2|v64|64|v64v2)?(_chk)?"),
    ("POSIX", "write", r"p?write(v|v2|v64|64|v64v2)?"),
    ("POSIX", "read or write, when its result is fetched", r"aio_\w+|lio_\w+"),
    ("POSIX", "read of one file and write of the other", r"copy_file_range|sendfile(64)?|splice"),
    ("POSIX", "seek", r"lseek(64)?"),
    ("POSIX", "stat", r"(__)?[lf]?x?stat(at)?(64)?|statx"),
    ("POSIX", "sync, in write time", r"f(data)?sync"),
    ("POSIX", "map", r"mmap(64)?"),
    ("POSIX", "rename", r"rename(at2?)?"),
    ("POSIX", "metadata time of the file", r"close|ftruncate(64)?"),
    (
        "POSIX",
        "metadata time of the directory",
        r"unlink(at)?|remove|rmdir|mkdir(at)?|opendir|readdir(64)?",
    ),
    ("STDIO", "open", r"f(re)?open(64)?"),
    ("STDIO", "open, and a fdopen", r"fdopen"),
    (
        "STDIO",
        "read",
        r"(__)?f(read|gets)(_unlocked)?(_chk)?|_IO_getc|f?getc(_unlocked)?|getchar|getw|getline"
        r"|(__)?getdelim|(__isoc\d\d_)?v?fscanf",
    ),
    (
        "STDIO",
        "write",
        r"f(write|puts)(_unlocked)?|_IO_putc|f?putc(_unlocked)?|putchar|puts|putw"
        r"|(__)?v?f?printf(_chk)?",
    ),
    ("STDIO", "seek", r"fseeko?(64)?|fsetpos(64)?|rewind"),
    ("STDIO", "flush, in write time", r"fflush(_unlocked)?"),
    ("STDIO", "metadata time of the file", r"fclose"),
)
"""Module, what a call counts as, and the names of these calls."""

_HEAD: Final = """\
# Recorded calls

Which calls of the C library are recorded, and as what. With `extended=False` it is the first
column, exactly what Darshan 3.5.0's shared library wraps; with `extended=True` (the default) both.
The rules of counting are the same. What cannot be seen at all is in
[native/README.md](../native/README.md#what-this-cannot-see).

This page is made by `docs/make_coverage.py` from `native/hook_list.h`.
"""
_TAIL: Final = """
Where a kind has calls with a name that ends in `64` or begins with `__`, these are the same call
for large files, or with a check of the buffer's size that the compiler put in.

## Watched, but not counted

They keep the recording right: what a descriptor's number stands for, which libraries were loaded,
in whose memory a child runs, and that there is I/O which cannot be seen.

"""


_NOT_SEEN: Final = (
    (
        "`openat2`",
        "The C library has no function for it; programs make the system call themselves.",
    ),
    (
        "`syscall`, assembler, static programs",
        "There is no slot to redirect. The kernel's byte counts beside the recorder's show that "
        "something is missing.",
    ),
    ("`io_uring`", "Requests lie in shared memory. That rings were set up is told."),
    (
        "reads and writes through `mmap`",
        "They are page faults. Mapped files are counted, and the run says that there were some.",
    ),
    (
        "calls of the C library to itself",
        "`fopen` opens and `fread` reads as STDIO, not as POSIX below it; `popen`, `tmpfile`, "
        "`fmemopen`, `nftw`, `scandir` do not show.",
    ),
    (
        "wide characters (`fgetwc`, `fputws`, …), `dprintf`, `scanf`",
        "Trainings do not make them, and Darshan does not see them either.",
    ),
    (
        "`access`, `chmod`, `link`, `symlink`, `readlink`, `truncate`, `utimensat`, `fallocate`, "
        "`posix_fadvise`, `msync`, `sync`",
        "They move no data, and Darshan has no counter for them.",
    ),
    ("sockets, pipes and other descriptors that are not files", "Their calls pass through."),
    (
        "constructors of a library that is being loaded",
        "Its calls are redirected right after `dlopen` has returned.",
    ),
)
"""Calls, and why they are not recorded."""


def hooks() -> dict[str, str]:
    """Call → its list: `DARSHAN`, `EXTENDED` or `BOOKKEEPING`, in the order of the header."""
    header = (ROOT / "native" / "hook_list.h").read_text()
    text = re.sub(r"\s*\\\n\s*", " ", header.partition("#define HOOK_LIST")[2])
    return {name: kind for kind, name in _HOOK.findall(text)}


def kind_of(name: str) -> tuple[str, str]:
    """A call's module, and what it counts as.

    Raises:
        LookupError: it is not said here, or said twice.
    """
    found = [(module, kind) for module, kind, names in _KINDS if re.fullmatch(names, name)]
    if len(found) != 1:
        raise LookupError(f"{name} must be of one kind in docs/make_coverage.py, not {found}")
    return found[0]


def page() -> str:
    """The page."""
    lists = hooks()
    counted = {name: kind_of(name) for name, kind in lists.items() if kind != "BOOKKEEPING"}
    lines = [_HEAD]
    for module in ("POSIX", "STDIO"):
        lines += [f"## {module}\n", "| counts as | Darshan 3.5.0 | besides |", "|---|---|---|"]
        for kind in (kind for its, kind, _ in _KINDS if its == module):
            names = [name for name, found in counted.items() if found == (module, kind)]
            cells = (
                ", ".join(f"`{name}`" for name in names if lists[name] == wanted)
                for wanted in ("DARSHAN", "EXTENDED")
            )
            lines.append(f"| {kind} | {' | '.join(cells)} |")
        lines.append("")
    watched = ", ".join(f"`{name}`" for name, kind in lists.items() if kind == "BOOKKEEPING")
    missing = ["", "## Not recorded", "", "| calls | why |", "|---|---|"]
    missing += [f"| {calls} | {why} |" for calls, why in _NOT_SEEN]
    rest = [watched, *missing]
    return "\n".join(lines).rstrip() + "\n" + _TAIL + "\n".join(rest) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
