"""Rules that compare files, mounts and processes, on real runs that trigger them or must not."""

from __future__ import annotations

from tensorboard_plugin_darshan.dashboard import insights_places as rules
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tests.support.real_runs import SlowFiles, read_file, run_of, taping, write_files

BLOCK = 64 * 1024


def facts_of(*recordings):
    run = run_of(*recordings)
    return Facts(Selection(run, modules=run.modules))


def test_slow_files(tape, tmp_path):
    with tape.muted():
        paths = write_files(tmp_path, [1 << 20] * 12)
    slow = SlowFiles(tape, tmp_path / "slow", BLOCK, lambda readers: 0.03)
    path = slow.create("bad disk")
    slow.read(path, 10)
    for fast in paths:
        read_file(fast)
    tape.cut()
    finding = rules.slow_files(facts_of(tape.recording()))
    assert finding is not None
    # on a busy machine one of the others may have been held up as well, but never for as long
    assert finding.files[0] == str(path)


def test_no_slow_files_among_equals(tape, tmp_path):
    slow = SlowFiles(tape, tmp_path / "slow", BLOCK, lambda readers: 0.004)
    for i in range(10):
        slow.read(slow.create(str(i)), 4)
    tape.cut()
    assert rules.slow_files(facts_of(tape.recording())) is None


def two_mounts(tape, tmp_path, pauses):
    for name, pause in pauses.items():
        slow = SlowFiles(tape, tmp_path / name, BLOCK, lambda readers, pause=pause: pause)
        slow.read(slow.create("a"), 20)
    tape.cut()
    mounts = [{"path": str(tmp_path / name), "type": "nfs", "device": name} for name in pauses]
    return rules.slow_mount(facts_of(tape.recording(mounts=mounts)))


def test_slow_mount(tape, tmp_path):
    finding = two_mounts(tape, tmp_path, {"far": 0.03, "near": 0.002})
    assert finding is not None
    assert finding.title.startswith(f"{tmp_path}/far gave")
    assert finding.files == (str(tmp_path / "far" / "a"),)


def test_no_slow_mount_when_both_are_alike(tape, tmp_path):
    assert two_mounts(tape, tmp_path, {"far": 0.01, "near": 0.01}) is None


def ranks(tmp_path, *shares):
    """Recordings of ranks that read these files of a common set of 30, one after the other."""
    paths = write_files(tmp_path, [100_000] * 30)
    found = []
    for rank, share in enumerate(shares):
        with taping() as tape:
            for place in share:
                read_file(paths[place])
            tape.cut()
        found.append(tape.recording(f"a/darshan/rank{rank}", rank=rank))
    return facts_of(*found)


def test_every_rank_reads_everything(tmp_path):
    facts = ranks(tmp_path, range(30), range(30))
    finding = rules.not_sharded(facts)
    assert finding is not None
    assert "30 files" in finding.title
    assert rules.imbalance(facts) is None


def test_ranks_with_their_own_parts(tmp_path):
    facts = ranks(tmp_path, range(15), range(15, 30))
    assert rules.not_sharded(facts) is None
    assert rules.imbalance(facts) is None


def test_ranks_out_of_balance(tmp_path):
    finding = rules.imbalance(ranks(tmp_path, range(24), range(24, 30)))
    assert finding is not None
    assert "rank1 moved 75 % fewer bytes" in finding.title
