"""Draws of sequences, or of groups of them, with replacement: what every interval here stands on.

What is drawn is sums of counts, so one draw is a weighted sum of rows of counts, not a pass over
the data. Symbols: N sequences or groups, B draws, C counts of each.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import ShapeError
from purport.estimator.chance import RandomState, generator_of
from purport.estimator.constraints import Number, Whole, check_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST = 5
"""What was met less often has no interval: its draws tell next to nothing."""

# How many drawn numbers are held at once.
_DRAWN_AT_ONCE = 1 << 21


def check_draws(owner: str, samples: int, confidence: float) -> None:
    """Check what all that draws is given."""
    check_parameters(
        owner,
        {"samples": samples, "confidence": confidence},
        {"samples": Whole(low=1), "confidence": Number(low=0, high=1, above=True, below=True)},
    )


def group_numbers(groups: Sequence[Hashable] | None, count: int) -> NDArray[np.int64]:
    """Return the number of each sequence's group; without groups each is one by itself."""
    if groups is None:
        return np.arange(count, dtype=np.int64)
    if len(groups) != count:
        raise ShapeError.lengths("groups", len(groups), "gold", count)
    met: dict[Hashable, int] = {}
    return np.array([met.setdefault(group, len(met)) for group in groups], np.int64)


def resampled(counts: Any, samples: int, random_state: RandomState) -> NDArray[np.float64]:
    """Return the sums of counts over draws of N rows with replacement: (B, C).

    Parameters
    ----------
    counts : (N, C) sparse matrix or array
        Sums of whole numbers are exact: they stay far below 2**53.
    samples : int
        B, the number of draws.
    random_state : int, Generator or None
        Where chance comes from.

    Examples
    --------
    >>> resampled(np.array([[1.0, 2.0]]), 2, 0).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    generator = generator_of("bootstrap", random_state)
    rows = counts.shape[0]
    at_once = max(1, _DRAWN_AT_ONCE // rows)
    sums = np.empty((samples, counts.shape[1]))
    for start in range(0, samples, at_once):
        size = min(at_once, samples - start)
        drawn = generator.integers(rows, size=(size, rows)) + np.arange(size)[:, None] * rows
        weights = np.bincount(drawn.ravel(), minlength=size * rows).reshape(size, rows)
        sums[start : start + size] = (counts.T @ weights.T.astype(np.float64)).T
    return sums


def percentiles(
    draws: NDArray[np.float64], confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds between which the middle share of the draws (B, ...) lies.

    Draws that are NaN do not count; where all are, so are the bounds.
    """
    tail = (1 - confidence) / 2
    if not np.isnan(draws).any():
        low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
        return low, high
    some = ~np.isnan(draws).all(axis=0)
    bounds = np.full((2, *draws.shape[1:]), np.nan)
    bounds[:, some] = np.nanquantile(draws[:, some], [tail, 1 - tail], axis=0)
    return bounds[0], bounds[1]
