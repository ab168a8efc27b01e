"""Errors worth a look: where a model was sure and wrong, or where the gold label may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.errors import ShapeError
from purport.estimator.constraints import Whole, check_parameters
from purport.measure.counts import Labels, paired
from purport.measure.sureness import Marginals, Sureness

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Mistake:
    """Wrong labels side by side in one sequence.

    Attributes
    ----------
    sequence : int
        Number of the sequence, from 0.
    start, end : int
        Its wrong positions, `end` not included.
    gold, predicted : tuple of str
        Their labels; a label that was not given is None.
    probability : float
        That of the labels that were given, at the position where it is lowest.
    gold_probability : float
        That of the gold labels, at the position where it is highest.
    doubtful : bool
        Whether the gold labels may be wrong, see `errors_worth_a_look`.
    id : str or None
        Of the sequence, if ids were given.

    Examples
    --------
    >>> told = errors_worth_a_look([["x"]], [[{"x": 0.1, "y": 0.9}]])
    >>> told.mistakes[0].predicted, told.mistakes[0].probability
    (('y',), 0.9)
    """

    sequence: int
    start: int
    end: int
    gold: tuple[str, ...]
    predicted: tuple[str | None, ...]
    probability: float
    gold_probability: float
    doubtful: bool
    id: str | None = None


@dataclass(frozen=True)
class Mistakes:
    """The errors of a model, those where it was surest first; see `errors_worth_a_look`.

    Attributes
    ----------
    mistakes : tuple of Mistake
        At most as many as were asked for.
    count, doubtful : int
        How many there are, and of how many the gold labels may be wrong.
    sequences : int
        How many sequences have one.

    Examples
    --------
    >>> errors_worth_a_look([["x"]], [[{"x": 1.0}]])
    Mistakes(mistakes=(), count=0, doubtful=0, sequences=0)
    """

    mistakes: tuple[Mistake, ...]
    count: int
    doubtful: int
    sequences: int


def errors_worth_a_look(
    gold: Labels,
    marginals: Marginals | Sureness,
    classes: Sequence[str] | None = None,
    predicted: Labels | None = None,
    *,
    n: int = 10,
    ids: Sequence[str | None] | None = None,
) -> Mistakes:
    """Find the errors where the model was surest.

    Wrong positions side by side are one mistake. Its gold labels are doubtful if at each position
    the model gives its label at least the probability that it gives this label, on average, where
    it is gold: then the position looks as those with the model's label usually do (the rule of
    confident learning). That is a hint for the eye; a model that is sure of wrong things gives it
    too.

    Parameters
    ----------
    gold, marginals, classes, predicted
        As `calibration` takes them. A `Sureness` needs `predicted`.
    n : int
        How many are wanted.
    ids : list of str, optional
        An id a sequence, to find it again. Nothing here holds what the sequences say.

    Examples
    --------
    >>> gold = [["x", "x"], ["y", "y"], ["x", "y"]]
    >>> sure, unsure = {"x": 0.9, "y": 0.1}, {"x": 0.4, "y": 0.6}
    >>> told = errors_worth_a_look(gold, [[sure, unsure], [unsure, unsure], [sure, sure]])
    >>> [(error.sequence, error.start, error.doubtful) for error in told.mistakes]
    [(2, 1, True), (0, 1, True)]
    """
    check_parameters("errors_worth_a_look", {"n": n}, {"n": Whole(low=0)})
    if ids is not None and len(ids) != len(gold):
        raise ShapeError.lengths("ids", len(ids), "gold", len(gold))
    if not isinstance(marginals, Sureness):
        if predicted is None:
            predicted = most_probable(marginals, classes)
        marginals = Sureness.of(gold, marginals, classes, predicted)
    assert predicted is not None
    told = marginals
    pairs = list(paired(gold, predicted))
    usual = _usual(told, pairs)
    wrong = np.flatnonzero(~told.right)
    if not len(wrong):
        return Mistakes((), 0, 0, 0)
    first = np.ones(len(wrong), np.bool_)
    first[1:] = (np.diff(told.sequence[wrong]) != 0) | (np.diff(told.position[wrong]) != 1)
    starts = np.flatnonzero(first)
    lowest = np.minimum.reduceat(told.given[wrong], starts)
    highest = np.maximum.reduceat(told.gold[wrong], starts)
    guesses = [
        pairs[sequence][2][position]
        for sequence, position in zip(
            told.sequence[wrong].tolist(), told.position[wrong].tolist(), strict=True
        )
    ]
    least = np.array([usual.get(guess, np.inf) for guess in guesses])
    doubtful = np.logical_and.reduceat(told.given[wrong] >= least, starts)
    ends = np.append(starts[1:], len(wrong)) - 1
    found = []
    for run in np.lexsort((starts, -lowest))[:n].tolist():
        sequence = int(told.sequence[wrong[starts[run]]])
        start = int(told.position[wrong[starts[run]]])
        end = int(told.position[wrong[ends[run]]]) + 1
        _, labels, given = pairs[sequence]
        found.append(
            Mistake(
                sequence,
                start,
                end,
                tuple(str(label) for label in labels[start:end]),
                tuple(given[start:end]),
                float(lowest[run]),
                float(highest[run]),
                bool(doubtful[run]),
                None if ids is None else ids[sequence],
            )
        )
    sequences = len(np.unique(told.sequence[wrong]))
    return Mistakes(tuple(found), len(starts), int(doubtful.sum()), sequences)


def most_probable(marginals: Marginals, classes: Sequence[str] | None) -> list[list[str]]:
    """Return the most probable label at each position.

    Examples
    --------
    >>> most_probable([[{"x": 0.1, "y": 0.9}]], None)
    [['y']]
    """
    if classes is None:
        return [[max(told, key=told.__getitem__) for told in sequence] for sequence in marginals]
    names = [str(name) for name in classes]
    return [[names[at] for at in np.argmax(table, axis=1)] for table in marginals]


def _usual(
    told: Sureness, pairs: Sequence[tuple[int, Sequence[str | None], Sequence[str | None]]]
) -> dict[str | None, float]:
    """Return for each gold label the mean probability that it is given where it is gold."""
    met: dict[str | None, int] = {}
    labels = [
        met.setdefault(pairs[sequence][1][position], len(met))
        for sequence, position in zip(told.sequence.tolist(), told.position.tolist(), strict=True)
    ]
    codes: NDArray[np.int64] = np.array(labels, np.int64)
    means: NDArray[np.float64] = np.bincount(codes, weights=told.gold) / np.bincount(codes)
    return dict(zip(met, means.tolist(), strict=True))
