"""`DarshanPlugin`: the routes of `http_api.md`."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable
from typing import Any, Final

import werkzeug
from tensorboard import errors, plugin_util
from tensorboard.backend import http_util
from tensorboard.plugins import base_plugin

import tensorboard_plugin_darshan
from tensorboard_plugin_darshan import counters, metadata
from tensorboard_plugin_darshan.dashboard import (
    answers,
    lane_answers,
    process_answers,
    query,
    static_files,
)
from tensorboard_plugin_darshan.dashboard.events import (
    DataUnavailableError,
    RunStore,
    RunSummary,
    UnknownRunError,
)
from tensorboard_plugin_darshan.dashboard.insights_answer import insights_answer
from tensorboard_plugin_darshan.dashboard.logs import LogStore
from tensorboard_plugin_darshan.dashboard.logs import roots as log_roots
from tensorboard_plugin_darshan.dashboard.run import Run
from tensorboard_plugin_darshan.dashboard.traces import TraceStore

_DAY_SECONDS: Final = 24 * 3600
_METHODS: Final = ("GET", "HEAD")

Request = Any
Response = Any

NO_RUNS: Final = (
    "No recording below the log directory yet. Add DarshanCallback(log_dir) to the callbacks of "
    "model.fit, or run any loop inside `with DarshanMonitor(log_dir):` (both from "
    "tensorboard_plugin_darshan), with a log_dir that TensorBoard's --logdir contains. The run "
    "shows up here a few seconds after the training begins. Darshan's own logs (*.darshan) "
    "below the log directory are shown too."
)
LOOKING: Final = "Still looking through the log directory; reload in a moment."


class UnavailableError(errors.PublicError):  # type: ignore[misc]
    """Status 503: TensorBoard's data server does not answer."""

    http_code = 503


def route(impl: Callable[..., Any]) -> Callable[..., Any]:
    """A method that answers JSON for a request's arguments, as a WSGI application."""

    @functools.wraps(impl)
    def application(self: DarshanPlugin, request: Request) -> Response:
        try:
            answer = impl(self, request)
        except UnknownRunError as error:
            raise errors.NotFoundError(f"{error}; /runs lists the names of runs") from error
        except DataUnavailableError as error:
            raise UnavailableError(str(error)) from error
        text = json.dumps(answer, allow_nan=False, separators=(",", ":"))
        return http_util.Respond(request, text, "application/json")

    return application


class DarshanPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """The tab's backend. It only reads, and keeps nothing but a cache of what it read."""

    plugin_name = metadata.PLUGIN_NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        """Keeps the data provider and where logs lie; everything else happens on request."""
        self._store = RunStore(context.data_provider)
        self._traces = TraceStore(context.data_provider)
        self._logs = LogStore(log_roots(context))
        self._plotly = static_files.CompressedPlotly()

    def get_plugin_apps(self) -> dict[str, Any]:
        """Routes below `data/plugin/darshan` and their applications."""
        routes: dict[str, Any] = {
            "/runs": self._runs_route,
            "/overview": self._overview_route,
            "/timeline": self._timeline_route,
            "/file_bandwidth": self._file_bandwidth_route,
            "/access_sizes": self._access_sizes_route,
            "/files": self._files_route,
            "/lanes": self._lanes_route,
            "/insights": self._insights_route,
            "/processes": self._processes_route,
            "/heatmap": self._heatmap_route,
            "/page_cache": self._page_cache_route,
            f"/{static_files.PLOTLY}": self._plotly_route,
            **{
                f"/{name}": functools.partial(self._static_route, name)
                for name in static_files.names()
            },
        }
        return {path: _application(method) for path, method in routes.items()}

    def is_active(self) -> bool:
        """Whether there are logs; TensorBoard asks only when it knows of no recording."""
        return self._logs.has_any

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """Where the frontend begins and what the tab is called."""
        return base_plugin.FrontendMetadata(
            es_module_path=f"/{static_files.INDEX}", tab_name="Darshan"
        )

    def runs_impl(self, ctx: Any, experiment: str, now: float) -> dict[str, Any]:
        """Answer of `/runs`; `now` in seconds since 1970."""
        recorded = self._store.list_runs(ctx, experiment, now)
        names = {run.name for run in recorded}
        runs = [query.finite(_run_entry(run)) for run in recorded]
        runs += [entry for entry in self._logs.entries() if entry["name"] not in names]
        runs.sort(key=lambda run: (-(run["begin"] or 0.0), run["name"]))
        return {
            "runs": runs,
            "notes": [] if runs else [LOOKING if self._logs.is_looking_first else NO_RUNS],
            "plotly": static_files.plotly_url(),
            "version": tensorboard_plugin_darshan.__version__,
        }

    @route
    def _runs_route(self, request: Request) -> Any:
        return self.runs_impl(*_where(request), time.time())

    @route
    def _overview_route(self, request: Request) -> Any:
        wanted = query.parse_query(request.args)
        answer = answers.overview(wanted.select(self._load(request, wanted)), time.time())
        return query.finite(answer)

    @route
    def _timeline_route(self, request: Request) -> Any:
        return self._figure(request, answers.timeline)

    @route
    def _file_bandwidth_route(self, request: Request) -> Any:
        return self._figure(request, answers.file_bandwidth)

    @route
    def _access_sizes_route(self, request: Request) -> Any:
        return self._figure(request, answers.access_sizes)

    @route
    def _files_route(self, request: Request) -> Any:
        wanted, page = query.parse_query(request.args), query.parse_page(request.args)
        return answers.files(wanted.select(self._load(request, wanted)), page)

    @route
    def _insights_route(self, request: Request) -> Any:
        return query.finite(self._figure(request, insights_answer))

    @route
    def _processes_route(self, request: Request) -> Any:
        return self._figure(
            request, functools.partial(process_answers.processes_answer, now=time.time())
        )

    @route
    def _heatmap_route(self, request: Request) -> Any:
        by = query.parse_by(request.args)
        return self._figure(
            request, functools.partial(process_answers.heatmap_answer, by=by, now=time.time())
        )

    @route
    def _page_cache_route(self, request: Request) -> Any:
        return self._figure(request, process_answers.page_cache_answer)

    @route
    def _lanes_route(self, request: Request) -> Any:
        wanted, theme = query.parse_query(request.args), query.parse_theme(request.args)
        which = query.parse_lanes(request.args)
        run = self._load(request, wanted)
        names = [recording.name for recording in run.recordings]
        traces = self._traces.load(*_where(request), names)
        return lane_answers.lanes(wanted.select(run), traces, which, theme)

    def _figure(self, request: Request, answer: Callable[..., Any]) -> Any:
        wanted, theme = query.parse_query(request.args), query.parse_theme(request.args)
        return answer(wanted.select(self._load(request, wanted)), theme)

    def _load(self, request: Request, wanted: query.Query) -> Run:
        try:
            return self._store.load(*_where(request), wanted.run)
        except UnknownRunError:
            if not self._logs.knows(wanted.run):
                raise
        return self._logs.load(wanted.run)

    def _static_route(self, name: str, request: Request) -> Response:
        try:
            content = static_files.read(name)
        except FileNotFoundError as error:
            raise errors.NotFoundError(
                f"{name} is missing from the installation; install tensorboard-plugin-darshan again"
            ) from error
        return http_util.Respond(request, content, static_files.mimetype(name))

    def _plotly_route(self, request: Request) -> Response:
        return http_util.Respond(
            request,
            self._plotly.get(),
            "text/javascript",
            content_encoding="gzip",
            expires=_DAY_SECONDS,
            headers=[("Vary", "Accept-Encoding")],
        )


def _application(method: Callable[[Request], Response]) -> Any:
    """A WSGI application of a method; TensorBoard turns the errors it raises into answers."""

    def application(environ: Any, start_response: Any) -> Any:
        request = werkzeug.Request(environ)
        if request.method not in _METHODS:
            response = http_util.Respond(
                request, "only GET and HEAD are answered here", "text/plain", 405
            )
            response.headers["Allow"] = ", ".join(_METHODS)
        else:
            response = method(request)
        return response(environ, start_response)

    return application


def _where(request: Request) -> tuple[Any, str]:
    return plugin_util.context(request.environ), plugin_util.experiment_id(request.environ)


def _run_entry(run: RunSummary) -> dict[str, Any]:
    first = next((job for job in run.jobs if job), {})
    hosts = [job.get("hostname") for job in run.jobs]
    return {
        "name": run.name,
        "kind": "recording",
        "begin": run.begin,
        "end": run.end,
        "duration_seconds": run.duration_seconds,
        "live": run.live,
        "recordings": run.recordings,
        "source": first.get("source"),
        "modules": list(counters.LAYOUTS),
        "processes": run.recordings,
        "hostnames": list(dict.fromkeys(host for host in hosts if isinstance(host, str))),
        "notes": list(run.notes),
    }
