from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tensorboard_plugin_darshan.dashboard import distributions
from tensorboard_plugin_darshan.window import HISTOGRAMS, Window
from tests.support.recordings import Recorder, Use
from tests.support.runs import recording, run, select


def test_slowest_files_are_named_slowest_first_over_recordings() -> None:
    parts = []
    for rank in range(3):
        uses = [
            Use(f"/r{rank}/{i}", reads=1, access_bytes=100, call_seconds=1e-3 / (1 + i / 100))
            for i in range(rank, 20, 3)
        ]
        parts.append(recording([Recorder().window({"POSIX": uses})], f"r{rank}"))
    found = distributions.file_histograms(select(run(*parts)))
    places = [place for direction, place in found.slow if direction == 0]
    slowest = found.slow[0, min(places)]
    assert [file.path for file in slowest] == ["/r0/0", "/r1/1", "/r2/2"]
    bandwidths = [file.bandwidth for file in slowest]
    assert bandwidths == sorted(bandwidths)


def test_lists_give_what_histograms_count() -> None:
    recorder = Recorder()
    uses = [Use(f"/{i}", reads=i % 5, writes=i % 3, access_bytes=7 ** (i % 8)) for i in range(50)]
    windows = [recorder.window({"POSIX": uses}) for _ in range(4)]
    whole = run(recording(windows))
    counted = distributions.file_histograms(select(whole))
    first = dataclasses.replace(windows[0], modules={})
    later = run(recording([first, *windows[1:]]))
    listed = distributions.file_histograms(select(later, 1.0))
    for place, name in enumerate(HISTOGRAMS):
        assert counted.counts[place].sum() == listed.counts[place].sum(), name
    np.testing.assert_array_equal(counted.counts[:2], listed.counts[:2])
    assert not listed.once_a_window


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_median_is_right_to_a_bin(n: int) -> None:
    uses = [Use(f"/{i}", reads=1, access_bytes=1000, call_seconds=1e-3 * 2.0**-i) for i in range(n)]
    found = distributions.file_histograms(
        select(run(recording([Recorder().window({"POSIX": uses})])))
    )
    median = found.median("read_bandwidth")
    assert median is not None
    exact = 1e6 * 2.0 ** ((n + 1) // 2 - 1)
    assert abs(np.log10(median / exact)) <= 0.1
    assert found.median("write_bandwidth") is None


def sized(*sizes: tuple[int, int]) -> list[Use]:
    return [Use(f"/{n}-{k}", reads=k, access_bytes=n) for n, k in sizes]


def test_common_sizes_of_a_stretch_are_differences() -> None:
    recorder = Recorder()
    windows: list[Window] = [
        recorder.window({"POSIX": sized((100, 5), (200, 3))}),
        recorder.window({"POSIX": sized((100, 1), (300, 9))}),
        recorder.window({"POSIX": sized((200, 2))}),
    ]
    whole = run(recording(windows))
    found = distributions.access_sizes(select(whole, 1.0, 2.0))
    assert [(c.size_bytes, c.count) for c in found.common] == [(300, 9), (100, 1)]
    assert found.common[0].share == 0.9
    assert found.surplus == 3
    assert distributions.access_sizes(select(whole)).surplus == 0


def test_access_sizes_are_of_posix_only() -> None:
    window = Recorder().window({"POSIX": sized((100, 5)), "STDIO": sized((100, 50))})
    found = distributions.access_sizes(select(run(recording([window]))))
    assert found.counts.sum() == 5
    stdio = distributions.access_sizes(select(run(recording([window])), module="STDIO"))
    assert stdio.counts.sum() == 0
    assert stdio.common == ()


def test_labels_of_the_ranges() -> None:
    labels = [distributions.bucket_label(place) for place in range(10)]
    assert labels[0] == "0–100 B"
    assert labels[1] == "100 B–1 KiB"
    assert labels[-1] == "over 1 GiB"
    assert len(set(labels)) == 10
