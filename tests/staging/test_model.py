"""The cost model and the knapsack."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tensorboard_plugin_darshan.dashboard.staging import (
    FREE,
    Candidates,
    Costs,
    choose,
    curve,
    fit,
    gain,
)


def files(costs, sizes, opens=None, noise=0.0):
    """Files read once each in pieces of 1 MB, with a read at the end, on one mount."""
    sizes = np.array(sizes, float)
    opens = np.ones(len(sizes)) if opens is None else np.array(opens, float)
    reads = (np.ceil(sizes / 1e6) + 1) * opens
    moved = sizes * opens
    random = np.random.default_rng(1)
    spread = 1 + noise * random.standard_normal(len(sizes))
    reading = (reads * costs.call_seconds + moved * costs.byte_seconds) * spread
    return Candidates(
        [f"/data/{i}" for i in range(len(sizes))],
        ["/"] * len(sizes),
        sizes,
        opens,
        reads,
        moved,
        opens * costs.open_seconds,
        reading,
    )


DISK = Costs(0.004, 0.001, 1e-8)


def test_fit_finds_the_costs():
    found = files(DISK, np.geomspace(1e3, 5e7, 200), noise=0.05)
    fitted = fit(found.opens, found.reads, found.moved, found.open_seconds, found.read_seconds)
    assert fitted.open_seconds == pytest.approx(0.004)
    assert fitted.call_seconds == pytest.approx(0.001, rel=0.1)
    assert fitted.byte_seconds == pytest.approx(1e-8, rel=0.1)


@pytest.mark.parametrize("costs", [Costs(0.0, 0.001, 0.0), Costs(0.0, 0.0, 1e-8)])
def test_fit_never_goes_below_zero(costs):
    found = files(costs, np.geomspace(1e3, 5e7, 50), noise=0.2)
    fitted = fit(found.opens, found.reads, found.moved, found.open_seconds, found.read_seconds)
    assert min(fitted.open_seconds, fitted.call_seconds, fitted.byte_seconds) >= 0
    assert fitted.of(found.opens, found.reads, found.moved).sum() == pytest.approx(
        found.seconds.sum()
    )


def test_fit_of_nothing_is_free():
    empty = np.zeros(0)
    assert fit(empty, empty, empty, empty, empty) == FREE


def test_small_files_come_first_and_the_budget_holds():
    found = files(DISK, [1e5] * 40 + [1e7] * 60)
    choice = choose(found, FREE)
    chosen = choice.within(4.1e6)
    assert chosen.tolist() == list(range(40))
    assert found.sizes[choice.within(2.5e7)].sum() <= 2.5e7


def test_greedy_is_at_most_one_file_worse_than_the_best():
    random = np.random.default_rng(3)
    found = files(DISK, random.uniform(1e5, 5e6, 12), opens=random.integers(1, 5, 12))
    choice = choose(found, FREE)
    budget = 0.4 * found.sizes.sum()
    best = max(
        choice.saved[list(chosen)].sum()
        for n in range(13)
        for chosen in itertools.combinations(range(12), n)
        if found.sizes[list(chosen)].sum() <= budget
    )
    assert choice.saved[choice.within(budget)].sum() >= best - choice.saved.max()


def test_nothing_is_worth_copying_to_a_slower_tier():
    choice = choose(files(DISK, [1e6] * 10), Costs(0.1, 0.1, 1e-6))
    assert len(choice.order) == 0
    assert len(choice.within(1e12)) == 0
    assert curve(choice).knee == 0


def test_gain_is_what_the_times_say():
    found = files(DISK, [1e6] * 10)
    choice = choose(found, FREE)
    half = gain(choice, choice.within(5e6))
    assert half.files == 5
    assert half.seconds_saved == pytest.approx(half.seconds_before / 2)
    assert half.bandwidth_after == pytest.approx(2 * half.bandwidth_before)


def test_curve_bends_where_the_small_files_end():
    found = files(DISK, [1e5] * 4000 + [2e7] * 60)
    bent = curve(choose(found, FREE))
    assert len(bent.bytes_copied) <= 202
    assert bent.bytes_copied[bent.knee] == pytest.approx(4000 * 1e5, rel=0.02)
    assert np.all(np.diff(bent.seconds_saved) >= 0)
