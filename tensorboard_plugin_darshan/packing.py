"""Integers as byte planes, which zlib packs well: what columns of segments and files travel as.

A column is a `[width, n] uint8` array: the lowest bytes of all values, then the next ones, as many
as the largest value needs; signs are folded into the lowest bit (zigzag). Zeros take no byte.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
Planes = npt.NDArray[np.uint8]

_WIDEST: Final = 8


def pack(values: npt.NDArray[Any]) -> Planes:
    """Planes `[width, n] uint8` of integers `[n]`."""
    signed = np.ascontiguousarray(values, np.int64)
    folded = ((signed << 1) ^ (signed >> 63)).view(np.uint64)
    largest = int(folded.max()) if len(folded) else 0
    width = (largest.bit_length() + 7) // 8
    columns = folded.astype("<u8").view(np.uint8).reshape(len(folded), _WIDEST)
    return np.ascontiguousarray(columns[:, :width].T)


def unpack(planes: Planes) -> Int64Array:
    """The integers `[n] int64` that `pack` was given.

    Raises:
        ValueError: these are no planes.
    """
    if planes.dtype != np.uint8 or planes.ndim != 2 or planes.shape[0] > _WIDEST:
        raise ValueError("not the byte planes of a column")
    columns = np.zeros((planes.shape[1], _WIDEST), np.uint8)
    columns[:, : planes.shape[0]] = planes.T
    folded = columns.view("<u8").reshape(-1).astype(np.uint64)
    restored: Int64Array = (folded >> np.uint64(1)).view(np.int64) ^ -(
        (folded & np.uint64(1)).astype(np.int64)
    )
    return restored


def pack_steps(values: npt.NDArray[Any]) -> Planes:
    """As `pack`, of the differences between neighbours: small for what rises slowly."""
    return pack(np.diff(np.ascontiguousarray(values, np.int64), prepend=0))


def unpack_steps(planes: Planes) -> Int64Array:
    """What `pack_steps` was given."""
    return np.cumsum(unpack(planes), dtype=np.int64)
