"""`Finding`: what a rule of the insights says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["high", "medium", "low", "info"]
About = Literal["input", "output", "data"]

SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low", "info")
"""In the order in which findings are shown."""


@dataclass(frozen=True)
class Finding:
    """Something about the I/O of a run that can be named and counted.

    Attributes:
        code: stable name, the anchor in `docs/insights.md`.
        severity: how much it may matter.
        about: `input` findings matter only when a training waits for files; `output` is about
            what it writes, `data` about the recording itself.
        title: one line with the most telling number.
        evidence: sentences with numbers.
        thresholds: names of the limits that were passed.
        files: some of the files it is about.
    """

    code: str
    severity: Severity
    about: About
    title: str
    evidence: tuple[str, ...]
    thresholds: tuple[str, ...]
    files: tuple[str, ...] = ()
