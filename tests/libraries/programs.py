"""Reads and writes files through real libraries under the recorder; run in a process of its own.

Each program first imports and prepares, then `record` runs one action at a time and says what the
recorder saw of the files that the action is about.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tensorboard_plugin_darshan import attach

Result = dict[str, dict[str, int]]


class Session:
    """Records actions on files of one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.results: Result = {}

    def record(self, name: str, pattern: str, action: Callable[[], Any]) -> None:
        """What the recorder sees of the files that match `pattern` while `action` runs."""
        recorder = attach("builtin", exclude=[])
        action()
        snapshot = recorder.snapshot()
        recorder.detach()
        seen = {"read": 0, "written": 0, "posix_read": 0, "stdio_read": 0, "mmaps": 0}
        files = sorted(self.directory.glob(pattern))
        paths = {str(path) for path in files}
        for module in snapshot.modules:
            for path, record in snapshot.records(module).items():
                if path in paths:
                    seen["read"] += record[f"{module}_BYTES_READ"]
                    seen["written"] += record[f"{module}_BYTES_WRITTEN"]
                    seen[f"{module.lower()}_read"] += record[f"{module}_BYTES_READ"]
                    seen["mmaps"] += max(record.get("POSIX_MMAPS", 0), 0)
        seen["size"] = sum(path.stat().st_size for path in files)
        self.results[name] = seen


def numpy_program(session: Session) -> None:
    import numpy as np

    array = np.arange(300_000, dtype=np.float64)
    npy, raw = session.directory / "array.npy", session.directory / "array.raw"
    session.record("numpy.save", "array.npy", lambda: np.save(npy, array))
    session.record("numpy.load", "array.npy", lambda: np.load(npy))
    session.record("numpy.tofile", "array.raw", lambda: array.tofile(raw))
    session.record("numpy.fromfile", "array.raw", lambda: np.fromfile(raw))
    session.record("numpy.memmap", "array.raw", lambda: np.memmap(raw, np.float64, "r").sum())


def h5py_program(session: Session) -> None:
    import h5py
    import numpy as np

    path = session.directory / "data.h5"
    array = np.random.default_rng(0).random(250_000)

    def write() -> None:
        with h5py.File(path, "w") as file:
            file["data"] = array

    def read() -> None:
        with h5py.File(path, "r") as file:
            file["data"][:]

    session.record("h5py write", "data.h5", write)
    session.record("h5py read", "data.h5", read)


def pillow_program(session: Session) -> None:
    import numpy as np
    from PIL import Image

    path = session.directory / "image.png"
    pixels = np.random.default_rng(0).integers(0, 255, (300, 300, 3), np.uint8)
    image = Image.fromarray(pixels)
    Image.init()
    session.record("Pillow save", "image.png", lambda: image.save(path))
    session.record("Pillow load", "image.png", lambda: Image.open(path).load())


def pandas_program(session: Session) -> None:
    import pandas

    path = session.directory / "table.csv"
    table = pandas.DataFrame({"a": range(20_000), "b": [i / 7 for i in range(20_000)]})
    session.record("pandas to_csv", "table.csv", lambda: table.to_csv(path))
    session.record("pandas read_csv", "table.csv", lambda: pandas.read_csv(path))


def sqlite_program(session: Session) -> None:
    import sqlite3

    path = session.directory / "data.db"

    def write() -> None:
        with sqlite3.connect(path) as connection:
            connection.execute("create table t (a, b)")
            rows = ((i, "x" * 100) for i in range(10_000))
            connection.executemany("insert into t values (?, ?)", rows)
        connection.close()

    def read() -> None:
        connection = sqlite3.connect(path)
        assert len(connection.execute("select * from t").fetchall()) == 10_000
        connection.close()

    session.record("SQLite write", "data.db", write)
    session.record("SQLite read", "data.db", read)


def standard_program(session: Session) -> None:
    import pickle
    import shutil
    import zipfile

    data = bytes(range(256)) * 4000
    source, copy = session.directory / "source.bin", session.directory / "copy.bin"
    pickled, archive = session.directory / "data.pickle", session.directory / "data.zip"

    def dump() -> None:
        with open(pickled, "wb") as file:
            pickle.dump([data] * 3, file)

    def load() -> None:
        with open(pickled, "rb") as file:
            pickle.load(file)

    def pack() -> None:
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("inside", data)

    def unpack() -> None:
        with zipfile.ZipFile(archive) as file:
            file.read("inside")

    session.record("write_bytes", "source.bin", lambda: source.write_bytes(data))
    session.record("read_bytes", "source.bin", source.read_bytes)
    session.record("pickle.dump", "data.pickle", dump)
    session.record("pickle.load", "data.pickle", load)
    session.record("zipfile write", "data.zip", pack)
    session.record("zipfile read", "data.zip", unpack)
    session.record("shutil.copyfile, from", "source.bin", lambda: shutil.copyfile(source, copy))
    session.record("shutil.copyfile, to", "copy.bin", lambda: shutil.copyfile(source, copy))


def tensorflow_program(session: Session) -> None:
    import tensorflow as tf

    records, plain = session.directory / "data.tfrecord", session.directory / "plain.bin"
    plain.write_bytes(bytes(1_234_567))

    def write() -> None:
        with tf.io.TFRecordWriter(str(records)) as writer:
            for i in range(1000):
                writer.write(bytes([i % 256]) * 500)

    def read() -> None:
        assert sum(1 for _ in tf.data.TFRecordDataset(str(records))) == 1000

    def fill_cache() -> None:
        dataset = tf.data.Dataset.from_tensor_slices(tf.zeros([500, 200]))
        for _ in dataset.cache(str(session.directory / "cached")):
            pass

    def use_cache() -> None:
        dataset = tf.data.Dataset.from_tensor_slices(tf.zeros([500, 200]))
        for _ in dataset.cache(str(session.directory / "cached")):
            pass

    session.record("TFRecordWriter", "data.tfrecord", write)
    session.record("TFRecordDataset", "data.tfrecord", read)
    session.record("tf.io.read_file", "plain.bin", lambda: tf.io.read_file(str(plain)))
    session.record("tf.data cache, filled", "cached.data-*", fill_cache)
    session.record("tf.data cache, used", "cached.data-*", use_cache)


def torch_program(session: Session) -> None:
    import torch

    path = session.directory / "model.pt"
    tensor = torch.zeros(200_000)
    session.record("torch.save", "model.pt", lambda: torch.save(tensor, path))
    session.record("torch.load", "model.pt", lambda: torch.load(path))


def pyarrow_program(session: Session) -> None:
    import pyarrow
    import pyarrow.parquet

    path = session.directory / "table.parquet"
    table = pyarrow.table({"a": list(range(50_000)), "b": [i / 7 for i in range(50_000)]})
    session.record(
        "PyArrow write_table", "table.parquet", lambda: pyarrow.parquet.write_table(table, path)
    )
    session.record("PyArrow read_table", "table.parquet", lambda: pyarrow.parquet.read_table(path))


if __name__ == "__main__":
    session = Session(Path(sys.argv[2]))
    globals()[f"{sys.argv[1]}_program"](session)
    print(json.dumps(session.results))
