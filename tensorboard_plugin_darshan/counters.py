"""Darshan's counters: names in Darshan's order, what may be added, size ranges.

The names and their order are those of Darshan's log format (`darshan-posix-log-format.h` and
`darshan-stdio-log-format.h`, format versions 4 and 2); a test holds them against PyDarshan's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

Rule = Literal["sum", "max", "min", "none"]

SIZE_BUCKETS: Final = (
    "0_100",
    "100_1K",
    "1K_10K",
    "10K_100K",
    "100K_1M",
    "1M_4M",
    "4M_10M",
    "10M_100M",
    "100M_1G",
    "1G_PLUS",
)
"""Darshan's ten access-size ranges, as its counter names spell them."""

SIZE_BUCKET_LIMITS: Final = (
    100,
    1024,
    10 * 1024,
    100 * 1024,
    1024**2,
    4 * 1024**2,
    10 * 1024**2,
    100 * 1024**2,
    1024**3,
)
"""Upper limits in bytes of the first nine ranges; a limit belongs to the range that it closes."""

_PROPERTIES: Final = frozenset(
    {
        *("RENAMED_FROM", "MODE", "MEM_ALIGNMENT", "FILE_ALIGNMENT", "CHUNK_SIZE"),
        *("USE_MPIIO", "USE_MPIIO_COLLECTIVE", "USE_DEPRECATED", "DATATYPE_SIZE"),
        *("DATASPACE_NDIMS", "DATASPACE_NPOINTS", "NDIMS", "NPOINTS", "IS_RECORD_VAR"),
        *("OBJ_OTYPE", "ARRAY_CELL_SIZE", "ARRAY_CHUNK_SIZE"),
        *(f"CHUNK_SIZE_D{d}" for d in range(1, 6)),
    }
)
"""Counters that describe a file or a dataset, so that adding them up means nothing."""

COMMON_VALUES: Final = 4
"""Darshan shows this many of the most frequent access sizes and strides of a record."""


def _numbered(prefix: str, kind: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{i}_{kind}" for i in range(1, COMMON_VALUES + 1))


_POSIX_COUNTERS: Final = (
    *("OPENS", "FILENOS", "DUPS", "READS", "WRITES", "SEEKS", "STATS", "MMAPS"),
    *("FSYNCS", "FDSYNCS", "RENAME_SOURCES", "RENAME_TARGETS", "RENAMED_FROM", "MODE"),
    *("BYTES_READ", "BYTES_WRITTEN", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN"),
    *("CONSEC_READS", "CONSEC_WRITES", "SEQ_READS", "SEQ_WRITES", "RW_SWITCHES"),
    *("MEM_NOT_ALIGNED", "MEM_ALIGNMENT", "FILE_NOT_ALIGNED", "FILE_ALIGNMENT"),
    *("MAX_READ_TIME_SIZE", "MAX_WRITE_TIME_SIZE"),
    *(f"SIZE_READ_{bucket}" for bucket in SIZE_BUCKETS),
    *(f"SIZE_WRITE_{bucket}" for bucket in SIZE_BUCKETS),
    *_numbered("STRIDE", "STRIDE"),
    *_numbered("STRIDE", "COUNT"),
    *_numbered("ACCESS", "ACCESS"),
    *_numbered("ACCESS", "COUNT"),
    *("FASTEST_RANK", "FASTEST_RANK_BYTES", "SLOWEST_RANK", "SLOWEST_RANK_BYTES"),
)
_POSIX_F_COUNTERS: Final = (
    *("OPEN_START_TIMESTAMP", "READ_START_TIMESTAMP", "WRITE_START_TIMESTAMP"),
    *("CLOSE_START_TIMESTAMP", "OPEN_END_TIMESTAMP", "READ_END_TIMESTAMP"),
    *("WRITE_END_TIMESTAMP", "CLOSE_END_TIMESTAMP", "READ_TIME", "WRITE_TIME", "META_TIME"),
    *("MAX_READ_TIME", "MAX_WRITE_TIME", "FASTEST_RANK_TIME", "SLOWEST_RANK_TIME"),
    *("VARIANCE_RANK_TIME", "VARIANCE_RANK_BYTES"),
)
_STDIO_COUNTERS: Final = (
    *("OPENS", "FDOPENS", "READS", "WRITES", "SEEKS", "FLUSHES"),
    *("BYTES_WRITTEN", "BYTES_READ", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN"),
    *("FASTEST_RANK", "FASTEST_RANK_BYTES", "SLOWEST_RANK", "SLOWEST_RANK_BYTES"),
)
_STDIO_F_COUNTERS: Final = (
    *("META_TIME", "WRITE_TIME", "READ_TIME"),
    *("OPEN_START_TIMESTAMP", "CLOSE_START_TIMESTAMP", "WRITE_START_TIMESTAMP"),
    *("READ_START_TIMESTAMP", "OPEN_END_TIMESTAMP", "CLOSE_END_TIMESTAMP"),
    *("WRITE_END_TIMESTAMP", "READ_END_TIMESTAMP", "FASTEST_RANK_TIME", "SLOWEST_RANK_TIME"),
    *("VARIANCE_RANK_TIME", "VARIANCE_RANK_BYTES"),
)


def _rule(name: str) -> Rule:
    """How the values of one counter in several records become one: the difference of two
    snapshots makes sense for `sum` only.
    """
    if "_RANK" in name or name.startswith(("STRIDE", "ACCESS")):
        return "none"
    if name in _PROPERTIES:
        return "none"
    if name.endswith("_START_TIMESTAMP"):
        return "min"
    if name.startswith("MAX_") or name.endswith("_END_TIMESTAMP"):
        return "none" if name.endswith("_TIME_SIZE") else "max"
    return "sum"


@dataclass(frozen=True)
class ModuleLayout:
    """The counters of one Darshan module.

    Attributes:
        name: the module's name, e.g. `POSIX`.
        prefix: what its counter names begin with, e.g. `POSIX_`.
        counters: names of the integer counters in Darshan's order.
        fcounters: names of the floating-point counters in Darshan's order; seconds.
    """

    name: str
    prefix: str
    counters: tuple[str, ...]
    fcounters: tuple[str, ...]

    @cached_property
    def index(self) -> MappingProxyType[str, int]:
        """Integer counter's name → its place."""
        return MappingProxyType({name: i for i, name in enumerate(self.counters)})

    @cached_property
    def findex(self) -> MappingProxyType[str, int]:
        """Floating-point counter's name → its place."""
        return MappingProxyType({name: i for i, name in enumerate(self.fcounters)})

    def where(self, rule: Rule) -> npt.NDArray[np.bool_]:
        """Mask `[n_counters] bool` of the integer counters that are combined by `rule`."""
        return np.array([_rule(name[len(self.prefix) :]) == rule for name in self.counters])

    def fwhere(self, rule: Rule) -> npt.NDArray[np.bool_]:
        """Mask `[n_fcounters] bool` of the floating-point counters combined by `rule`."""
        names = (name[len(self.prefix) + len("F_") :] for name in self.fcounters)
        return np.array([_rule(name) == rule for name in names])


def _layout(name: str, counters: tuple[str, ...], fcounters: tuple[str, ...]) -> ModuleLayout:
    prefix = f"{name}_"
    return ModuleLayout(
        name,
        prefix,
        tuple(prefix + counter for counter in counters),
        tuple(f"{prefix}F_{fcounter}" for fcounter in fcounters),
    )


POSIX: Final = _layout("POSIX", _POSIX_COUNTERS, _POSIX_F_COUNTERS)
STDIO: Final = _layout("STDIO", _STDIO_COUNTERS, _STDIO_F_COUNTERS)

LAYOUTS: Final = MappingProxyType({layout.name: layout for layout in (POSIX, STDIO)})
"""The modules that the built-in source records, in the order they are shown."""
