"""What calls do to one record: the meaning of Darshan's counters a second time, as plainly as can
be, slow, and sharing no code with the recorder. Times do not occur."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

MASK = (1 << 64) - 1
DISTINCT_MAX = 32
SHOWN = 4
BUCKETS = (
    *(("0_100", 100), ("100_1K", 1024), ("1K_10K", 10240), ("10K_100K", 102400)),
    *(("100K_1M", 1 << 20), ("1M_4M", 4 << 20), ("4M_10M", 10 << 20), ("10M_100M", 100 << 20)),
    ("100M_1G", 1 << 30),
)
LAST_BUCKET = "1G_PLUS"
EXCLUDED = ("etc", "dev", "usr", "bin", "boot", "lib", "opt", "sbin", "sys", "proc", "var")
READ, WRITE = "READ", "WRITE"


def record_id(name: bytes) -> int:
    """Bob Jenkins' lookup8 with level 0."""

    def mix(a: int, b: int, c: int) -> tuple[int, int, int]:
        for right_a, left_b, right_c in ((43, 9, 8), (38, 23, 5), (35, 49, 11), (12, 18, 22)):
            a = ((a - b - c) ^ (c >> right_a)) & MASK
            b = ((b - c - a) ^ (a << left_b)) & MASK
            c = ((c - a - b) ^ (b >> right_c)) & MASK
        return a, b, c

    a, b, c = 0, 0, 0x9E3779B97F4A7C13
    rest = name
    while len(rest) >= 24:
        words = (int.from_bytes(rest[i : i + 8], "little") for i in (0, 8, 16))
        a, b, c = mix(*((old + new) & MASK for old, new in zip((a, b, c), words, strict=True)))
        rest = rest[24:]
    a = (a + int.from_bytes(rest[:8], "little")) & MASK
    b = (b + int.from_bytes(rest[8:16], "little")) & MASK
    c = (c + len(name) + (int.from_bytes(rest[16:], "little") << 8)) & MASK
    return mix(a, b, c)[2]


def clean(path: str, directory: str) -> str:
    if path == "" or path.startswith("<"):
        return path
    if not path.startswith("/"):
        path = f"{directory}/{path}"
    while "//" in path:
        path = path.replace("//", "/")
    while "/./" in path:
        path = path.replace("/./", "/")
    return path


def is_excluded(name: str) -> bool:
    return any(name.startswith(f"/{directory}/") for directory in EXCLUDED)


class Values:
    """The first distinct values with their counts."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()

    def add(self, value: int) -> None:
        if value in self.counts or len(self.counts) < DISTINCT_MAX:
            self.counts[value] += 1

    def shown(self) -> list[tuple[int, int]]:
        pairs = sorted(((n, value) for value, n in self.counts.items() if value), reverse=True)
        pairs += [(0, 0)] * SHOWN
        return [(value, n) for n, value in pairs[:SHOWN]]


@dataclass
class Posix:
    alignment: int
    mmaps: int
    counts: Counter[str] = field(default_factory=Counter)
    position: int = 0
    last_byte: dict[str, int] = field(default_factory=lambda: {READ: 0, WRITE: 0})
    last_kind: str = ""
    accesses: Values = field(default_factory=Values)
    strides: Values = field(default_factory=Values)
    segments: dict[str, list[tuple[int, int]]] = field(
        default_factory=lambda: {READ: [], WRITE: []}
    )

    def begin_anew(self) -> None:
        self.position = 0
        self.last_byte = {READ: 0, WRITE: 0}

    def transfer(self, kind: str, offset: int | None, size: int, aligned: bool) -> None:
        counts, last = self.counts, self.last_byte[kind]
        offset = self.position if offset is None else offset
        if offset > last:
            counts[f"SEQ_{kind}S"] += 1
        if offset == last + 1:
            counts[f"CONSEC_{kind}S"] += 1
        self.strides.add(offset - last - 1 if offset > last and offset > 0 and last else 0)
        self.last_byte[kind] = offset + size - 1
        self.position = offset + size
        highest = "MAX_BYTE_READ" if kind == READ else "MAX_BYTE_WRITTEN"
        counts[highest] = max(counts[highest], offset + size - 1)
        counts["BYTES_READ" if kind == READ else "BYTES_WRITTEN"] += size
        counts[f"{kind}S"] += 1
        bucket = next((name for name, limit in BUCKETS if size <= limit), LAST_BUCKET)
        counts[f"SIZE_{kind}_{bucket}"] += 1
        self.accesses.add(size)
        counts["MEM_NOT_ALIGNED"] += not aligned
        counts["FILE_NOT_ALIGNED"] += self.alignment > 0 and offset % self.alignment != 0
        counts["RW_SWITCHES"] += self.last_kind not in ("", kind)
        self.last_kind = kind
        self.segments[kind].append((offset, size))

    def counters(self) -> dict[str, int]:
        """Every counter that is not 0."""
        result = Counter({**self.counts, "MMAPS": self.mmaps, "FILE_ALIGNMENT": self.alignment})
        result["MEM_ALIGNMENT"] = 8
        for kind, values in (("STRIDE", self.strides), ("ACCESS", self.accesses)):
            for place, (value, n) in enumerate(values.shown(), 1):
                result[f"{kind}{place}_{kind}"], result[f"{kind}{place}_COUNT"] = value, n
        return {f"POSIX_{name}": value for name, value in result.items() if value}


@dataclass
class Stdio:
    counts: Counter[str] = field(default_factory=Counter)
    position: int = 0

    def move(self, kind: str, size: int) -> None:
        self.reach(kind, size)
        self.position += size
        self.counts["BYTES_READ" if kind == READ else "BYTES_WRITTEN"] += size
        self.counts[f"{kind}S"] += 1

    def reach(self, kind: str, size: int) -> None:
        highest = "MAX_BYTE_READ" if kind == READ else "MAX_BYTE_WRITTEN"
        self.counts[highest] = max(self.counts[highest], self.position + size - 1)

    def counters(self) -> dict[str, int]:
        """Every counter that is not 0."""
        return {f"STDIO_{name}": value for name, value in self.counts.items() if value}
