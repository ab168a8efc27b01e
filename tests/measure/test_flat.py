"""The flat metrics equal those of sklearn-crfsuite, and accuracy needs no scikit-learn."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.errors import DependencyError, ShapeError
from purport.measure import flat

TRUE = [["O", "x", "y"], ["x"], [], ["y", "O"]]
PREDICTED = [["O", "y", "y"], ["x"], [], ["O", "O"]]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("flat_accuracy_score", {}),
        ("flat_precision_score", {"average": "macro"}),
        ("flat_recall_score", {"average": "weighted", "labels": ["x", "y"]}),
        ("flat_f1_score", {"average": None}),
        ("flat_f1_score", {"average": "weighted", "labels": ["x"], "zero_division": 0}),
        ("flat_fbeta_score", {"beta": 0.5, "average": "micro"}),
        ("flat_classification_report", {}),
        ("flat_classification_report", {"labels": ["x", "y"], "digits": 3, "output_dict": True}),
        ("sequence_accuracy_score", {}),
    ],
)
def test_equal_to_the_peer(name: str, arguments: dict[str, Any]) -> None:
    peer = pytest.importorskip("sklearn_crfsuite.metrics")
    mine = getattr(flat, name)(TRUE, PREDICTED, **arguments)
    theirs = getattr(peer, name)(TRUE, PREDICTED, **arguments)
    if arguments.get("average", "") is None:
        mine, theirs = mine.tolist(), theirs.tolist()
    assert mine == theirs


def test_same_names_and_parameters() -> None:
    peer = pytest.importorskip("sklearn_crfsuite.metrics")
    names = [name for name in dir(peer) if name.startswith(("flat_", "sequence_"))]
    assert sorted(flat.__all__) == sorted(names)
    for name in names:
        mine = list(inspect.signature(getattr(flat, name)).parameters)
        assert mine == list(inspect.signature(getattr(peer, name)).parameters)


@given(
    rows=st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=4), max_size=5)
)
def test_accuracy_by_counting(rows: list[list[tuple[int, int]]]) -> None:
    true = [[str(label) for label, _ in row] for row in rows]
    predicted = [[str(guess) for _, guess in row] for row in rows]
    hits = [label == guess for row in rows for label, guess in row]
    assert flat.flat_accuracy_score(true, predicted) == (sum(hits) / len(hits) if hits else 0)
    whole = [a == b for a, b in zip(true, predicted, strict=True)]
    expected = sum(whole) / len(whole) if whole else 0
    assert flat.sequence_accuracy_score(true, predicted) == expected


def test_lengths_must_agree() -> None:
    with pytest.raises(ShapeError, match="length 1"):
        flat.flat_accuracy_score([["O", "O"]], [["O"]])
    with pytest.raises(ShapeError, match="length 1"):
        flat.sequence_accuracy_score([["O"], ["O"]], [["O"]])


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert flat.flat_accuracy_score(TRUE, PREDICTED) == 4 / 6
    assert flat.sequence_accuracy_score(TRUE, PREDICTED) == 0.5
    with pytest.raises(DependencyError, match="pip install scikit-learn"):
        flat.flat_f1_score(TRUE, PREDICTED, average="micro")
