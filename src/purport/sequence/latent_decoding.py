"""What a chain of hidden states says about labels: three ways to decide, the n best, samples.

Implements Eq. 20 to 23 of "Sparse Hidden-Dynamics Conditional Random Fields for User Intent
Understanding" (`by_position`) and two ways beside it.

by position
    The label with the largest sum_h p(y | h) p(h_t = h | x), for each position by itself.
joint
    The labels of the most probable pair of a path and its labels. Not the best labels: many paths
    may agree on others that are more probable together.
best
    The most probable labels as a whole. Candidates are the labels of the K best pairs; each gets
    its exact probability from the clamped lattice. A labelling that is no candidate has at most

        M - sum_k m_k + sum_k m_k r_k,

    m_k = p(path k | x) times the probability of its best labels there, M the sum of that over all
    paths, r_k how far path k falls when one label is not its best. A candidate at least as probable
    is certain to have no better one left out.

Symbols: P positions, N sequences, S states, L labels, K paths.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from purport.features.rows import Rows
from purport.fold.engine import Engine
from purport.records.columns import positions_of
from purport.sequence import decoding
from purport.sequence.decoding import Asked, Known, Lattice
from purport.sequence.label_layer import LabelLayer
from purport.sequence.labels import LabelCodes
from purport.sequence.likelihood import Scores
from purport.sequence.visits import Visits

if TYPE_CHECKING:
    from numpy.typing import NDArray

PATHS = (32, 256)
"""So many paths are looked at first, and more where that leaves a doubt."""

MANY = 256
"""Sequences with no more labellings than this have all of them looked at."""


class Ranked(NamedTuple):
    """The most probable labellings of one sequence, best first.

    Attributes
    ----------
    labels : (K, T) int32
        Their labels.
    log_probability : (K,) float64
        log p(labels | x).
    certain : (K,) bool
        Whether none that was left out is more probable.
    """

    labels: NDArray[np.int32]
    log_probability: NDArray[np.float64]
    certain: NDArray[np.bool_]


class MostProbable(NamedTuple):
    """What is kept of the posteriors of states.

    Attributes
    ----------
    states : (P,) int32
        The most probable state of each position.
    probability : (P,) float64
        Its p(h | x).
    visits : Visits
        How often all states are expected.
    """

    states: NDArray[np.int32]
    probability: NDArray[np.float64]
    visits: Visits


def most_probable_states(rows: Rows, scores: Scores, engine: Engine) -> MostProbable:
    """Return the most probable states, and how often all are expected; at least one position."""

    def sum_up(part: Asked, scores: Scores) -> tuple[NDArray[Any], ...]:
        posteriors, pairs = part.lattice(scores).expectations()
        states = posteriors.argmax(axis=1).astype(np.int32)
        return states, posteriors.max(axis=1), posteriors.sum(axis=0), pairs

    states, probability, usage, pairs = zip(
        *decoding.mapped(sum_up, rows, scores, engine, None), strict=True
    )
    size = (scores.weights.layout.states,) * 2
    visits = Visits.of(np.sum(usage, axis=0), np.sum(pairs, axis=0).reshape(size))
    return MostProbable(np.concatenate(states), np.concatenate(probability), visits)


def label_posteriors(
    rows: Rows, scores: Scores, engine: Engine, known: Known = None
) -> NDArray[np.float64]:
    """Return the probability of every label at every position (P, L)."""

    def sum_up(part: Asked, scores: Scores) -> NDArray[np.float64]:
        return _layer(scores).labels_of(part.lattice(scores).posteriors(), part.possible)

    found = decoding.mapped(sum_up, rows, scores, engine, known)
    return np.concatenate([np.zeros((0, len(_layer(scores).log_shares))), *found])


def by_position(
    rows: Rows, scores: Scores, engine: Engine, known: Known = None
) -> NDArray[np.int32]:
    """Return the most probable label of each position (P,); -1 in sequences without a path."""
    found = label_posteriors(rows, scores, engine, known)
    return np.where(found.any(axis=1), found.argmax(axis=1), -1).astype(np.int32)


def joint(rows: Rows, scores: Scores, engine: Engine, known: Known = None) -> NDArray[np.int32]:
    """Return the labels of the best pair of path and labels (P,); -1 where there is no path."""

    def decode(part: Asked, scores: Scores) -> NDArray[np.int32]:
        best = _layer(scores).best(part.possible, part.rows.positions)
        states, score = replace(part.lattice(scores), clamp=best.clamp).best_paths()
        return np.where(part.rows.spread(np.isneginf(score)), np.int32(-1), best.at(states))

    return decoding.joined(decoding.mapped(decode, rows, scores, engine, known), np.int32)


def best(rows: Rows, scores: Scores, engine: Engine, known: Known = None) -> NDArray[np.int32]:
    """Return the most probable labels of each sequence (P,); -1 where there is no path."""
    labels = np.full(rows.positions, -1, np.int32)
    for number, ranked in enumerate(n_best(rows, scores, engine, 1, known)):
        if len(ranked.labels):
            labels[rows.offsets[number] : rows.offsets[number + 1]] = ranked.labels[0]
    return labels


def n_best(
    rows: Rows, scores: Scores, engine: Engine, count: int, known: Known = None
) -> list[Ranked]:
    """Return the most probable labellings of each sequence; none where there is no path."""

    def decode(part: Asked, scores: Scores) -> list[Ranked]:
        lattice = part.lattice(scores)
        each = list(range(len(part.rows)))
        found: dict[int, Ranked] = {}
        for paths in sorted({max(least, 2 * count) for least in PATHS}):
            found.update(zip(each, _rank(part, lattice, each, count, paths), strict=True))
            each = [number for number in each if not found[number].certain.all()]
            if not each:
                break
        return [found[number] for number in range(len(part.rows))]

    found = decoding.mapped(decode, rows, scores, engine, known)
    return [ranked for part in found for ranked in part]


def samples(
    rows: Rows,
    scores: Scores,
    engine: Engine,
    count: int,
    random: np.random.Generator,
    known: Known = None,
) -> NDArray[np.int32]:
    """Return labels drawn at random (count, P); -1 in sequences without a path."""
    states = decoding.samples(rows, scores, engine, count, random, known)
    layer = _layer(scores)
    possible = None if known is None else known.possible(slice(0, rows.positions))
    if possible is None:
        upto = np.cumsum(layer.shares, axis=0)[None]
        index = np.zeros(rows.positions, np.int32)
    else:
        upto, index = np.cumsum(layer.within(possible.allowed), axis=1), possible.set_of
    drawn = np.empty_like(states)
    uniforms = random.random((rows.positions, count)).T
    for number in range(count):
        limits = upto[index, :, states[number]]
        # Where rounding left the sum below 1, the last label that is possible is drawn.
        passed = uniforms[number][:, None] * limits[:, -1:] >= limits
        drawn[number] = np.where(states[number] < 0, -1, np.argmin(passed, axis=1))
    return drawn


def _layer(scores: Scores) -> LabelLayer:
    assert scores.layer is not None
    return scores.layer


def _rank(
    part: Asked, lattice: Lattice, sequences: list[int], count: int, paths: int
) -> list[Ranked]:
    """Rank the labellings of some sequences of a part, from so many paths of each."""
    some = _select(part, np.array(sequences, np.int64))
    layer = _layer(lattice.scores)
    best = layer.best(some.possible, some.rows.positions)
    favoured = replace(some.lattice(lattice.scores), clamp=best.clamp)
    states, score = favoured.k_best(paths)
    # Beyond the paths there are, states are not filled in.
    exists = np.repeat(np.isfinite(score), np.diff(some.rows.offsets), axis=0).T
    states = np.where(exists, states, 0)
    labels, fall = best.at(states), best.fall(states)
    agree = some.lattice(lattice.scores).log_partition()
    mass = favoured.log_partition()
    candidates, bounds = [], []
    for number, (first, last) in enumerate(pairwise(some.rows.offsets.tolist())):
        kept = np.isfinite(score[number])
        if not kept.any():
            found, bound = np.empty((0, last - first), np.int32), 0.0
        elif len(layer.log_shares) ** min(last - first, MANY) <= MANY:
            found, bound = _all(len(layer.log_shares), last - first), 0.0
        else:
            found = np.unique(labels[kept, first:last], axis=0)
            each = np.exp(score[number, kept] - agree[number])
            # A share of what rounding may hide counts as left out too.
            left = max(float(np.exp(mass[number] - agree[number]) - each.sum()), 1e-12)
            bound = left + float(each @ np.exp(fall[kept, first:last].max(axis=1)))
        candidates.append(found)
        bounds.append(bound)
    ranked = []
    for found, exact, bound in zip(
        candidates, _exact(some, lattice.scores, candidates), bounds, strict=True
    ):
        order = np.argsort(-exact, kind="stable")[:count]
        order = order[np.isfinite(exact[order])]
        ranked.append(Ranked(found[order], exact[order], np.exp(exact[order]) >= bound))
    return ranked


def _all(labels: int, length: int) -> NDArray[np.int32]:
    """Return every way to label so many positions."""
    every = np.indices((labels,) * length).reshape(length, labels**length)
    return np.ascontiguousarray(every.T, np.int32)


def _select(part: Asked, sequences: NDArray[np.int64]) -> Asked:
    """Return some sequences of a part."""
    if len(sequences) == len(part.rows):
        return part
    positions, offsets = positions_of(sequences, part.rows.offsets)
    rows = replace(part.rows, index=part.rows.index[positions], offsets=offsets)
    possible = part.possible
    if possible is not None:
        possible = possible._replace(set_of=possible.set_of[positions])
    return Asked(rows, part.positions, possible)


def _exact(
    part: Asked, scores: Scores, candidates: list[NDArray[np.int32]]
) -> list[NDArray[np.float64]]:
    """Return log p(labels | x, what is known) of every candidate of every sequence."""
    counts = [len(found) for found in candidates]
    sequences = np.repeat(np.arange(len(counts)), counts)
    positions, offsets = positions_of(sequences, part.rows.offsets)
    codes = np.concatenate([np.empty(0, np.int32), *(found.reshape(-1) for found in candidates)])
    classes: list[str] = [""] * len(_layer(scores).log_shares)
    told = LabelCodes(codes.astype(np.int32), offsets, classes)
    rows = replace(part.rows, index=part.rows.index[positions], offsets=offsets)
    asked = Asked(rows, part.positions, told.possible(slice(None)))
    agree = part.lattice(scores).log_partition()
    with np.errstate(invalid="ignore"):
        exact = asked.lattice(scores).log_partition() - agree[sequences]
    if part.possible is not None:
        sets = part.possible.set_of[positions]
        refused = ~part.possible.allowed[sets, codes]
        exact[np.repeat(np.arange(len(rows)), np.diff(offsets))[refused]] = -np.inf
    return np.split(exact, np.cumsum(counts)[:-1])
