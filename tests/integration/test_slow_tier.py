"""The case studies' slow tier, where FUSE is available: what does not hang on the clock."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def cases(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    slow_tier = importlib.import_module("slow_tier")
    reason = slow_tier.why_not()
    if reason:
        pytest.skip(reason)
    yield importlib.import_module("case_studies")
    for name in ("case_studies", "slow_tier"):
        sys.modules.pop(name, None)


def test_half_of_the_reads_return_nothing(cases, tmp_path):
    names = cases.write_set(tmp_path / "set", [50_000] * 110)
    with cases.slow_tier(tmp_path / "set", tmp_path / "slow", open_ms=1, read_ms=1) as mount:
        cases.record(tmp_path / "logs", [mount / name for name in names], (2,))
    facts = cases.facts_of(tmp_path / "logs")
    assert facts.counter("POSIX_OPENS") == 110
    assert facts.counter("POSIX_READS") == 220
    assert facts.accesses.zero_byte_calls == 110
    assert facts.counter("POSIX_BYTES_READ") == 110 * 50_000
    assert "zero-byte-reads" in cases.tell(tmp_path / "logs")
    assert not (tmp_path / "slow").is_mount()


def test_slow_tier_takes_its_time(cases, tmp_path):
    cases.write_set(tmp_path / "set", [1000])
    with cases.slow_tier(tmp_path / "set", tmp_path / "slow", open_ms=50, read_ms=50) as mount:
        cases.record(tmp_path / "logs", [mount / "00000.bin"], (1,))
    facts = cases.facts_of(tmp_path / "logs")
    assert facts.total("metadata_seconds") >= 0.05
    assert facts.total("read_seconds") >= 0.1
