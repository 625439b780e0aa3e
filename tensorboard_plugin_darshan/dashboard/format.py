"""Numbers as people read them: three significant digits and a unit."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

UNKNOWN: Final = "–"
"""What stands where a number is not known."""

_HIDDEN: Final = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ud800-\\udfff]"
)
_SHORT_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

_BYTES: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_COUNTS: Final = ("", "k", "M", "G", "T", "P", "E")
_SECONDS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def significant(value: float) -> str:
    """Three significant digits, without exponent below 1e15 and above 1e-4."""
    if value == 0:
        return "0"
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.3g}"


def _scaled(value: float, base: float, units: Sequence[str]) -> str:
    place = 0
    while abs(value) >= 999.5 and place + 1 < len(units):
        value /= base
        place += 1
    return f"{significant(value)} {units[place]}".rstrip()


def size(value: float | None) -> str:
    """Bytes, e.g. `11.6 GiB`."""
    return UNKNOWN if value is None else _scaled(value, 1024.0, _BYTES)


def bandwidth(value: float | None) -> str:
    """Bytes per second, e.g. `1.2 GiB/s`."""
    return UNKNOWN if value is None else f"{size(value)}/s"


def count(value: float | None) -> str:
    """Calls or files, e.g. `256 k`."""
    return UNKNOWN if value is None else _scaled(value, 1000.0, _COUNTS)


def rate(value: float | None) -> str:
    """Calls per second, e.g. `1.2 k/s`."""
    return UNKNOWN if value is None else f"{count(value)}/s"


def seconds(value: float | None) -> str:
    """A duration, e.g. `1.2 ms`, `12.4 s`, `3.5 min`, `2.25 h`."""
    if value is None:
        return UNKNOWN
    if value >= 3600:
        return f"{significant(value / 3600)} h"
    if value >= 300:
        return f"{significant(value / 60)} min"
    for scale, unit in _SECONDS:
        if value >= 0.9995 * scale:
            return f"{significant(value / scale)} {unit}"
    return "0 s" if value == 0 else f"{significant(value / 1e-9)} ns"


def clock(value: float, span: float) -> str:
    """A time on the run's axis, e.g. `01:23` or `1:02:03`; the shorter the span that is shown, the
    more decimals.
    """
    digits = 0 if span >= 20 else 1 if span >= 2 else 2 if span >= 0.2 else 3
    whole, fraction = divmod(round(max(value, 0.0) * 10**digits), 10**digits)
    hours, minutes = whole // 3600, whole // 60 % 60
    text = f"{minutes:02d}:{whole % 60:02d}" + (f".{fraction:0{digits}d}" if digits else "")
    return f"{hours}:{text}" if hours else text


def percent(share: float | None) -> str:
    """A share of 1, e.g. `99.7 %`."""
    return UNKNOWN if share is None else f"{significant(100 * share)} %"


def plural(n: int, one: str, many: str) -> str:
    """A count with its noun, e.g. `1 file`, `28.8 k files`."""
    return f"{count(n)} {one if n == 1 else many}"


def visible(name: str) -> str:
    r"""A file's name with control characters, those that set the direction of text, and bytes that
    are no text as escapes, e.g. `\n`, `\u202e`.
    """
    return _HIDDEN.sub(lambda found: _escape(found.group()), name)


def _escape(character: str) -> str:
    return _SHORT_ESCAPES.get(character, f"\\u{ord(character):04x}")


def shorten(path: str, length: int = 60) -> str:
    """A path of at most `length` characters that keeps both ends, hidden characters shown."""
    path = visible(path)
    if len(path) <= length:
        return path
    tail = min(max(len(path) - path.rfind("/"), length // 3), length - 2)
    return f"{path[: length - tail - 1]}…{path[len(path) - tail :]}"


def ratio(part: float, whole: float) -> float | None:
    """`part ÷ whole`, or None when that is no number."""
    if not whole or not math.isfinite(part / whole):
        return None
    return part / whole


def about(text: str) -> str:
    """A number that is only known to the width of a histogram's bin, e.g. `≈ 112 B`."""
    return text if text == UNKNOWN else f"≈ {text}"
