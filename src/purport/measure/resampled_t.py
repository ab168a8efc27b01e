"""The t test on differences over folds or repeated splits, corrected for what their data share.

Nadeau and Bengio, "Inference for the Generalization Error", Machine Learning 52 (2003): training
sets of different splits overlap, so that the differences vary less than they should. Symbols: n
differences, their mean m and variance v, and r, the test records for each one trained on:
t = m / sqrt((1 / n + r) v), with n - 1 degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from purport.errors import InputError
from purport.estimator.constraints import Number, check_parameters


@dataclass(frozen=True)
class ResampledT:
    """What the test says; see `corrected_resampled_t`.

    Attributes
    ----------
    mean : float
        Of the differences.
    low, high : float
        The confidence interval of the mean.
    t : float
        The statistic; infinite if all differences are the same and not 0.
    p_value : float
        Two-sided.
    confidence : float
        That of the interval.

    Examples
    --------
    >>> corrected_resampled_t([0.0, 0.0], 0.1).p_value
    1.0
    """

    mean: float
    low: float
    high: float
    t: float
    p_value: float
    confidence: float


def corrected_resampled_t(
    differences: Sequence[float], test_share: float, *, confidence: float = 0.95
) -> ResampledT:
    """Test whether the mean of differences over random splits or folds is 0.

    Parameters
    ----------
    differences : list of float
        Between two systems, one a split: both were trained and tested on the same data each time.
    test_share : float
        The share of the data that each split tests on: 0.1 for ten folds. 0 gives the usual paired
        t test, which finds differences where there are none if training sets overlap.
    confidence : float
        That of the interval.

    Examples
    --------
    >>> differences = [0.02, 0.01, 0.03, 0.02, 0.01, 0.02, 0.03, 0.01, 0.02, 0.02]
    >>> plain, corrected = (corrected_resampled_t(differences, share) for share in (0.0, 0.1))
    >>> plain.p_value < corrected.p_value < 0.01
    True
    """
    from scipy.special import stdtr, stdtrit

    check_parameters(
        "corrected_resampled_t",
        {"test_share": test_share, "confidence": confidence},
        {
            "test_share": Number(low=0, high=1, below=True),
            "confidence": Number(low=0, high=1, above=True, below=True),
        },
    )
    values = np.asarray(differences, np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.all(np.isfinite(values)):
        raise InputError("differences must be at least two finite numbers, one a split.")
    count, mean = len(values), float(values.mean())
    ratio = test_share / (1 - test_share)
    spread = math.sqrt((1 / count + ratio) * float(values.var(ddof=1)))
    without_spread = math.copysign(math.inf, mean) if mean else 0.0
    t = mean / spread if spread else without_spread
    p_value = 2 * float(stdtr(count - 1, -abs(t)))
    reach = float(stdtrit(count - 1, (1 + confidence) / 2)) * spread
    return ResampledT(mean, mean - reach, mean + reach, t, p_value, confidence)
