"""Our CRF taken apart for measuring: the very objective that `fit` hands to the optimiser."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from purport.errors import ConvergenceWarning
from purport.optimize.lbfgs import Objective, minimise
from purport.sequence.crf import CRF
from purport.sequence.likelihood import NegativeLogLikelihood

if TYPE_CHECKING:
    from numpy.typing import NDArray


def objective_of(crf: CRF, X: Any, y: Any) -> tuple[NegativeLogLikelihood, NDArray[np.float64]]:
    """Return what `crf.fit(X, y)` would minimise, and from where."""
    with mock.patch("purport.sequence.crf.train") as train:
        crf.fit(X, y)
    _, objective, start, *_ = train.call_args.args
    return objective, start


def on_the_way(
    objective: Objective, start: NDArray[np.float64], steps: int = 8
) -> NDArray[np.float64]:
    """Return weights as they are met in training: those after a few iterations."""
    x = start
    for iteration in minimise(objective, start, max_iter=steps):
        x = iteration.x
    return x


def fit(model: Any, X: Any, y: Any, **given: Any) -> Any:
    """Fit without the warning that `max_iter` was reached, where that is meant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **given)
