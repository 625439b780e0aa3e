"""The answer that the tab gets: its shape, its links, its documents."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

from tensorboard_plugin_darshan.dashboard import insights as insights_lib
from tensorboard_plugin_darshan.dashboard.insights_advice import ADVICE
from tensorboard_plugin_darshan.dashboard.insights_answer import insights_answer
from tensorboard_plugin_darshan.dashboard.insights_thresholds import THRESHOLDS
from tensorboard_plugin_darshan.dashboard.selection import Selection
from tests.plugin.test_http_api import example
from tests.support import figures
from tests.support.real_runs import read_file, run_of, write_files
from tests.support.runs import recording

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = ROOT / "tensorboard_plugin_darshan" / "dashboard"


@pytest.fixture
def answer(tape, tmp_path):
    with tape.muted():
        paths = write_files(tmp_path, [2000] * 120)
    for path in paths:
        read_file(path)
    tape.cut()
    run = run_of(tape.recording())
    return insights_answer(Selection(run, modules=run.modules), "light")


def test_findings_have_the_keys_of_the_example(answer):
    documented = example("insights")
    assert answer.keys() == documented.keys()
    assert answer["verdict"].keys() == documented["verdict"].keys()
    for finding in answer["findings"]:
        assert finding.keys() == documented["findings"][0].keys()
        assert finding["thresholds"][0].keys() == (
            documented["findings"][0]["thresholds"][0].keys()
        )
    json.dumps(answer, allow_nan=False)


def test_findings_are_the_most_severe_first(answer):
    order = ["high", "medium", "low", "info"]
    places = [order.index(finding["severity"]) for finding in answer["findings"]]
    assert len(places) >= 2
    assert places == sorted(places)


def test_links_lead_to_headings(answer):
    page = (ROOT / "docs" / "insights.md").read_text()
    for finding in answer["findings"]:
        path, _, anchor = finding["docs"].partition("#")
        assert path == "docs/insights.md"
        assert re.search(rf"^### {anchor}$", page, re.MULTILINE)


def test_page_explains_each_code_and_each_threshold():
    page = (ROOT / "docs" / "insights.md").read_text()
    headings = set(re.findall(r"^### ([a-z-]+)$", page, re.MULTILINE))
    sources = "".join(path.read_text() for path in DASHBOARD.glob("insights_*.py"))
    created = set(re.findall(r'Finding\(\s*"([a-z-]+)"', sources)) | {
        "rereads-storage",
        "fits-memory",
    }
    assert headings == created == set(ADVICE)
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| (\w+) \|", page, re.MULTILINE)
    assert [name for name, _, _ in rows] == list(THRESHOLDS)
    for name, value, unit in rows:
        assert (float(value.replace(",", "")), unit) == (
            THRESHOLDS[name].value,
            THRESHOLDS[name].unit,
        )


def test_each_threshold_is_used_by_a_rule():
    sources = "".join(
        path.read_text()
        for path in DASHBOARD.glob("insights_*.py")
        if path.name != "insights_thresholds.py"
    )
    assert [name for name in THRESHOLDS if f'limit("{name}")' not in sources] == []


def test_nothing_recorded_has_an_answer():
    run = run_of(recording([]))
    found = insights_lib.insights(Selection(run, modules=()))
    assert found.verdict.state == "unknown"
    assert found.findings == ()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_staging_is_a_curve_with_a_knee(tape, tmp_path, theme):
    with tape.muted():
        paths = write_files(tmp_path, [2000] * 50 + [2_000_000] * 10)
    for path in paths:
        read_file(path)
    tape.cut()
    run = run_of(tape.recording())
    found = insights_answer(Selection(run, modules=run.modules), theme)["staging"]
    figures.check(found["figure"])
    line, knee = (figures.trace(found["figure"], name) for name in ("saved", "knee"))
    copied, saved = figures.array(line["x"]), figures.array(line["y"])
    assert copied[0] == saved[0] == 0
    assert copied[-1] == 50 * 2000 + 10 * 2_000_000
    place = int(np.argmax(saved / saved[-1] - copied / copied[-1]))
    assert (knee["x"][0], knee["y"][0]) == (copied[place], saved[place])


def test_no_staging_for_a_training_that_does_not_wait(tape, tmp_path):
    with tape.muted():
        paths = write_files(tmp_path, [2000] * 50)
    for path in paths:
        read_file(path)
    time.sleep(0.6)
    tape.cut(wait=0.0)
    run = run_of(tape.recording())
    found = insights_answer(Selection(run, modules=run.modules), "light")["staging"]
    assert found["figure"]["data"] == []
    assert found["command"] == ""
