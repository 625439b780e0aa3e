"""Named arrays in one byte string: what an event carries.

Layout: magic, version (u32), header length (u32), header (JSON), zlib stream of the arrays'
bytes one after another, little-endian. There is no pickle in it, and nothing is inflated before
the sizes that the header declares were checked. A zip of `.npy` files would do the same, but
costs about 200 bytes and 0.1 ms for every array, which is too much for windows of 30 arrays.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

MAGIC: Final = b"DSHN"
VERSION: Final = 1
"""Version of everything a recording writes; raised when an older reader would misread it."""

_PREFIX: Final = struct.Struct("<4sII")
_DTYPES: Final = {name: np.dtype(name) for name in ("<i8", "<f8", "<u8", "|u1")}
_MAX_HEADER_BYTES: Final = 16 * 1024**2
_MAX_BODY_BYTES: Final = 256 * 1024**2
_MAX_DIMENSIONS: Final = 8
_COMPRESSION_LEVEL: Final = 6

Array = npt.NDArray[Any]


class PayloadError(ValueError):
    """The bytes are not a payload that this version can read."""


class NewerVersionError(PayloadError):
    """The bytes were written by a newer version of this package."""

    def __init__(self, version: int) -> None:
        super().__init__(
            f"written by a newer version of tensorboard-plugin-darshan (data version {version}, "
            f"this one reads up to {VERSION}); update the package where TensorBoard runs"
        )


def encode(meta: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Packs `meta` (plain JSON values) and `arrays` (int64, uint64, float64 or uint8, any shape).

    Raises:
        ValueError: an array has another dtype.
    """
    layout, body = [], []
    for name, value in arrays.items():
        array = np.ascontiguousarray(value)
        dtype = array.dtype.newbyteorder("<").str
        if dtype not in _DTYPES:
            raise ValueError(f"array {name!r} has dtype {dtype}, not one of {sorted(_DTYPES)}")
        layout.append([name, dtype, list(array.shape)])
        body.append(array.astype(dtype, copy=False).tobytes())
    header = json.dumps({"arrays": layout, "meta": meta}, separators=(",", ":")).encode()
    packed = zlib.compress(b"".join(body), _COMPRESSION_LEVEL)
    return _PREFIX.pack(MAGIC, VERSION, len(header)) + header + packed


def decode(data: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Unpacks what `encode` made; the arrays are read-only.

    Raises:
        NewerVersionError: a newer version wrote it.
        PayloadError: it is no payload, or a damaged one.
    """
    if len(data) < _PREFIX.size or data[:4] != MAGIC:
        raise PayloadError("not a payload of tensorboard-plugin-darshan")
    _, version, header_bytes = _PREFIX.unpack_from(data)
    if version > VERSION:
        raise NewerVersionError(version)
    if header_bytes > min(_MAX_HEADER_BYTES, len(data) - _PREFIX.size):
        raise PayloadError(f"header of {header_bytes} bytes does not fit")
    end = _PREFIX.size + header_bytes
    try:
        header = json.loads(data[_PREFIX.size : end])
        layout = [_checked(*entry) for entry in header["arrays"]]
        meta = header["meta"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PayloadError(f"unreadable header: {error}") from error
    if not isinstance(meta, dict):
        raise PayloadError("unreadable header: meta is not an object")
    return meta, _inflate(data[end:], layout)


_Entry = tuple[str, np.dtype[Any], tuple[int, ...], int]
"""Name, dtype, shape and number of values of an array."""


def _checked(name: Any, dtype: Any, shape: Any) -> _Entry:
    if not isinstance(name, str) or dtype not in _DTYPES or not isinstance(shape, list):
        raise PayloadError(f"unreadable array {name!r}")
    if len(shape) > _MAX_DIMENSIONS:
        raise PayloadError(f"array {name!r} has {len(shape)} dimensions")
    count = 1
    for n in shape:
        if type(n) is not int or not 0 <= n <= _MAX_BODY_BYTES:
            raise PayloadError(f"array {name!r} has the impossible shape {shape}")
        count *= n
    return name, _DTYPES[dtype], tuple(shape), count


def _inflate(packed: bytes, layout: Sequence[_Entry]) -> dict[str, Array]:
    total = sum(dtype.itemsize * count for _, dtype, _, count in layout)
    if total > _MAX_BODY_BYTES:
        raise PayloadError(f"declares {total} bytes, more than the {_MAX_BODY_BYTES} allowed")
    inflater = zlib.decompressobj()
    try:
        body = inflater.decompress(packed, total + 1)
    except zlib.error as error:
        raise PayloadError(f"damaged: {error}") from error
    if len(body) != total or not inflater.eof:
        raise PayloadError(f"damaged: {total} bytes declared, {len(body)} found")
    arrays, offset = {}, 0
    for name, dtype, shape, count in layout:
        flat = np.frombuffer(body, dtype, count, offset)
        arrays[name] = flat if len(shape) == 1 else flat.reshape(shape)
        offset += flat.nbytes
    return arrays


def encode_strings(strings: Iterable[str]) -> Array:
    """Paths and other texts without NUL as one uint8 array; undecodable bytes survive."""
    joined = "".join(f"{text}\0" for text in strings)
    return np.frombuffer(joined.encode("utf-8", "surrogateescape"), np.uint8)


def decode_strings(array: Array) -> list[str]:
    """The strings that `encode_strings` packed."""
    return array.tobytes().decode("utf-8", "surrogateescape").split("\0")[:-1]
