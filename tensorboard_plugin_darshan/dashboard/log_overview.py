"""What the overview says of a Darshan log beyond what it says of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan import modules
from tensorboard_plugin_darshan.dashboard.distributions import access_sizes
from tensorboard_plugin_darshan.dashboard.format import count, percent, rate, ratio, size
from tensorboard_plugin_darshan.dashboard.log_run import LogRun
from tensorboard_plugin_darshan.dashboard.selection import Selection

Table = dict[str, Any]

DEFINITIONS: Final[Mapping[str, str]] = {
    "processes": "Processes (ranks) of the job, as the log says.",
    "read_seconds": "Time that all processes and threads together spent in calls. With many "
    "processes it is longer than the job, so it is no share of it.",
    "shared_files": "Darshan keeps one record for a file that all ranks opened, and of it only "
    "the rank that was fastest and the one that was slowest, by time in calls.",
    "base": "Totals on top add up what storage saw: POSIX, STDIO, DFS (DAOS without it). What "
    "MPI-IO, HDF5 and PnetCDF move arrives there again, so these stand in the table only.",
}

_SHOWN_AS: Final[Mapping[str, str]] = {
    "LUSTRE": "striping of files",
    "HEATMAP": "bytes over time",
    "DXT_POSIX": "traced accesses, in the timeline of POSIX",
    "DXT_MPIIO": "traced accesses, in the timeline of MPI-IO",
}


def overview(selection: Selection, answer: Mapping[str, Any]) -> dict[str, Any]:
    """What replaces and extends the answer of the overview."""
    run = selection.run
    assert isinstance(run, LogRun)
    counters = {name: _counters(selection, name) for name in answer["modules"]}
    tables = (
        _operations(counters),
        _shared(selection, run),
        _striping(run),
        _present(run),
    )
    return {
        "busy_seconds": answer["busy_seconds"] if run.busy_is_known(selection.base) else None,
        "phases": [],
        "modules": {
            name: {**_known(totals), "counters": counters[name]}
            for name, totals in answer["modules"].items()
        },
        "cards": _cards(selection, run, answer),
        "sparklines": answer["sparklines"]
        | ({} if run.busy_is_known(selection.base) else {"busy": []}),
        "processes": run.processes,
        "tables": [table for table in tables if table["rows"]],
        "definitions": {
            **{n: text for n, text in answer["definitions"].items() if n in ("read", "written")},
            **DEFINITIONS,
        },
    }


def _counters(selection: Selection, name: str) -> dict[str, int]:
    """Totals of all counters that can be added; those that a record says it did not count (-1)
    are left out.
    """
    layout = modules.SHOWN[name]
    parts = [module.counters[mask] for _, _, module, mask in selection.parts(name)]
    sums = np.sum([part.sum(axis=0) for part in parts], axis=0)
    wanted = layout.where("sum") & (sums >= 0)
    return {layout.counters[i]: int(sums[i]) for i in np.flatnonzero(wanted).tolist()}


def _known(totals: Mapping[str, Any]) -> dict[str, Any]:
    """Totals with None for what Darshan says that it did not count (-1 a record)."""
    uncounted = -totals["files"]
    return {
        name: None if value < 0 and (isinstance(value, int) or value == uncounted) else value
        for name, value in totals.items()
    }


def _cards(selection: Selection, run: LogRun, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    totals = {n: t for n, t in answer["modules"].items() if n in selection.base}
    duration = answer["counted_seconds"]
    calls = sum(max(t["reads"], 0) + max(t["writes"], 0) for t in totals.values())
    metadata = 0
    for name in totals:
        places = list(modules.QUANTITIES[name]["metadata_calls"])
        for _, _, module, mask in selection.parts(name):
            metadata += int(np.maximum(module.counters[mask][:, places], 0).sum())
    moved = sum(max(t["bytes_read"], 0) + max(t["bytes_written"], 0) for t in totals.values())
    zero = access_sizes(selection).zero_byte_calls
    caption = f"{size(moved / calls)} per read or write" if calls else ""
    if calls and zero:
        caption += f", {percent(zero / calls)} 0 B"
    changed = {
        "calls": {
            "value": count(calls + metadata),
            "detail": rate(ratio(calls + metadata, duration)) if duration else "",
            "caption": caption,
        },
    }
    cards = [
        {**card, **changed.get(card["name"], {})}
        for card in answer["cards"]
        if card["name"] != "seen"
    ]
    return [*cards, _processes_card(run)]


def _processes_card(run: LogRun) -> dict[str, Any]:
    job: Mapping[str, Any] = next((r.job for r in run.recordings if r.job), {})
    version, job_id = job.get("source_version"), job.get("job_id")
    return {
        "name": "processes",
        "title": "Processes",
        "value": count(run.processes),
        "detail": f"Darshan {version}" if version else "Darshan log",
        "caption": f"job {job_id}" if job_id else "",
        "definition": DEFINITIONS["processes"],
        "sparkline": [],
    }


def _column(title: str, unit: str) -> dict[str, str]:
    """A column; `unit` is `text`, `count`, `bytes` or `seconds`."""
    return {"title": title, "unit": unit}


def _operations(counters: Mapping[str, Mapping[str, int]]) -> Table:
    return {
        "name": "operations",
        "title": "Operations, by Darshan's names",
        "columns": [
            _column("Operation", "text"),
            _column("Module", "text"),
            _column("Count", "count"),
        ],
        "rows": [
            [counter.removeprefix(modules.SHOWN[name].prefix), name, total]
            for name, totals in counters.items()
            for counter, total in totals.items()
            if total and "_SIZE_" not in counter and "_BYTES_" not in counter
        ],
    }


def _shared(selection: Selection, run: LogRun) -> Table:
    rows = [row for meta in run.metas for row in meta["shared"]]
    kinds = ("fastest", "slowest")
    return {
        "name": "shared_files",
        "title": "Shared files: fastest and slowest rank",
        "columns": [
            _column("File", "text"),
            _column("Module", "text"),
            *(
                _column(f"{kind.title()}: {title}", unit)
                for kind in kinds
                for title, unit in (("rank", "text"), ("bytes", "bytes"), ("time", "seconds"))
            ),
        ],
        "rows": [
            [row["path"], row["module"]]
            + [
                value
                for kind in kinds
                for value in (
                    str(row[f"{kind}_rank"]),
                    row[f"{kind}_bytes"],
                    row[f"{kind}_seconds"],
                )
            ]
            for row in rows
            if row["module"] in selection.modules
        ],
    }


def _striping(run: LogRun) -> Table:
    found: dict[tuple[int, int, int], tuple[int, int]] = {}
    for meta in run.metas:
        for *key, files, targets in meta["stripings"]:
            known = found.get((key[0], key[1], key[2]), (0, 0))
            found[key[0], key[1], key[2]] = (known[0] + files, max(known[1], targets))
    return {
        "name": "striping",
        "title": "Lustre: how files are striped",
        "columns": [
            _column("Stripe size", "bytes"),
            _column("Stripes", "text"),
            _column("Components", "count"),
            _column("Files", "count"),
            _column("Storage targets, of one log", "count"),
        ],
        "rows": [
            [size_bytes if size_bytes >= 0 else None, str(stripes), components, files, targets]
            for (size_bytes, stripes, components), (files, targets) in found.items()
        ],
    }


def _present(run: LogRun) -> Table:
    """Every module of the log, what becomes of it, and whether it is complete."""
    present = dict.fromkeys(name for meta in run.metas for name in meta.get("present", ()))
    partial = {name for meta in run.metas for name in meta["partial"]}
    return {
        "name": "log_modules",
        "title": "Modules in the log",
        "columns": [
            _column("Module", "text"),
            _column("Shown as", "text"),
            _column("Data", "text"),
        ],
        "rows": [
            [
                name,
                "totals and files" if name in modules.SHOWN else _SHOWN_AS.get(name, "not shown"),
                "incomplete" if name in partial else "complete",
            ]
            for name in present
        ],
    }
