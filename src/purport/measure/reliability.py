"""How far probabilities can be believed: of labels given with 80 %, 80 % should be right.

Symbols: N sequences or groups, P positions, M bins. Marginals of a chain of labels are judged
position by position.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from purport.errors import InputError
from purport.estimator.chance import RandomState
from purport.estimator.constraints import OneOf, Whole, check_parameters
from purport.measure.bootstrap import Interval
from purport.measure.counts import Labels, shares
from purport.measure.resampling import (
    FEWEST,
    check_draws,
    group_numbers,
    percentiles,
    resampled,
)
from purport.measure.sureness import Marginals, Sureness

if TYPE_CHECKING:
    from numpy.typing import NDArray

Binning = Literal["width", "mass"]

_COUNT, _SURE, _RIGHT = range(3)


@dataclass(frozen=True)
class Bin:
    """The positions whose label was given with a probability between two bounds.

    Attributes
    ----------
    low, high : float
        The bounds; the upper one belongs to the bin.
    count : int
        Positions.
    probability : float
        The mean probability of the labels that were given.
    right : Interval
        The share of them that is right; without bounds where they are fewer than five.

    Examples
    --------
    >>> Bin(0.9, 1.0, 20, 0.95, Interval(0.9, 0.8, 1.0, 0.95)).gap
    0.04999999999999993
    """

    low: float
    high: float
    count: int
    probability: float
    right: Interval

    @property
    def gap(self) -> float:
        """By how much the model is surer than it is right."""
        return self.probability - self.right.value


@dataclass(frozen=True)
class Calibration:
    """How far the probabilities of a model can be believed; see `calibration`.

    Attributes
    ----------
    bins : tuple of Bin
        Those that are not empty, from unsure to sure.
    binning : "width" or "mass"
        Whether the bins were as wide, or held as many positions, as each other.
    error : Interval
        Expected calibration error: the mean over positions of the gap of their bin, without sign.
    brier : Interval
        The mean over positions of the sum over labels of the squared difference between the
        probability and 1 for the gold label, 0 for all others: 0 is best, 2 worst.
    log_loss : Interval
        The mean of -log(probability of the gold label), over the gold labels that the model knows.
    positions : int
        What was judged.
    unknown : int
        Positions without a gold label, which were left out.
    unmet : int
        Positions whose gold label the model does not know. They count as wrong; `log_loss`, which
        they would make infinite, leaves them out.

    Examples
    --------
    >>> told = calibration([["x"], ["y"]], [[{"x": 0.9, "y": 0.1}], [{"x": 0.1, "y": 0.9}]])
    >>> round(told.error.value, 3), told.bins[0].right.value
    (0.1, 1.0)
    """

    bins: tuple[Bin, ...]
    binning: Binning
    error: Interval
    brier: Interval
    log_loss: Interval
    positions: int
    unknown: int
    unmet: int

    def table(self) -> str:
        """Return the bins as lines of text.

        Examples
        --------
        >>> print(calibration([["x"]], [[{"x": 0.8, "y": 0.2}]]).table())
        given with   count   mean   right  95% interval
        70% to 80%       1  80.0%  100.0%  too few
        """
        width = max(len(_edge(bound)) for each in self.bins for bound in (each.low, each.high))
        ranges = [
            f"{_edge(each.low):>{width}} to {_edge(each.high):>{width}}" for each in self.bins
        ]
        return "\n".join(
            [
                f"{'given with':{2 * width + 4}}   count   mean   right"
                f"  {self.error.confidence:.0%} interval",
                *(
                    f"{said} {each.count:7d} {each.probability:6.1%}  {each.right.value:6.1%}"
                    + ("  too few" if each.right.too_few else _bounds(each.right))
                    for said, each in zip(ranges, self.bins, strict=True)
                ),
            ]
        )


def calibration(
    gold: Labels,
    marginals: Marginals | Sureness,
    classes: Sequence[str] | None = None,
    predicted: Labels | None = None,
    *,
    bins: int = 10,
    binning: Binning = "width",
    samples: int = 1000,
    random_state: RandomState = 0,
    confidence: float = 0.95,
    groups: Sequence[Hashable] | None = None,
) -> Calibration:
    """Compare the probabilities of labels with how often they are right.

    Parameters
    ----------
    gold : list of lists of str
        Positions whose gold label is None are left out and counted.
    marginals : list
        A list of {label: probability} a sequence, as `predict_marginals` gives, or an array (T, L)
        a sequence with `classes`, as `predict_proba` gives; or a `Sureness` made of them.
    classes : list of str, optional
        The labels of the columns of arrays.
    predicted : list of lists of str, optional
        The labels that were given; without it the most probable one at each position.
    bins : int
        How many.
    binning : "width" or "mass"
        Equally wide, from 0 to 1, or with equally many positions.
    samples, random_state, confidence, groups
        Of the bootstrap, as in `bootstrap_interval`. The bins stay as they are in all draws.

    Notes
    -----
    The calibration error is a sum of absolute values, so chance alone makes it larger, and a draw
    has more chance in it than the data: its percentiles lie too high. Its interval is therefore
    mirrored at the value (the basic bootstrap), and ends at 0.

    Examples
    --------
    >>> gold = [["buy", "learn"], ["buy", None]]
    >>> sure = [[{"buy": 0.9, "learn": 0.1}] * 2, [{"buy": 0.6, "learn": 0.4}] * 2]
    >>> told = calibration(gold, sure)
    >>> [(each.count, each.right.value) for each in told.bins], told.unknown
    ([(1, 1.0), (2, 0.5)], 1)
    """
    check_parameters(
        "calibration",
        {"bins": bins, "binning": binning},
        {"bins": Whole(low=1), "binning": OneOf(("width", "mass"))},
    )
    check_draws("calibration", samples, confidence)
    if isinstance(marginals, Sureness):
        told = marginals
    else:
        told = Sureness.of(gold, marginals, classes, predicted)
    if not len(told.given):
        raise InputError("Not one gold label is known. Give sequences with labels to compare with.")
    edges = _edges(told.given, bins, binning)
    # Rounding may leave a probability a little above 1.
    which = np.clip(np.searchsorted(edges, told.given, side="left") - 1, 0, len(edges) - 2)
    rows = _rows(told, which, len(edges) - 1, group_numbers(groups, told.sequences))
    total = np.asarray(rows.sum(axis=0))[None]
    drawn = resampled(rows, samples, random_state)
    size = len(edges) - 1
    binned, binned_draws = (sums[:, : 3 * size].reshape(-1, 3, size) for sums in (total, drawn))
    draws = shares(binned_draws[:, _RIGHT], binned_draws[:, _COUNT], nothing=math.nan)
    draws[:, binned[0, _COUNT] < FEWEST] = math.nan
    low, high = percentiles(draws, confidence)
    found = []
    for number in np.flatnonzero(binned[0, _COUNT]):
        count, sure, right = binned[0, :, number].tolist()
        share = Interval(right / count, float(low[number]), float(high[number]), confidence)
        bounds = (float(edges[number]), float(edges[number + 1]))
        found.append(Bin(*bounds, round(count), sure / count, share))
    error, drawn_error = _gaps(binned), _gaps(binned_draws)
    below, above = percentiles(drawn_error, confidence)
    value = float(error[0])
    mirrored = (max(0.0, 2 * value - float(above)), max(0.0, 2 * value - float(below)))
    return Calibration(
        tuple(found),
        binning,
        Interval(value, *mirrored, confidence),
        _mean(total, drawn, 3 * size, confidence),
        _mean(total, drawn, 3 * size + 2, confidence),
        len(told.given),
        told.unknown,
        int((~told.met).sum()),
    )


def _edges(given: NDArray[np.float64], bins: int, binning: Binning) -> NDArray[np.float64]:
    if binning == "width":
        return np.linspace(0.0, 1.0, bins + 1)
    inner = np.quantile(given, np.linspace(0.0, 1.0, bins + 1)[1:-1])
    # Many equal probabilities leave fewer bins.
    return np.unique(np.concatenate([[0.0], inner, [1.0]]))


def _rows(
    told: Sureness, which: NDArray[np.int64], size: int, groups: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the sums of each group: by bin, then those of Brier score and log loss."""
    columns = 3 * size + 4
    # Zero only where a probability is below what a float can hold.
    loss = -np.log(np.maximum(told.gold, np.finfo(np.float64).tiny)) * told.met
    ones = np.ones(len(which))
    values = (ones, told.given, told.right, told.squares, ones, loss, told.met)
    places = (which, size + which, 2 * size + which, *(3 * size + np.arange(4)))
    row = groups[told.sequence] * columns
    rows = np.zeros((int(groups.max()) + 1) * columns)
    for value, place in zip(values, places, strict=True):
        rows += np.bincount(row + place, weights=value, minlength=len(rows))
    return rows.reshape(-1, columns)


def _gaps(binned: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the expected calibration error of each row: (B, 3, M) to (B,)."""
    gaps = np.abs(binned[:, _SURE] - binned[:, _RIGHT]).sum(axis=-1)
    return shares(gaps, binned[:, _COUNT].sum(axis=-1))


def _mean(
    total: NDArray[np.float64], drawn: NDArray[np.float64], column: int, confidence: float
) -> Interval:
    """Return the mean whose sum and count stand in a column and the next one."""
    value = shares(total[:, column], total[:, column + 1])
    low, high = percentiles(shares(drawn[:, column], drawn[:, column + 1]), confidence)
    return Interval(float(value[0]), float(low), float(high), confidence)


def _bounds(interval: Interval) -> str:
    return f"  {interval.low:6.1%} to {interval.high:.1%}"


def _edge(bound: float) -> str:
    return f"{bound:.0%}" if abs(bound * 100 - round(bound * 100)) < 1e-6 else f"{bound:.2%}"
