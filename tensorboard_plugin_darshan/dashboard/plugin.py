"""The entry point that TensorBoard loads at its start, so it imports nothing heavy."""

from __future__ import annotations

from typing import Any

from tensorboard.plugins import base_plugin


class DarshanLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Makes the plugin, and makes TensorBoard keep every window of a recording."""

    def fix_flags(self, flags: Any) -> None:
        """Asks for all samples of this plugin, unless the user said how many to keep."""
        hints = getattr(flags, "samples_per_plugin", None)
        if hints is None:
            flags.samples_per_plugin = {"darshan": 0}
        elif isinstance(hints, dict):
            hints.setdefault("darshan", 0)

    def load(self, context: Any) -> Any:
        """The plugin for this TensorBoard."""
        from tensorboard_plugin_darshan.dashboard.routes import DarshanPlugin

        return DarshanPlugin(context)
