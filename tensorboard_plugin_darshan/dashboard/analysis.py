"""What a stretch of a run did, in numbers: totals, files, completeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan import counters
from tensorboard_plugin_darshan.dashboard import columns
from tensorboard_plugin_darshan.dashboard.format import ratio
from tensorboard_plugin_darshan.dashboard.run import Recording
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.modules import QUANTITIES
from tensorboard_plugin_darshan.window import BIN_COLUMNS, PROCESS_IO

Array = columns.Array

CALLS: Final = ("bytes_read", "bytes_written", "reads", "writes", "opens")
"""What is added up as whole numbers."""

_SECONDS: Final = ("read_seconds", "write_seconds", "metadata_seconds")
_LEAST_READ_BYTES: Final = 1 << 20
_BUSY: Final = BIN_COLUMNS.index("busy_nanoseconds")
_ACCESSES: Final = [BIN_COLUMNS.index(name) for name in ("reads", "writes", "metadata_calls")]


@dataclass(frozen=True)
class Totals:
    """What one module did; bytes, counts and seconds added over files and recordings."""

    bytes_read: int = 0
    bytes_written: int = 0
    reads: int = 0
    writes: int = 0
    opens: int = 0
    files: int = 0
    read_seconds: float = 0.0
    write_seconds: float = 0.0
    metadata_seconds: float = 0.0


@dataclass(frozen=True)
class Seen:
    """The recorder's bytes beside the kernel's, over the windows where the kernel's are known."""

    recorder_read: int
    recorder_written: int
    kernel: dict[str, int] | None

    @property
    def share(self) -> float | None:
        """Recorder's bytes ÷ the kernel's `rchar + wchar`."""
        if self.kernel is None:
            return None
        whole = self.kernel["rchar"] + self.kernel["wchar"]
        return ratio(self.recorder_read + self.recorder_written, whole)

    @property
    def cache_share(self) -> float | None:
        """See `cache_share`; None where the kernel said nothing."""
        if self.kernel is None:
            return None
        return cache_share(self.kernel["rchar"], self.kernel["read_bytes"])


def cache_share(asked: float, device: float) -> float | None:
    """Share of the bytes read that came from the page cache: `1 - read_bytes/rchar`.

    Args:
        asked: the kernel's `rchar`; below 1 MiB the answer is None, as a share of next to nothing
            tells nothing.
        device: its `read_bytes`.
    """
    return max(0.0, 1.0 - device / asked) if asked >= _LEAST_READ_BYTES else None


def module_totals(selection: Selection) -> dict[str, Totals]:
    """Totals `{module: Totals}` of the modules selected that have any record."""
    found = {}
    for name in selection.modules:
        quantities, parts = QUANTITIES[name], selection.parts(name)
        if name not in selection.run.modules or not any(
            (module.present & mask).any() for _, _, module, mask in parts
        ):
            continue
        whole = np.sum([m.counters[mask].sum(axis=0) for _, _, m, mask in parts], axis=0)
        times = np.sum([m.fcounters[mask].sum(axis=0) for _, _, m, mask in parts], axis=0)
        values: dict[str, Any] = {c: int(whole[list(quantities[c])].sum()) for c in CALLS}
        values |= {c: float(times[list(quantities[c])].sum()) for c in _SECONDS}
        found[name] = Totals(**values, files=files_of(selection, name)[0])
    return found


def files_of(selection: Selection, name: str) -> tuple[int, bool]:
    """Number of files of a module in the stretch, and whether it is exact: without the begin of
    the run and with files folded into directories it is only a lower bound.
    """
    total, exact = 0, True
    for place, _, module, mask in selection.parts(name):
        shown = np.flatnonzero(module.present & mask)
        if not shown.size:
            continue
        if selection.covers_begin(place):
            total += int(module.files_total[shown[-1]])
        elif shown.size == 1:
            total += int(module.files_active[shown[0]])
        else:
            rows = columns.rows_of(module.files, mask)
            listed = np.unique(module.files["file"][rows]).size
            total += max(listed, int(module.files_active[shown].max()))
            exact &= lists_all_files(module, mask)
    return total, exact


def lists_all_files(module: columns.ModuleColumns, mask: Array) -> bool:
    """Whether the windows in `mask` list every file that was active in them."""
    listed = np.bincount(module.files["window"], minlength=len(mask))
    return bool((listed[mask] >= module.files_active[mask]).all())


def calls(selection: Selection) -> int:
    """Reads, writes and metadata calls in the windows that count."""
    return sum(
        int(module.bin_sums[mask][:, _ACCESSES].sum())
        for name in selection.base
        for _, _, module, mask in selection.parts(name)
    )


def busy_seconds(selection: Selection) -> float:
    """Time in which at least one call was in flight, added over recordings; modules count
    together up to the length of each window.
    """
    return sum(
        float(busy_of_windows(selection, recording, mask)[mask].sum())
        for recording, mask in zip(selection.run.recordings, selection.masks, strict=True)
    )


def busy_of_windows(selection: Selection, recording: Recording, mask: Array) -> Array:
    """The same for each window of a recording `[n_windows]`."""
    modules = recording.windows.modules
    busy: Array = np.zeros(len(mask))
    for name in selection.base:
        if name in modules:
            busy += modules[name].bin_sums[:, _BUSY] / 1e9
    limited: Array = np.minimum(busy, recording.windows.end - recording.windows.start)
    return limited


def seen(selection: Selection) -> Seen:
    """How much of what the kernel counted the recorder counted too, over all modules."""
    read = written = 0
    kernel = np.zeros(len(PROCESS_IO), np.int64)
    known_any = False
    for recording, mask in zip(selection.run.recordings, selection.masks, strict=True):
        io = recording.windows.process_io
        known = mask & (io >= 0).all(axis=1)
        known_any |= bool(known.any())
        kernel += io[known].sum(axis=0)
        for name, module in recording.windows.modules.items():
            if name not in counters.LAYOUTS:
                continue
            index = counters.LAYOUTS[name].index
            read += int(module.counters[known, index[f"{name}_BYTES_READ"]].sum())
            written += int(module.counters[known, index[f"{name}_BYTES_WRITTEN"]].sum())
    named = dict(zip(PROCESS_IO, kernel.tolist(), strict=True))
    return Seen(read, written, named if known_any else None)
