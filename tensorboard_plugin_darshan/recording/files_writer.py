"""`FilesWriter`: the table of all files in an event file, within the recording's size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tensorboard_plugin_darshan import all_files, metadata, summary
from tensorboard_plugin_darshan.recording.budget import allowed_bytes
from tensorboard_plugin_darshan.recording.event_file import EventFile
from tensorboard_plugin_darshan.recording.options import DEFAULT_MAX_FILES, Options

_RESERVED_BYTES: Final = 32 * 1024
"""For what follows the last table."""

_SMALLEST_ROW_BYTES: Final = 6
_SECONDS_BETWEEN: Final = 60.0
_SHARE_BETWEEN: Final = 0.2
"""Of the bytes left, what a table may take that is not the last one."""

_ATTEMPTS: Final = 4


class FilesWriter:
    """Writes the table at the end and, when there is room, in between.

    Args:
        file: the recording's.
        options: settings.
        counted_bytes: gives how much was written that counts towards the recording's size.

    Attributes:
        extra_bytes: size of tables that do not count, because the settings ask for more.
    """

    def __init__(self, file: EventFile, options: Options, counted_bytes: Callable[[], int]) -> None:
        self._file = file
        self._counted_bytes = counted_bytes
        self._scale = max(1.0, options.max_files / DEFAULT_MAX_FILES)
        self.extra_bytes = 0
        self._options = options
        self._number = 0
        self._last_seconds = 0.0
        self._last_sequence = -1
        self._n_folded = 0

    def write(self, build: Callable[[int], all_files.AllFiles], seconds: float, last: bool) -> None:
        """Writes the table, with as many files by name as there is room for.

        Args:
            build: gives it for a number of files.
            seconds: time since the recording began.
            last: the recording ends or pauses; else there is one a minute at most.
        """
        room = self._room(seconds, last)
        n = min(self._options.max_files, int(room / _SMALLEST_ROW_BYTES))
        if n <= 0 or not (last or seconds >= self._last_seconds + _SECONDS_BETWEEN):
            return
        for _ in range(_ATTEMPTS):
            table = build(n)
            if table.sequence == self._last_sequence:
                return
            data = all_files.encode(table)
            if len(data) <= room:
                break
            listed = sum(len(part.paths) for part in table.modules.values())
            n = int(0.9 * min(n, listed) * room / len(data))
        else:
            return
        self._last_seconds, self._last_sequence = seconds, table.sequence
        self._n_folded = sum(part.n_folded for part in table.modules.values())
        self._file.write(0, summary.files_pb(metadata.files_tag(self._number), data))
        self._number += 1
        if self._scale > 1.0:
            self.extra_bytes += len(data)

    def _room(self, seconds: float, last: bool) -> float:
        left = self._scale * allowed_bytes(seconds) - self._counted_bytes() - _RESERVED_BYTES
        return left if last else _SHARE_BETWEEN * left

    def notes(self) -> list[str]:
        """What to tell about files without a row."""
        if not self._n_folded:
            return []
        return [
            f"the table of all files folds {self._n_folded} of them into their directories, so "
            f"that the recording stays small; a larger max_files than {self._options.max_files} "
            "lists more"
        ]
