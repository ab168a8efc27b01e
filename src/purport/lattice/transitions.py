"""Scores of the arcs between states, and the form in which the scaled kernels use them.

Three forms, chosen by the data:

one plus sparse
    Every arc that is not listed scores exactly 0, so the matrix of exponentials is E = 1 + D with D
    sparse: a step costs as many multiplications as there are listed arcs. D = exp(score) - 1 loses
    digits where a score is strongly negative, so this form is left when one is below
    `LOWEST_SPARSE_SCORE`.
listed
    Arcs that are not listed are forbidden (exact zeros), or there are none.
dense
    A matrix product. For many arcs.

Symbols: S states, A listed arcs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from purport.errors import ShapeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOWEST_SPARSE_SCORE = -12.0
"""exp(-12) = 6e-6: 1 + (exp(-12) - 1) still has a relative error below 4e-11."""

HIGHEST_SPARSE_SCORE = 100.0
"""The sparse form cannot divide by its largest entry, so scores beyond this go to the dense one."""

LISTED_SHARE = 0.25
"""Above this share of all arcs, and from 32 states on, a matrix product is faster than lists."""

FURTHEST = 8
"""States that reach each other in more steps count as never reaching each other."""

GROUP = 4
"""Lists are padded to groups of this many arcs, which a kernel takes in one go."""


class Arcs:
    """Which arcs are listed: fixed while scores change.

    Parameters
    ----------
    states : int
        S.
    sources, targets : (A,) integers
        The arcs, sorted by source, then target, none twice.
    rest : float
        The score of every arc that is not listed: 0.0, or -inf when they are forbidden.
    """

    def __init__(
        self,
        states: int,
        sources: NDArray[np.integer],
        targets: NDArray[np.integer],
        rest: float,
    ) -> None:
        self.states = states
        self.sources = np.ascontiguousarray(sources, dtype=np.int32)
        self.targets = np.ascontiguousarray(targets, dtype=np.int32)
        if len(self.sources) != len(self.targets):
            raise ShapeError.lengths("sources", len(sources), "targets", len(targets))
        self.complete = len(self.sources) == states * states
        self._check()
        # With every arc listed the rest never counts; -inf keeps the exact zeros form.
        self.rest = -np.inf if self.complete else rest
        self.by_target = Groups(states, self.targets, self.sources)
        self.by_source = Groups(states, self.sources, self.targets)

    @classmethod
    def all(cls, states: int) -> Arcs:
        """List every arc."""
        sources, targets = np.divmod(np.arange(states * states), states)
        return cls(states, sources, targets, -np.inf)

    def __len__(self) -> int:
        return len(self.sources)

    def _check(self) -> None:
        """Raise ValueError unless the arcs are in order, as those read from a file may not be."""
        number = self.sources.astype(np.int64) * self.states + self.targets
        ends = np.concatenate([self.sources, self.targets])
        if len(ends) and not (ends.min() >= 0 and ends.max() < self.states):
            raise ValueError("a state of an arc does not exist")
        if np.any(np.diff(number) <= 0):
            raise ValueError("the arcs are out of order")

    @cached_property
    def from_source(self) -> NDArray[np.int64]:
        """Where each state's arcs begin (S + 1,)."""
        return np.searchsorted(self.sources, np.arange(self.states + 1)).astype(np.int64)

    @cached_property
    def is_listed(self) -> NDArray[np.bool_]:
        """Whether there is an arc from row to column (S, S)."""
        listed = np.zeros((self.states, self.states), np.bool_)
        listed[self.sources, self.targets] = True
        return listed

    @cached_property
    def reach(self) -> int:
        """In how many steps every state reaches every other over allowed arcs; 0 for never."""
        return steps_to_reach_all(self.is_listed | (self.rest == 0.0))

    def matrix(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return all scores as an (S, S) matrix of logarithms."""
        matrix = np.full((self.states, self.states), self.rest)
        matrix[self.sources, self.targets] = scores
        return matrix


class Groups:
    """Listed arcs by one of their ends, in padded groups of `GROUP`.

    Attributes
    ----------
    starts : (S + 1,) int32
        First group of each state.
    others : (groups * GROUP,) int32
        The states at the other end; padding points at state 0.
    slots : (A,) int64
        Where each arc stands among the padded ones.
    """

    def __init__(self, states: int, ends: NDArray[np.int32], others: NDArray[np.int32]) -> None:
        order = np.argsort(ends, kind="stable")
        counts = np.bincount(ends, minlength=states)
        groups = -(-counts // GROUP)
        self.starts = np.concatenate([[0], np.cumsum(groups)]).astype(np.int32)
        first_arc = np.concatenate([[0], np.cumsum(counts)])
        sorted_ends = ends[order]
        rank = np.arange(len(ends)) - first_arc[sorted_ends]
        self.slots = np.empty(len(ends), np.int64)
        self.slots[order] = self.starts[sorted_ends].astype(np.int64) * GROUP + rank
        self.others = np.zeros(int(self.starts[-1]) * GROUP, np.int32)
        self.others[self.slots] = others

    def fill(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Lay one value an arc into the padded order, zeros between."""
        filled = np.zeros(len(self.others))
        filled[self.slots] = values
        return filled


@dataclass(frozen=True)
class Transitions:
    """Arcs with scores, made ready for the kernels.

    Attributes
    ----------
    arcs : Arcs
        The listed arcs.
    scores : (A,) float64
        Their log scores; -inf forbids.
    shift : float
        What was taken from every score before the exponential; each step adds it to the log
        partition.
    spread : float
        Largest finite score less the smallest, the rest included: how far one step can move states
        apart.
    values : (A,) float64
        exp(score - shift) of every listed arc.
    one_plus : float
        1.0 in the form one plus sparse, else 0.0.
    dense : (S, S) float64
        exp(score - shift) of every arc in the dense form, else of shape (0, 0).
    forward, backward : (groups * GROUP,) float64
        The lists' values by target and by source; empty in the dense form.
    """

    arcs: Arcs
    scores: NDArray[np.float64]
    shift: float
    spread: float
    values: NDArray[np.float64]
    one_plus: float
    dense: NDArray[np.float64]
    forward: NDArray[np.float64]
    backward: NDArray[np.float64]

    @cached_property
    def reach(self) -> int:
        """In how many steps every state reaches every other; 0 for never."""
        if np.all(np.isfinite(self.scores)):
            return self.arcs.reach
        return steps_to_reach_all(np.isfinite(self.matrix))

    @cached_property
    def highest(self) -> NDArray[np.float64]:
        """The highest score of the arcs from each state (S,); -inf for one without."""
        highest = np.full(self.arcs.states, -np.inf)
        np.maximum.at(highest, self.arcs.sources, self.scores)
        return highest

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """All scores as an (S, S) matrix of logarithms."""
        return self.arcs.matrix(self.scores)

    @classmethod
    def of(cls, arcs: Arcs, scores: NDArray[np.float64]) -> Transitions:
        """Choose the form that fits the arcs and their scores."""
        if len(scores) != len(arcs):
            raise ShapeError.lengths("scores", len(scores), "arcs", len(arcs))
        present = scores[np.isfinite(scores)]
        if np.isfinite(arcs.rest):
            present = np.append(present, arcs.rest)
        low, high = (present.min(), present.max()) if len(present) else (0.0, 0.0)
        forbids = len(present) < len(scores) or (not arcs.complete and arcs.rest == -np.inf)
        small = arcs.states < 32 or len(arcs) <= LISTED_SHARE * arcs.states**2
        sparse = (
            arcs.rest == 0.0
            and not forbids
            and low >= LOWEST_SPARSE_SCORE
            and high <= HIGHEST_SPARSE_SCORE
        )
        listed = arcs.rest == -np.inf
        shift = 0.0 if sparse and small else float(high)
        values = np.exp(scores - shift)
        none = np.empty(0)
        if small and (sparse or listed):
            filled = np.expm1(scores) if sparse else values
            forward, backward = arcs.by_target.fill(filled), arcs.by_source.fill(filled)
            dense = np.empty((0, 0))
        else:
            forward = backward = none
            dense = np.exp(arcs.matrix(scores) - shift)
        return cls(
            arcs=arcs,
            scores=scores,
            shift=shift,
            spread=float(high - low),
            values=values,
            one_plus=float(sparse and small),
            dense=dense,
            forward=forward,
            backward=backward,
        )


def steps_to_reach_all(allowed: NDArray[np.bool_]) -> int:
    """Return the least number of steps in which every state reaches every other; 0 for never.

    From that number on it stays so: a state that is reached at all is entered from some state, and
    that one is reached from everywhere in one step less.
    """
    reached = allowed.astype(np.float32)
    for steps in range(1, FURTHEST + 1):
        if np.all(reached):
            return steps
        reached = (reached @ allowed > 0).astype(np.float32)
    return 0
