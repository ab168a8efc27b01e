"""The section on hidden states: its grids, its table, and what few people typed in neither."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from purport.records.sessions import Sessions
from purport.report.findings import StateFindings
from purport.report.page import page
from purport.report.states import CLEAR, state_grid, states_section
from purport.sequence.explaining import StateSummary, StepExample
from purport.sequence.ldcrf import LDCRF

SECRET = "xyzzysecretword"
NASTY = "<script>alert('1 & \"2\"')</script>"


def made(labels, states, text=NASTY):
    """Return findings of so many labels and states; the last state of several is not used."""
    given = np.random.default_rng(1).dirichlet(np.full(states, 0.3), labels)
    names = tuple(f"{NASTY} {number} " + "a_long_name_of_a_service" for number in range(labels))
    summaries = []
    for state in range(states):
        examples = (StepExample(1, 2, text, 0.9, NASTY), StepExample(0, 0, None, 0.8, None))
        unused = states > 2 and state == states - 1
        share = 0.0 if unused else 1.0 / states
        most = {names[state % labels]: 0.95, names[(state + 1) % labels]: 0.05}
        features, following = ((NASTY, 0.5), ("w=b", 0.1)), ((0, 0.7), (1, 0.3))
        summaries.append(StateSummary(state, share, most, most, features, following, examples))
    return StateFindings(tuple(summaries), names, tuple(map(tuple, given.tolist())), True)


def whole(found):
    return page([states_section(found)], NASTY, datetime(2024, 5, 1), "0.1.0")


@pytest.mark.parametrize(
    ("labels", "states"), [(1, 2), (2, 2), (8, 24), (47, 48), (2, 48), (47, 2)]
)
@pytest.mark.parametrize("least", [None, CLEAR])
def test_a_grid_has_a_cell_a_label_and_state_and_says_what_it_shows(labels, states, least):
    found = made(labels, states)
    drawn = ET.fromstring(str(state_grid(found, least)))
    assert [child.tag for child in drawn][:2] == ["title", "desc"]
    assert drawn.get("role") == "img"
    assert f"{labels} rows of labels, {states} columns of states" in drawn.find("desc").text
    _, _, width, height = map(float, drawn.get("viewBox").split())
    cells = list(drawn.iter("rect"))
    assert len(cells) == labels * states
    places = set()
    for number, cell in enumerate(cells):
        x, y, wide, high = (float(cell.get(key)) for key in ("x", "y", "width", "height"))
        assert 0 <= x < x + wide <= width
        assert 0 <= y < y + high <= height
        assert wide >= 5
        places.add((x, y))
        label, state = divmod(number, states)
        share = found.given_label[label][state]
        said = f"{found.labels[label]}, state {state}: {share:.2f}"
        assert cell.find("title").text == said
        strength = float(cell.get("style").removeprefix("--of:").removesuffix("%")) / 100
        highest = max(map(max, found.given_label))
        expected = share / highest if least is None else float(share >= least)
        assert strength == pytest.approx(expected, abs=0.006)
    assert len(places) == labels * states
    rows = [each for each in drawn.iter("text") if each.get("class") == "label"]
    assert len(rows) == labels
    numbers = [int(each.text) for each in drawn.iter("text") if each.get("class") == "tick"]
    apart = np.diff([float(e.get("x")) for e in drawn.iter("text") if e.get("class") == "tick"])
    assert numbers[0] == 0
    assert all(gap >= 18 for gap in apart)


def test_the_page_is_sound_and_escaped_and_has_every_state():
    found = made(3, 6)
    html = whole(found)
    assert "<script>" not in html
    assert html.count("<svg") == 2
    rows = re.findall(r'<tr><th scope="row">(\d+)</th>', html)
    assert sorted(map(int, rows)) == [0, 1, 2, 3, 4]
    assert "At no step the most probable: 5." in html
    assert "of 18 p(h | y) at least 0.1" in html
    assert "<h3>Each state</h3>" in html


def test_states_of_one_label_stand_together():
    found = made(2, 6)
    rows = re.findall(r'<tr><th scope="row">(\d+)</th>', whole(found))
    assert [int(row) % 2 for row in rows] == [0, 0, 0, 1, 1]


def test_where_no_text_may_be_shown_steps_are_named():
    html = whole(made(2, 2, text=None))
    assert "step 3" in html
    assert "record 2 (" in html
    assert "record 1, step 1" in html
    assert "step 3" not in whole(made(2, 2))


def test_without_data_there_are_no_examples():
    bare = made(2, 2)
    bare = replace(
        bare,
        summaries=tuple(replace(summary, examples=()) for summary in bare.summaries),
        with_data=False,
    )
    html = whole(bare)
    assert "Examples" not in html
    assert "the mean p(h | x) in training" in html


def test_labels_that_are_never_expected_are_drawn_empty():
    found = replace(made(2, 2), given_label=((0.0, 0.0), (0.0, 0.0)))
    drawn = ET.fromstring(str(state_grid(found)))
    assert {cell.get("style") for cell in drawn.iter("rect")} == {"--of:0%"}


def test_what_few_people_typed_is_neither_on_the_page_nor_in_the_numbers():
    log = Sessions.from_lists(
        [["map of rome", SECRET, "love song"]] * 4 + [["map of rome", "love song"]] * 4,
        labels=[["travel", "travel", "fun"]] * 4 + [["travel", "fun"]] * 4,
    )
    model = LDCRF(2, random_state=1).fit(log)
    found = StateFindings.of(model, log, top=1000)
    told = json.dumps(found.numbers())
    assert SECRET not in whole(found) + told + repr(found)
    assert "map of rome" in whole(found)
    assert any(state["examples"] for state in json.loads(told)["states"])
    shown = StateFindings.of(model, log, top=1000, min_people=4)
    assert SECRET in whole(shown)
