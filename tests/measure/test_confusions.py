"""What was taken for what, against scikit-learn and cases made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.errors import InputError, ParameterError
from purport.measure import confusion, slot_scores

LABEL = st.sampled_from(["a", "b", "c"])
ROWS = st.lists(st.lists(st.tuples(LABEL | st.none(), LABEL), max_size=4), min_size=1, max_size=6)
TAG = st.sampled_from(["O", "B-x", "I-x", "B-y"])
TAGGED = st.lists(st.lists(st.tuples(TAG, TAG), max_size=5), min_size=1, max_size=5)


@given(rows=ROWS)
def test_labels_are_confused_as_scikit_learn_counts_it(rows: list[list[tuple[str, str]]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    told = confusion(
        [[true for true, _ in row] for row in rows], [[p for _, p in row] for row in rows], "tokens"
    )
    known = [(true, guess) for row in rows for true, guess in row if true is not None]
    assert told.unknown == sum(map(len, rows)) - len(known)
    assert sum(cell.count for cell in told.cells) == len(known)
    if len(told.labels) > 1:
        theirs = metrics.confusion_matrix(*zip(*known, strict=True))
        assert told.matrix().tolist() == theirs.tolist()


@given(rows=TAGGED)
def test_sums_of_spans_are_those_of_the_scores(rows: list[list[tuple[str, str]]]) -> None:
    gold = [[true for true, _ in row] for row in rows]
    predicted = [[guess for _, guess in row] for row in rows]
    told, scores = confusion(gold, predicted), slot_scores(gold, predicted)
    for row in scores.by_label:
        cells = [cell for cell in told.cells if cell.gold == row.label]
        assert sum(cell.count for cell in cells) == row.support
        right = [cell.count for cell in cells if cell.right]
        assert sum(right) == row.support * row.recall
    wrong = sum(cell.count for cell in told.mistakes if cell.predicted is None)
    assert wrong <= scores.support


def test_spans_are_paired_with_what_covers_most_of_them() -> None:
    gold = [["B-a", "I-a", "O", "B-b"], ["B-a", "I-a"], ["O", "O"], ["B-b"], ["B-c"] * 2]
    predicted = [["B-a", "O", "O", "B-a"], ["O", "O"], ["O", "B-b"], ["B-b"], ["B-c"] * 2]
    told = confusion(gold, predicted)
    assert {(cell.gold, cell.predicted, cell.right, cell.count) for cell in told.cells} == {
        ("a", "a", False, 1),
        ("a", None, False, 1),
        ("b", "a", False, 1),
        (None, "b", False, 1),
        ("b", "b", True, 1),
        ("c", "c", True, 2),
    }
    words = {(cell.gold, cell.predicted): cell.words() for cell in told.mistakes}
    assert words["a", "a"] == "wrong borders"
    assert words["a", None] == "not found"
    assert words["b", "a"] == "taken for another"
    assert words[None, "b"] == "found where there is none"
    assert told.labels == ["a", "b", "c"]
    assert told.matrix().tolist() == [[1, 0, 0, 1], [1, 1, 0, 0], [0, 0, 2, 0], [0, 1, 0, 0]]
    assert told.most_confused(1) == ["a"]


def test_examples_are_the_first_sequences_each_once() -> None:
    told = confusion([["x", "x"]] * 9, [["y", "y"]] * 9, "tokens")
    assert [(cell.count, cell.examples) for cell in told.cells] == [(18, (0, 1, 2))]


def test_a_table_shows_the_labels_that_are_confused_most() -> None:
    names = [f"label{number}" for number in range(30)]
    told = confusion([names], [names[1:] + names[:1]], "tokens")
    lines = told.table(5).splitlines()
    assert len(lines) == 6
    assert len({len(line) for line in lines}) == 1
    assert max(map(len, lines)) <= 80


def test_what_cannot_be_counted() -> None:
    with pytest.raises(InputError, match="unknown tag"):
        confusion([[None]], [["O"]])
    with pytest.raises(ParameterError, match="level"):
        confusion([["a"]], [["a"]], "words")  # type: ignore[arg-type]
