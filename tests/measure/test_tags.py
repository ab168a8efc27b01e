"""Spans of tags against a slow reading of the rules of conlleval, position by position."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.measure.tags import Span, spans

TAGS = st.sampled_from(["O", "B-x", "I-x", "E-x", "S-x", "B-y", "I-y", "E-y", "S-y"])


def split(tag: str) -> tuple[str, str]:
    return ("O", "") if tag == "O" else (tag[0], tag[2:])


def ends_before(previous: str, current: str) -> bool:
    """Return whether a span that `previous` is in ends there (the conlleval table)."""
    (old, old_name), (new, new_name) = split(previous), split(current)
    if old in "ES":
        return True
    if old in "BI" and new in "BSO":
        return True
    return old != "O" and old_name != new_name


def starts_at(previous: str, current: str) -> bool:
    """Return whether a span starts at `current` (the conlleval table)."""
    (old, old_name), (new, new_name) = split(previous), split(current)
    if new in "BS":
        return True
    if old in "ESO" and new in "EI":
        return True
    return new != "O" and old_name != new_name


def slow_spans(tags: list[str]) -> list[Span]:
    found = []
    start = 0
    for position, (previous, current) in enumerate(zip(["O", *tags], [*tags, "O"], strict=True)):
        if previous != "O" and ends_before(previous, current):
            found.append(Span(split(previous)[1], start, position))
        if starts_at(previous, current):
            start = position
    return found


@given(tags=st.lists(TAGS, max_size=12))
def test_spans_follow_the_table(tags: list[str]) -> None:
    assert spans(tags) == slow_spans(tags)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ([], []),
        (["O", None], []),
        (["I-x", "I-x", "O", "I-x"], [("x", 0, 2), ("x", 3, 4)]),
        (["B-x", "B-x", "I-x"], [("x", 0, 1), ("x", 1, 3)]),
        (["B-x", None, "I-x"], [("x", 0, 1), ("x", 2, 3)]),
        (["B-x", "I-y"], [("x", 0, 1), ("y", 1, 2)]),
        (["B-a-b.c", "I-a-b.c"], [("a-b.c", 0, 2)]),
        (["B", "I", "O", "I"], [("_", 0, 2), ("_", 3, 4)]),
        (["Bus", "Bus", "Origin", "x-y"], [("Bus", 0, 2), ("Origin", 2, 3), ("x-y", 3, 4)]),
    ],
)
def test_spans_of_examples(tags: list[str | None], expected: list[tuple[str, int, int]]) -> None:
    assert spans(tags) == expected
