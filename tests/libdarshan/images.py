"""Memory as Darshan keeps it while it records, made from logs that Darshan wrote."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tensorboard_plugin_darshan.recording import darshan_layouts as layouts
from tensorboard_plugin_darshan.recording.darshan_memory import Region, parse_header


def inflated(data: bytes) -> bytes:
    """A region of a log: several compressed streams, one for each process that wrote some."""
    whole = b""
    while data:
        stream = zlib.decompressobj()
        whole += stream.decompress(data)
        data = stream.unused_data
    return whole


def image_of(log: Path) -> bytearray:
    """What the memory of a process would be that had just recorded what a log holds."""
    data = log.read_bytes()
    header = parse_header(data[: max(known.size for known in layouts.HEADERS.values())])

    def cut(region: Region) -> bytes:
        return inflated(data[region.place : region.place + region.used])

    regions = {name: cut(region) for name, region in header.regions.items() if region.used}
    return build_image(header.log_format, header.versions, cut(header.names), regions)


def build_image(
    log_format: str,
    versions: Mapping[str, int],
    names: bytes,
    regions: Mapping[str, bytes],
    partial: tuple[str, ...] = (),
) -> bytearray:
    """Memory with a header of its own."""
    layout = layouts.HEADERS[log_format]
    image = bytearray(layout.size + layout.job_size + 3016)
    image[: len(log_format)] = log_format.encode()
    image[layouts.MAGIC_AT : layouts.MAGIC_AT + 8] = layouts.MAGIC.to_bytes(8, "little")
    image[layouts.COMPRESSION_AT] = layouts.UNCOMPRESSED

    def put(place: int, dtype: str, *values: int) -> None:
        packed = np.array(values, dtype).tobytes()
        image[place : place + len(packed)] = packed

    put(layout.names_at, "<u8", len(image), len(names))
    image += names + bytes(-len(names) % 8)
    for name, version in versions.items():
        i = layout.modules.index(name) if name in layout.modules else int(name.split()[-1])
        put(layout.versions_at + 4 * i, "<u4", version)
        if name in regions:
            put(layout.map_at + 16 * i, "<u8", len(image), len(regions[name]))
            image += regions[name] + bytes(-len(regions[name]) % 8)
    flags = sum(1 << layout.modules.index(name) for name in partial)
    put(layout.partial_at, layout.partial_type, flags)
    return image
