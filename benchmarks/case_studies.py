"""The two case studies of the tf-Darshan paper, small, on a slow tier made with FUSE.

Each prints the paper's figure, ours, and what the tab says of our run.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from slow_tier import slow_tier, why_not

from tensorboard_plugin_darshan import DarshanMonitor, staging_cli, staging_files, staging_plan
from tensorboard_plugin_darshan.dashboard import export, insights, staging
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts
from tensorboard_plugin_darshan.dashboard.selection import Selection

THREADS = (1, 2, 4, 8, 16, 28)
PASSES = (1, 1, 1)
PIECE = 1 << 20


def say(line: str = "") -> None:
    print(line, flush=True)


def write_set(directory: Path, sizes: Sequence[int]) -> list[str]:
    """Files of these sizes; their names."""
    directory.mkdir(parents=True)
    names = [f"{place:05d}.bin" for place in range(len(sizes))]
    for name, size in zip(names, sizes, strict=True):
        (directory / name).write_bytes(random.randbytes(size))
    return names


def read_all(paths: Sequence[Path], threads: int) -> float:
    """Reads files as a training does, each until nothing comes; bytes per second."""
    queue, moved = iter(list(paths)), itertools.count()
    lock, total = threading.Lock(), [0]

    def read() -> None:
        while True:
            with lock:
                path = next(queue, None)
            if path is None:
                return
            with path.open("rb", buffering=0) as file:
                while data := file.read(PIECE):
                    with lock:
                        total[0] += len(data)
            next(moved)

    begin = time.perf_counter()
    pool = [threading.Thread(target=read) for _ in range(threads)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    return total[0] / (time.perf_counter() - begin)


def record(log_dir: Path, paths: Sequence[Path], threads: Sequence[int]) -> dict[int, float]:
    """A run with an epoch for each number of threads; bytes per second of each.

    Nothing but reading happens, so the training waits all the time, and says so.
    """
    speed = {}
    with DarshanMonitor(log_dir, source="builtin", trace=False) as monitor:
        for epoch, n in enumerate(threads):
            with monitor.phase("train", epoch), monitor.wait():
                speed[n] = read_all(paths, n)
            monitor.step()
    return speed


def facts_of(log_dir: Path) -> Facts:
    run = export.load_run(log_dir)
    return Facts(Selection(run, modules=run.modules))


def tell(log_dir: Path, *codes: str) -> dict[str, str]:
    """Prints what the tab says of a run; titles by code."""
    found = insights.insights(facts_of(log_dir).selection)
    say(f"  the tab: {found.verdict.sentence}")
    titles = {one.code: one.title for one in (*found.findings, *found.observations)}
    for code in codes:
        say(f"  the tab, {code}: {titles.get(code, 'says nothing')}")
    return titles


def imagenet(root: Path, logs: Path, n_files: int) -> bool:
    """Very many files of about 88 kB on storage with latency."""
    say(f"ImageNet-like: {n_files} files of about 88 kB; 4 ms an open, 2 ms a read")
    random.seed(1)
    sizes = [max(1000, round(random.gauss(88_000, 20_000))) for _ in range(n_files)]
    names = write_set(root / "imagenet", sizes)
    with slow_tier(root / "imagenet", root / "slow1", open_ms=4, read_ms=2) as mount:
        speed = record(logs / "imagenet", [mount / name for name in names], THREADS)
    facts = facts_of(logs / "imagenet")
    reads, opens = facts.counter("POSIX_READS"), facts.counter("POSIX_OPENS")
    zero = facts.accesses.zero_byte_calls or 0
    say("  reads by opens: the paper 2, ours " + f"{reads / opens:.2f}")
    say("  reads of 0 bytes: the paper 50 %, ours " + f"{100 * zero / reads:.1f} %")
    for threads in THREADS:
        say(f"  {threads:2d} threads: {speed[threads] / 1e6:7.1f} MB/s")
    say(f"  28 threads by 1: the paper 8 times, ours {speed[28] / speed[1]:.1f} times")
    titles = tell(logs / "imagenet", "zero-byte-reads", "tiny-files")
    return abs(zero / reads - 0.5) < 0.02 and "zero-byte-reads" in titles and speed[28] > speed[1]


def malware(root: Path, logs: Path, n_files: int) -> bool:
    """Fewer, larger files on one disk: 40 % of them small, holding 8 % of the bytes."""
    small = round(0.4 * n_files)
    sizes = [200_000] * small
    sizes += [round(0.92 / 0.08 * 200_000 * small / (n_files - small))] * (n_files - small)
    random.seed(2)
    random.shuffle(sizes)
    say(f"Malware-like: {n_files} files, {sum(sizes) / 1e6:.0f} MB; a disk with 12 ms a seek")
    names = write_set(root / "malware", sizes)
    with slow_tier(root / "malware", root / "slow2", seek_ms=12, mb_per_second=120) as mount:
        paths = [mount / name for name in names]
        many = record(logs / "threads", paths, (1, 16))
        say(f"  16 threads by 1: the paper slower, ours {many[16] / many[1]:.2f} times")
        tell(logs / "threads", "more-readers")
        record(logs / "before", paths, PASSES)
        budget = round(0.081 * sum(sizes))
        gains = _stage(root, logs, mount, names, budget)
    _, measured, predicted, large = gains
    say(f"  staging 8 % of the bytes: the paper +19 %, ours {100 * measured:+.0f} %")
    say(f"  the same bytes of large files: {100 * large:+.0f} %")
    off = abs((1 + predicted) / (1 + measured) - 1)
    say(f"  predicted {100 * predicted:+.0f} %: {100 * off:.0f} % off the measured bandwidth")
    return many[16] < many[1] and measured >= 0.19 and large < measured and off <= 0.2


def _stage(
    root: Path, logs: Path, mount: Path, names: Sequence[str], budget: int
) -> tuple[float, float, float, float]:
    """Plans, applies, reads again; bandwidth before, and gains measured, predicted, and for the
    same bytes of large files.
    """
    plan_file = root / "stage.json"
    fast = str(root / "fast")
    arguments = ["plan", str(logs / "before"), "--budget", str(budget), "--fast", fast]
    parser = argparse.ArgumentParser()
    staging_cli.add_commands(parser)

    def command(*words: str) -> None:
        staging_cli.run(parser.parse_args(words), lambda line: say(f"  stage: {line}"))

    command(*arguments, "--out", str(plan_file))
    command("apply", str(plan_file))
    plan = staging_plan.load(plan_file)
    record(logs / "after", [plan.mirror / name for name in names], PASSES)
    command("check", str(plan_file), str(logs / "before"), str(logs / "after"))
    moved, taken, _ = staging.measure(facts_of(logs / "before"), [str(mount)])
    before = moved / taken

    def gain(log_dir: Path, used: staging_plan.Plan) -> float:
        bytes_read, seconds, _ = staging.measure(facts_of(log_dir), [str(used.mirror)])
        return bytes_read / seconds / before - 1

    measured = gain(logs / "after", plan)
    predicted = plan.prediction["bandwidth_after"] / plan.prediction["bandwidth_before"] - 1
    other = _large_files(plan, mount, names, budget)
    staging_files.apply(other, 0, lambda done, whole: None)
    record(logs / "after_large", [other.mirror / name for name in names], PASSES)
    large = gain(logs / "after_large", other)
    for used in (plan, other):
        staging_files.clean(used)
    return before, measured, predicted, large


def _large_files(
    plan: staging_plan.Plan, mount: Path, names: Sequence[str], budget: int
) -> staging_plan.Plan:
    """A plan for the same bytes of the largest files."""
    chosen, room = [], budget
    for name in sorted(names, key=lambda name: -(mount / name).stat().st_size):
        found = (mount / name).stat()
        if found.st_size <= room:
            room -= found.st_size
            file = staging_plan.PlannedFile(name, found.st_size, found.st_mtime_ns, 0.0, "")
            chosen.append(file)
    stage = plan.stage + "-large"
    return staging_plan.Plan(plan.run, plan.data, stage, budget, plan.costs, {}, {}, tuple(chosen))


def main() -> int:
    """Runs both; 0 when what the paper found was found here too."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=Path, help="where the recorded runs go; kept")
    parser.add_argument("--files", type=int, default=400, help="files of the first study")
    given = parser.parse_args()
    reason = why_not()
    if reason:
        say(f"Skipped: {reason}.")
        return 0
    with tempfile.TemporaryDirectory(prefix="darshan-cases-") as place:
        root = Path(place)
        logs = given.logs or root / "logs"
        found = [imagenet(root, logs, given.files), malware(root, logs, 200)]
    say("found what the paper found" if all(found) else "NOT what the paper found; see above")
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
