"""Windows and job descriptions as TensorBoard summaries, and back.

A summary is one `DT_STRING` scalar tensor that holds a payload (`payload.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tensorboard.compat.proto import summary_pb2, tensor_pb2, types_pb2

from tensorboard_plugin_darshan import all_files, metadata, payload, segments, window


def job_pb(job: Mapping[str, Any]) -> summary_pb2.Summary:
    """Summary of a job description: plain JSON values, see `http_api.md` for its names."""
    return _bytes_pb(metadata.JOB_TAG, payload.encode(job, {}), "Who recorded, where, and how.")


def window_pb(tag: str, recorded: window.Window) -> summary_pb2.Summary:
    """Summary of a window under a tag made by `metadata.window_tag`."""
    return _bytes_pb(tag, window.encode(recorded), "What a stretch of the recording did.")


def segments_pb(tag: str, data: bytes) -> summary_pb2.Summary:
    """Summary of encoded segments under a tag made by `metadata.segments_tag`."""
    return _bytes_pb(tag, data, "Reads and writes of a stretch of the recording, one by one.")


def files_pb(tag: str, data: bytes) -> summary_pb2.Summary:
    """Summary of an encoded table of all files under a tag made by `metadata.files_tag`."""
    return _bytes_pb(tag, data, "What every file did since the recording began.")


def scalar_pb(tag: str, value: float) -> summary_pb2.Summary:
    """Summary of a plain scalar. The fast loader takes rank-0 float32 tensors only."""
    return summary_pb2.Summary(
        value=[
            summary_pb2.Summary.Value(
                tag=tag,
                metadata=summary_pb2.SummaryMetadata(
                    plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="scalars"),
                    data_class=summary_pb2.DATA_CLASS_SCALAR,
                ),
                tensor=tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[value]),
            )
        ]
    )


def parse_job(tensor: np.ndarray[Any, Any]) -> dict[str, Any]:
    """The job description in a tensor that the data provider gave.

    Raises:
        payload.PayloadError: it holds something else.
    """
    return payload.decode(_only_bytes(tensor))[0]


def parse_window(tensor: np.ndarray[Any, Any]) -> window.Window:
    """The window in a tensor that the data provider gave.

    Raises:
        payload.PayloadError: it holds something else.
    """
    return window.decode(_only_bytes(tensor))


def parse_segments(tensor: np.ndarray[Any, Any]) -> segments.Segments:
    """The segments in a tensor that the data provider gave.

    Raises:
        payload.PayloadError: it holds something else.
    """
    return segments.decode(_only_bytes(tensor))


def parse_files(tensor: np.ndarray[Any, Any]) -> all_files.AllFiles:
    """The table of all files in a tensor that the data provider gave.

    Raises:
        payload.PayloadError: it holds something else.
    """
    return all_files.decode(_only_bytes(tensor))


def _bytes_pb(tag: str, data: bytes, description: str) -> summary_pb2.Summary:
    tensor = tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, string_val=[data])
    return summary_pb2.Summary(
        value=[
            summary_pb2.Summary.Value(
                tag=tag, metadata=metadata.create_summary_metadata(description), tensor=tensor
            )
        ]
    )


def _only_bytes(tensor: np.ndarray[Any, Any]) -> bytes:
    value = tensor.item() if tensor.size == 1 else None
    if not isinstance(value, bytes):
        raise payload.PayloadError("not a payload of tensorboard-plugin-darshan")
    return value
