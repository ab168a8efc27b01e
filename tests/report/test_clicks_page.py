"""The section on clicks: sound, escaped, honest about intervals, truth and what is withheld."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import pytest

from purport.measure.bootstrap import Comparison, Interval
from purport.report.click_findings import (
    ClickFindings,
    ClickModelFinding,
    DayByDay,
    DayFinding,
    DocumentShown,
    Examined,
    PageSize,
    Reading,
    Reversed,
)
from purport.report.clicks import click_section, examination_grid
from purport.report.curves import Curve, curves
from purport.report.page import page
from purport.report.pictures import Dot, dots
from tests.report.test_report_page import NASTY, parsed

SURE = Interval(-0.25, -0.26, -0.24, 0.95)
PLAIN = Interval(-0.28, -0.29, -0.27, 0.95)
ODD = Interval(1.3, 1.25, 1.35, 0.95)
GAIN = Comparison(-0.25, -0.28, 0.03, 0.02, 0.04, 0.001, 0.95)
NOTHING = Comparison(-0.28, -0.28, 0.0, 0.0, 0.0, 1.0, 0.95)
FINDINGS = ClickFindings(
    train=PageSize(8000, 80_000, 8000, 500),
    dev=PageSize(2000, 20_000, 2000, 400),
    test=PageSize(4000, 40_000, 4400, 300),
    models=(
        ClickModelFinding("RCTR", PLAIN, ODD, ODD, NOTHING, -0.28, 0.1, 5, True),
        ClickModelFinding("UBM", SURE, ODD, ODD, GAIN, -0.26, 1.5, 20),
    ),
    floor="RCTR",
    kept="UBM",
    click_rates=(0.4, 0.2, 0.05),
    examined=(Examined("UBM", (0.8, 0.6, 0.2)),),
    after_click=((0.8, None, None, None), (0.6, 0.7, None, None), (0.2, None, 0.5, None)),
    readings=(Reading("DBN", "go on", 0.75),),
    reversed=Reversed("UBM", 20, 120, 900, 90, 60),
    agreement=Comparison(0.93, 0.91, 0.02, 0.01, 0.03, 0.001, 0.95),
    misled=(
        (
            DocumentShown(NASTY, "d1", 300, 1.2, 0.5, 0.55, 0.5),
            DocumentShown(NASTY, "d2", 250, 7.5, 0.2, 0.8, 0.85),
        ),
    ),
    by_day=DayByDay(
        "UBM",
        7,
        (DayFinding("2026-01-12", 900, -0.3, -0.3), DayFinding("2026-01-13", 950, -0.31, -0.29)),
        Comparison(-0.295, -0.305, 0.01, 0.005, 0.015, 0.002, 0.95),
    ),
)


def whole(findings=FINDINGS):
    when = datetime(2024, 5, 1, 12, 30)
    return page([click_section(findings)], "a log", when, "0.1.0")


def test_it_says_who_decided_and_how_well_it_went():
    html = whole()
    parsed(html)
    assert "8,000 pages of 500 queries (10.0% of results clicked)" in html
    assert "2,000 other pages, which none had seen, decided which is kept" in html
    assert "Kept is <strong>UBM</strong>" in html
    assert "+0.0300  kept" in html
    assert "+0.0200 to +0.0400" in html
    assert html.index("-0.2500") < html.index("<h3>")
    assert "RCTR (floor)" in html
    assert "20 rounds of learning, 1.50 s" in html


def test_what_is_shown_is_escaped():
    html = whole()
    assert NASTY not in html
    assert "&lt;script&gt;alert(" in html
    assert "Where click rates mislead most" in html
    assert "No queries and no documents are shown" not in html


def test_what_may_be_somebodys_words_is_withheld_and_the_report_says_why():
    html = whole(
        replace(
            FINDINGS,
            misled=None,
            agreement=None,
            reversed=replace(FINDINGS.reversed, right=None),
        )
    )
    parsed(html)
    assert "No queries and no documents are shown" in html
    assert "In 90 of them (10.0%)" in html
    assert "truth" not in html


@pytest.mark.parametrize(
    ("change", "said", "unsaid"),
    [
        ({}, "UBM is nearer", "No model is above the floor"),
        ({"kept": "RCTR"}, "No model is above the floor", "UBM has it that"),
        ({"by_day": None}, "What position hides", "Day by day"),
        (
            {"after_click": ((None, None), (None, None))},
            "How far people look",
            "last click at rank",
        ),
        ({"readings": ()}, "What position hides", "how likely people read on"),
        ({"misled": ()}, "(66.7%) are truly so", "mislead most"),
        ({"reversed": Reversed("UBM", 20, 0, 0, 0, 0)}, "In 0 of them (0.0%)", "truly so"),
        ({"click_rates": (0.0, 0.0, 0.0)}, "How far people look", "nan"),
    ],
)
def test_other_findings_give_a_section_too(change, said, unsaid):
    html = whole(replace(FINDINGS, **change))
    parsed(html)
    assert said in html
    assert unsaid not in html


@pytest.mark.parametrize(
    ("difference", "low", "high", "said"),
    [
        (0.02, 0.01, 0.03, "UBM is nearer"),
        (-0.02, -0.03, -0.01, "click rates are nearer"),
        (0.02, -0.01, 0.03, "the data do not tell which is nearer"),
    ],
)
def test_what_is_nearer_the_truth_is_said_only_where_it_is_sure(difference, low, high, said):
    told = Comparison(0.9, 0.9 - difference, difference, low, high, 0.5, 0.95)
    assert said in whole(replace(FINDINGS, agreement=told))


@pytest.mark.parametrize(
    ("difference", "low", "high", "said"),
    [
        (0.02, 0.01, 0.03, "Keeping it up to date pays."),
        (-0.02, -0.03, -0.01, "Keeping it up to date harms."),
        (0.02, -0.01, 0.03, "The data do not tell whether keeping it up to date pays."),
    ],
)
def test_whether_updates_pay_is_said_only_where_it_is_sure(difference, low, high, said):
    gain = Comparison(-0.3, -0.3 - difference, difference, low, high, 0.5, 0.95)
    assert said in whole(replace(FINDINGS, by_day=replace(FINDINGS.by_day, gain=gain)))


def heights(drawn, kind):
    """Return where texts of a kind stand."""
    found = re.findall(rf'<text x="[^"]*" y="([^"]*)"[^>]*class="{kind}', str(drawn))
    return [float(y) for y in found]


def test_names_of_curves_that_end_together_stand_apart():
    drawn = curves([Curve(name, (1.0, 0.5)) for name in "abcd"], "12", "T", "D.", "rank", "share")
    at = sorted(heights(drawn, "name"))
    assert len(at) == 4
    assert min(b - a for a, b in pairwise(at)) >= 15.0
    low = curves([Curve(name, (1.0, 0.0)) for name in "abc"], "12", "T", "D.", "rank", "share")
    assert max(heights(low, "name")) < 260.0


def test_many_steps_have_fewer_names():
    days = [f"01-{day:02}" for day in range(1, 29)]
    drawn = curves([Curve("a", tuple(range(28)))], days, "T", "D.", "day", "x")
    shown = [day for day in days if f">{day}</text>" in str(drawn)]
    assert 4 < len(shown) < 20
    one = curves([Curve("a", (0.5,))], ["1"], "T", "D.", "rank", "x", from_zero=True)
    assert str(one).count("<polyline") == 1
    assert ">0</text>" in str(one)


def test_dots_reach_from_losses_to_gains():
    drawn = str(
        dots([Dot("a", -0.02, -0.03, -0.01), Dot("b", 0.03, 0.02, 0.04, "kept")], "T", "D.")
    )
    centres = [float(x) for x in re.findall(r'cx="([^"]*)"', drawn)]
    zero = float(re.search(r'<line x1="([^"]*)"[^>]*class="axis"', drawn).group(1))
    assert centres[0] < zero < centres[1]
    assert "kept" in drawn


def test_the_grid_has_no_cell_where_nothing_is_told():
    drawn = str(examination_grid(FINDINGS.after_click))
    assert drawn.count("<rect") == 5
    assert "rank 3, last click at 2: 0.50" in drawn
    assert "rank 1, last click at none: 0.80" in drawn
