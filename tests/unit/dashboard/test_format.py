from __future__ import annotations

import pytest

from tensorboard_plugin_darshan.dashboard import format as text


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1000, "0.977 KiB"),
        (1023, "0.999 KiB"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (999 * 1024, "999 KiB"),
        (12_455_405_568, "11.6 GiB"),
        (2**80, "1048576 EiB"),
        (None, "–"),
    ],
)
def test_sizes_have_three_digits_and_iec_units(value: float | None, wanted: str) -> None:
    assert text.size(value) == wanted


def test_bandwidth_is_size_per_second() -> None:
    assert text.bandwidth(1.2 * 2**30) == "1.2 GiB/s"
    assert text.bandwidth(None) == "–"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        *((0, "0"), (7, "7"), (999, "999"), (1000, "1 k"), (28_800, "28.8 k"), (256_000, "256 k")),
        *((999_499, "999 k"), (999_500, "1 M"), (1.5e9, "1.5 G"), (0.25, "0.25"), (None, "–")),
    ],
)
def test_counts(value: float | None, wanted: str) -> None:
    assert text.count(value) == wanted


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (0, "0 s"),
        (3e-10, "0.3 ns"),
        (1.5e-6, "1.5 µs"),
        (0.0123, "12.3 ms"),
        (0.9999, "1 s"),
        (12.44, "12.4 s"),
        (299, "299 s"),
        (300, "5 min"),
        (8100, "2.25 h"),
        (None, "–"),
    ],
)
def test_durations(value: float | None, wanted: str) -> None:
    assert text.seconds(value) == wanted


def test_percent() -> None:
    assert text.percent(0.9971) == "99.7 %"
    assert text.percent(0.0) == "0 %"
    assert text.percent(None) == "–"


def test_long_paths_keep_both_ends() -> None:
    path = "/scratch/" + "x" * 100 + "/img_00042.jpg"
    short = text.shorten(path)
    assert len(short) == 60
    assert short.startswith("/scratch/x")
    assert short.endswith("x/img_00042.jpg")
    assert text.shorten("/short") == "/short"


def test_names_longer_than_the_room_still_fit() -> None:
    short = text.shorten("/d/" + "y" * 200, 40)
    assert len(short) == 40
    assert short.endswith("yyy")


def test_ratio_of_nothing_is_unknown() -> None:
    assert text.ratio(1, 0) is None
    assert text.ratio(1, 4) == 0.25
    assert text.ratio(float("inf"), 1) is None


@pytest.mark.parametrize(
    ("seconds", "span", "wanted"),
    [
        (0, 60, "00:00"),
        (83.4, 60, "01:23"),
        (3723, 4000, "1:02:03"),
        (59.96, 10, "01:00.0"),
        (83.444, 1, "01:23.44"),
        (83.4444, 0.1, "01:23.444"),
    ],
)
def test_clock_is_as_fine_as_the_span_needs(seconds: float, span: float, wanted: str) -> None:
    assert text.clock(seconds, span) == wanted


def test_hidden_characters_of_names_are_shown() -> None:
    assert text.visible("/a/\u202egpj.exe") == "/a/\\u202egpj.exe"
    assert text.visible("a\nb\tc\a\udc80") == "a\\nb\\tc\\u0007\\udc80"
    for name in ("/data/ü/日本/ש.jpg", "emoji 😀.png", "a b"):
        assert text.visible(name) == name
    assert text.shorten("/a/\u202eb.jpg", 40) == "/a/\\u202eb.jpg"
    assert len(text.shorten("\u202e" * 100, 40)) == 40
