"""`tensorboard-darshan stage`: plan, apply, check, clean."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from tensorboard_plugin_darshan import staging_files, staging_plan, staging_probe
from tensorboard_plugin_darshan.dashboard import staging
from tensorboard_plugin_darshan.dashboard.format import bandwidth, percent, seconds, size
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tensorboard_plugin_darshan.staging_plan import Plan, PlannedFile, StagingError

_UNITS: Final = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
_SHALLOW: Final = 2
"""A directory of data has at least so many parts: nobody wants a mirror of `/home`."""

Say = Callable[[str], None]


def parse_size(text: str) -> int:
    """Bytes in e.g. `10GiB`, `500 MB` (taken as MiB), `1073741824`."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write e.g. 500MiB or 10GiB")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def add_commands(parser: argparse.ArgumentParser) -> None:
    """The subcommands of `stage` with their options."""
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    plan = actions.add_parser("plan", help="choose the files that gain most on a fast tier")
    plan.add_argument("run", type=Path, metavar="RUN", help="directory of the recorded run")
    plan.add_argument("--budget", type=parse_size, required=True, help="e.g. 10GiB")
    plan.add_argument("--fast", type=Path, required=True, metavar="DIR", help="on the fast tier")
    plan.add_argument("--data", type=Path, help="directory of the data (default: found by itself)")
    plan.add_argument(
        "--out", type=Path, default=Path("stage.json"), help="the plan (default: %(default)s)"
    )
    plan.set_defaults(action=make_plan)
    apply = actions.add_parser("apply", help="copy the files of a plan, and make the mirror")
    apply.add_argument("plan", type=Path, metavar="PLAN")
    apply.add_argument(
        "--reserve",
        type=parse_size,
        default=1024**3,
        help="bytes of the fast tier to leave free (default: 1GiB)",
    )
    apply.set_defaults(action=apply_plan)
    check = actions.add_parser("check", help="compare the prediction with a run on the mirror")
    check.add_argument("plan", type=Path, metavar="PLAN")
    check.add_argument("before", type=Path, metavar="BEFORE", help="run on the originals")
    check.add_argument("after", type=Path, metavar="AFTER", help="run on the mirror")
    check.set_defaults(action=check_plan)
    clean = actions.add_parser("clean", help="remove what apply made, and nothing else")
    clean.add_argument("plan", type=Path, metavar="PLAN")
    clean.set_defaults(action=clean_plan)


def run(options: argparse.Namespace, say: Say) -> int:
    """Runs one of the subcommands.

    Raises:
        StagingError: it cannot be done.
        OSError: a file cannot be read or written.
    """
    status: int = options.action(options, say)
    return status


def _facts(path: Path) -> Facts:
    from tensorboard_plugin_darshan.dashboard import export, log_writer

    try:
        found = export.load_run(path)
    except log_writer.ExportError as error:
        raise StagingError(str(error)) from error
    return Facts(Selection(found, modules=found.modules))


def _data_directory(wanted: Path | None, found: staging.Candidates) -> str:
    if wanted is not None:
        return str(wanted.absolute())
    if not len(found):
        raise StagingError("the run read no file that could be staged")
    common = os.path.commonpath([os.path.dirname(path) for path in found.paths])
    if len(Path(common).parts) <= _SHALLOW:
        raise StagingError(
            f"the run read files all over {common}; say which directory holds the data: --data DIR"
        )
    return common


def make_plan(options: argparse.Namespace, say: Say) -> int:
    """`stage plan`."""
    facts = _facts(options.run)
    data = _data_directory(options.data, staging.candidates(facts))
    found = staging.candidates(facts, data)
    kept, files = [], []
    for place, path in enumerate(found.paths):
        try:
            status = os.stat(path)
        except OSError:
            continue
        kept.append(place)
        files.append(status)
    if not kept:
        raise StagingError(f"none of the files that the run read below {data} is there now")
    found = _subset(found, kept, [status.st_size for status in files])
    fast = staging_probe.probe(options.fast)
    choice = staging.choose(found, fast)
    places = choice.within(options.budget)
    if not len(places):
        raise StagingError(
            "no file would be read faster from there: the run read them as fast as "
            f"{options.fast} can, or from memory. The first epoch of a run tells more: record one "
            "after the page cache was emptied."
        )
    gain, curve = staging.gain(choice, places), staging.curve(choice)
    name = hashlib.sha256(f"{data} {options.run.absolute()} {options.budget}".encode()).hexdigest()
    plan = Plan(
        str(options.run.absolute()),
        data,
        str(options.fast.absolute() / f"darshan-stage-{name[:8]}"),
        options.budget,
        {mount: asdict(costs) for mount, costs in {**choice.costs, "fast": fast}.items()},
        asdict(gain),
        {
            "bytes_copied": curve.bytes_copied.tolist(),
            "seconds_saved": curve.seconds_saved.tolist(),
            "knee": curve.knee,
        },
        tuple(_planned(choice, files, data, place) for place in places.tolist()),
    )
    plan.save(options.out)
    _tell_plan(plan, gain, curve, options.out, say)
    return 0


def _subset(found: staging.Candidates, kept: list[int], sizes: list[int]) -> staging.Candidates:
    columns = ("opens", "reads", "moved", "open_seconds", "read_seconds")
    return staging.Candidates(
        [found.paths[i] for i in kept],
        [found.mounts[i] for i in kept],
        np.array(sizes, float),
        *(getattr(found, name)[kept] for name in columns),
    )


def _planned(
    choice: staging.Choice, files: list[os.stat_result], data: str, place: int
) -> PlannedFile:
    found, status = choice.candidates, files[place]
    saved = float(choice.saved[place])
    return PlannedFile(
        os.path.relpath(found.paths[place], data),
        status.st_size,
        status.st_mtime_ns,
        saved,
        f"{found.opens[place]:.0f} opens and {found.reads[place]:.0f} reads took "
        f"{seconds(float(found.seconds[place]))}; a copy saves {seconds(saved)}",
    )


def _tell_plan(plan: Plan, gain: staging.Gain, curve: staging.Curve, out: Path, say: Say) -> None:
    for mount, costs in plan.costs.items():
        label = "the fast tier (tried out)" if mount == "fast" else mount
        say(
            f"{label}: {seconds(costs['open_seconds'])} an open, "
            f"{seconds(costs['call_seconds'])} a read, "
            f"{seconds(costs['byte_seconds'] * 1024**2)} a MiB"
        )
    say(
        f"{gain.files} files below {plan.data}, {size(gain.bytes_copied)} of the budget of "
        f"{size(plan.budget)}"
    )
    say(
        f"a repetition of the run would spend {seconds(gain.seconds_saved)} of "
        f"{seconds(gain.seconds_before)} less in opens and reads (all threads together): "
        f"{bandwidth(gain.bandwidth_before)} become {bandwidth(gain.bandwidth_after)}"
    )
    knee = float(curve.bytes_copied[curve.knee])
    say(
        f"the gain bends at {size(knee)}: beyond it each further byte brings less "
        f"({seconds(float(curve.seconds_saved[curve.knee]))} saved there, "
        f"{seconds(float(curve.seconds_saved[-1]))} with everything)"
    )
    say(f"wrote {out}; next: tensorboard-darshan stage apply {out}")


def apply_plan(options: argparse.Namespace, say: Say) -> int:
    """`stage apply`."""
    plan = staging_plan.load(options.plan)
    outcome = staging_files.apply(plan, options.reserve, _progress_bar())
    say(
        f"{outcome.copied} files copied ({size(outcome.bytes_copied)}), {outcome.kept} were there; "
        f"{outcome.links} links in the mirror"
    )
    for path, reason in list(outcome.left_out.items())[:5]:
        say(f"  left out {path}: {reason}")
    if len(outcome.left_out) > 5:
        say(f"  and {len(outcome.left_out) - 5} more")
    say(f"train on {plan.mirror} instead of {plan.data}")
    return 0


def _progress_bar() -> staging_files.Progress:
    """Says how far it is, on a terminal only."""
    width = 40

    def show(done: int, whole: int) -> None:
        if not sys.stderr.isatty():
            return
        filled = width * done // whole if whole else width
        end = "\n" if done == whole else ""
        bar = "█" * filled + "░" * (width - filled)
        print(f"\r{bar} {size(done)} of {size(whole)}", end=end, file=sys.stderr, flush=True)

    return show


def check_plan(options: argparse.Namespace, say: Say) -> int:
    """`stage check`."""
    plan = staging_plan.load(options.plan)
    before = staging.measure(_facts(options.before), [plan.data])
    after_facts = _facts(options.after)
    after = staging.measure(after_facts, [str(plan.mirror), str(plan.copies), plan.data])
    for name, (moved, taken, _), path in (
        ("BEFORE", before, options.before),
        ("AFTER", after, options.after),
    ):
        if not moved or not taken:
            raise StagingError(f"{name} ({path}) read nothing of the planned data")
    on_mirror = staging.measure(after_facts, [str(plan.mirror)])[2]
    if not on_mirror:
        raise StagingError(f"AFTER did not read from the mirror: train it on {plan.mirror}")
    for line in compare(plan.prediction, before, after):
        say(line)
    return 0


def compare(
    prediction: dict[str, Any], before: tuple[float, float, int], after: tuple[float, float, int]
) -> list[str]:
    """Sentences about what was predicted and what was measured; per byte, as the runs may differ
    in length.
    """
    speed = [moved / taken for moved, taken, _ in (before, after)]
    saved = prediction["seconds_saved"] / prediction["seconds_before"]
    predicted, measured = 1 / max(1e-9, 1 - saved), speed[1] / speed[0]
    return [
        f"before: {size(before[0])} of {before[2]} files in {seconds(before[1])} of opens and "
        f"reads, {bandwidth(speed[0])}",
        f"after:  {size(after[0])} of {after[2]} files in {seconds(after[1])} of opens and reads, "
        f"{bandwidth(speed[1])}",
        f"bandwidth: predicted {percent(predicted - 1)} more, measured {percent(measured - 1)} "
        f"more; the prediction is {percent(abs(predicted / measured - 1))} "
        f"{'above' if predicted > measured else 'below'} the measurement",
    ]


def clean_plan(options: argparse.Namespace, say: Say) -> int:
    """`stage clean`."""
    cleaned = staging_files.clean(staging_plan.load(options.plan))
    say(f"removed {cleaned.removed} files, links and directories")
    for path, reason in cleaned.left.items():
        say(f"  left {path}: {reason}")
    return 0
