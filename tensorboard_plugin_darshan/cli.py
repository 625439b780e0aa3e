"""`tensorboard-darshan`: the package's command line."""

from __future__ import annotations

import argparse
import platform
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tensorboard_plugin_darshan import __version__, demo, staging_cli, staging_plan


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and answers its exit status: 0, 1 when it failed, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.command(options)
    except demo.DemoUnavailableError as error:
        return _fail(str(error))
    except OSError as error:
        place = "" if error.filename is None else f" ({error.filename})"
        return _fail(f"{error.strerror or error}{place}")
    except KeyboardInterrupt:
        return 130
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tensorboard-darshan",
        description="See the file I/O of a training in TensorBoard while it runs.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    _add_demo(commands)

    about = "write a recorded run in another format"
    command = commands.add_parser("export", help=about, description=_sentence(about))
    command.add_argument("run", type=Path, metavar="RUN", help="directory of the run")
    command.add_argument("out", type=Path, metavar="OUT", help="file to write")
    command.add_argument(
        "--format",
        choices=["darshan", "perfetto", "csv", "json"],
        default="darshan",
        help="darshan: a log for Darshan's own tools and those built on it; perfetto: trace "
        "events for ui.perfetto.dev and chrome://tracing, compressed where OUT ends in .gz; csv: "
        "windows.csv and files.csv in the directory OUT; json: both in one file (default: "
        "%(default)s)",
    )
    command.add_argument(
        "--merge",
        type=Path,
        metavar="TRACE",
        help="with perfetto: put it on the time axis of this trace of torch.profiler or JAX "
        "(.json or .json.gz)",
    )
    command.add_argument(
        "--merge-begin",
        type=float,
        metavar="SECONDS",
        help="when that trace began, in seconds since 1970, where it does not say so itself",
    )
    command.set_defaults(command=_export)

    about = "copy the files that gain most to a fast tier, and train on the mirror"
    command = commands.add_parser("stage", help=about, description=_sentence(about))
    staging_cli.add_commands(command)
    command.set_defaults(command=_stage)

    about = "say whether and how this process could be recorded"
    command = commands.add_parser("doctor", help=about, description=_sentence(about))
    command.add_argument(
        "--no-extended",
        action="store_true",
        help="look at the calls that Darshan 3.5.0 wraps, no others",
    )
    command.set_defaults(command=_doctor)
    return parser


def _add_demo(commands: Any) -> None:
    about = "train a small model on files for half a minute, then show its I/O in TensorBoard"
    command = commands.add_parser("demo", help=about, description=_sentence(about))
    command.add_argument(
        "--logdir",
        type=Path,
        default=Path("demo_run"),
        help="where data set (300 MB), checkpoints and events go (default: %(default)s)",
    )
    command.add_argument(
        "--no-serve", action="store_true", help="do not start TensorBoard afterwards"
    )
    command.add_argument(
        "--port",
        type=_port,
        help="TensorBoard's port; 0 takes a free one (default: 6006, or the next free one)",
    )
    command.set_defaults(command=_demo)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give a number from 0 to 65535")
    return int(text)


def _demo(options: argparse.Namespace) -> int:
    demo.run(options.logdir, _say)
    if not options.no_serve:
        _serve(options.logdir, options.port)
    return 0


def _export(options: argparse.Namespace) -> int:
    from tensorboard_plugin_darshan.dashboard import export, export_formats, log_writer, offline

    try:
        if options.format in export_formats.FORMATS:
            target = export_formats.Target(options.out, options.merge, options.merge_begin)
            for line in export_formats.export(options.run, options.format, target):
                _say(f"  {line}")
            return 0
        notes = export.export_darshan(export.load_run(options.run), options.out)
    except (log_writer.ExportError, offline.ExportError) as error:
        return _fail(str(error))
    _say(f"wrote {options.out}")
    for note in notes:
        _say(f"  {note}")
    return 0


def _stage(options: argparse.Namespace) -> int:
    try:
        return staging_cli.run(options, _say)
    except staging_plan.StagingError as error:
        return _fail(str(error))


def _serve(logdir: Path, port: int | None) -> None:
    """Serves a log directory until interrupted."""
    from tensorboard import program

    server = program.TensorBoard()
    ports = [] if port is None else ["--port", str(port)]
    server.configure(argv=["tensorboard", "--logdir", str(logdir), *ports])
    try:
        address = server.launch()
    except program.TensorBoardServerException as error:
        raise OSError(f"TensorBoard does not start: {error}") from error
    _say(f"TensorBoard shows it at {address}#darshan (Ctrl-C ends it)")
    threading.Event().wait()


def _doctor(options: argparse.Namespace) -> int:
    from tensorboard_plugin_darshan.recording import findings, recorder

    _say(f"tensorboard-plugin-darshan {__version__}, Python {platform.python_version()}")
    _say(f"{platform.platform()}, {platform.machine()}")
    try:
        recording = recorder.attach(extended=not options.no_extended)
    except (recorder.RecordingUnavailableError, ValueError) as error:
        _say(f"Recording is not available: {error}")
        return 1
    try:
        facts = recording.facts()
        lines = list(findings.findings(facts))
    finally:
        recording.detach()
    _say(f"Recording works, with the {facts['source']} source.")
    for line in lines:
        _say(f"  {line}")
    return 0


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _fail(reason: str) -> int:
    print(f"tensorboard-darshan: {reason}", file=sys.stderr)
    return 1


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
