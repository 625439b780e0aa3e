"""The demo's data set: images as a person collects them, many tiny ones and a few large ones.

Uncompressed 24-bit BMP, since its size follows from the image's and TensorFlow decodes it.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

CLASSES: Final = ("blue", "green", "red", "grey")
SPLITS: Final = ("train", "validation")

_TINTS: Final = np.array(((90, 0, 0), (0, 90, 0), (0, 0, 90), (45, 45, 45)), np.uint8)
_HEADER: Final = struct.Struct("<2sIHHIIiiHHIIiiII")
_GROUPS: Final = ((256, 24, 64), (72, 260, 900), (12, 1900, 2900))
"""How many images, and the sides in pixels of the smallest and the largest: 2–12 kB, 0.2–2.4 MB,
11–25 MB."""
_VALIDATION_EVERY: Final = 5
_SEED: Final = 20
_SHIFTS: Final = 1009


@dataclass(frozen=True)
class Image:
    """One file of the data set.

    Attributes:
        path: where it is.
        split: `train` or `validation`.
        label: index of its class in `CLASSES`.
        side: width and height in pixels.
    """

    path: Path
    split: str
    label: int
    side: int

    @property
    def file_bytes(self) -> int:
        """Size of its file: header, and rows that are padded to 4 bytes."""
        return _HEADER.size + self.side * _row_bytes(self.side)


def plan(directory: Path) -> list[Image]:
    """The files of the data set below a directory; always the same ones."""
    images = []
    for count, smallest, largest in _GROUPS:
        sides = np.linspace(smallest, largest, count).astype(int).tolist()
        for number, side in enumerate(sides):
            label = number % len(CLASSES)
            split = SPLITS[number % _VALIDATION_EVERY == _VALIDATION_EVERY - 1]
            path = directory / split / CLASSES[label] / f"{side:04d}px-{number:03d}.bmp"
            images.append(Image(path, split, label, side))
    return images


def write(images: Iterable[Image]) -> None:
    """Writes those files that are not there yet."""
    rng = np.random.default_rng(_SEED)
    longest = max(side for _, _, side in _GROUPS)
    noise = rng.integers(0, 160, longest * longest * 3 + _SHIFTS, np.uint8)
    for image in images:
        if not (image.path.exists() and image.path.stat().st_size == image.file_bytes):
            image.path.parent.mkdir(parents=True, exist_ok=True)
            _write_bitmap(image, noise)


def forget(images: Iterable[Image]) -> None:
    """Drops the files from the page cache where the system allows it, so that the first epoch
    reads from the disk as it does with data that are larger than memory.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    for image in images:
        descriptor = os.open(image.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def _row_bytes(side: int) -> int:
    return -(-side * 3 // 4) * 4


def _write_bitmap(image: Image, noise: npt.NDArray[np.uint8]) -> None:
    """Noise in the tint of the class, shifted so that no two files begin alike."""
    side, row = image.side, _row_bytes(image.side)
    shift = zlib.crc32(image.path.name.encode()) % _SHIFTS
    pixels = noise[shift : shift + side * side * 3]
    rows = np.zeros((side, row), np.uint8)
    rows[:, : side * 3] = (pixels.reshape(side, side, 3) + _TINTS[image.label]).reshape(side, -1)
    temporary = image.path.with_suffix(".part")
    with open(temporary, "wb") as file:
        file.write(_header(image))
        file.write(rows.data)
    temporary.rename(image.path)


def _header(image: Image) -> bytes:
    """File and info header of an uncompressed 24-bit bitmap."""
    pixel_bytes = image.file_bytes - _HEADER.size
    return _HEADER.pack(
        *(b"BM", image.file_bytes, 0, 0, _HEADER.size),
        *(40, image.side, image.side, 1, 24, 0, pixel_bytes, 2835, 2835, 0, 0),
    )
