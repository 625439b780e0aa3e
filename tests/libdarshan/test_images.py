"""Records are read from memory as Darshan itself reads them from its logs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tensorboard_plugin_darshan.modules import SHOWN
from tensorboard_plugin_darshan.recording import darshan_layouts as layouts
from tensorboard_plugin_darshan.recording.darshan_memory import (
    DarshanLog,
    UnknownDarshanError,
    parse_stripes,
)
from tensorboard_plugin_darshan.recording.libdarshan import LibdarshanReader
from tensorboard_plugin_darshan.recording.libdarshan_memory import ImageMemory
from tests.libdarshan.images import build_image, image_of
from tests.support.darshan import read_log
from tests.support.logs import need_shared

CHILD = -1  # a process that is not this one: nothing of it is in this process's memory
LOGS = {
    "release_logs/mpi-io-test-x86_64-3.5.0.darshan": {"POSIX", "MPI-IO"},
    "release_logs/mpi-io-test-x86_64-3.4.0.darshan": {"POSIX", "MPI-IO"},
    "release_logs/mpi-io-test-x86_64-3.4.7.darshan": {"POSIX", "MPI-IO"},
    "ior_daos/ior-DFS_id4681120-53379.darshan": {"DFS", "DAOS"},
    "ior_pnetcdf_hdf5/ior-HDF5_id438090-438090.darshan": {"POSIX", "MPI-IO", "H5F", "H5D"},
}
SIZES = {
    ("POSIX", 4): (704, 16, 568),
    ("STDIO", 2): (248, 16, 128),
    ("MPI-IO", 3): (560, 16, 424),
    ("H5F", 3): (80, 16, 40),
    ("H5D", 2): (912, 24, 776),
    ("PNETCDF_FILE", 3): (152, 16, 88),
    ("PNETCDF_VAR", 1): (1120, 24, 984),
    ("DFS", 1): (584, 16, 432),
    ("DAOS", 1): (696, 16, 528),
}


def reader_of(image: bytes | bytearray) -> LibdarshanReader:
    return LibdarshanReader(DarshanLog(ImageMemory(image)), os.getpid(), handle=CHILD)


def posix_records(*ids: int) -> bytes:
    layout = SHOWN["POSIX"]
    dtype = layouts.RECORDS["POSIX", 4].dtype(len(layout.counters), len(layout.fcounters))
    rows = np.zeros(len(ids), dtype)
    rows["id"] = ids
    rows["ints"][:, layout.index["POSIX_BYTES_READ"]] = 100
    rows["ints"][:, layout.index["POSIX_MMAPS"]] = -1
    rows["ints"][:, layout.index["POSIX_ACCESS1_ACCESS"]] = 50
    rows["ints"][:, layout.index["POSIX_ACCESS1_COUNT"]] = 2
    rows["floats"][:, layout.findex["POSIX_F_READ_START_TIMESTAMP"]] = np.arange(len(ids)) + 1.5
    return rows.tobytes()


def packed_names(**names: int) -> bytes:
    packed = (key.to_bytes(8, "little") + name.encode() for name, key in names.items())
    return b"".join(name + b"\0" for name in packed)


def test_sizes_of_records() -> None:
    found = {
        key: (layout.size, layout.ints_at, layout.floats_at)
        for key, layout in layouts.RECORDS.items()
    }
    assert found == SIZES


@pytest.mark.parametrize(("log", "modules"), LOGS.items(), ids=list(LOGS))
def test_records_of_real_logs(log: str, modules: set[str]) -> None:
    path = need_shared(log)
    reader, written = reader_of(image_of(path)), read_log(path)
    assert modules <= set(reader.log.modules)
    for module in reader.log.modules:
        arrays = reader.arrays(module)
        rows = np.concatenate([arrays.counters, arrays.fcounters], axis=1).tolist()
        found = sorted(zip(map(str, arrays.ids.tolist()), rows, strict=True))
        expected = sorted((key, row) for key, row in written[module].items())
        # a log of several processes has a record of each for the same file; the last one is kept
        assert dict(found).keys() == dict(expected).keys(), module
        if len(found) == len(expected):
            assert found == expected, module
        assert len(arrays.names) == len(rows)


def test_names_of_a_real_log() -> None:
    import darshan
    from darshan.backend import cffi_backend

    path = need_shared("ior_daos/ior-DFS_id4681120-53379.darshan")
    with darshan.DarshanReport(str(path), read_all=False) as report:
        names = cffi_backend.log_get_name_records(report.log)
    assert len(names) > 5
    assert reader_of(image_of(path)).log.names == {
        int(key) & (1 << 64) - 1: name for key, name in names.items()
    }


def test_stripes_of_a_real_log() -> None:
    import darshan

    path = need_shared("release_logs/mpi-io-test-x86_64-3.5.0.darshan")
    reader = reader_of(image_of(path))
    with darshan.DarshanReport(str(path), read_all=False) as report:
        report.mod_read_all_lustre_records("LUSTRE")
        records = list(report.records["LUSTRE"])
    found = [parts for _, parts in sorted(reader.stripes().items())]
    assert len(found) == len(records) > 0
    for parts, record in zip(found, records, strict=True):
        assert [list(part.values())[:-1] for part in parts] == [
            component["counters"].tolist() for component in record["components"]
        ]


def test_stripes_differ_in_size() -> None:
    def record(key: int, components: int, stripes: int) -> bytes:
        parts = np.zeros(components, layouts.LUSTRE_COMPONENT)
        parts["counters"] = np.arange(7) + key
        parts["pool"] = b"flash"
        head = np.array([(key, 0, components, stripes)], layouts.LUSTRE_HEAD)
        return head.tobytes() + parts.tobytes() + bytes(8 * stripes)

    data = record(1, 2, 5) + record(2, 1, 1) + bytes(100)
    stripes = parse_stripes(data, {1: "/one", 2: "/two"})
    assert {path: len(parts) for path, parts in stripes.items()} == {"/one": 2, "/two": 1}
    assert stripes["/two"][0]["LUSTRE_COMP_STRIPE_SIZE"] == 2
    assert stripes["/two"][0]["pool"] == "flash"


def test_record_without_an_id_is_not_there_yet() -> None:
    image = build_image("3.41", {"POSIX": 4}, packed_names(a=1), {"POSIX": posix_records(1, 0)})
    arrays = reader_of(image).arrays("POSIX")
    assert arrays.ids.tolist() == [1]
    assert list(arrays.names) == ["a"]


def test_totals_are_of_all_records() -> None:
    image = build_image("3.41", {"POSIX": 4}, b"", {"POSIX": posix_records(1, 2)})
    totals, layout = reader_of(image).totals("POSIX"), SHOWN["POSIX"]
    assert totals.records == 2
    assert totals.sums[layout.index["POSIX_BYTES_READ"]] == 200
    assert totals.sums[layout.index["POSIX_MMAPS"]] == 0, "not counted is not minus one"
    assert totals.fminima[layout.findex["POSIX_F_READ_START_TIMESTAMP"]] == 1.5
    assert totals.common_sizes.tolist() == [[50, 4]]
    assert not totals.partial


def test_only_what_changed_is_given_again() -> None:
    records = bytearray(posix_records(1, 2))
    image = build_image("3.41", {"POSIX": 4}, packed_names(a=1, b=2), {"POSIX": records})
    reader = reader_of(image)
    assert reader.arrays("POSIX", lately=True).places.tolist() == [0, 1]
    assert reader.arrays("POSIX", lately=True).places.tolist() == []
    place = reader.log.header.regions["POSIX"].place + 704 + 16
    image[place] += 1  # one more open
    changed = reader.arrays("POSIX", lately=True)
    assert changed.places.tolist() == [1]
    assert list(changed.names) == ["b"]


def test_what_was_counted_before_is_left_out() -> None:
    image = build_image("3.41", {"POSIX": 4}, packed_names(a=1), {"POSIX": posix_records(1)})
    log = DarshanLog(ImageMemory(image))
    reader = LibdarshanReader(log, os.getpid(), CHILD, library_seconds=1.0, began_before=True)
    layout = SHOWN["POSIX"]
    read = layout.index["POSIX_BYTES_READ"]
    assert reader.totals("POSIX").sums[read] == 0
    assert reader.arrays("POSIX", lately=True).places.tolist() == []
    place = log.header.regions["POSIX"].place + 16 + 8 * read
    image[place : place + 8] = (130).to_bytes(8, "little")
    arrays = reader.arrays("POSIX", lately=True)
    assert arrays.counters[0, read] == 30
    assert arrays.fcounters[0, layout.findex["POSIX_F_READ_START_TIMESTAMP"]] == 0.5
    assert reader.arrays("POSIX").counters[0, read] == 130, "Darshan's own count"


@pytest.mark.parametrize("log_format", ["3.41", "3.21"])
def test_partial_modules(log_format: str) -> None:
    regions = {"POSIX": posix_records(1)}
    image = build_image(log_format, {"POSIX": 4}, b"", regions, partial=("POSIX", "HEATMAP"))
    reader = reader_of(image)
    assert reader.log.header.partial == {"POSIX", "HEATMAP"}
    assert reader.totals("POSIX").partial
    assert not reader.totals("STDIO").partial


@pytest.mark.parametrize("module", ["POSIX", "STDIO"])
def test_unknown_version_of_records_is_refused(module: str) -> None:
    with pytest.raises(UnknownDarshanError, match=f"{module} records have format version 9"):
        reader_of(build_image("3.41", {module: 9}, b"", {}))


def test_unknown_log_format_is_refused() -> None:
    image = build_image("3.41", {"POSIX": 4}, b"", {})
    image[:8] = b"4.00".ljust(8, b"\0")
    with pytest.raises(UnknownDarshanError, match=r"format '4.00'"):
        reader_of(image)


def test_what_is_no_log_is_refused() -> None:
    with pytest.raises(UnknownDarshanError, match="no Darshan log"):
        reader_of(bytes(4096))


def test_other_modules_of_unknown_version_are_told_and_left_out() -> None:
    versions = {"POSIX": 4, "H5D": 7, "BG/Q": 2, "module 40": 1, "DXT_POSIX": 2}
    log = reader_of(build_image("3.41", versions, b"", {"POSIX": posix_records(1)})).log
    assert log.modules == ("POSIX",)
    assert log.unreadable() == ["H5D (format 7)", "BG/Q (format 2)", "module 40 (format 1)"]


def test_memory_that_ends_keeps_what_was_read_last(tmp_path: Path) -> None:
    image = build_image("3.41", {"POSIX": 4}, packed_names(a=1), {"POSIX": posix_records(1)})
    memory = ImageMemory(image)
    reader = LibdarshanReader(DarshanLog(memory), os.getpid(), CHILD)
    before = reader.totals("POSIX").sums.tolist()
    memory.image = b""
    assert reader.totals("POSIX").sums.tolist() == before
    assert list(reader.arrays("POSIX").names) == ["a"]
    assert reader.log.ended
