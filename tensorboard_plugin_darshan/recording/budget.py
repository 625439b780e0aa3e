"""How large a recording may become."""

from __future__ import annotations

from typing import Final

_MIB: Final = 1024**2
_SECONDS_PER_DAY: Final = 86400


def allowed_bytes(seconds: float) -> float:
    """How large a recording of this length may be: 1 MiB a minute, and 100 MiB in a day."""
    by_minute = _MIB * (1 + seconds / 60)
    by_day = _MIB * (24 + 76 * seconds / _SECONDS_PER_DAY)
    return min(by_minute, by_day)
