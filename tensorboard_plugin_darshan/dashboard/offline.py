"""A run read from its directory, without a running TensorBoard: what exports begin with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tensorboard import context
from tensorboard.data import provider as provider_lib

from tensorboard_plugin_darshan import metadata, payload, summary
from tensorboard_plugin_darshan.dashboard import tags
from tensorboard_plugin_darshan.dashboard.event_files import EventFiles
from tensorboard_plugin_darshan.dashboard.events import RunStore
from tensorboard_plugin_darshan.dashboard.run import Recording, Run
from tensorboard_plugin_darshan.segments import Segments

_KEEP_ALL = 1_000_000


class ExportError(RuntimeError):
    """The export cannot be made; the text says why and what to do."""


@dataclass(frozen=True)
class OfflineRun:
    """A run, and where its single accesses are read from.

    Attributes:
        run: the run.
        provider: gives the data of its directory.
    """

    run: Run
    provider: Any

    def segments(self, recording: Recording) -> Iterator[Segments]:
        """The accesses of a recording, a window's at a time, as they were written.

        Raises:
            ExportError: some of them cannot be read.
        """
        request = context.RequestContext()
        listing = self.provider.list_tensors(
            request,
            experiment_id="",
            plugin_name=metadata.PLUGIN_NAME,
            run_tag_filter=provider_lib.RunTagFilter(runs=[recording.name]),
        ).get(recording.name, {})
        for tag in tags.numbered_tags(listing, metadata.SEGMENTS_TAG_PREFIX):
            answer = self.provider.read_tensors(
                request,
                experiment_id="",
                plugin_name=metadata.PLUGIN_NAME,
                downsample=_KEEP_ALL,
                run_tag_filter=provider_lib.RunTagFilter(runs=[recording.name], tags=[tag]),
            )
            for datum in answer.get(recording.name, {}).get(tag, ()):
                try:
                    yield summary.parse_segments(datum.numpy)
                except payload.PayloadError as error:
                    raise ExportError(f"{recording.name}: {error}") from error


def load(path: Path) -> OfflineRun:
    """The run in a directory.

    Raises:
        ExportError: there is none, or several.
    """
    provider = EventFiles(path)
    store, request = RunStore(provider), context.RequestContext()
    names = [run.name for run in store.list_runs(request, "", 0.0)]
    if not names:
        raise ExportError(f"there is no recorded run in {path}")
    if len(names) > 1:
        raise ExportError(
            f"there are {len(names)} runs in {path}; give the directory of one of them: "
            + ", ".join(sorted(names))
        )
    return OfflineRun(store.load(request, "", names[0]), provider)
