"""The likelihood of labels when the chain's states are hidden: a statistic, and an objective.

Implements Eq. 4, 9 to 19, 24 and 25 of "Sparse Hidden-Dynamics Conditional Random Fields for User
Intent Understanding":

    p(y | x) = sum_h p(h | x) prod_t p(y_t | h_t) = A / Z

with log Z the free sum over paths and log A the sum with log p(y_t | h) added at each position.
What is minimised, times the number of labelled sequences N:

    - mean log A + (1 - u) mean log Z + u mean log Z over unlabelled sequences
    + l2 |theta - beginning|^2 / N + sparsity sum_h c_h H(p(. | h))

The beginning is where training starts if that is an estimate, else 0, as the paper has it. u is 0
without unlabelled sequences.

The same number added to the weights of a feature for all states, to all transitions or to all
biases changes no probability. Such directions are taken out of every gradient: with unlabelled
sequences the objective would fall along them without end.

Symbols: F columns, S states, L labels, D sets of labels; theta = state weights (F + 1, S), the last
row the biases; transitions (S, S); scores of labels (L, S) where these are learnt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from purport.fold.engine import Engine
from purport.fold.kernel import Floats, Int32s, kernel
from purport.fold.scratch import Scratch
from purport.fold.statistic import Statistic
from purport.lattice.potentials import Clamp, Potentials
from purport.lattice.transitions import Arcs
from purport.sequence.label_layer import LabelLayer, log_sums
from purport.sequence.latent_partitions import LatentPartition
from purport.sequence.likelihood import Scores
from purport.sequence.scorer import Layout
from purport.sequence.visits import Visits

if TYPE_CHECKING:
    from numpy.typing import NDArray

_scratch = Scratch()


class Blocks(NamedTuple):
    """The parts of theta; views, so that what is written to them is written to it.

    Attributes
    ----------
    weights : (F + 1, S) float64
        Of features and states; the last row are the biases.
    transitions : (S, S) float64
        From row to column.
    labels : (L, S) float64
        Scores of labels; (0, S) where p(y | h) is not learnt.
    """

    weights: NDArray[np.float64]
    transitions: NDArray[np.float64]
    labels: NDArray[np.float64]


@dataclass(frozen=True)
class LatentShape:
    """What theta means.

    Attributes
    ----------
    width : int
        F, the columns of features, without the biases.
    states : int
        S.
    labels : int
        L.
    fixed : LabelLayer or None
        p(y | h) where it is given; None where it is learnt.
    joint : bool
        Whether labels and states are normalised together, as Eq. 24 has it.
    """

    width: int
    states: int
    labels: int
    fixed: LabelLayer | None
    joint: bool = False

    def __len__(self) -> int:
        learnt = 0 if self.fixed is not None else self.labels
        return (self.width + 1 + self.states + learnt) * self.states

    @cached_property
    def layout(self) -> Layout:
        """Weights for every pair of a column, or the bias, and a state."""
        return Layout.complete(self.width + 1, self.states)

    def blocks(self, theta: NDArray[np.float64]) -> Blocks:
        """Return the parts of theta."""
        rows = theta.reshape(-1, self.states)
        last = self.width + 1
        return Blocks(rows[:last], rows[last : last + self.states], rows[last + self.states :])

    def centre(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Take out, in place, what changes no probability."""
        blocks = self.blocks(values)
        blocks.weights[:] -= blocks.weights.mean(axis=1, keepdims=True)
        blocks.transitions[:] -= blocks.transitions.mean()
        return values

    def layer(self, theta: NDArray[np.float64]) -> LabelLayer:
        """Return p(y | h)."""
        return self.fixed or LabelLayer.of(self.blocks(theta).labels)

    def scores(self, layout: Layout, arcs: Arcs, theta: NDArray[np.float64]) -> Scores:
        """Make theta ready for the lattice; normalised together, biases hold more."""
        if self.joint and self.fixed is None:
            theta = theta.copy()
            blocks = self.blocks(theta)
            blocks.weights[-1] += _centred(log_sums(blocks.labels))
        chain = theta[: (self.width + 1 + self.states) * self.states]
        return replace(Scores.of(layout, arcs, chain), layer=self.layer(theta))


def _centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
    centred: NDArray[np.float64] = values - values.mean()
    return centred


@dataclass(frozen=True)
class LatentScores:
    """What one evaluation knows, the same for all partitions.

    Attributes
    ----------
    scores : Scores
        Of features and transitions.
    evidence : (D, S) float64
        log p(one of the labels | h) of each set of labels.
    """

    scores: Scores
    evidence: NDArray[np.float64]


class LatentSums(Statistic[LatentPartition, LatentScores]):
    """Weighted sum of log Z - log A over sequences, and what the states are expected to do.

    Attributes
    ----------
    value : float
        The sum.
    gradient : (W,) float64
        Its derivatives by the weights of features and transitions.
    counts : (D, S) float64
        How often each state is expected where each set of labels was told, given all labels.
    usage : (S,) float64
        How often each state is expected where no label is given.
    pairs : (S, S) float64
        How often each state is expected after each other, from row to column, likewise.
    """

    kind: ClassVar[Literal["exact", "floating", "sketch"]] = "floating"

    def __init__(self, weights: int, sets: int, states: int) -> None:
        self.value = 0.0
        self.gradient = np.zeros(weights)
        self.counts = np.zeros((sets, states))
        self.usage = np.zeros(states)
        self.pairs = np.zeros((states, states))

    def zero(self) -> Self:
        return type(self)(len(self.gradient), *self.counts.shape)

    def add(self, batch: LatentPartition, parameters: LatentScores) -> Self:
        scores = parameters.scores
        weights, states = scores.weights, self.counts.shape[1]
        emissions = weights.emissions(batch.rows, _scratch.array("rows", batch.rows.unique, states))
        posteriors = _scratch.array("posteriors", batch.rows.unique, states)
        posteriors[:] = 0.0
        potentials = scores.potentials(emissions)
        pairs = np.zeros(states * states)
        if batch.free.weights.any():
            chain = batch.free.chain
            free = chain.expectations(potentials, batch.free.weights, posteriors, chain.index)
            self.value += float(free.log_partition @ batch.free.weights)
            self.usage += posteriors.sum(axis=0)
            self.pairs += free.pairs.reshape(states, states)
            pairs = free.pairs
        if batch.told is not None:
            pairs = pairs - self._add_told(batch, parameters, potentials, posteriors)
        split = len(weights.values)
        weights.take_back(batch.rows, posteriors, self.gradient[:split])
        self.gradient[split:] += pairs
        return self

    def _add_told(
        self,
        batch: LatentPartition,
        parameters: LatentScores,
        potentials: Potentials,
        posteriors: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Take off the clamped walk; return its pairs."""
        told = batch.told
        assert told is not None
        clamp = Clamp(parameters.evidence, told.sets)
        by_pair = _scratch.array("by pair", len(told.row_of_pair), self.counts.shape[1])
        by_pair[:] = 0.0
        clamped = told.walk.chain.expectations(
            potentials, told.walk.weights, by_pair, told.pairs, clamp
        )
        self.value -= float(clamped.log_partition @ told.walk.weights)
        take_apart(by_pair, told.row_of_pair, told.set_of_pair, posteriors, self.counts)
        return clamped.pairs

    def merge(self, other: Self) -> Self:
        self.value += other.value
        self.gradient += other.gradient
        self.counts += other.counts
        self.usage += other.usage
        self.pairs += other.pairs
        return self

    def scale(self, factor: float) -> Self:
        self.value *= factor
        self.gradient *= factor
        self.counts *= factor
        self.usage *= factor
        self.pairs *= factor
        return self

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "value": np.array([self.value]),
            "gradient": self.gradient,
            "counts": self.counts,
            "usage": self.usage,
            "pairs": self.pairs,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        restored = cls(0, 0, 0)
        restored.value = float(arrays["value"][0])
        restored.gradient = np.array(arrays["gradient"], np.float64)
        restored.counts = np.array(arrays["counts"], np.float64)
        restored.usage = np.array(arrays["usage"], np.float64)
        restored.pairs = np.array(arrays["pairs"], np.float64)
        return restored


@kernel("void(float64[:, ::1], int32[::1], int32[::1], float64[:, ::1], float64[:, ::1])")
def take_apart(
    by_pair: Floats,  # (R, S)
    row_of_pair: Int32s,  # (R,)
    set_of_pair: Int32s,  # (R,)
    by_row: Floats,  # (U, S) taken from
    by_set: Floats,  # (D, S) added to
) -> None:
    """Take posteriors of pairs from those of their rows, and add them to those of their sets."""
    for r in range(len(by_pair)):
        pair = by_pair[r]
        row = by_row[row_of_pair[r]]
        counts = by_set[set_of_pair[r]]
        for s in range(len(pair)):
            row[s] -= pair[s]
            counts[s] += pair[s]


class LatentLikelihood:
    """What is minimised, with its gradient; the formula stands at the top of this file.

    Parameters
    ----------
    partitions : list of LatentPartition
        The data.
    allowed : (D, L) bool
        The sets of labels that positions may have.
    shape : LatentShape
        What theta means.
    l2 : float
        Weight of the sum of squares, of differences from `beginning`; biases are left out of it.
    sparsity : float
        Weight of the entropies, N included.
    engine : Engine
        Folds the partitions.
    """

    def __init__(
        self,
        partitions: Sequence[LatentPartition],
        allowed: NDArray[np.bool_],
        shape: LatentShape,
        l2: float,
        sparsity: float,
        engine: Engine,
    ) -> None:
        self._placed = engine.place(partitions)
        self._allowed = allowed
        self._shape = shape
        self._layout, self._arcs = shape.layout, Arcs.all(shape.states)
        self._l2, self._sparsity = l2, sparsity
        self._engine = engine
        self.emphasis = np.ones(shape.states)
        self.beginning = np.zeros(len(shape))
        self._last: tuple[NDArray[np.float64], Visits] | None = None

    def fold(self, theta: NDArray[np.float64]) -> tuple[LatentSums, LabelLayer]:
        """Walk over all data."""
        scores = self._shape.scores(self._layout, self._arcs, theta)
        layer = scores.layer
        assert layer is not None
        weights = len(self._layout) + len(self._arcs)
        zero = LatentSums(weights, len(self._allowed), self._shape.states)
        ready = LatentScores(scores, layer.evidence(self._allowed))
        sums = self._engine.fold(self._placed, zero, ready)
        self._last = theta, Visits.of(sums.usage, sums.pairs)
        return sums, layer

    def visits(self, theta: NDArray[np.float64]) -> Visits:
        """Return how often states are expected; without a walk where theta was the last one met."""
        if self._last is None or self._last[0] is not theta:
            self.fold(theta)
        assert self._last is not None
        return self._last[1]

    def weigh_by_usage(self, theta: NDArray[np.float64]) -> None:
        """Let each state's entropy count as often as the state is used, on average once."""
        self.emphasis = self.visits(theta).usage * self._shape.states

    def __call__(self, theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        sums, layer = self.fold(theta)
        shape = self._shape
        gradient = np.empty(len(theta))
        gradient[: len(sums.gradient)] = sums.gradient
        parts, values = shape.blocks(gradient), shape.blocks(theta - self.beginning)
        value = sums.value
        if shape.fixed is None:
            parts.labels[:] = -layer.gradient(sums.counts, self._allowed)
            if self._sparsity:
                emphasis = self._sparsity * self.emphasis
                value += float(layer.entropies @ emphasis)
                parts.labels[:] += layer.entropy_gradient() * emphasis
            if shape.joint:
                parts.labels[:] += layer.shares * _centred(parts.weights[-1])
        shape.centre(gradient)
        for part, of in zip(parts, values, strict=True):
            kept, into = (of[:-1], part[:-1]) if part is parts.weights else (of, part)
            value += self._l2 * float(np.vdot(kept, kept))
            into += (2.0 * self._l2) * kept
        return value, gradient
