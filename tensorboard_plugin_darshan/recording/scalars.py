"""`ScalarSeries`: windows as one point per training step, for TensorBoard's own dashboards."""

from __future__ import annotations

from typing import Final

from tensorboard_plugin_darshan import counters, metadata
from tensorboard_plugin_darshan.window import BIN_COLUMNS, ModuleWindow, Window

_MIB: Final = 1024**2
_NANOSECONDS: Final = 1e9
_PATIENCE_SECONDS: Final = 60.0
_METADATA_CALLS: Final = BIN_COLUMNS.index("metadata_calls")
_BUSY: Final = BIN_COLUMNS.index("busy_nanoseconds")


class ScalarSeries:
    """Adds windows up until the training step rises.

    A point says what happened since the previous point. Its step is the training step; when no
    step is heard of for a minute, or until the recording ends, it is the whole seconds since the
    recording began. Steps of points always rise.
    """

    def __init__(self) -> None:
        self._last_step = -1
        self._by_seconds = False
        self._clear()

    def add(self, window: Window, last: bool = False) -> tuple[int, dict[str, float]] | None:
        """Takes in a window.

        Args:
            window: follows the windows before it.
            last: no window will follow.

        Returns:
            Step and values by tag when a point is complete, else None.
        """
        self._seconds += window.end_seconds - window.start_seconds
        busy_nanoseconds = 0
        for layout, part in _lowest_modules(window):
            self._bytes_read += _counter(layout, part, "BYTES_READ")
            self._bytes_written += _counter(layout, part, "BYTES_WRITTEN")
            self._metadata_calls += int(part.bins.values[:, _METADATA_CALLS].sum())
            busy_nanoseconds += int(part.bins.values[:, _BUSY].sum())
        self._busy_seconds += busy_nanoseconds / _NANOSECONDS
        self._by_seconds = self._by_seconds or (
            window.step < 0
            and self._last_step < 0
            and (last or window.end_seconds >= _PATIENCE_SECONDS)
        )
        step = int(window.end_seconds) if self._by_seconds else window.step
        if step <= self._last_step or self._seconds <= 0:
            return None
        values = self._values()
        self._last_step = step
        self._clear()
        return step, values

    def _values(self) -> dict[str, float]:
        return dict(
            zip(
                metadata.SCALAR_TAGS,
                (
                    self._bytes_read / _MIB / self._seconds,
                    self._bytes_written / _MIB / self._seconds,
                    min(100.0, 100 * self._busy_seconds / self._seconds),
                    self._metadata_calls / self._seconds,
                ),
                strict=True,
            )
        )

    def _clear(self) -> None:
        self._seconds = 0.0
        self._bytes_read = 0
        self._bytes_written = 0
        self._busy_seconds = 0.0
        self._metadata_calls = 0


def _counter(layout: counters.ModuleLayout, part: ModuleWindow, name: str) -> int:
    return int(part.counters[layout.index[layout.prefix + name]])


def _lowest_modules(window: Window) -> list[tuple[counters.ModuleLayout, ModuleWindow]]:
    """The parts of POSIX and STDIO: Darshan counts no byte in both, and in one of them each byte
    that the layers above them move.
    """
    return [
        (layout, window.modules[name])
        for name, layout in counters.LAYOUTS.items()
        if name in window.modules
    ]
