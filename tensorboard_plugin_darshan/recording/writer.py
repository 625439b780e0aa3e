"""`RecordingWriter`: a recording's job description, windows and scalars in its event file."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any, Final

from tensorboard.compat.proto import summary_pb2

from tensorboard_plugin_darshan import __version__, metadata, payload, summary
from tensorboard_plugin_darshan.recording import process
from tensorboard_plugin_darshan.recording.budget import allowed_bytes
from tensorboard_plugin_darshan.recording.event_file import EventFile
from tensorboard_plugin_darshan.recording.files_writer import FilesWriter
from tensorboard_plugin_darshan.recording.options import Options
from tensorboard_plugin_darshan.recording.scalars import ScalarSeries
from tensorboard_plugin_darshan.recording.trace_writer import TraceWriter
from tensorboard_plugin_darshan.window import PROCESS_IO, Int64Array, Window

if TYPE_CHECKING:
    from tensorboard_plugin_darshan.recording.recorder import Recorder

PIECE_BYTES: Final = 4 * 1024**2
"""A window tag ends after this many bytes: a reader of a live run reads its last piece only."""

WINDOWS_PER_INTERVAL: Final = 2000
"""After as many windows the time between two of them doubles."""

_WCHAR: Final = PROCESS_IO.index("wchar")


class RecordingWriter:
    """Writes one recording, and says how much it may still write.

    Args:
        log_dir: where TensorBoard looks.
        options: settings, stored with the data.
        recorder: whose facts are stored; its own file access is kept out of it.

    Attributes:
        traces: writes traced accesses.
        files: writes the table of all files.

    Raises:
        LogDirectoryError: nothing can be written there.
    """

    def __init__(self, log_dir: str, options: Options, recorder: Recorder) -> None:
        self._options = options
        self._recorder = recorder
        rank, _ = process.framework_rank() or process.rank_and_world_size(os.environ)
        self._file = EventFile(log_dir, rank, recorder.muted)
        self._scalars = ScalarSeries()
        self.traces = TraceWriter(self._file, options)
        self.files = FilesWriter(self._file, options, self._counted)
        self._notes: list[str] = []
        self._postponed = False
        self._jobs = 0
        self._windows = 0
        self._piece = 0
        self._piece_began = 0
        self._counted_bytes = 0

    def write_job(self, finished: bool) -> None:
        """Writes who records, where and how; again with `finished` when the recording ends."""
        with self._recorder.muted():
            job: dict[str, Any] = {**self._recorder.facts(), **process.facts()}
        job.update(
            data_version=payload.VERSION,
            package_version=__version__,
            begin=self._recorder.begin,
            end=self._recorder.begin + self._recorder.seconds() if finished else None,
            finished=finished,
            flush_seconds=self.interval_seconds(),
            settings=self._options.as_json(),
            segments={"kept": self.traces.kept, "dropped": self.traces.dropped},
            notes=[
                *job.get("notes", ()),
                *self._notes,
                *self.traces.notes(),
                *self.files.notes(),
            ],
        )
        self._file.write(self._jobs, summary.job_pb(job))
        self._jobs += 1

    def write_window(self, window: Window, last: bool = False) -> None:
        """Writes a window and, when the training step rose, the scalars.

        Args:
            window: follows the one before it.
            last: no window will follow.
        """
        if self._file.bytes_written - self._piece_began >= PIECE_BYTES:
            self._piece += 1
            self._piece_began = self._file.bytes_written
        window = dataclasses.replace(window, process_io=self._without_own(window.process_io))
        recorded = summary.window_pb(metadata.window_tag(self._piece), window)
        self._file.write(window.sequence, recorded)
        self._windows += 1
        point = self._scalars.add(window, last)
        if point is not None:
            step, values = point
            scalars = summary_pb2.Summary()
            for tag, value in values.items():
                scalars.MergeFrom(summary.scalar_pb(tag, value))
            self._file.write(step, scalars)
        if self._windows % WINDOWS_PER_INTERVAL == 0 and not last:
            self._say(
                f"after {self._windows} windows they are {self.interval_seconds():g} s long, so "
                "that a long recording stays small"
            )

    def interval_seconds(self) -> float:
        """Time between two windows at present."""
        return self._options.flush_secs * 2.0 ** (self._windows // WINDOWS_PER_INTERVAL)

    def may_write(self, seconds: float) -> bool:
        """Whether another window keeps the recording small, `seconds` after its begin.

        When not, the next window simply covers more; nothing is lost but resolution.
        """
        if self._counted() < allowed_bytes(seconds):
            return True
        if not self._postponed:
            self._postponed = True
            self._say(
                "some windows are longer than asked for and may cover several phases, so that the "
                "recording stays below 1 MiB a minute and 100 MiB a day"
            )
        return False

    def _counted(self) -> int:
        """What was written, but for what the settings ask for beyond the usual size."""
        return self._file.bytes_written - self.traces.extra_bytes - self.files.extra_bytes

    def close(self) -> None:
        """Ends the file."""
        self._file.close()

    def _without_own(self, process_io: Int64Array) -> Int64Array:
        """The kernel's counts without the bytes that this recording wrote meanwhile."""
        own = self._file.bytes_written - self._counted_bytes
        self._counted_bytes = self._file.bytes_written
        corrected = process_io.copy()
        if corrected[_WCHAR] >= 0:
            corrected[_WCHAR] = max(0, corrected[_WCHAR] - own)
        return corrected

    def _say(self, note: str) -> None:
        self._notes.append(note)
        self.write_job(finished=False)
