"""What a run's I/O says about its training: a verdict and findings, with evidence.

Each rule is a small function of `Facts`; `insights_thresholds.py` has all limits,
`docs/insights.md` explains each code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from tensorboard_plugin_darshan.dashboard import (
    insights_course,
    insights_input,
    insights_output,
    insights_places,
)
from tensorboard_plugin_darshan.dashboard.insights_advice import ADVICE
from tensorboard_plugin_darshan.dashboard.insights_facts import Facts
from tensorboard_plugin_darshan.dashboard.insights_finding import SEVERITIES, Finding
from tensorboard_plugin_darshan.dashboard.insights_thresholds import THRESHOLDS
from tensorboard_plugin_darshan.dashboard.insights_verdict import Verdict, verdict
from tensorboard_plugin_darshan.dashboard.selection import Selection

Rule = Callable[[Facts], Finding | None]

RULES: Final[tuple[Rule, ...]] = (
    *insights_course.RULES,
    *insights_places.RULES,
    *insights_input.RULES,
    *insights_output.RULES,
)
"""All rules, in the order in which findings of equal severity are shown."""

NOT_NOW: Final = "It is so, but changing it would not make this training faster: see the verdict."


@dataclass(frozen=True)
class Insights:
    """The verdict, findings to act on, and findings that do not matter for this training."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    observations: tuple[Finding, ...]


def insights(selection: Selection) -> Insights:
    """Judges a stretch of a run. Input findings count only when faster files could help."""
    memo, key = selection.run.memo, ("insights", *selection.key)
    known = memo.get(key)
    if not isinstance(known, Insights):
        known = memo[key] = _judge(Facts(selection))
    return known


def _judge(facts: Facts) -> Insights:
    judged = verdict(facts)
    found = [finding for rule in RULES if (finding := rule(facts)) is not None]
    if judged.grade == "moderate" and judged.state == "maybe":
        found = [_lower(finding) for finding in found]
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    helps = judged.for_files or judged.state == "unknown"
    return Insights(
        judged,
        tuple(finding for finding in found if helps or finding.about != "input"),
        tuple(finding for finding in found if not helps and finding.about == "input"),
    )


def _lower(finding: Finding) -> Finding:
    """The finding when files may hold the training up by a few percent at most."""
    if finding.about != "input" or finding.severity not in ("high", "medium"):
        return finding
    return replace(finding, severity="low")


def verdict_line(selection: Selection) -> dict[str, Any]:
    """What the overview says on top: the verdict, and the first finding's title."""
    found = insights(selection)
    first = next((f for f in found.findings if f.about != "data"), None)
    return {
        "state": found.verdict.state,
        "grade": found.verdict.grade,
        "sentence": found.verdict.sentence,
        "finding": first.title if first else None,
        "findings": len(found.findings),
    }


def as_json(found: Insights) -> dict[str, Any]:
    """The insights as plain values, as `http_api.md` describes them."""
    return {
        "verdict": asdict(found.verdict),
        "findings": [_finding(finding, advise=True) for finding in found.findings],
        "observations": [_finding(finding, advise=False) for finding in found.observations],
    }


def _finding(finding: Finding, advise: bool) -> dict[str, Any]:
    advice = ADVICE[finding.code]
    limits = [THRESHOLDS[name] for name in finding.thresholds]
    return {
        **asdict(finding),
        "severity": finding.severity if advise else "info",
        "thresholds": [asdict(threshold) for threshold in limits],
        "advice": advice.text if advise else NOT_NOW,
        "snippets": dict(advice.snippets) if advise else {},
        "docs": f"docs/insights.md#{finding.code}",
    }
