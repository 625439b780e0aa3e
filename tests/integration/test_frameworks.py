"""Trainings in other frameworks: plain PyTorch with workers, Keras on JAX and on PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_darshan.window import FILE_COLUMNS, PROCESS_COLUMNS, PROCESS_STATES
from tests.support import events

ROOT = Path(__file__).parents[2]
N_FILES = 40
SIZES = [1000 + 10 * i for i in range(N_FILES)]
READ = FILE_COLUMNS.index("bytes_read")

MODEL = """
    import sys
    import numpy as np
    import keras
    from tensorboard_plugin_darshan import DarshanCallback

    class Files(keras.utils.PyDataset):
        def __init__(self, directory, **more):
            super().__init__(**more)
            self.directory = directory
        def __len__(self):
            return 10
        def __getitem__(self, i):
            rows = []
            for place in range(4 * i, 4 * i + 4):
                with open(f"{self.directory}/{place}.bin", "rb", buffering=0) as file:
                    rows.append(np.frombuffer(file.read(), np.uint8)[:8])
            return np.array(rows, np.float32), np.zeros((4, 1), np.float32)

    if __name__ == "__main__":
        log_dir, directory = sys.argv[1:3]
        model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        callback = DarshanCallback(log_dir)
        workers = int(sys.argv[3]) if len(sys.argv) > 3 else 0
        more = {"workers": workers, "use_multiprocessing": True} if workers else {}
        files = Files(directory, **more)
        model.fit(files, epochs=2, shuffle=False, verbose=0, callbacks=[callback])
        print(keras.backend.backend(), "tensorflow" in sys.modules)
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    directory = tmp_path / "data"
    directory.mkdir()
    for i, size in enumerate(SIZES):
        (directory / f"{i}.bin").write_bytes(bytes(size))
    return directory


def needs(name: str) -> None:
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed here; pip install {name} adds this test")


def run(tmp_path: Path, program: str, *arguments: Any, **environment: str) -> str:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", str(path), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "is not recorded from here on" not in done.stderr
    return done.stdout.splitlines()[-1]


def by_file(log_dir: Path) -> dict[str, int]:
    """Bytes read of each file, over all windows."""
    names: dict[int, str] = {}
    found: dict[str, int] = {}
    for window in events.windows(log_dir):
        names.update(window.names)
        table = window.modules["POSIX"].files
        for key, count in zip(table.ids.tolist(), table.values[:, READ].tolist(), strict=True):
            found[names[key]] = found.get(names[key], 0) + count
    return found


def processes(log_dir: Path) -> dict[int, dict[str, Any]]:
    """Bytes read and last state of each process."""
    found: dict[int, dict[str, Any]] = {}
    for window in events.windows(log_dir):
        for row in window.processes.tolist():
            values = dict(zip(PROCESS_COLUMNS, row, strict=True))
            known = found.setdefault(values["pid"], {"read": 0})
            known["read"] += values["bytes_read"]
            known["state"] = PROCESS_STATES[values["state"]]
    return found


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_keras_on_another_backend(tmp_path: Path, data: Path, backend: str) -> None:
    needs("keras")
    needs(backend)
    said = run(tmp_path, MODEL, tmp_path / "logs", data, KERAS_BACKEND=backend)
    assert said == f"{backend} False", "TensorFlow was imported"
    log_dir = tmp_path / "logs"
    assert events.jobs(log_dir)[-1]["backend"] == backend
    assert events.jobs(log_dir)[-1]["finished"] is True
    found = by_file(log_dir)
    peeked = [i for i, size in enumerate(SIZES) if found[f"{data}/{i}.bin"] != 2 * size]
    # Keras takes a batch before training begins, to build the model
    assert peeked in ([], [0, 1, 2, 3])
    for i in peeked:
        assert found[f"{data}/{i}.bin"] == 3 * SIZES[i]
    phases = {(w.phase, w.epoch) for w in events.windows(log_dir) if w.phase}
    assert phases == {("train", 0), ("train", 1)}
    assert events.windows(log_dir)[-1].step == 20


def test_keras_with_worker_processes(tmp_path: Path, data: Path) -> None:
    needs("keras")
    needs("torch")
    run(tmp_path, MODEL, tmp_path / "logs", data, 2, KERAS_BACKEND="torch")
    log_dir = tmp_path / "logs"
    found = by_file(log_dir)
    for i, size in enumerate(SIZES):
        # workers may fetch a batch ahead of what the training takes
        assert found[f"{data}/{i}.bin"] in (2 * size, 3 * size)
    every = processes(log_dir)
    main = events.jobs(log_dir)[0]["pid"]
    read = sum(process["read"] for pid, process in every.items() if pid != main)
    assert read >= 2 * sum(SIZES) - sum(SIZES[:4])
    assert len(every) >= 3
    assert not any(process["state"] == "running" for pid, process in every.items() if pid != main)


LOADER = """
    import sys
    import torch
    from torch.utils.data import DataLoader, Dataset
    from tensorboard_plugin_darshan import DarshanMonitor

    class Files(Dataset):
        def __init__(self, directory):
            self.directory = directory
        def __len__(self):
            return 40
        def __getitem__(self, i):
            with open(f"{self.directory}/{i}.bin", "rb", buffering=0) as file:
                return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)[:8].float()

    if __name__ == "__main__":
        log_dir, directory = sys.argv[1:3]
        model = torch.nn.Linear(8, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with DarshanMonitor(log_dir) as monitor:
            for epoch, method in enumerate(("fork", "spawn")):
                loader = DataLoader(
                    Files(directory), batch_size=4, num_workers=2, multiprocessing_context=method
                )
                with monitor.phase("train", epoch):
                    for batch in loader:
                        optimizer.zero_grad()
                        model(batch).square().mean().backward()
                        optimizer.step()
                        monitor.step()
        print("done")
"""


def test_pytorch_with_two_forked_and_two_spawned_workers(tmp_path: Path, data: Path) -> None:
    needs("torch")
    assert run(tmp_path, LOADER, tmp_path / "logs", data) == "done"
    log_dir = tmp_path / "logs"
    found = by_file(log_dir)
    for i, size in enumerate(SIZES):
        assert found[f"{data}/{i}.bin"] == 2 * size
    its = [process for process in processes(log_dir).values() if process["read"] >= sum(SIZES) // 3]
    assert len(its) == 4, processes(log_dir)
    assert {process["state"] for process in its} == {"ended"}
    assert sum(process["read"] for process in its) >= 2 * sum(SIZES)
    assert events.windows(log_dir)[-1].step == 20


RANKS = """
    import json, os, sys
    import torch.distributed, torch.multiprocessing
    from tensorboard_plugin_darshan import DarshanMonitor

    def rank(number, log_dir, directory, address):
        torch.distributed.init_process_group(
            "gloo", init_method=address, rank=number, world_size=2)
        with DarshanMonitor(log_dir) as monitor:
            with monitor.phase("train", 0):
                for i in range(number, 40, 2):
                    with open(f"{directory}/{i}.bin", "rb", buffering=0) as file:
                        file.read()
        torch.distributed.destroy_process_group()

    if __name__ == "__main__":
        log_dir, directory = sys.argv[1:3]
        arguments = (log_dir, directory, f"file://{directory}-meeting")
        torch.multiprocessing.spawn(rank, arguments, nprocs=2)
        print("done")
"""


def test_the_framework_tells_the_rank(tmp_path: Path, data: Path) -> None:
    needs("torch")
    assert run(tmp_path, RANKS, tmp_path / "logs", data) == "done"
    directories = sorted(path.name for path in (tmp_path / "logs" / "darshan").iterdir())
    assert directories == ["rank0", "rank1"]
    for rank, name in enumerate(directories):
        found = by_file(tmp_path / "logs" / "darshan" / name)
        mine = {f"{data}/{i}.bin": SIZES[i] for i in range(rank, N_FILES, 2)}
        assert {path: n for path, n in found.items() if path.startswith(str(data) + "/")} == mine
        job = events.jobs(tmp_path / "logs" / "darshan" / name)[-1]
        assert (job["rank"], job["world_size"]) == (rank, 2)


LIGHTNING = """
    import sys, warnings
    warnings.simplefilter("ignore", UserWarning)
    import lightning.pytorch as pl
    import torch
    from torch.utils.data import DataLoader, Dataset
    from tensorboard_plugin_darshan import DarshanLightningCallback

    class Files(Dataset):
        def __init__(self, directory, places):
            self.directory, self.places = directory, places
        def __len__(self):
            return len(self.places)
        def __getitem__(self, i):
            with open(f"{self.directory}/{self.places[i]}.bin", "rb", buffering=0) as file:
                return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)[:8].float()

    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)
        def training_step(self, batch, i):
            return self.layer(batch).square().mean()
        def validation_step(self, batch, i):
            self.layer(batch)
        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    if __name__ == "__main__":
        log_dir, directory = sys.argv[1:3]
        trainer = pl.Trainer(
            max_epochs=2, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
            callbacks=[DarshanLightningCallback(log_dir)])
        trainer.fit(
            Model(),
            DataLoader(Files(directory, range(0, 30)), batch_size=5),
            DataLoader(Files(directory, range(30, 40)), batch_size=5))
        print("done")
"""


def phases_of(log_dir: Path, directory: Path) -> dict[tuple[str, int], int]:
    """(phase, epoch) → bytes read of the files in the directory."""
    names: dict[int, str] = {}
    found: dict[tuple[str, int], int] = {}
    for window in events.windows(log_dir):
        names.update(window.names)
        table = window.modules["POSIX"].files
        for key, count in zip(table.ids.tolist(), table.values[:, READ].tolist(), strict=True):
            if count and names[key].startswith(f"{directory}/"):
                place = (window.phase, window.epoch)
                found[place] = found.get(place, 0) + count
    return found


def test_lightning(tmp_path: Path, data: Path) -> None:
    needs("lightning")
    assert run(tmp_path, LIGHTNING, tmp_path / "logs", data) == "done"
    assert phases_of(tmp_path / "logs", data) == {
        ("train", 0): sum(SIZES[:30]),
        ("validation", 0): sum(SIZES[30:]),
        ("train", 1): sum(SIZES[:30]),
        ("validation", 1): sum(SIZES[30:]),
    }
    assert events.windows(tmp_path / "logs")[-1].step == 12
    assert events.jobs(tmp_path / "logs")[-1]["finished"] is True


TRAINER = """
    import sys, warnings
    import torch
    from torch.utils.data import Dataset
    from transformers import Trainer, TrainingArguments
    from tensorboard_plugin_darshan import DarshanTrainerCallback

    class Files(Dataset):
        def __init__(self, directory):
            self.directory = directory
        def __len__(self):
            return 40
        def __getitem__(self, i):
            with open(f"{self.directory}/{i}.bin", "rb", buffering=0) as file:
                data = bytearray(file.read())
            return {"x": torch.frombuffer(data, dtype=torch.uint8)[:8].float()}

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)
        def forward(self, x):
            return {"loss": self.layer(x).square().mean()}

    if __name__ == "__main__":
        log_dir, directory = sys.argv[1:3]
        arguments = TrainingArguments(
            output_dir=f"{directory}-out", num_train_epochs=2, per_device_train_batch_size=4,
            report_to=[], save_strategy="no", disable_tqdm=True, use_cpu=True,
            dataloader_num_workers=2)
        Trainer(Model(), arguments, train_dataset=Files(directory),
                callbacks=[DarshanTrainerCallback(log_dir)]).train()
        print("done")
"""


def test_hugging_face_trainer(tmp_path: Path, data: Path) -> None:
    needs("transformers")
    needs("accelerate")
    assert run(tmp_path, TRAINER, tmp_path / "logs", data) == "done"
    found = phases_of(tmp_path / "logs", data)
    assert sum(found.values()) == 2 * sum(SIZES)
    assert {phase for phase, _ in found} == {"train"}
    assert found["train", 1] > 0
    assert events.windows(tmp_path / "logs")[-1].step == 20
    assert events.jobs(tmp_path / "logs")[-1]["finished"] is True
