"""What the recorder gives out: copies of Darshan's records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.window import Float64Array, Int64Array, UInt64Array

SEGMENT_DTYPE: Final = np.dtype(
    [
        ("record", "<u4"),
        ("direction", "<u4"),
        ("order", "<i8"),
        ("offset", "<i8"),
        ("length", "<i8"),
        ("start", "<i8"),
        ("end", "<i8"),
        ("thread", "<u8"),
    ]
)
"""A traced access: place of its POSIX record, 0 read or 1 write, number among the record's accesses
in that direction, bytes, nanoseconds since the recording began, `pthread_self()`."""

SegmentArray = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class ModuleArrays:
    """The records of one module.

    Attributes:
        ids: `[n] uint64` record ids, Darshan's hash of the name.
        counters: `[n, n_counters] int64` in the order of `counters.LAYOUTS[module].counters`.
        fcounters: `[n, n_fcounters] float64`; seconds, timestamps since the recording began.
        places: `[n] int64` of the records among all of the module; they never change.
        find_names: gives the paths of records by place.
    """

    ids: UInt64Array
    counters: Int64Array
    fcounters: Float64Array
    places: Int64Array
    find_names: Callable[[Int64Array], Sequence[str]]

    @cached_property
    def names(self) -> Sequence[str]:
        """`n` paths; bytes that are not UTF-8 are kept as surrogates."""
        return self.find_names(self.places)


@dataclass(frozen=True)
class Totals:
    """All records of a module as one, since the recording began.

    Attributes:
        records: how many there are.
        sums, maxima: `[n_counters] int64` over all records.
        fsums, fmaxima, fminima: `[n_fcounters] float64`; the smallest of those that are set.
        common_sizes: `[n, 2] int64` access size and count, the most frequent first.
        partial: some files went into a common record, because there were too many.
    """

    records: int
    sums: Int64Array
    maxima: Int64Array
    fsums: Float64Array
    fmaxima: Float64Array
    fminima: Float64Array
    common_sizes: Int64Array
    partial: bool


class Snapshot:
    """A copy of all records at one instant (each record is consistent in itself)."""

    def __init__(self, seconds: float, arrays: dict[str, ModuleArrays]) -> None:
        self.seconds: Final = seconds
        """When it was taken, in seconds since the recording began."""
        self._arrays = arrays

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that are recorded."""
        return tuple(self._arrays)

    def arrays(self, module: str) -> ModuleArrays:
        """The records of a module as arrays.

        Raises:
            KeyError: the module is not recorded.
        """
        try:
            return self._arrays[module]
        except KeyError:
            raise KeyError(
                f"no module {module!r}; recorded are {', '.join(self._arrays)}"
            ) from None

    def records(self, module: str) -> dict[str, dict[str, int | float]]:
        """The records of a module by path, each counter by Darshan's name.

        Raises:
            KeyError: the module is not recorded.
        """
        arrays, layout = self.arrays(module), counters.LAYOUTS[module]
        names = (*layout.counters, *layout.fcounters)
        rows = zip(arrays.counters.tolist(), arrays.fcounters.tolist(), strict=True)
        return {
            path: dict(zip(names, (*row, *frow), strict=True))
            for path, (row, frow) in zip(arrays.names, rows, strict=True)
        }
