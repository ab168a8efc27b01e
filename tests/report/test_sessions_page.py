"""The section on sessions: sound, escaped, honest about who decided and what is withheld."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from purport.measure import score_intervals, token_scores
from purport.measure.bootstrap import Comparison, Interval
from purport.report.findings import Evaluation, Wording
from purport.report.page import page
from purport.report.session_findings import (
    Gain,
    ModelFinding,
    SessionFindings,
    SessionSize,
    StepShown,
)
from purport.report.sessions import session_section
from tests.report.test_report_page import NASTY, parsed

SURE = Interval(0.6, 0.55, 0.65, 0.95)
FLOOR = Interval(0.2, 0.15, 0.25, 0.95)
GOLD = [["buy", "learn"]] * 4
SAID = [["buy", "buy"], *[["buy", "learn"]] * 3]
SCORES = (token_scores(GOLD, SAID), score_intervals(GOLD, SAID, level="tokens", samples=20))
FINDINGS = SessionFindings(
    train=SessionSize(400, 2400),
    dev=SessionSize(100, 600),
    test=SessionSize(1200, 7000),
    unlabeled=1500,
    models=(
        ModelFinding("most frequent label", FLOOR, FLOOR),
        ModelFinding("CRF", FLOOR, FLOOR, "CRF(l2=0.3)", None, 0.2, 1.5, 100),
        ModelFinding("SHDCRF", SURE, SURE, "SHDCRF(states=24)", 24, 0.61, 12.0, 170),
    ),
    kept="SHDCRF",
    gains=(Gain("SHDCRF", "CRF", Comparison(0.6, 0.2, 0.4, 0.35, 0.45, 0.001, 0.95)),),
    tested=Evaluation("tokens", *SCORES, Wording("sessions", "steps", "labels")),
    shown=("CRF", "SHDCRF"),
    examples=((StepShown(NASTY, "buy", ("learn", "buy")), StepShown("tv", "buy", ("buy", "buy"))),),
)


def whole(findings=FINDINGS):
    when = datetime(2024, 5, 1, 12, 30)
    return page([session_section(findings)], "a log", when, "0.1.0")


def test_it_says_who_decided_and_how_well_it_went():
    html = whole()
    parsed(html)
    assert "100 others, which none of them saw, decided which is kept" in html
    assert "tested on 1,200 more (7,000 steps)" in html
    assert "1,500 sessions without labels" in html
    assert "60.0%  kept" in html
    assert "Points over the CRF" in html
    assert "+40.0" in html
    assert "<code>SHDCRF(states=24)</code>, 170 iterations" in html
    assert html.index("60.0%") < html.index("<h3>")


def test_what_is_shown_is_escaped_and_mistakes_are_marked():
    html = whole()
    assert NASTY not in html
    assert "&lt;script&gt;alert(" in html
    assert html.count("✗") == 1
    assert "where the SHDCRF is furthest ahead of the CRF" in html


def test_what_people_typed_is_withheld_and_the_report_says_why():
    html = whole(replace(FINDINGS, examples=None, shown=()))
    assert "No sessions are shown" in html
    assert "✗" not in html


@pytest.mark.parametrize(
    ("change", "said", "unsaid"),
    [
        ({"kept": "CRF", "shown": ("CRF",), "examples": ()}, "Short sessions. They", "furthest"),
        ({"gains": ()}, "Models beside each other", "What each brings"),
        ({"unlabeled": 0}, "400 sessions (2,400 steps). 100", "without labels."),
        ({"kept": "CRF"}, "No model is above the floor", "Points over the CRF"),
        ({}, "Kept is", "No model is above the floor"),
    ],
)
def test_other_findings_give_a_section_too(change, said, unsaid):
    html = whole(replace(FINDINGS, **change))
    parsed(html)
    assert said in html
    assert unsaid not in html
