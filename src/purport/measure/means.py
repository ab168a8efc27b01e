"""How two systems differ in the mean of a number, such as a log-likelihood, over many things."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from purport.errors import InputError, ShapeError
from purport.estimator.chance import RandomState
from purport.measure.bootstrap import Comparison, comparisons_of
from purport.measure.resampling import check_draws, group_numbers, resampled

if TYPE_CHECKING:
    from numpy.typing import NDArray


def paired_means(
    a: Sequence[float] | NDArray[np.float64],
    b: Sequence[float] | NDArray[np.float64],
    samples: int = 2000,
    random_state: RandomState = 0,
    *,
    confidence: float = 0.95,
    groups: Sequence[Hashable] | None = None,
) -> Comparison:
    """Compare the means of two systems that were measured on the same things.

    Parameters
    ----------
    a, b : list of float
        What was measured, one number a thing.
    samples, random_state, confidence
        As in `paired_bootstrap`.
    groups : sequence, optional
        The user, query or day of each thing: draws then take whole groups.

    Examples
    --------
    >>> told = paired_means([0.5, 0.6, 0.7] * 20, [0.4, 0.5, 0.6] * 20, groups=list(range(6)) * 10)
    >>> round(told.difference, 3), told.p_value < 0.01
    (0.1, True)
    """
    check_draws("paired_means", samples, confidence)
    both = np.array([a, b], np.float64) if len(a) == len(b) else None
    if both is None:
        raise ShapeError.lengths("b", len(b), "a", len(a))
    if both.ndim != 2 or not both.size or not np.isfinite(both).all():
        raise InputError("paired_means needs at least one number of each, and all of them finite.")
    numbers = group_numbers(groups, both.shape[1])
    columns = [np.bincount(numbers, each) for each in (*both, np.ones(both.shape[1]))]
    sums = resampled(np.stack(columns, axis=1), samples, random_state)
    drawn = sums[:, :2] / sums[:, 2:]
    found = comparisons_of(list(both.mean(axis=1)[:, None]), list(drawn.T[:, :, None]), confidence)
    return found[0]
