"""Reads event files back the way TensorBoard does."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import google_crc32c
from tensorboard.backend.event_processing import event_file_loader
from tensorboard.compat.proto import event_pb2
from tensorboard.util import tensor_util

from tensorboard_plugin_darshan import metadata, summary
from tensorboard_plugin_darshan.window import Window


def load(path: Path) -> list[event_pb2.Event]:
    return list(event_file_loader.EventFileLoader(str(path)).Load())


def files(directory: Path) -> list[Path]:
    return sorted(directory.rglob("events.out.tfevents.*"))


def values(log_dir: Path) -> list[tuple[str, int, Any]]:
    """Tag, step and value of everything below a log directory, in the order it was written."""
    return [
        (value.tag, event.step, tensor_util.make_ndarray(value.tensor))
        for path in files(log_dir)
        for event in load(path)
        for value in event.summary.value
    ]


def jobs(log_dir: Path) -> list[dict[str, Any]]:
    return [
        summary.parse_job(value) for tag, _, value in values(log_dir) if tag == metadata.JOB_TAG
    ]


def windows(log_dir: Path) -> list[Window]:
    prefix = metadata.WINDOW_TAG_PREFIX
    return [
        summary.parse_window(value) for tag, _, value in values(log_dir) if tag.startswith(prefix)
    ]


def scalars(log_dir: Path) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {tag: {} for tag in metadata.SCALAR_TAGS}
    for tag, step, value in values(log_dir):
        if tag in found:
            assert step not in found[tag]
            found[tag][step] = float(value)
    return found


def records(data: bytes) -> list[bytes]:
    """The records of a file, every checksum verified; raises on a torn or damaged one."""
    found, offset = [], 0
    while offset < len(data):
        length_bytes = data[offset : offset + 8]
        (length,) = struct.unpack("<Q", length_bytes)
        body = data[offset + 12 : offset + 12 + length]
        assert data[offset + 8 : offset + 12] == _masked(length_bytes)
        assert data[offset + 12 + length : offset + 16 + length] == _masked(body)
        found.append(body)
        offset += 16 + length
    return found


def _masked(data: bytes) -> bytes:
    """As the TFRecord format says: rotated right by 15 bits, plus a constant."""
    crc = google_crc32c.value(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) % 2**32)
