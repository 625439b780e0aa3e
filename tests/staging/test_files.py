"""Staging real files: copies, the mirror, and taking them back."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tensorboard_plugin_darshan import staging_files
from tensorboard_plugin_darshan.staging_plan import Plan, PlannedFile, StagingError, load


@pytest.fixture
def data(tmp_path):
    root = tmp_path / "data"
    for place in range(6):
        path = root / f"class{place % 2}" / f"{place}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([place]) * (1000 * (place + 1)))
    return root


def plan_of(data, tmp_path, names):
    files = []
    for name in names:
        found = (data / name).stat()
        files.append(PlannedFile(name, found.st_size, found.st_mtime_ns, 1.0, "a test"))
    stage = tmp_path / "fast" / "abc"
    return Plan("run", str(data), str(stage), 10**9, {}, {}, {}, tuple(files))


def everything(root: Path):
    """Path → kind, content, time of change of all below a directory."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_symlink():
            found[path] = ("link", os.readlink(path), 0)
        elif path.is_file():
            found[path] = ("file", path.read_bytes(), path.stat().st_mtime_ns)
        else:
            found[path] = ("directory", b"", 0)
    return found


def run(plan, reserve=0):
    said = []
    outcome = staging_files.apply(plan, reserve, lambda done, whole: said.append((done, whole)))
    return outcome, said


def test_copies_and_mirror(data, tmp_path):
    before = everything(data)
    plan = plan_of(data, tmp_path, ["class0/0.bin", "class1/3.bin"])
    outcome, said = run(plan)
    assert (outcome.copied, outcome.bytes_copied, outcome.left_out) == (2, 5000, {})
    assert said == [(1000, 5000), (5000, 5000)]
    assert everything(data) == before
    mirrored = {p.relative_to(plan.mirror): p for p in plan.mirror.rglob("*.bin")}
    assert set(mirrored) == {p.relative_to(data) for p in data.rglob("*.bin")}
    for name, path in mirrored.items():
        assert path.read_bytes() == (data / name).read_bytes()
        is_fast = str(name) in ("class0/0.bin", "class1/3.bin")
        assert path.resolve().is_relative_to(plan.copies) == is_fast
    assert (plan.copies / "class0/0.bin").stat().st_mtime_ns == (
        (data / "class0/0.bin").stat().st_mtime_ns
    )


def test_again_copies_nothing(data, tmp_path):
    plan = plan_of(data, tmp_path, ["class0/0.bin"])
    run(plan)
    made = everything(Path(plan.stage))
    outcome, _ = run(plan)
    assert (outcome.copied, outcome.kept) == (0, 1)
    assert everything(Path(plan.stage)) == made


def test_goes_on_after_an_interruption(data, tmp_path, monkeypatch):
    plan = plan_of(data, tmp_path, ["class0/0.bin", "class1/1.bin", "class0/2.bin"])
    copy = staging_files._copy

    def torn(source, target):
        if source.name == "1.bin":
            target.write_bytes(b"half")
            raise KeyboardInterrupt
        copy(source, target)

    monkeypatch.setattr(staging_files, "_copy", torn)
    with pytest.raises(KeyboardInterrupt):
        run(plan)
    assert not (plan.copies / "class1/1.bin").exists()
    monkeypatch.undo()
    outcome, _ = run(plan)
    assert (outcome.copied, outcome.kept) == (2, 1)
    assert (plan.copies / "class1/1.bin").read_bytes() == (data / "class1/1.bin").read_bytes()
    staging_files.clean(plan)
    assert not Path(plan.stage).exists()


def test_changed_and_missing_originals_are_left_out(data, tmp_path):
    plan = plan_of(data, tmp_path, ["class0/0.bin", "class0/2.bin", "class0/4.bin"])
    (data / "class0/0.bin").write_bytes(b"new")
    (data / "class0/2.bin").unlink()
    outcome, _ = run(plan)
    assert outcome.copied == 1
    assert outcome.left_out == {
        "class0/0.bin": "it changed after the plan was made",
        "class0/2.bin": "No such file or directory",
    }
    assert (plan.mirror / "class0/0.bin").read_bytes() == b"new"


def test_changed_later_leads_to_the_original_again(data, tmp_path):
    plan = plan_of(data, tmp_path, ["class0/0.bin"])
    run(plan)
    (data / "class0/0.bin").write_bytes(b"newer")
    run(plan)
    assert (plan.mirror / "class0/0.bin").read_bytes() == b"newer"


def test_stops_before_the_tier_is_full(data, tmp_path):
    plan = plan_of(data, tmp_path, ["class0/0.bin", "class1/1.bin"])
    outcome, _ = run(plan, reserve=shutil.disk_usage(tmp_path).free)
    assert outcome.is_full
    assert outcome.copied == 0
    assert set(outcome.left_out.values()) == {"the fast tier is full"}
    assert len(list(plan.mirror.rglob("*.bin"))) == 6


def test_clean_removes_just_what_was_made(data, tmp_path):
    plan = plan_of(data, tmp_path, ["class0/0.bin", "class1/1.bin", "class0/2.bin"])
    run(plan)
    before = everything(data)
    (plan.copies / "class0/0.bin").write_bytes(b"somebody's work")
    other = plan.mirror / "class1" / "notes.txt"
    other.write_text("mine")
    cleaned = staging_files.clean(plan)
    assert everything(data) == before
    assert (plan.copies / "class0/0.bin").read_bytes() == b"somebody's work"
    assert other.read_text() == "mine"
    assert cleaned.left[str(plan.copies / "class0/0.bin")] == "it was changed"
    assert cleaned.left[str(plan.mirror / "class1")] == "it holds something else"
    assert not (plan.copies / "class1/1.bin").exists()
    other.unlink()
    (plan.copies / "class0/0.bin").unlink()
    staging_files.clean(plan)
    assert not Path(plan.stage).exists()


def test_clean_of_what_was_never_applied(data, tmp_path):
    assert staging_files.clean(plan_of(data, tmp_path, [])).removed == 0


def test_never_stages_into_the_data(data, tmp_path):
    plan = plan_of(data, data, ["class0/0.bin"])
    with pytest.raises(StagingError, match="elsewhere"):
        run(plan)


def test_missing_data_is_told(data, tmp_path):
    plan = plan_of(data, tmp_path, [])
    shutil.rmtree(data)
    with pytest.raises(StagingError, match="is not there"):
        run(plan)


def test_plan_survives_a_file(data, tmp_path):
    plan = plan_of(data, tmp_path, ["class0/0.bin"])
    path = tmp_path / "plan.json"
    plan.save(path)
    assert load(path) == plan


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no plan"),
        ("[]", "is no plan"),
        ('{"version": 1}', "is no plan"),
        ('{"version": 99, "files": []}', "newer version"),
    ],
)
def test_what_is_no_plan_is_told(tmp_path, text, message):
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(StagingError, match=message):
        load(path)


def test_plan_that_leads_elsewhere_is_refused(data, tmp_path):
    plan = plan_of(data, tmp_path, ["class0/0.bin"])
    path = tmp_path / "plan.json"
    plan.save(path)
    path.write_text(path.read_text().replace("class0/0.bin", "../../etc/passwd"))
    with pytest.raises(StagingError, match="outside"):
        load(path)
