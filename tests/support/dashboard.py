"""The plugin inside TensorBoard: its WSGI application, and whole `tensorboard` processes."""

from __future__ import annotations

import json
import os
import re
import selectors
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import werkzeug.test
from tensorboard.backend import application
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.plugins import base_plugin

from tensorboard_plugin_darshan.dashboard.plugin import DarshanLoader

PREFIX = "/data/plugin/darshan"
DEADLINE_SECONDS = 60.0
_ADDRESS = re.compile(r"http://[^\s:/]+:(\d+)/")


class Dashboard:
    """TensorBoard's application with the plugin, as its Python loader serves it.

    Args:
        log_dir: the log directory.
        samples: windows that TensorBoard keeps of each tag, 0 for all.
    """

    def __init__(self, log_dir: Path, samples: int = 0) -> None:
        self._log_dir = str(log_dir)
        self.multiplexer = plugin_event_multiplexer.EventMultiplexer(
            tensor_size_guidance={"darshan": samples}
        )
        self.provider = data_provider.MultiplexerDataProvider(self.multiplexer, self._log_dir)
        self.reload()
        context = base_plugin.TBContext(data_provider=self.provider, logdir=self._log_dir)
        self.plugin = DarshanLoader().load(context)
        app = application.TensorBoardWSGI([self.plugin], data_provider=self.provider)
        self.client = werkzeug.test.Client(app)

    def reload(self) -> None:
        self.multiplexer.AddRunsFromDirectory(self._log_dir)
        self.multiplexer.Reload()

    def response(self, route: str, headers: Any = None, **arguments: Any) -> Any:
        """What a route answers; arguments become its parameters."""
        query = urllib.parse.urlencode(arguments)
        return self.client.get(f"{PREFIX}/{route}", query_string=query, headers=headers)

    def get(self, route: str, **arguments: Any) -> Any:
        """The JSON that a route answers with status 200."""
        response = self.response(route, **arguments)
        assert response.status_code == 200, response.get_data(as_text=True)
        assert response.mimetype == "application/json"
        return strict_json(response.get_data(as_text=True))

    def error(self, route: str, **arguments: Any) -> tuple[int, str]:
        """Status and sentence of an error."""
        response = self.response(route, **arguments)
        assert response.mimetype == "text/plain", response.get_data(as_text=True)
        return response.status_code, response.get_data(as_text=True)


def strict_json(text: str) -> Any:
    """Parses JSON as browsers do: NaN and Infinity are errors."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} in JSON")

    return json.loads(text, parse_constant=refuse)


class Server:
    """A running `tensorboard`."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port

    def get(self, route: str, **arguments: Any) -> Any:
        """The JSON that a route answers with status 200."""
        query = urllib.parse.urlencode(arguments)
        url = f"http://localhost:{self.port}{PREFIX}/{route}?{query}"
        with urllib.request.urlopen(url, timeout=DEADLINE_SECONDS) as response:
            return strict_json(response.read().decode())

    def wait_for(self, route: str, ready: Any, **arguments: Any) -> Any:
        """The first answer that `ready` accepts; runs come up a moment after the server."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        answer: Any = None
        while time.monotonic() < deadline:
            try:
                answer = self.get(route, **arguments)
            except urllib.error.HTTPError as error:
                answer = (error.code, error.read().decode())
                if error.code not in (404, 503):
                    raise AssertionError(answer) from error
            else:
                if ready(answer):
                    return answer
            time.sleep(0.1)
        raise AssertionError(f"not ready after {DEADLINE_SECONDS} s: {answer}")


@contextmanager
def tensorboard(log_dir: Path, *flags: str) -> Iterator[Server]:
    """A `tensorboard` process on a port that the system chose."""
    command = [
        *(sys.executable, "-m", "tensorboard.main", "--logdir", str(log_dir)),
        *("--port", "0", "--reload_interval", "1", *flags),
    ]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        yield Server(process, _port(process))
    finally:
        process.terminate()
        process.wait(timeout=DEADLINE_SECONDS)
        assert process.stderr is not None
        process.stderr.close()


def _port(process: subprocess.Popen[str]) -> int:
    """The port in what the process says when it serves."""
    assert process.stderr is not None
    said, deadline = "", time.monotonic() + DEADLINE_SECONDS
    os.set_blocking(process.stderr.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        while time.monotonic() < deadline and process.poll() is None:
            if selector.select(timeout=0.5):
                said += process.stderr.read() or ""
                found = _ADDRESS.search(said)
                if found:
                    return int(found.group(1))
    raise AssertionError(f"tensorboard does not serve: {said}")
