"""Scores as the paper defines them, and how sure a gain is.

Every query is classified, so the paper's recall is accuracy: R = right / all. Its precision weighs
that of each label by how often the label is true: P = sum_i (right_i / said_i) (true_i / all). Its
F-measure is 2 P R / (P + R).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.shdcrf.data import Labels
from purport.measure.counts import (
    CORRECT,
    MEASURES,
    PREDICTED,
    SUPPORT,
    Totals,
    counted,
    shares,
)
from purport.measure.resampled_t import corrected_resampled_t
from purport.measure.resampling import group_numbers, percentiles, resampled

DRAWS = 2000
SEED = 0


class Scores(NamedTuple):
    """Of one set of predictions, or one of each draw."""

    accuracy: NDArray[np.float64]
    precision: NDArray[np.float64]
    f: NDArray[np.float64]
    macro_f: NDArray[np.float64]

    @classmethod
    def of_totals(cls, totals: Totals) -> Scores:
        right, said, true = (totals.of_labels(kind) for kind in (CORRECT, PREDICTED, SUPPORT))
        steps = true.sum(axis=-1)
        recall = shares(right.sum(axis=-1), steps)
        precision = shares((shares(right, said) * true).sum(axis=-1), steps)
        f = shares(2.0 * precision * recall, precision + recall)
        return cls(recall, precision, f, MEASURES["macro_f1"](totals))

    @classmethod
    def of(cls, gold: Labels, predicted: Labels) -> Scores:
        """Score labels.

        >>> told = Scores.of([["a", "a", "b", "c"]], [["a", "b", "b", "b"]])
        >>> [round(float(value), 4) for value in told]
        [0.5, 0.5833, 0.5385, 0.3889]
        """
        return cls.of_totals(counted(gold, predicted, "tokens").totals())


def mean_scores(folds: Sequence[tuple[Labels, Labels]]) -> Scores:
    """Return the means over folds of true and predicted labels, which is what the paper reports."""
    told = [Scores.of(gold, predicted) for gold, predicted in folds]
    return Scores(*np.mean(np.array(told), axis=0))


@dataclass(frozen=True)
class Gain:
    """By how much the F of one system is better than that of another.

    Attributes
    ----------
    relative : float
        F over F, less 1, both being means over folds.
    low, high : float
        Its 95 % interval by a paired bootstrap over people, calls or dialogues.
    paired : float
        p of the paired t test over folds, as the paper's.
    corrected : float
        p of the corrected resampled t test.
    bootstrap : float
        p of the bootstrap.
    """

    relative: float
    low: float
    high: float
    paired: float
    corrected: float
    bootstrap: float

    @property
    def spread(self) -> tuple[float, float]:
        return 100.0 * self.low, 100.0 * self.high

    @property
    def p(self) -> float:
        """The larger p of the tests on which claims rest."""
        return max(self.corrected, self.bootstrap)

    def __str__(self) -> str:
        return (
            f"p {self.paired:.2g} by the paired t test, {self.corrected:.2g} corrected,"
            f" {self.bootstrap:.2g} by the bootstrap"
        )


Fold = tuple[Labels, Labels, Labels]


def gain(folds: Sequence[Fold], groups: Sequence[Hashable]) -> Gain:
    """Compare two systems.

    Parameters
    ----------
    folds : list of (gold, ours, theirs)
        Labels of the test sessions of each fold.
    groups : list
        Of each session of all folds, one fold after the other, to whom it belongs.
    """
    ours, theirs = (
        np.array([Scores.of(fold[0], fold[which]).f for fold in folds]) for which in (1, 2)
    )
    differences = (ours - theirs).tolist()
    paired = corrected = float("nan")
    if len(folds) > 1:
        paired = corrected_resampled_t(differences, 0.0).p_value
        corrected = corrected_resampled_t(differences, 1.0 / len(folds)).p_value
    joined = [[labels for fold in folds for labels in fold[which]] for which in (0, 1, 2)]
    low, high, bootstrap = paired_gain(joined[0], joined[1], joined[2], groups)
    relative = float(ours.mean() / theirs.mean() - 1.0)
    return Gain(relative, low, high, paired, corrected, bootstrap)


def paired_gain(
    gold: Labels, ours: Labels, theirs: Labels, groups: Sequence[Hashable]
) -> tuple[float, float, float]:
    """Return the 95 % interval of F over F less 1, and the two-sided p of the difference."""
    whole, drawn = _totals(gold, (ours, theirs), groups)
    (f, other), (draws, others) = ([Scores.of_totals(t).f for t in ts] for ts in (whole, drawn))
    low, high = percentiles(draws / others - 1.0, 0.95)
    difference = float(f - other)
    extreme = np.abs(draws - others - difference) >= abs(difference) - 1e-12
    return float(low), float(high), float((1 + extreme.sum()) / (1 + len(draws)))


def interval(gold: Labels, predicted: Labels, groups: Sequence[Hashable]) -> tuple[float, float]:
    """Return the 95 % interval of F."""
    _, (drawn,) = _totals(gold, (predicted,), groups)
    low, high = percentiles(Scores.of_totals(drawn).f, 0.95)
    return float(low), float(high)


def _totals(
    gold: Labels, systems: Sequence[Labels], groups: Sequence[Hashable]
) -> tuple[list[Totals], list[Totals]]:
    """Return the sums of each system, and those of its draws: the same groups for all."""
    from scipy.sparse import hstack

    counts = [counted(gold, system, "tokens") for system in systems]
    names = sorted({label for one in counts for label in one.labels})
    numbers = group_numbers(groups, len(gold))
    rows = hstack([one.matrix(names, numbers) for one in counts], format="csr")
    whole = np.asarray(rows.sum(axis=0)).ravel()
    drawn = resampled(rows, DRAWS, SEED)
    return tuple(
        [Totals(part) for part in np.split(sums, len(systems), axis=-1)] for sums in (whole, drawn)
    )  # type: ignore[return-value]
