"""How sure a score or a difference of scores is: bootstrap over sequences, or groups of them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.estimator.chance import RandomState
from purport.estimator.constraints import OneOf, check_parameters
from purport.measure.counts import (
    LABEL_MEASURES,
    LEVELS,
    MEASURES,
    SUPPORT,
    Labels,
    Level,
    Measure,
    Totals,
    counted,
    of_labels,
)
from purport.measure.resampling import (
    FEWEST,
    check_draws,
    group_numbers,
    percentiles,
    resampled,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Interval:
    """A value, and between which bounds the bootstrap puts it.

    Attributes
    ----------
    value : float
        The measure of the data as they are.
    low, high : float
        Percentiles of the measure over the draws; NaN where too little was met to tell.
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

    @property
    def too_few(self) -> bool:
        """Whether there are no bounds: what is measured was met fewer than five times."""
        return math.isnan(self.low)


@dataclass(frozen=True)
class Comparison:
    """Two systems scored on the same sequences.

    Attributes
    ----------
    a, b : float
        The measure of each.
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


@dataclass(frozen=True)
class LabelIntervals:
    """How sure the scores of one label are.

    Examples
    --------
    >>> sure = Interval(1.0, 0.9, 1.0, 0.95)
    >>> LabelIntervals(sure, sure, sure).f1.low
    0.9
    """

    precision: Interval
    recall: Interval
    f1: Interval


@dataclass(frozen=True)
class ScoreIntervals:
    """How sure scores are; see `score_intervals`.

    Attributes
    ----------
    overall : dict of Interval
        By measure.
    by_label : dict of LabelIntervals
        By label.

    Examples
    --------
    >>> told = score_intervals([["B-day"]], [["B-day"]], samples=10)
    >>> told.overall["f1"].low, list(told.by_label)
    (1.0, ['day'])
    """

    overall: dict[Measure, Interval]
    by_label: dict[str, LabelIntervals]


@dataclass(frozen=True)
class ScoreComparisons:
    """How two systems differ; see `score_comparisons`.

    Attributes
    ----------
    overall : dict of Comparison
        By measure.
    by_label : dict of Comparison
        F1 of each label. The p-values are those of one label each, not corrected for how many
        labels are looked at.

    Examples
    --------
    >>> told = score_comparisons([["B-day"]], [["B-day"]], [["O"]], samples=10)
    >>> told.overall["token_accuracy"].difference, told.by_label["day"].difference
    (1.0, 1.0)
    """

    overall: dict[Measure, Comparison]
    by_label: dict[str, Comparison]


def bootstrap_interval(
    gold: Labels,
    predicted: Labels,
    statistic: Measure = "f1",
    samples: int = 2000,
    random_state: RandomState = 0,
    *,
    confidence: float = 0.95,
    groups: Sequence[Hashable] | None = None,
    level: Level = "spans",
) -> Interval:
    """Return one measure with its percentile interval.

    Parameters
    ----------
    gold, predicted : list of lists of str
        Labels, as `slot_scores` or `token_scores` takes them.
    statistic : str
        What is computed on each draw: "f1", "precision" or "recall" of all labels together; their
        means over labels, "macro_f1", "macro_precision" and "macro_recall"; "weighted_f1", weighted
        by how often a label is gold; "class_accuracy", the mean recall of the gold labels;
        "token_accuracy" or "exact_match".
    samples : int
        B, the number of draws.
    random_state : int, Generator or None
        Where chance comes from.
    confidence : float
        The share of the draws inside the interval.
    groups : sequence, optional
        The user, session or day of each sequence: draws then take whole groups.
    level : "spans" or "tokens"
        Whether labels are counted as spans of BIO tags, or at each position.

    Examples
    --------
    >>> gold = [["B-city"], ["B-day"], ["O"]] * 20
    >>> bootstrap_interval(gold, gold).low
    1.0
    """
    _check("bootstrap_interval", samples, confidence, level, statistic)
    totals, drawn, _ = _draws(gold, (predicted,), level, samples, random_state, groups)
    return intervals_of(MEASURES[statistic](totals[0]), MEASURES[statistic](drawn[0]), confidence)[
        0
    ]


def paired_bootstrap(
    gold: Labels,
    a: Labels,
    b: Labels,
    statistic: Measure = "f1",
    samples: int = 2000,
    random_state: RandomState = 0,
    *,
    confidence: float = 0.95,
    groups: Sequence[Hashable] | None = None,
    level: Level = "spans",
) -> Comparison:
    """Compare two systems on the same sequences by one measure.

    Parameters
    ----------
    gold, a, b : list of lists of str
        Gold labels and the predictions of both systems.
    statistic, samples, random_state, confidence, groups, level
        As in `bootstrap_interval`; each draw takes the same sequences for both systems.

    Examples
    --------
    >>> gold = [["B-city"], ["B-day"], ["O"]] * 20
    >>> worse = [["O"], ["B-day"], ["O"]] * 20
    >>> told = paired_bootstrap(gold, gold, worse)
    >>> told.difference > 0.3, told.p_value < 0.01
    (True, True)
    """
    _check("paired_bootstrap", samples, confidence, level, statistic)
    totals, drawn, _ = _draws(gold, (a, b), level, samples, random_state, groups)
    score = MEASURES[statistic]
    return comparisons_of(
        [score(one) for one in totals], [score(one) for one in drawn], confidence
    )[0]


def score_intervals(
    gold: Labels,
    predicted: Labels,
    *,
    level: Level = "spans",
    samples: int = 1000,
    random_state: RandomState = 0,
    confidence: float = 0.95,
    groups: Sequence[Hashable] | None = None,
) -> ScoreIntervals:
    """Return the intervals of all measures and of the scores of each label, from the same draws.

    The interval of a label is that of the draws in which it occurs. One that is gold fewer than
    five times has none: its bounds are NaN.

    Parameters
    ----------
    gold, predicted, level, samples, random_state, confidence, groups
        As in `bootstrap_interval`.

    Examples
    --------
    >>> gold = [["buy", "buy"], ["learn"]] * 20
    >>> told = score_intervals(gold, [["buy", "learn"], ["learn"]] * 20, level="tokens")
    >>> told.overall["token_accuracy"].value, told.by_label["learn"].recall.value
    (0.6666666666666666, 1.0)
    """
    _check("score_intervals", samples, confidence, level)
    totals, drawn, labels = _draws(gold, (predicted,), level, samples, random_state, groups)
    overall = {
        name: intervals_of(score(totals[0]), score(drawn[0]), confidence)[0]
        for name, score in MEASURES.items()
    }
    few = totals[0].of_labels(SUPPORT) < FEWEST
    each = []
    for name in LABEL_MEASURES:
        draws = of_labels(name, drawn[0], nothing=math.nan)
        draws[:, few] = math.nan
        each.append(intervals_of(of_labels(name, totals[0]), draws, confidence))
    by_label = zip(labels, zip(*each, strict=True), strict=True)
    return ScoreIntervals(overall, {label: LabelIntervals(*told) for label, told in by_label})


def score_comparisons(
    gold: Labels,
    a: Labels,
    b: Labels,
    *,
    level: Level = "spans",
    samples: int = 1000,
    random_state: RandomState = 0,
    confidence: float = 0.95,
    groups: Sequence[Hashable] | None = None,
) -> ScoreComparisons:
    """Compare two systems by all measures and by the F1 of each label, from the same draws.

    Parameters
    ----------
    gold, a, b, level, samples, random_state, confidence, groups
        As in `paired_bootstrap`.

    Examples
    --------
    >>> gold = [["buy", "buy"], ["learn"]] * 20
    >>> told = score_comparisons(gold, gold, [["buy", "learn"], ["learn"]] * 20, level="tokens")
    >>> round(told.by_label["learn"].difference, 3), told.by_label["learn"].p_value < 0.01
    (0.333, True)
    """
    _check("score_comparisons", samples, confidence, level)
    totals, drawn, labels = _draws(gold, (a, b), level, samples, random_state, groups)
    overall = {
        name: comparisons_of(list(map(score, totals)), list(map(score, drawn)), confidence)[0]
        for name, score in MEASURES.items()
    }
    each = comparisons_of(
        [of_labels("f1", one) for one in totals],
        [of_labels("f1", one) for one in drawn],
        confidence,
    )
    return ScoreComparisons(overall, dict(zip(labels, each, strict=True)))


def _check(
    owner: str, samples: int, confidence: float, level: str, statistic: str | None = None
) -> None:
    check_parameters(owner, {"level": level}, {"level": OneOf(LEVELS)})
    if statistic is not None:
        check_parameters(owner, {"statistic": statistic}, {"statistic": OneOf(tuple(MEASURES))})
    check_draws(owner, samples, confidence)


def _draws(
    gold: Labels,
    systems: Sequence[Labels],
    level: Level,
    samples: int,
    random_state: RandomState,
    groups: Sequence[Hashable] | None,
) -> tuple[list[Totals], list[Totals], list[str]]:
    """Return of each system the sums of the data and those of the draws, and the labels."""
    from scipy.sparse import hstack

    names = ("predicted",) if len(systems) == 1 else ("a", "b")
    found = [
        counted(gold, system, level, name) for system, name in zip(systems, names, strict=True)
    ]
    labels = sorted({label for counts in found for label in counts.labels})
    numbers = group_numbers(groups, len(gold))
    # Side by side, so that a draw takes the same sequences for all systems.
    rows = hstack([counts.matrix(labels, numbers) for counts in found], format="csr")
    total, drawn = np.asarray(rows.sum(axis=0)).ravel(), resampled(rows, samples, random_state)

    def parted(sums: NDArray[np.float64]) -> list[Totals]:
        return [Totals(part) for part in np.split(sums, len(systems), axis=-1)]

    return parted(total), parted(drawn), labels


def intervals_of(
    values: NDArray[np.float64], draws: NDArray[np.float64], confidence: float
) -> list[Interval]:
    """Return the percentile interval of each value, of which there are draws (B,) or (B, values).

    Examples
    --------
    >>> told = intervals_of(np.array(2.0), np.array([1.0, 3.0]), 0.5)[0]
    >>> (told.low, told.value, told.high)
    (1.5, 2.0, 2.5)
    """
    low, high = percentiles(draws, confidence)
    bounds = zip(*map(_listed, (values, low, high)), strict=True)
    return [Interval(value, below, above, confidence) for value, below, above in bounds]


def comparisons_of(
    values: Sequence[NDArray[np.float64]], draws: Sequence[NDArray[np.float64]], confidence: float
) -> list[Comparison]:
    """Compare the values of two systems, given those of each in the same draws.

    Examples
    --------
    >>> values, draws = [np.array(2.0), np.array(1.0)], [np.array([2.0, 2.0]), np.array([1.0, 1.0])]
    >>> comparisons_of(values, draws, 0.95)[0].difference
    1.0
    """
    difference, drawn = values[0] - values[1], draws[0] - draws[1]
    low, high = percentiles(drawn, confidence)
    # Rounding must not make a draw that equals the data count as less.
    extreme = np.abs(drawn - difference) >= np.abs(difference) - 1e-12
    p_values = (1 + extreme.sum(axis=0)) / (1 + len(drawn))
    columns = zip(*map(_listed, (*values, difference, low, high, p_values)), strict=True)
    return [
        Comparison(a, b, apart, below, above, p_value, confidence)
        for a, b, apart, below, above, p_value in columns
    ]


def _listed(values: NDArray[np.float64]) -> list[float]:
    listed: list[float] = np.atleast_1d(np.asarray(values, np.float64)).tolist()
    return listed
