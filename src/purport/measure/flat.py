"""The names of ``sklearn_crfsuite.metrics``: code written for it needs only the import changed.

Scores of sequences laid end to end. Those beyond accuracy are scikit-learn's, loaded when called.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from types import ModuleType
from typing import Any

from purport.errors import DependencyError, ShapeError

Sequences = Sequence[Sequence[Any]]

__all__ = [
    "flat_accuracy_score",
    "flat_classification_report",
    "flat_f1_score",
    "flat_fbeta_score",
    "flat_precision_score",
    "flat_recall_score",
    "sequence_accuracy_score",
]


def flat_accuracy_score(y_true: Sequences, y_pred: Sequences) -> float:
    """Return the share of positions with the right label.

    Examples
    --------
    >>> flat_accuracy_score([["O", "B-x"], ["O"]], [["O", "O"], ["O"]])
    0.6666666666666666
    """
    true, predicted = _flat(y_true, y_pred)
    right = sum(bool(label == guess) for label, guess in zip(true, predicted, strict=True))
    return right / len(true) if true else 0.0


def flat_precision_score(y_true: Sequences, y_pred: Sequences, **kwargs: Any) -> Any:
    """Return scikit-learn's ``precision_score`` of all positions.

    Examples
    --------
    >>> float(flat_precision_score([["O", "x"]], [["x", "x"]], labels=["x"], average="micro"))
    0.5
    """
    return _sklearn().precision_score(*_flat(y_true, y_pred), **kwargs)


def flat_recall_score(y_true: Sequences, y_pred: Sequences, **kwargs: Any) -> Any:
    """Return scikit-learn's ``recall_score`` of all positions.

    Examples
    --------
    >>> float(flat_recall_score([["O", "x"]], [["x", "x"]], labels=["x"], average="micro"))
    1.0
    """
    return _sklearn().recall_score(*_flat(y_true, y_pred), **kwargs)


def flat_f1_score(y_true: Sequences, y_pred: Sequences, **kwargs: Any) -> Any:
    """Return scikit-learn's ``f1_score`` of all positions.

    Examples
    --------
    >>> float(flat_f1_score([["O", "x"], ["x"]], [["O", "x"], ["x"]], average="weighted"))
    1.0
    """
    return _sklearn().f1_score(*_flat(y_true, y_pred), **kwargs)


def flat_fbeta_score(y_true: Sequences, y_pred: Sequences, beta: float, **kwargs: Any) -> Any:
    """Return scikit-learn's ``fbeta_score`` of all positions.

    Examples
    --------
    >>> float(flat_fbeta_score([["O", "x"]], [["O", "x"]], beta=0.5, average="macro"))
    1.0
    """
    return _sklearn().fbeta_score(*_flat(y_true, y_pred), beta=beta, **kwargs)


def flat_classification_report(
    y_true: Sequences, y_pred: Sequences, labels: Sequence[Any] | None = None, **kwargs: Any
) -> Any:
    """Return scikit-learn's ``classification_report`` of all positions.

    Examples
    --------
    >>> "precision" in flat_classification_report([["O", "x"]], [["O", "x"]])
    True
    """
    return _sklearn().classification_report(*_flat(y_true, y_pred), labels=labels, **kwargs)


def sequence_accuracy_score(y_true: Sequences, y_pred: Sequences) -> float:
    """Return the share of sequences that are right at every position.

    Examples
    --------
    >>> sequence_accuracy_score([["O", "x"], ["x"]], [["O", "O"], ["x"]])
    0.5
    """
    if len(y_true) != len(y_pred):
        raise ShapeError.lengths("y_pred", len(y_pred), "y_true", len(y_true))
    pairs = zip(y_true, y_pred, strict=True)
    right = sum(list(labels) == list(guesses) for labels, guesses in pairs)
    return right / len(y_true) if len(y_true) else 0.0


def _flat(y_true: Sequences, y_pred: Sequences) -> tuple[list[Any], list[Any]]:
    true, predicted = list(chain.from_iterable(y_true)), list(chain.from_iterable(y_pred))
    if len(true) != len(predicted):
        raise ShapeError.lengths("y_pred, flat,", len(predicted), "y_true", len(true))
    return true, predicted


def _sklearn() -> ModuleType:
    try:
        import sklearn.metrics
    except ModuleNotFoundError:
        raise DependencyError.needed("scikit-learn", "This score") from None
    metrics: ModuleType = sklearn.metrics
    return metrics
