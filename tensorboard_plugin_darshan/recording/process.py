"""Facts about the process that records: who and where it is, and what it runs."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_RANK_VARIABLES: Final = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
)
_HOROVOD: Final = ("torch", "tensorflow", "keras")
_PACKAGES: Final = (
    *("h5py", "horovod", "jax", "keras", "lightning", "mpi4py", "numpy", "pytorch_lightning"),
    *("tensorboard", "tensorflow", "torch", "torchvision", "transformers"),
)
_KERNEL_FILE_SYSTEMS: Final = frozenset(
    (
        *("autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts"),
        *("devtmpfs", "fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "rpc_pipefs"),
        *("securityfs", "selinuxfs", "squashfs", "sysfs", "tracefs"),
    )
)
_MAX_MOUNTS: Final = 100
_MAX_COMMAND_CHARACTERS: Final = 4096
_OCTAL_ESCAPE: Final = re.compile(r"\\([0-7]{3})")
_NOT_A_RANK: Final = (-1, -1)


def facts() -> dict[str, Any]:
    """What a job description says about this process; plain JSON values.

    `hostname`, `pid`, `rank`, `world_size`, `command` (a list), `python`, `versions` (package →
    version, of packages already imported), `mounts`, and where known `keras`, `tensorflow`,
    `backend` (Keras's) and `memory_bytes`.
    """
    rank, world_size = framework_rank() or rank_and_world_size(os.environ)
    versions = imported_versions()
    found: dict[str, Any] = {
        "hostname": socket.gethostname(),
        "pid": os.getpid(),
        "rank": rank,
        "world_size": world_size,
        "command": _command(),
        "python": platform.python_version(),
        "versions": versions,
        "mounts": mounts(),
    }
    found.update((name, versions[name]) for name in ("keras", "tensorflow") if name in versions)
    backend = _keras_backend()
    if backend:
        found["backend"] = backend
    memory = memory_bytes()
    if memory is not None:
        found["memory_bytes"] = memory
    return found


def framework_rank() -> tuple[int, int] | None:
    """Rank and number of processes that PyTorch or Horovod tell, once they were initialised."""
    torch = sys.modules.get("torch.distributed")
    horovod = next((m for name in _HOROVOD if (m := sys.modules.get(f"horovod.{name}"))), None)
    try:
        if torch is not None and torch.is_available() and torch.is_initialized():
            return int(torch.get_rank()), int(torch.get_world_size())
        if horovod is not None and horovod.is_initialized():
            return int(horovod.rank()), int(horovod.size())
    except (AttributeError, RuntimeError, ValueError):
        return None
    return None


def rank_and_world_size(environment: Mapping[str, str]) -> tuple[int, int]:
    """Rank of this process and number of processes in its training; `(0, 1)` when it is alone.

    Taken from the first of torchrun's, Open MPI's, MPICH's and Slurm's variables and TensorFlow's
    `TF_CONFIG` that make sense.
    """
    for rank_name, size_name in _RANK_VARIABLES:
        rank = _whole_number(environment.get(rank_name))
        size = _whole_number(environment.get(size_name))
        if 0 <= rank < size:
            return rank, size
    rank, size = _tf_config(environment.get("TF_CONFIG", ""))
    return (rank, size) if 0 <= rank < size else (0, 1)


def imported_versions() -> dict[str, str]:
    """Versions of the packages of interest that are imported already; imports none."""
    versions = {}
    for name in _PACKAGES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            versions[name] = version
    return versions


def mounts(table: Path = Path("/proc/self/mounts")) -> list[dict[str, str]]:
    """Mounted file systems that can hold files: `path`, `type`, `device`; at most 100.

    Empty where the kernel does not tell.
    """
    try:
        lines = os.fsdecode(table.read_bytes()).splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        fields = [_OCTAL_ESCAPE.sub(lambda m: chr(int(m[1], 8)), word) for word in line.split(" ")]
        if len(fields) >= 3 and fields[2] not in _KERNEL_FILE_SYSTEMS:
            found.append({"path": fields[1], "type": fields[2], "device": fields[0]})
    return found[:_MAX_MOUNTS]


def memory_bytes(
    table: Path = Path("/proc/meminfo"), limit: Path = Path("/sys/fs/cgroup/memory.max")
) -> int | None:
    """Memory that this process may have: the machine's, or the container's when that is less; None
    where the kernel does not tell.
    """
    known = []
    try:
        match = re.search(r"^MemTotal: +(\d+) kB$", table.read_text(), re.MULTILINE)
        known += [int(match[1]) * 1024] if match else []
    except (OSError, ValueError):
        pass
    with contextlib.suppress(OSError, ValueError):
        known += [int(limit.read_text())]
    return min(known, default=None)


def _command() -> list[str]:
    command: list[str] = []
    room = _MAX_COMMAND_CHARACTERS
    for word in sys.orig_argv:
        if room <= 0:
            return [*command, "…"]
        command.append(word[:room])
        room -= len(word)
    return command


def _keras_backend() -> str:
    backend = getattr(getattr(sys.modules.get("keras"), "config", None), "backend", None)
    return str(backend()) if callable(backend) else ""


def _tf_config(text: str) -> tuple[int, int]:
    try:
        config = json.loads(text)
        cluster, task = config["cluster"], config["task"]
        sizes = {job: len(cluster[job]) for job in ("chief", "worker") if job in cluster}
        before = sizes.get("chief", 0) if task["type"] == "worker" else 0
        if task["type"] not in sizes:
            return _NOT_A_RANK
        return before + int(task["index"]), sum(sizes.values())
    except (ValueError, KeyError, TypeError):
        return _NOT_A_RANK


def _whole_number(text: str | None) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() else -1
