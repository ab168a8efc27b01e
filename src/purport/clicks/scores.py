"""How well clicks are foretold: log-likelihood and perplexity.

The log-likelihood is the mean over pages of the mean over their ranks, in natural logarithms; the
perplexity at a rank is 2 to the minus mean of the logarithms to base 2 over the pages that have it,
and of all the mean over ranks.

Symbols: N pages, R ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purport.clicks.log import Log
from purport.clicks.pairs import LEAST

if TYPE_CHECKING:
    from numpy.typing import NDArray


def log_probabilities(
    probabilities: NDArray[np.float64], clicks: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the logarithm of how likely each click or skip was; nothing counts as impossible."""
    found: NDArray[np.float64] = np.log(
        np.clip(np.where(clicks, probabilities, 1.0 - probabilities), LEAST, 1.0)
    )
    return found


def page_log_likelihoods(probabilities: NDArray[np.float64], log: Log) -> NDArray[np.float64]:
    """Return the mean over its ranks for each page (N,)."""
    sums = np.add.reduceat(log_probabilities(probabilities, log.clicks), log.offsets[:-1])
    found: NDArray[np.float64] = sums / np.diff(log.offsets)
    return found


def mean_log_likelihood(probabilities: NDArray[np.float64], log: Log) -> float:
    """Return the mean over pages."""
    return float(page_log_likelihoods(probabilities, log).mean())


def perplexities(probabilities: NDArray[np.float64], log: Log) -> NDArray[np.float64]:
    """Return the perplexity at each rank (longest page,)."""
    logs = log_probabilities(probabilities, log.clicks)
    ranks = log.ranks
    found: NDArray[np.float64] = np.exp2(
        -np.bincount(ranks, logs / np.log(2.0)) / np.bincount(ranks)
    )
    return found
