"""The names of ``sklearn_crfsuite.scorers``: scorers for scikit-learn's model selection.

``flat_accuracy`` is the share of positions with the right label, ``sequence_accuracy`` that of
sequences which are right throughout. They are made when they are asked for, by scikit-learn.

Examples
--------
>>> from purport.measure import scorers
>>> scorers.flat_accuracy
make_scorer(flat_accuracy_score, response_method='predict')
"""

from __future__ import annotations

from typing import Any

from purport.errors import DependencyError
from purport.measure.flat import flat_accuracy_score, sequence_accuracy_score

_SCORES = {
    "flat_accuracy": flat_accuracy_score,
    "sequence_accuracy": sequence_accuracy_score,
}

__all__ = [*_SCORES]


def __getattr__(name: str) -> Any:
    if name not in _SCORES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from sklearn.metrics import make_scorer
    except ModuleNotFoundError:
        raise DependencyError.needed("scikit-learn", "A scorer") from None
    scorer = make_scorer(_SCORES[name])
    globals()[name] = scorer
    return scorer


def __dir__() -> list[str]:
    return sorted(__all__)
