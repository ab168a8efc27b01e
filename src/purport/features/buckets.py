"""Numbers into buckets: fixed ones that double, for counts and durations, and learnt quantiles."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DOUBLINGS = 40
"""What is beyond 2 to this power (in seconds, some 35 000 years) is in the last bucket."""

BUCKETS = ["unknown", "<0", "0", *(f"<={2**power}" for power in range(DOUBLINGS + 1))]
"""The names of the buckets; each goes on where the one before it ends."""

KEPT_BITS = 10
"""Learnt numbers are looked at to one part in a thousand, so that few are different."""


def doubling(numbers: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the number in `BUCKETS` of each number; NaN is unknown.

    Examples
    --------
    >>> [BUCKETS[code] for code in doubling(np.array([0, 0.5, 2, 3, 60, -1, np.nan])).tolist()]
    ['0', '<=1', '<=2', '<=4', '<=64', '<0', 'unknown']
    """
    mantissa, power = np.frexp(numbers)
    power = np.where(mantissa == 0.5, power - 1, power)
    power = np.where(numbers == np.inf, DOUBLINGS, np.clip(power, 0, DOUBLINGS))
    codes = np.where(numbers > 0, 3 + power, np.where(numbers == 0, 2, 1))
    return np.where(np.isnan(numbers), 0, codes).astype(np.int32)


def rounded(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers to about three digits, so that those of a large log repeat.

    Examples
    --------
    >>> rounded(np.array([3, 0.123456, 1234567.0])).tolist()
    [3.0, 0.1234130859375, 1234944.0]
    """
    mantissa, power = np.frexp(numbers)
    with np.errstate(over="ignore"):  # the largest number there is becomes infinity
        whole = np.ldexp(np.round(np.ldexp(mantissa, KEPT_BITS)), power - KEPT_BITS)
    plain: NDArray[np.float64] = whole + 0.0  # one zero of -0.0 and 0.0
    return plain


def quantile_cuts(
    values: NDArray[np.float64], counts: NDArray[np.int64], bins: int
) -> NDArray[np.float64]:
    """Return where to cut so that about equally many numbers are in each of at most `bins` bins.

    Parameters
    ----------
    values : (different values,) float64
        Ascending.
    counts : (different values,) int64
        How often each occurs.
    bins : int
        The most bins.

    Examples
    --------
    >>> quantile_cuts(np.array([0.0, 1, 2, 3]), np.array([90, 4, 4, 2]), bins=4).tolist()
    [0.0]
    >>> quantile_cuts(np.array([0.0, 1, 2, 3]), np.array([1, 1, 1, 1]), bins=2).tolist()
    [1.0]
    """
    # In whole numbers, since shares would round one way here and another way there.
    reached = np.cumsum(counts) * bins
    wanted = np.arange(1, bins) * counts.sum()
    cuts = np.unique(values[np.searchsorted(reached, wanted)]) if len(values) else values
    return cuts[cuts < values[-1]] if len(values) else cuts


def bins_of(numbers: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the bin of each number; a cut itself belongs to the bin below it.

    Examples
    --------
    >>> bins_of(np.array([0.0, 1, 5]), np.array([1.0, 4.0])).tolist()
    [0, 0, 2]
    """
    return np.searchsorted(cuts, rounded(numbers)).astype(np.int64)


def bin_names(cuts: NDArray[np.float64]) -> list[str]:
    """Return how the bins between cuts are written.

    Examples
    --------
    >>> bin_names(np.array([1.0, 4.0]))
    ['..1', '1..4', '4..']
    """
    ends = ["", *(f"{cut:.4g}" for cut in cuts), ""]
    return [f"{low}..{high}" for low, high in pairwise(ends)]
