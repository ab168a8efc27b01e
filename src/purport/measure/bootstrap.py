"""How sure a score or a difference of scores is: bootstrap over sentences, or over groups of them.

The statistics here are functions of sums of counts, so one draw is a weighted sum of rows of
counts, not a pass over the data. Symbols: N sentences or groups, B draws, C counts of each.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.errors import ShapeError
from purport.estimator.constraints import Number, OneOf, Whole, check_parameters
from purport.measure.counts import STATISTICS, Labels, Statistic, sentence_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

RandomState = int | np.random.Generator | None

# How many drawn numbers are held at once.
_DRAWN_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class Interval:
    """A value, and between which bounds the bootstrap puts it.

    Attributes
    ----------
    value : float
        The statistic of the data as they are.
    low, high : float
        Percentiles of the statistic over the draws.
    confidence : float
        The share of the draws between them.

    Examples
    --------
    >>> told = bootstrap_interval([["B-day"], ["O"]], [["B-day"], ["O"]], "exact_match")
    >>> (told.low, told.value, told.high)
    (1.0, 1.0, 1.0)
    """

    value: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True)
class Comparison:
    """Two systems scored on the same sentences.

    Attributes
    ----------
    a, b : float
        The statistic of each.
    difference : float
        a - b.
    low, high : float
        Percentiles of the difference over the draws.
    p_value : float
        Two-sided: how often a draw, centred on no difference, differs at least as much as the data.
    confidence : float
        The share of the draws between low and high.

    Examples
    --------
    >>> told = paired_bootstrap([["B-day"]], [["B-day"]], [["B-day"]])
    >>> (told.a, told.b, told.difference, told.p_value)
    (1.0, 1.0, 0.0, 1.0)
    """

    a: float
    b: float
    difference: float
    low: float
    high: float
    p_value: float
    confidence: float


def bootstrap_interval(
    gold: Labels,
    predicted: Labels,
    statistic: Statistic = "f1",
    samples: int = 2000,
    random_state: RandomState = 0,
    *,
    confidence: float = 0.95,
    groups: Sequence[Hashable] | None = None,
) -> Interval:
    """Return a statistic with its percentile interval.

    Parameters
    ----------
    gold, predicted : list of lists of str
        Tags, as `slot_scores` takes them.
    statistic : "f1", "precision", "recall", "token_accuracy" or "exact_match"
        What is computed on each draw.
    samples : int
        B, the number of draws.
    random_state : int, Generator or None
        Where chance comes from.
    confidence : float
        The share of the draws inside the interval.
    groups : sequence, optional
        The user, session or day of each sentence: draws then take whole groups.

    Examples
    --------
    >>> gold = [["B-city"], ["B-day"], ["O"]] * 20
    >>> bootstrap_interval(gold, gold).low
    1.0
    """
    _check("bootstrap_interval", statistic, samples, confidence)
    counts = _grouped(sentence_counts(gold, predicted), groups)
    score = STATISTICS[statistic]
    draws = score(_resampled(counts, samples, random_state))
    low, high = _percentiles(draws, confidence)
    return Interval(float(score(counts.sum(axis=0))), low, high, confidence)


def paired_bootstrap(
    gold: Labels,
    a: Labels,
    b: Labels,
    statistic: Statistic = "f1",
    samples: int = 2000,
    random_state: RandomState = 0,
    *,
    confidence: float = 0.95,
    groups: Sequence[Hashable] | None = None,
) -> Comparison:
    """Compare two systems on the same sentences.

    Parameters
    ----------
    gold, a, b : list of lists of str
        Gold tags and the predictions of both systems.
    statistic, samples, random_state, confidence, groups
        As in `bootstrap_interval`; each draw takes the same sentences for both systems.

    Examples
    --------
    >>> gold = [["B-city"], ["B-day"], ["O"]] * 20
    >>> worse = [["O"], ["B-day"], ["O"]] * 20
    >>> told = paired_bootstrap(gold, gold, worse)
    >>> told.difference > 0.3, told.p_value < 0.01
    (True, True)
    """
    _check("paired_bootstrap", statistic, samples, confidence)
    first, second = sentence_counts(gold, a, "a"), sentence_counts(gold, b, "b")
    width = first.shape[1]
    counts = _grouped(np.hstack([first, second]), groups)
    score = STATISTICS[statistic]
    total, drawn = counts.sum(axis=0), _resampled(counts, samples, random_state)
    score_a, score_b = float(score(total[:width])), float(score(total[width:]))
    difference = score_a - score_b
    draws = score(drawn[:, :width]) - score(drawn[:, width:])
    low, high = _percentiles(draws, confidence)
    # Rounding must not make a draw that equals the data count as less.
    extreme = np.abs(draws - difference) >= abs(difference) - 1e-12
    p_value = (1 + int(extreme.sum())) / (1 + samples)
    return Comparison(score_a, score_b, difference, low, high, p_value, confidence)


def _check(owner: str, statistic: str, samples: int, confidence: float) -> None:
    check_parameters(
        owner,
        {"statistic": statistic, "samples": samples, "confidence": confidence},
        {
            "statistic": OneOf(tuple(STATISTICS)),
            "samples": Whole(low=1),
            "confidence": Number(low=0, high=1, above=True, below=True),
        },
    )


def _grouped(counts: NDArray[np.int64], groups: Sequence[Hashable] | None) -> NDArray[np.int64]:
    """Return the counts (N, C) summed over each group."""
    if groups is None:
        return counts
    if len(groups) != len(counts):
        raise ShapeError.lengths("groups", len(groups), "gold", len(counts))
    numbers: dict[Hashable, int] = {}
    index = [numbers.setdefault(group, len(numbers)) for group in groups]
    summed = np.zeros((len(numbers), counts.shape[1]), dtype=np.int64)
    np.add.at(summed, index, counts)
    return summed


def _resampled(
    counts: NDArray[np.int64], samples: int, random_state: RandomState
) -> NDArray[np.int64]:
    """Return the sums of counts (N, C) over draws of N rows with replacement: (B, C)."""
    generator = np.random.default_rng(random_state)
    rows = len(counts)
    at_once = max(1, _DRAWN_AT_ONCE // rows)
    # float64 for the matrix product (exact: sums stay far below 2**53).
    values = counts.astype(np.float64)
    sums = np.empty((samples, counts.shape[1]), dtype=np.int64)
    for start in range(0, samples, at_once):
        size = min(at_once, samples - start)
        drawn = generator.integers(rows, size=(size, rows)) + np.arange(size)[:, None] * rows
        weights = np.bincount(drawn.ravel(), minlength=size * rows).reshape(size, rows)
        sums[start : start + size] = weights.astype(np.float64) @ values
    return sums


def _percentiles(draws: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(low), float(high)
