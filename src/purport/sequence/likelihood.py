"""The conditional log-likelihood of labelled sequences: a statistic to fold, and an objective.

    -log p(y | x) = log Z(free) - log Z(paths that agree with y)

Where all labels of a sequence are known the second term is linear in the weights: the counts of its
features, which are summed up once beforehand.

Symbols: W state weights, A listed arcs; theta = the state weights followed by the scores of the
arcs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from purport.fold.engine import Engine
from purport.fold.scratch import Scratch
from purport.fold.statistic import Statistic
from purport.lattice.potentials import Clamp, Emissions, Potentials
from purport.lattice.transitions import Arcs, Transitions
from purport.sequence.label_layer import LabelLayer
from purport.sequence.labels import Possible
from purport.sequence.partitions import Partition
from purport.sequence.rules import Rules
from purport.sequence.scorer import Layout, Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

_scratch = Scratch()


@dataclass(frozen=True)
class Scores:
    """Weights made ready for one evaluation, the same for all partitions.

    Attributes
    ----------
    weights : Weights
        Of pairs of features and labels.
    transitions : Transitions
        Of pairs of labels.
    slots : (A,) int64 or None
        Which arcs of the lattice have a weight; None for all of them.
    start, stop : (L,) float64 or None
        What the first and the last label score; None for nothing.
    layer : LabelLayer or None
        p(y | h) where the states are hidden; None where they are the labels.
    """

    weights: Weights
    transitions: Transitions
    slots: NDArray[np.int64] | None = None
    start: NDArray[np.float64] | None = None
    stop: NDArray[np.float64] | None = None
    layer: LabelLayer | None = None

    @classmethod
    def of(
        cls, layout: Layout, arcs: Arcs, theta: NDArray[np.float64], rules: Rules | None = None
    ) -> Scores:
        """Split theta into state weights and arcs.

        With rules every pair that is allowed is an arc of the lattice, and `slots` says which of
        them have a weight; the others score 0.
        """
        weights, of_arcs = Weights(layout, theta[: len(layout)]), theta[len(layout) :]
        if rules is None:
            return cls(weights, Transitions.of(arcs, of_arcs))
        slots = rules.slots(arcs)
        spread = np.zeros(len(rules.lattice))
        spread[slots] = of_arcs
        transitions = Transitions.of(rules.lattice, spread)
        return cls(weights, transitions, slots, rules.start, rules.stop)

    def clamp(self, possible: Possible) -> Clamp:
        """Return the clamp that leaves the paths that agree with labels."""
        return possible.clamp() if self.layer is None else self.layer.clamp(possible)

    def potentials(self, emissions: Emissions) -> Potentials:
        """Return what the sums over paths take."""
        return Potentials(emissions, self.transitions, self.start, self.stop)


class PathSums(Statistic[Partition, Scores]):
    """Weighted sum of log Z over sequences, and its gradient: what the model expects to see.

    Attributes
    ----------
    value : float
        Sum of log Z(free), less log Z(clamped) where labels are known in part.
    gradient : (W + A,) float64
        Its derivatives by theta.
    """

    kind: ClassVar[Literal["exact", "floating", "sketch"]] = "floating"

    def __init__(self, size: int) -> None:
        self.value = 0.0
        self.gradient = np.zeros(size)

    def zero(self) -> Self:
        return type(self)(len(self.gradient))

    def add(self, batch: Partition, parameters: Scores) -> Self:
        weights, states = parameters.weights, batch.chain.states
        rows = batch.rows
        emissions = weights.emissions(rows, _scratch.array("emissions", rows.unique, states))
        posteriors = _scratch.array("posteriors", rows.unique, states)
        posteriors[:] = 0.0
        potentials = parameters.potentials(emissions)
        free = batch.chain.expectations(potentials, batch.weights, posteriors, batch.chain.index)
        self.value += float(free.log_partition @ batch.weights)
        pairs = free.pairs
        if batch.evidence is not None:
            evidence = batch.evidence
            clamped = evidence.chain.expectations(
                potentials, -evidence.weights, posteriors, evidence.chain.index, evidence.clamp
            )
            self.value -= float(clamped.log_partition @ evidence.weights)
            pairs = pairs + clamped.pairs
        split = len(weights.values)
        weights.take_back(rows, posteriors, self.gradient[:split])
        self.gradient[split:] += pairs if parameters.slots is None else pairs[parameters.slots]
        return self

    def merge(self, other: Self) -> Self:
        self.value += other.value
        self.gradient += other.gradient
        return self

    def scale(self, factor: float) -> Self:
        self.value *= factor
        self.gradient *= factor
        return self

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {"value": np.array([self.value]), "gradient": self.gradient}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        restored = cls(0)
        restored.value = float(arrays["value"][0])
        restored.gradient = np.array(arrays["gradient"], np.float64)
        return restored


class NegativeLogLikelihood:
    """Negative log-likelihood plus l2 |theta|^2, with its gradient.

    Parameters
    ----------
    partitions : list of Partition
        The data.
    observed : (W + A,) float64
        What theta counts in the sequences whose labels are all known, times their weights.
    layout, arcs
        What theta means.
    l2 : float
        Weight of the sum of squares.
    engine : Engine
        Folds the partitions.
    rules : Rules, optional
        Which labels may follow each other.
    """

    def __init__(
        self,
        partitions: Sequence[Partition],
        observed: NDArray[np.float64],
        layout: Layout,
        arcs: Arcs,
        l2: float,
        engine: Engine,
        rules: Rules | None = None,
    ) -> None:
        self._placed = engine.place(partitions)
        self._observed = observed
        self._layout, self._arcs = layout, arcs
        self._l2 = l2
        self._engine = engine
        self._rules = rules

    def __call__(self, theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = Scores.of(self._layout, self._arcs, theta, self._rules)
        sums = self._engine.fold(self._placed, PathSums(len(theta)), scores)
        value = sums.value - float(theta @ self._observed) + self._l2 * float(theta @ theta)
        gradient = sums.gradient
        gradient -= self._observed
        gradient += (2.0 * self._l2) * theta
        return value, gradient
