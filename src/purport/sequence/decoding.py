"""What a trained scorer says about new sequences: best paths, posteriors, probabilities.

Sequences are cut into parts of bounded size, so that memory does not grow with the data, and an
engine maps over the parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from purport.features.rows import Rows
from purport.fold.engine import Engine
from purport.lattice.chain import Chain
from purport.lattice.potentials import Clamp, Emissions, Potentials
from purport.records.columns import positions_of
from purport.sequence.likelihood import Scores
from purport.sequence.partitions import clamp_to_labels, select_rows
from purport.sequence.scorer import LaidOut

if TYPE_CHECKING:
    from numpy.typing import NDArray

Result = TypeVar("Result")

POSITIONS = 16384
"""A part is closed when it has this many positions."""


class BestPaths(NamedTuple):
    """The best path of each sequence.

    Attributes
    ----------
    states : (P,) int32
        The state at every position.
    log_probability : (N,) float64
        log p(path | x).
    """

    states: NDArray[np.int32]
    log_probability: NDArray[np.float64]


def best_states(rows: Rows, scores: Scores, engine: Engine) -> NDArray[np.int32]:
    """Return the states of the best paths (P,)."""

    def decode(part: Rows, scores: Scores) -> NDArray[np.int32]:
        chain, emissions = _chain_and_emissions(part, scores)
        return chain.best_paths(emissions, scores.transitions)[0]

    return _joined(engine.map(engine.place(list(_parts(rows))), decode, scores), np.int32)


def best_paths(rows: Rows, scores: Scores, engine: Engine) -> BestPaths:
    """Return the best paths and how probable they are."""

    def decode(part: Rows, scores: Scores) -> BestPaths:
        chain, emissions = _chain_and_emissions(part, scores)
        states, score = chain.best_paths(emissions, scores.transitions)
        log_partition = chain.log_partition(Potentials(Emissions.of(emissions), scores.transitions))
        return BestPaths(states, score - log_partition)

    found = engine.map(engine.place(list(_parts(rows))), decode, scores)
    return BestPaths(
        _joined([part.states for part in found], np.int32),
        _joined([part.log_probability for part in found], np.float64),
    )


def posteriors(rows: Rows, scores: Scores, engine: Engine) -> NDArray[np.float64]:
    """Return the probability of every state at every position (P, S)."""
    states = scores.weights.layout.states

    def sum_up(part: Rows, scores: Scores) -> NDArray[np.float64]:
        chain, potentials = _chain_and_potentials(part, scores)
        out = np.zeros((part.positions, states))
        everyone = np.arange(part.positions, dtype=np.int32)
        chain.expectations(potentials, np.ones(len(part)), out, everyone)
        return out

    found = engine.map(engine.place(list(_parts(rows))), sum_up, scores)
    return np.concatenate([np.zeros((0, states)), *found])


def log_probabilities(
    rows: Rows, labels: NDArray[np.int32], scores: Scores, engine: Engine
) -> NDArray[np.float64]:
    """Return log p(labels | x) of every sequence (N,); positions not known are summed over."""
    states = scores.weights.layout.states
    parts = list(_parts(rows))
    ends = np.cumsum([part.positions for part in parts])
    clamps = [clamp_to_labels(known, states) for known in np.split(labels, ends[:-1])]

    def compare(part: tuple[Rows, Clamp], scores: Scores) -> NDArray[np.float64]:
        chain, potentials = _chain_and_potentials(part[0], scores)
        return chain.log_partition(potentials, part[1]) - chain.log_partition(potentials)

    return _joined(
        engine.map(engine.place(list(zip(parts, clamps, strict=True))), compare, scores), np.float64
    )


def _chain_and_emissions(part: Rows, scores: Scores) -> tuple[Chain, NDArray[np.float64]]:
    states = scores.weights.layout.states
    laid_out = LaidOut(scores.weights.layout, part)
    emissions = scores.weights.scores(laid_out, np.empty((part.unique, states)))
    return Chain(part.index, part.offsets, states), emissions


def _chain_and_potentials(part: Rows, scores: Scores) -> tuple[Chain, Potentials]:
    states = scores.weights.layout.states
    laid_out = LaidOut(scores.weights.layout, part)
    emissions = scores.weights.emissions(laid_out, np.empty((part.unique, states)))
    return Chain(part.index, part.offsets, states), Potentials(emissions, scores.transitions)


def _parts(rows: Rows) -> Iterator[Rows]:
    if rows.positions <= POSITIONS:
        yield rows
        return
    numbers = rows.offsets[:-1] // POSITIONS
    cuts = np.flatnonzero(np.diff(numbers)) + 1
    for sequences in np.split(np.arange(len(rows)), cuts):
        positions, offsets = positions_of(sequences, rows.offsets)
        yield select_rows(rows, rows.index[positions], offsets)


def _joined(parts: list[NDArray[Result]], dtype: type) -> NDArray[Result]:  # type: ignore[type-var]
    return np.concatenate([np.empty(0, dtype), *parts])
