"""Learning from one batch of sequences after the other, with the state that goes on from there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.estimator.base import State
from purport.fold.blas import one_blas_thread
from purport.fold.engine import Engine
from purport.lattice.transitions import Arcs
from purport.optimize.leader import Leader
from purport.sequence.given import Given
from purport.sequence.likelihood import NegativeLogLikelihood
from purport.sequence.observed import observed_counts
from purport.sequence.partitions import make_partitions
from purport.sequence.rules import Rules
from purport.sequence.scorer import Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray


RECENT = 3
"""Of the weights on the way, the last of 1 / (RECENT + 1) count for most of their mean."""


@dataclass(frozen=True)
class Chance:
    """What decides the order of sequences: the user's number, and how many were seen before."""

    seed: int
    seen: int

    def order(self, count: int) -> NDArray[np.int64]:
        """Return the numbers below `count` in an order that only depends on the two."""
        return np.random.default_rng([self.seed, self.seen]).permutation(count)


@dataclass
class Online:
    """How far online learning has come.

    Attributes
    ----------
    leader : Leader
        The optimiser.
    mean : (weights,) float64
        The mean of the weights on the way, those of the last quarter above all (Shamir and Zhang,
        2013): single ones still jump about, and their mean is much nearer to the optimum.
    steps : int
        How often the weights were changed.
    seen : int
        How many sequences it has been shown, each time that it was.
    of : int
        How many there are: the penalties then grow with what was seen, so that all weights on the
        way are those of the same objective. 0 where that is not known; they then count in full.
    """

    leader: Leader
    mean: NDArray[np.float64]
    steps: int = 0
    seen: int = 0
    of: int = 0

    @classmethod
    def at(cls, theta: NDArray[np.float64], rate: float, l1: float, l2: float) -> Online:
        """Start at the weights of a model."""
        return cls(Leader.at(theta, rate, l1, l2), theta.copy())

    def weights(self, l1: float, l2: float) -> NDArray[np.float64]:
        """Return the weights for penalties that count in proportion to what was seen."""
        share = self.seen / self.of if self.of else 1.0
        return self.leader.weights(share * l1, share * l2)

    def learn(
        self,
        given: Given,
        layout: Layout,
        arcs: Arcs,
        rules: Rules | None,
        engine: Engine,
        *,
        batch_size: int,
        seed: int,
        l1: float,
        l2: float,
    ) -> float:
        """Take in sequences, a few at a time, each once.

        Returns the sum of their losses, each before it was learnt from.
        """
        order = Chance(seed, self.seen).order(len(given.rows))
        loss = 0.0
        quiet = np.errstate(over="ignore", invalid="ignore")
        with one_blas_thread(), quiet:
            for start in range(0, len(order), batch_size):
                few = given.take(order[start : start + batch_size])
                objective = NegativeLogLikelihood(
                    make_partitions(few.rows, few.coded, few.weights, layout),
                    observed_counts(few.rows, few.coded, few.weights, layout, arcs),
                    layout,
                    arcs,
                    0.0,
                    engine,
                    rules,
                )
                weights = self.weights(l1, l2)
                value, gradient = objective(weights)
                self.leader.add(gradient, weights)
                loss += value
                self.seen += len(few.rows)
                self._average(self.weights(l1, l2))
        return loss

    def _average(self, weights: NDArray[np.float64]) -> None:
        self.steps += 1
        self.mean += (RECENT + 1) / (self.steps + RECENT) * (weights - self.mean)

    def rearrange(self, spread: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> None:
        """Move on to more weights; `spread` puts values of the old ones in their places."""
        self.leader.rearrange(spread)
        self.mean = spread(self.mean)

    def fits(self, weights: int) -> bool:
        """Tell whether this is the state of so many weights, as one read from a file may not be."""
        arrays = (self.leader.z, self.leader.q, self.mean)
        return all(len(array) == weights and array.dtype == np.float64 for array in arrays)

    def to_state(self) -> State:
        """Return what goes into a model folder."""
        return State(
            {"z": self.leader.z, "q": self.leader.q, "mean": self.mean},
            {"steps": self.steps, "seen": self.seen},
        )

    @classmethod
    def from_state(cls, state: State, rate: float) -> Online:
        """Take back what `to_state` gave."""
        arrays, settings = state.arrays, state.settings
        leader = Leader(rate, arrays["z"], arrays["q"])
        return cls(leader, arrays["mean"], settings["steps"], settings["seen"])
