"""The scorers equal those of sklearn-crfsuite, and are made only when asked for."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from purport import scorers
from purport.errors import DependencyError

TRUE = [["O", "x"], ["x"], ["y", "O"]]


sklearn = pytest.importorskip("sklearn.base")


class Guesser(sklearn.BaseEstimator):
    """Predicts the same whatever it is given."""

    def fit(self, X: Any, y: Any) -> Guesser:
        return self

    def predict(self, X: Any) -> list[list[str]]:
        return [["O", "y"], ["x"], ["y", "O"]]


@pytest.mark.parametrize(("name", "score"), [("flat_accuracy", 0.8), ("sequence_accuracy", 2 / 3)])
def test_equal_to_the_peer(name: str, score: float) -> None:
    peer = pytest.importorskip("sklearn_crfsuite.scorers")
    mine = getattr(scorers, name)(Guesser(), TRUE, TRUE)
    assert mine == getattr(peer, name)(Guesser(), TRUE, TRUE) == pytest.approx(score)


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    monkeypatch.delitem(vars(scorers), "flat_accuracy", raising=False)
    with pytest.raises(DependencyError, match="scikit-learn"):
        scorers.flat_accuracy  # noqa: B018


def test_other_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'flat_f1'"):
        scorers.flat_f1  # noqa: B018
    assert dir(scorers) == ["flat_accuracy", "sequence_accuracy"]
