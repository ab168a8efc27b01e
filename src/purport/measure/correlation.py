"""How far two orders of the same things agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rank_correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return Spearman's rank correlation; NaN where one of both says the same of all.

    Examples
    --------
    >>> rank_correlation(np.array([1.0, 2.0, 9.0]), np.array([0.1, 0.2, 0.3]))
    1.0
    >>> round(rank_correlation(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])), 3)
    0.866
    """
    first, second = (ranks - ranks.mean() for ranks in (_mean_ranks(a), _mean_ranks(b)))
    spread = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / spread if spread > 0.0 else float("nan")


def _mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each value; equal ones share the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    means: NDArray[np.float64] = np.cumsum(counts) - (counts - 1) / 2.0
    return means[places]
