"""A libdarshan built with HDF5: `LIBDARSHAN_HDF5` names it, and `HDF5_PREFIX` where HDF5 is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tensorboard_plugin_darshan.modules import SHOWN
from tests.support.darshan import differences, run

LIBRARY = os.environ.get("LIBDARSHAN_HDF5", "")
PREFIX = Path(os.environ.get("HDF5_PREFIX", "/usr"))
pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not LIBRARY, reason="LIBDARSHAN_HDF5 does not name a libdarshan with HDF5"),
]


def test_files_and_data_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preloaded = f"{LIBRARY}:{PREFIX}/lib/libhdf5.so"  # Darshan calls it, but does not load it
    monkeypatch.setattr("tests.support.darshan.LIBRARY", preloaded)
    library = tmp_path / "hdf5.so"
    source = Path(__file__).with_name("hdf5_workload.c")
    flags = [f"-I{PREFIX}/include", f"-L{PREFIX}/lib", "-lhdf5"]
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library, *flags], check=True)
    recorded = run(str(library), tmp_path, preload=True)
    assert differences(recorded) == {}
    records = recorded.live["records"]
    assert {"H5F", "H5D"} <= records.keys()
    (row,) = records["H5D"].values()
    index = SHOWN["H5D"].index
    assert row[index["H5D_BYTES_WRITTEN"]] == 16 * 32 * 8
    assert row[index["H5D_BYTES_READ"]] == 8 * 32 * 8
    assert row[index["H5D_REGULAR_HYPERSLAB_SELECTS"]] == 1
