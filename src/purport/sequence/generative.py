"""A generative chain of hidden states, learnt by EM: which kinds of steps each label has.

Each state belongs to a label, says features with the probabilities phi and is followed by other
states with the probabilities A; labels are known, states are not (Baum and Welch):

    p(x, y) = sum over paths h that agree with y of prod_t A[h_t-1, h_t] prod_f phi[f, h_t]^x_tf

Every phi is drawn towards how often the feature is said at all. A word said once would otherwise
make sure of the state it happened to begin in. Drawn strongly first and less later, states are told
apart by many steps before single words have a say.

Symbols: P positions, L labels, S states, F columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from purport.features.rows import Rows
from purport.fold.engine import Engine, Placement
from purport.lattice.transitions import Arcs
from purport.sequence import decoding
from purport.sequence.label_layer import LabelLayer
from purport.sequence.labels import UNKNOWN, LabelCodes
from purport.sequence.latent_likelihood import LatentScores, LatentShape, LatentSums
from purport.sequence.latent_partitions import make_latent_partitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

STRENGTHS = (0.3, 0.1, 0.03)
"""How strongly features are drawn to their shares of all that is said: each counts this part of all
its occurrences more in every state, so that no word makes one state 1 + 1 / strength times likelier
than another."""

FOLLOWERS = 0.1
"""So often every state is believed to have followed every other before anything is seen."""

TRUST = 0.5
"""How much of the first states is believed; the rest goes to all states of the label alike."""

ITERATIONS = 40
"""At most, for each strength."""

REST = 1e-4
"""An iteration that gains less than this for each position is the last."""


class Expected(NamedTuple):
    """What one walk over the data expects.

    Attributes
    ----------
    log_likelihood : float
        log p(x, y), summed up.
    features : (F, S) float64
        How often each state says each feature.
    pairs : (S, S) float64
        How often each state follows each other, from row to column.
    """

    log_likelihood: float
    features: NDArray[np.float64]
    pairs: NDArray[np.float64]


@dataclass(frozen=True)
class Chain:
    """What EM has found.

    Attributes
    ----------
    objective : float
        log p(x, y) plus the logarithm of what is believed of phi and A beforehand.
    theta : (weights,) float64
        log phi and log A, as a `LatentShape` orders them.
    """

    objective: float
    theta: NDArray[np.float64]


class GenerativeChain:
    """Steps with labels, to learn the states of.

    Parameters
    ----------
    rows : Rows
        The features, the bias last; none below 0.
    coded : LabelCodes
        Their labels.
    weights : (N,) float64
        How often each sequence counts.
    states_each : (L,) int64
        States of each label, in the order of the labels.
    engine : Engine
        Folds the data.
    """

    def __init__(
        self,
        rows: Rows,
        coded: LabelCodes,
        weights: NDArray[np.float64],
        states_each: NDArray[np.int64],
        engine: Engine,
    ) -> None:
        self._rows, self._coded, self._weights = rows, coded, weights
        self._engine = engine
        owner = np.repeat(np.arange(len(states_each)), states_each)
        self._kin = (owner[:, None] == owner) / states_each[owner]
        of_label = np.where(owner == np.arange(len(states_each))[:, None], 0.0, -np.inf)
        self._shape = LatentShape(
            rows.width - 1, len(owner), len(states_each), LabelLayer(of_label)
        )
        self._walked = self._place(coded)

    def learn(self, states: NDArray[np.int32]) -> Chain:
        """Return what is found from first states of steps (P,), -1 where there is none."""
        found = Chain(-np.inf, np.zeros(0))
        expected = self._first(states)
        for strength in STRENGTHS:
            before = -np.inf
            for _ in range(ITERATIONS):
                theta, believed = self._maximised(expected, strength)
                expected = self._expected(theta)
                found = Chain(expected.log_likelihood + believed, theta)
                if found.objective - before < REST * self._rows.positions:
                    break
                before = found.objective
        return found

    def states(self, theta: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the most probable state of each step with a known label (P,), -1 for others."""
        shape = self._shape
        scores = shape.scores(shape.layout, Arcs.all(shape.states), theta)
        shares = decoding.posteriors(self._rows, scores, self._engine, self._coded)
        return np.where(self._coded.codes == UNKNOWN, UNKNOWN, shares.argmax(axis=1)).astype(
            np.int32
        )

    def _place(self, coded: LabelCodes) -> tuple[Placement, NDArray[np.bool_]]:
        """Bring the data to the engine; return them with the sets of labels that they have."""
        possible = coded.possible(slice(None))
        nowhere = np.zeros_like(self._weights)
        partitions = make_latent_partitions(
            self._rows, possible, nowhere, self._weights, self._shape.layout
        )
        return self._engine.place(partitions), possible.allowed

    def _first(self, states: NDArray[np.int32]) -> Expected:
        """Return what is expected where these states are believed, in part."""
        number = self._shape.states
        told = LabelCodes(states, self._rows.offsets, list(range(number)))
        own = replace(self._shape, labels=number, fixed=LabelLayer.blocks(number, 1))
        found = self._sum(self._place(told), own, np.zeros(len(own)))
        features = TRUST * found.features + (1.0 - TRUST) * found.features @ self._kin
        pairs = TRUST * found.pairs + (1.0 - TRUST) * self._kin @ found.pairs @ self._kin
        return Expected(0.0, features, pairs)

    def _expected(self, theta: NDArray[np.float64]) -> Expected:
        """Do the step of expectation."""
        return self._sum(self._walked, self._shape, theta)

    def _sum(
        self,
        walked: tuple[Placement, NDArray[np.bool_]],
        shape: LatentShape,
        theta: NDArray[np.float64],
    ) -> Expected:
        placed, allowed = walked
        arcs = Arcs.all(shape.states)
        scores = shape.scores(shape.layout, arcs, theta)
        assert scores.layer is not None
        zero = LatentSums(len(shape.layout) + len(arcs), len(allowed), shape.states)
        ready = LatentScores(scores, scores.layer.evidence(allowed))
        sums = self._engine.fold(placed, zero, ready)
        # Sequences count nothing in the free walk, so what is left is what the labels say.
        counts = shape.blocks(-sums.gradient)
        return Expected(-sums.value, counts.weights[:-1], counts.transitions)

    def _maximised(self, expected: Expected, strength: float) -> tuple[NDArray[np.float64], float]:
        """Do the step of maximisation; return theta and what is believed of it beforehand."""
        theta = np.zeros(len(self._shape))
        blocks = self._shape.blocks(theta)
        drawn = strength * expected.features.sum(axis=1, keepdims=True)
        # A feature that no sequence has, or none that counts, has no share to take a logarithm of.
        said = drawn[:, 0] > 0.0
        features = expected.features[said] + drawn[said]
        blocks.weights[:-1][said] = np.log(features / features.sum(axis=0))
        pairs = expected.pairs + FOLLOWERS
        blocks.transitions[:] = np.log(pairs / pairs.sum(axis=1, keepdims=True))
        believed = float((drawn * blocks.weights[:-1]).sum() + FOLLOWERS * blocks.transitions.sum())
        return theta, believed


def best_states(chain: GenerativeChain, starts: Iterable[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return the states found from the start with the highest objective."""
    found = max((chain.learn(states) for states in starts), key=lambda each: each.objective)
    return chain.states(found.theta)
