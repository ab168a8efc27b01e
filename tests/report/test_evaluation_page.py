"""The page on a test of a model: its parts, their pictures, and that all of it is sound HTML."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser

import numpy as np
import pytest

from purport.measure import (
    calibration,
    confusion,
    errors_worth_a_look,
    score_comparisons,
    score_intervals,
    slot_scores,
    token_scores,
)
from purport.report.confusion import heat_map
from purport.report.evaluation import evaluation_section
from purport.report.findings import Compared, ErrorFindings, Evaluation, Wording
from purport.report.page import page
from purport.report.reliability import reliability_picture

NASTY = "<script>alert('1 & \"2\"')</script>"
GOLD = [[NASTY, "buy", "learn"], ["buy", None], ["learn", "buy"]] * 4
PREDICTED = [["buy", "buy", "learn"], ["buy", "buy"], ["buy", "buy"]] * 4
CLASSES = ["buy", "learn", NASTY]
TABLES = [np.array([[0.7, 0.2, 0.1]] * len(labels)) for labels in GOLD]


@pytest.fixture(scope="module")
def found():
    errors = errors_worth_a_look(GOLD, TABLES, CLASSES, PREDICTED, ids=[NASTY] * 12, n=2)
    return Evaluation(
        "tokens",
        token_scores(GOLD, PREDICTED),
        score_intervals(GOLD, PREDICTED, level="tokens", samples=20),
        Wording("sessions", "steps", "labels"),
        left_out=1,
        groups=3,
        confusion=confusion(GOLD, PREDICTED, "tokens"),
        calibration=calibration(GOLD, TABLES, CLASSES, PREDICTED, samples=20),
        errors=ErrorFindings(errors, (NASTY, None)),
        compared=Compared(NASTY, score_comparisons(GOLD, PREDICTED, GOLD, level="tokens")),
    )


def whole(found):
    return page([evaluation_section(found)], NASTY, datetime(2024, 5, 1), "0.1.0")


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        assert tag != "script"
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_every_part_is_there_sound_and_escaped(found):
    html = whole(found)
    parser = Balanced()
    parser.feed(html)
    assert parser.open == []
    for title in (
        "Each label",
        "Another model",
        "How far probabilities can be believed",
        "What is taken for what",
        "Errors worth a look",
    ):
        assert f"<h3>{title}</h3>" in html
    assert "Class average" in html
    assert "8 steps without" not in html
    assert "1 without known labels left out" in html
    for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        tree = ET.fromstring(svg)
        assert [child.tag for child in tree][:2] == ["title", "desc"]
        _, _, width, height = map(float, tree.get("viewBox").split())
        for shape in tree.iter("rect"):
            x, y, wide, high = (float(shape.get(key)) for key in ("x", "y", "width", "height"))
            assert x >= 0
            assert y >= 0
            assert x + wide <= width
            assert y + high <= height


def test_what_was_not_asked_for_is_not_there(found):
    html = whole(
        replace(found, confusion=None, calibration=None, errors=None, compared=None, groups=None)
    )
    assert html.count("<h3>") == 1
    assert html.count("<svg") == 1


def test_spans_are_called_slots():
    gold, told = [["B-a", "O"], ["B-b", "O"]], [["B-b", "O"], ["O", "O"]]
    spans = Evaluation(
        "spans",
        slot_scores(gold, told),
        score_intervals(gold, told, samples=5),
        Wording("utterances", "words", "slots"),
        confusion=confusion(gold, told),
    )
    html = whole(spans)
    assert "Each slot" in html
    assert "no slot" in html
    nothing = Evaluation(
        "spans",
        slot_scores([["O"]], [["O"]]),
        score_intervals([["O"]], [["O"]], samples=5),
        spans.wording,
        confusion=confusion([["O"]], [["O"]]),
    )
    assert "have no slots" in whole(nothing)


def test_a_heat_map_has_a_cell_a_pair_and_the_count_in_it(found):
    drawn = ET.fromstring(str(heat_map(found.confusion, ["buy", "learn"])))
    cells = list(drawn.iter("rect"))
    assert len(cells) == 4
    assert [cell.find("title").text for cell in cells] == [
        "buy, given as buy: 12",
        "buy, given as learn: 0",
        "learn, given as buy: 4",
        "learn, given as learn: 4",
    ]
    shades = [re.search(r"shade(\d)", cell.get("class")).group(1) for cell in cells]
    assert shades == ["5", "0", "3", "3"]


def test_a_diagram_puts_its_dots_where_they_belong(found):
    drawn = ET.fromstring(str(reliability_picture(found.calibration)))
    (bin_,) = [each for each in found.calibration.bins if each.high > 0.65]
    dots = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in drawn.iter("circle")]
    ideal = next(line for line in drawn.iter("line") if line.get("class") == "ideal")
    left, bottom, right, top = (float(ideal.get(key)) for key in ("x1", "y1", "x2", "y2"))
    x = left + (right - left) * bin_.probability
    y = bottom - (bottom - top) * bin_.right.value
    assert dots[-1] == pytest.approx((x, y), abs=0.01)
