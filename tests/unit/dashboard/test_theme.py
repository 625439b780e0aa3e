from __future__ import annotations

import math

import numpy as np
import pytest

from tensorboard_plugin_darshan.dashboard import theme
from tests.support import figures


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_texts_and_series_stand_out(name: str) -> None:
    look = theme.THEMES[name]
    for colour in (look.text, look.muted, look.read, look.write, look.metadata):
        assert contrast(colour, look.card) >= 4.5
    for band in look.bands:
        assert contrast(look.text, band) >= 4.5
    for series in (look.read, look.write):
        assert contrast(look.on_colour, series) >= 4.5


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_typed_arrays_travel_and_come_back(dtype: str) -> None:
    values = np.array([0.0, 1.5, -2.0])
    assert figures.array(theme.typed(values, dtype)).tolist() == values.tolist()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_typed_arrays_refuse_what_is_no_number(value: float) -> None:
    with pytest.raises(ValueError, match="NaN or infinity"):
        theme.typed([1.0, value])


@pytest.mark.parametrize(
    ("largest", "texts"),
    [
        (0, ["0 B/s"]),
        (900, ["0 B/s", "500 B/s"]),
        (250 * 2**20, ["0 B/s", "100 MiB/s", "200 MiB/s"]),
        (1.9 * 2**30, ["0 B/s", "1 GiB/s"]),
    ],
)
def test_byte_ticks_are_round_in_iec_units(largest: float, texts: list[str]) -> None:
    values, found = theme.byte_ticks(largest)
    assert found == texts
    assert values[-1] <= max(largest, 0)


def test_byte_decades_lie_within_the_axis() -> None:
    places, texts = theme.byte_decades(1e5, 1e9)
    assert texts == ["100 KiB/s", "1 MiB/s", "10 MiB/s", "100 MiB/s"][: len(texts)]
    assert all(5 <= place <= 9 for place in places)


@pytest.mark.parametrize("largest", [1e-6, 0.3, 1, 7, 99, 1e6, 2.5e9])
def test_steps_are_round_and_few(largest: float) -> None:
    step = theme.nice_step(largest, 3)
    assert 1 <= largest / step <= 6
    mantissa = step / 10 ** math.floor(math.log10(step) + 1e-9)
    assert round(mantissa, 6) in (1, 2, 5)
