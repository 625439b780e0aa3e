"""The frontend's files and plotly.js, by a list of names: no path is ever put together."""

from __future__ import annotations

import gzip
import importlib.metadata
import importlib.resources
import threading
from typing import Final

STATIC_PACKAGE: Final = "tensorboard_plugin_darshan.static"
INDEX: Final = "index.js"
PLOTLY: Final = "plotly.min.js"

_MIMETYPES: Final = {".js": "text/javascript", ".css": "text/css"}
_COMPRESSION_LEVEL: Final = 6


def names() -> tuple[str, ...]:
    """Names of the files that may be served."""
    try:
        found = [item.name for item in importlib.resources.files(STATIC_PACKAGE).iterdir()]
    except ModuleNotFoundError:
        found = []
    return tuple(sorted({INDEX, *(name for name in found if mimetype(name) is not None)}))


def mimetype(name: str) -> str | None:
    """Media type of a file that may be served, None for any other."""
    return next((kind for ending, kind in _MIMETYPES.items() if name.endswith(ending)), None)


def read(name: str) -> bytes:
    """Content of one of `names()`.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    try:
        return importlib.resources.files(STATIC_PACKAGE).joinpath(name).read_bytes()
    except ModuleNotFoundError as error:
        raise FileNotFoundError(name) from error


def plotly_url() -> str:
    """URL of plotly.js relative to the plugin's; another version has another one."""
    return f"{PLOTLY}?v={importlib.metadata.version('plotly')}"


class CompressedPlotly:
    """plotly.js of the installed Python package, compressed on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._data: bytes | None = None

    def get(self) -> bytes:
        """The gzip file."""
        with self._lock:
            if self._data is None:
                from plotly.offline import get_plotlyjs

                self._data = gzip.compress(get_plotlyjs().encode(), _COMPRESSION_LEVEL, mtime=0)
            return self._data
