"""What both sides call things in TensorBoard: plugin name, tags, summary metadata."""

from __future__ import annotations

from typing import Final

from tensorboard.compat.proto import summary_pb2

PLUGIN_NAME: Final = "darshan"
JOB_TAG: Final = "job"
WINDOW_TAG_PREFIX: Final = "window/"
FILES_TAG_PREFIX: Final = "files/"
SEGMENTS_TAG_PREFIX: Final = "segments/"

RECORDINGS_DIRECTORY: Final = "darshan"
"""The directory below the log directory whose children, one a process, make one run."""

SCALAR_TAGS: Final = (
    "darshan/read_MiB_per_s",
    "darshan/write_MiB_per_s",
    "darshan/io_busy_percent",
    "darshan/metadata_ops_per_s",
)
"""Plain scalars for TensorBoard's own dashboards; their step is the training step."""


def window_tag(piece: int) -> str:
    """Tag of the `piece`-th stretch of windows of a recording."""
    return f"{WINDOW_TAG_PREFIX}{piece}"


def segments_tag(piece: int) -> str:
    """Tag of the `piece`-th stretch of traced accesses of a recording."""
    return f"{SEGMENTS_TAG_PREFIX}{piece}"


def files_tag(number: int) -> str:
    """Tag of a recording's table of all files; the one with the highest number counts."""
    return f"{FILES_TAG_PREFIX}{number}"


def create_summary_metadata(description: str = "") -> summary_pb2.SummaryMetadata:
    """Metadata for a tag's first event. The data class is explicit: TensorBoard gives unknown
    plugins none, and hides tags without one.
    """
    return summary_pb2.SummaryMetadata(
        summary_description=description,
        plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name=PLUGIN_NAME),
        data_class=summary_pb2.DATA_CLASS_TENSOR,
    )
