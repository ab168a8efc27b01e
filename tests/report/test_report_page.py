"""The report: sound HTML that escapes all, needs nothing else, and keeps what people said."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.errors import FormatError, OutputExistsError
from purport.measure import calibration, confusion, errors_worth_a_look
from purport.measure.bootstrap import Comparison, Interval
from purport.report.findings import ErrorFindings, Example, LabelFinding, Size, SlotFindings
from purport.report.markup import Markup, element, table
from purport.report.page import Fact, Section, page, write_page
from purport.report.pictures import Bar, bars, curve, round_marks
from purport.report.slots import slot_section

WHEN = datetime(2024, 5, 1, 12, 30)
NASTY = "<script>alert('1 & \"2\"')</script>"
VOID = {"meta"}

SURE = Interval(0.9, 0.8, 1.0, 0.95)
NONE = Interval(0.0, 0.0, 0.0, 0.95)
GOLD = [["B-city", "O"], ["O", "B-city"], ["B-city", "O"]]
PREDICTED = [[f"B-{NASTY}", "O"], ["B-city", "O"], ["B-city", "O"]]
MARGINALS = [[{guess: 0.8, "other": 0.2} for guess in guesses] for guesses in PREDICTED]
FINDINGS = SlotFindings(
    model="CRF(l2=0.5)",
    train=Size(100, 700),
    test=Size(50, 360),
    f1=SURE,
    token_accuracy=SURE,
    exact_match=SURE,
    gain=Comparison(0.9, 0.5, 0.4, 0.3, 0.5, 0.001, 0.95),
    by_label=(
        LabelFinding("city", 30, SURE, SURE, SURE, 0.4),
        LabelFinding(NASTY, 1, NONE, NONE, NONE, 0),
    ),
    confusion=confusion(GOLD, PREDICTED),
    calibration=calibration(GOLD, MARGINALS, predicted=PREDICTED, samples=20),
    errors=ErrorFindings(
        errors_worth_a_look(GOLD, MARGINALS, predicted=PREDICTED, ids=[NASTY, None, None]),
        (f"[{NASTY}] now", None),
    ),
    history=((0.1, 900.0), (0.2, 300.0), (0.3, 120.0)),
    converged=True,
    train_seconds=1.5,
    label_seconds=0.01,
    examples=(
        Example(("to", "rome"), ("O", "B-city"), ("O", "B-city")),
        Example((NASTY, "rome"), ("O", "B-city"), ("B-city", "I-city")),
    ),
)


def whole(findings=FINDINGS):
    return page([slot_section(findings)], "some data", WHEN, "0.1.0")


class Balanced(HTMLParser):
    """Notes elements that are closed in the wrong order, and all that would be loaded."""

    def __init__(self):
        super().__init__()
        self.open, self.loads, self.names = [], [], []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self.loads += [value for name, value in attrs if name in {"src", "href", "style"}]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(html):
    found = Balanced()
    found.feed(html)
    assert found.open == []
    return found


def test_every_element_is_closed_and_nothing_is_loaded():
    found = parsed(whole())
    assert not {"script", "link", "img", "iframe"} & set(found.names)
    assert [value for value in found.loads if not value.startswith("#")] == []
    assert not re.search(r"url\(|@import|https?:", whole())


def test_what_is_shown_is_escaped():
    html = whole()
    assert NASTY not in html
    assert "&lt;script&gt;alert(" in html


@given(st.text(max_size=30))
def test_text_comes_back_as_it_was(text):
    drawn = str(element("p", text, class_=text))
    assert re.fullmatch(r'<p class="[^"<]*">[^<]*</p>', drawn, re.DOTALL)


def test_numbers_of_attributes_are_short():
    assert str(element("rect", x=1 / 3, y=2.0, note=None)) == '<rect x="0.33" y="2"></rect>'


def test_pictures_are_xml_with_title_and_description():
    for svg in re.findall(r"<svg.*?</svg>", whole(), re.DOTALL):
        tree = ET.fromstring(svg)
        assert [child.tag for child in tree][:2] == ["title", "desc"]
        assert tree.get("role") == "img"
        assert all(child.text for child in list(tree)[:2])


def test_the_first_numbers_stand_first():
    html = whole()
    assert html.index("90.0%") < html.index("<h3>")
    assert "+40.0 points" in html
    assert "100 utterances and tested on 50 others" in html


def test_examples_show_both_readings_where_they_differ():
    html = whole()
    assert html.count("<dt>true and given</dt>") == 1
    assert html.count("<dt>given</dt>") == 1
    assert "rome <small>city</small>" in html


def test_what_people_said_is_withheld_and_the_report_says_why():
    errors = replace(FINDINGS.errors, texts=(None, None))
    html = whole(replace(FINDINGS, examples=None, errors=errors))
    assert "No utterances are shown" in html
    assert "A text is shown only if enough different people sent it" in html
    assert ">Text<" not in html
    assert "rome" not in html


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"by_label": ()}, "have no slots"),
        ({"confusion": confusion(GOLD, GOLD)}, "every slot of the test data was found"),
        (
            {"errors": ErrorFindings(errors_worth_a_look(GOLD, MARGINALS, predicted=GOLD), ())},
            "every label is right",
        ),
        ({"converged": False}, "stopped at its limit"),
        ({"history": ((0.1, 900.0),)}, "after 0 iterations"),
    ],
)
def test_little_data_give_a_report_too(change, said):
    html = whole(replace(FINDINGS, **change))
    parsed(html)
    assert said in html


def test_many_slots_are_all_in_the_table_and_the_first_in_the_picture():
    many = tuple(LabelFinding(f"slot{at}", 90 - at, SURE, SURE, SURE, 0) for at in range(80))
    html = whole(replace(FINDINGS, by_label=many))
    assert html.count('class="bar"') == 30
    assert "slot79" in html
    assert "F1 of 30 of 80 slots" in html


def test_sections_are_listed_when_there_are_several():
    one = Section("a", "First", (Fact("x", "1"),), Markup(""))
    two = Section("b", "Second", (), Markup(""))
    assert "<nav" not in page([one], "s", WHEN, "1")
    assert '<a href="#b">Second</a>' in page([one, two], "s", WHEN, "1")


def test_the_same_findings_give_the_same_bytes():
    assert whole() == whole()


def test_a_table_says_which_cells_name_rows_and_columns():
    drawn = str(table(["a", "b"], [["x", "1"]], "c", frozenset({1})))
    assert '<th scope="row">x</th><td class="number">1</td>' in drawn


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_round_marks_reach_around_all_values(values):
    marks = round_marks(values)
    spacing = (marks[-1] - marks[0]) / (len(marks) - 1)
    assert marks[0] - spacing * 1e-6 <= min(values)
    assert max(values) <= marks[-1] + spacing * 1e-6
    assert 2 <= len(marks) <= 9


def test_a_curve_leaves_out_what_is_not_finite():
    drawn = str(curve([(0, float("inf")), (1, 2.0), (2, 1.0)], "t", "d", "x", "y"))
    assert "inf" not in drawn
    parsed(str(curve([], "t", "d", "x", "y")))
    parsed(str(curve([(0, 3.0)], "t", "d", "x", "y")))


def test_long_names_are_cut_in_the_picture():
    drawn = str(bars([Bar("x" * 80, 0.5)], "t", "d"))
    assert "x" * 32 + "…" in drawn
    assert "x" * 33 not in drawn


def test_a_report_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "report.html"
    write_page(path, whole())
    assert path.read_text(encoding="utf-8") == whole()
    with pytest.raises(OutputExistsError):
        write_page(path, "other", overwrite=False)
    with pytest.raises(FormatError, match="no such folder"):
        write_page(tmp_path / "none" / "report.html", whole())
    with pytest.raises(FormatError, match="a folder has that name"):
        write_page(tmp_path, whole())
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
