"""Where training of hidden states begins: steps of a label split into kinds, or by chance.

The likelihood of a chain of hidden states has many local optima, and from a random start most
states end up saying the same. So the steps of each label are first split into clusters by what they
say and by what is said around them; from these, EM finds a generative chain of states; last a chain
is trained for a few iterations as if its most probable states were labels.

Symbols: P positions, L labels, S states, F columns.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from purport.features.rows import Rows
from purport.fold.engine import Engine
from purport.lattice.transitions import Arcs
from purport.optimize.lbfgs import minimise
from purport.sequence.generative import GenerativeChain, best_states
from purport.sequence.labels import UNKNOWN, LabelCodes
from purport.sequence.latent_likelihood import LatentShape
from purport.sequence.likelihood import NegativeLogLikelihood
from purport.sequence.observed import observed_counts
from purport.sequence.partitions import make_partitions

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

AROUND = 4
"""So many steps before and after say what a step is about."""

ROUNDS = 15
"""So often centres of clusters move; most have long come to rest."""

ITERATIONS = 15
"""Of the chain of clusters: enough to tell them apart, too few to be sure of them."""

DOUBT = 0.1
"""The share of a cluster's p(y | h) that goes to all labels alike."""

STARTS = 4
"""So many clusterings are tried; the one from which EM comes furthest is taken."""

SPREAD = 0.1
"""Standard deviation of a random start."""


def states_of_labels(counts: NDArray[np.int64], states: int) -> NDArray[np.int64]:
    """Return how many states each label gets (L,): at least one, more for the frequent.

    States are dealt one by one to the label whose root of its count, divided by what it would then
    have, is largest.

    Examples
    --------
    >>> states_of_labels(np.array([900, 100, 1]), 6).tolist()
    [4, 1, 1]
    """
    dealt = np.ones(len(counts), np.int64)
    for _ in range(states - len(counts)):
        dealt[np.argmax(np.sqrt(counts) / (dealt + 1))] += 1
    return dealt


def split_steps(
    rows: Rows, coded: LabelCodes, states_each: NDArray[np.int64], random: np.random.Generator
) -> NDArray[np.int32]:
    """Return the state of every step whose label is known (P,), -1 for the others.

    The states of a label follow those of the label before it.
    """
    found = np.full(rows.positions, UNKNOWN, np.int32)
    profile = step_profiles(rows)
    first = 0
    for label, states in enumerate(states_each.tolist()):
        steps = np.flatnonzero(coded.codes == label)
        found[steps] = first + cluster(profile[steps], states, random)
        first += states
    return found


def step_profiles(rows: Rows) -> csr_matrix:
    """Return what each step says, and what is said around it, side by side (P, 2 F).

    Features count by how rare they are; both halves have length one.
    """
    from scipy.sparse import csr_matrix, hstack

    said = rows.matrix()
    often = np.bincount(said.indices, np.repeat(np.bincount(rows.index, minlength=rows.unique),
                        np.diff(said.indptr)), rows.width)  # fmt: skip
    said = _of_length_one(said.multiply(np.log(1.0 + rows.positions / (1.0 + often))).tocsr())
    said = said[rows.index]
    place = np.arange(rows.positions)
    number = rows.spread(np.arange(len(rows)))
    ends = []
    for shift in (*range(-AROUND, 0), *range(1, AROUND + 1)):
        other = place + shift
        inside = (other >= 0) & (other < rows.positions)
        inside[inside] &= number[other[inside]] == number[inside]
        ends.append(np.stack([place[inside], other[inside]]))
    sources, targets = np.concatenate(ends, axis=1)
    near = csr_matrix((np.ones(len(sources)), (sources, targets)), (rows.positions,) * 2)
    return hstack([said, _of_length_one((near @ said).tocsr())]).tocsr()


def _of_length_one(matrix: csr_matrix) -> csr_matrix:
    """Divide rows by their length; rows of zeros stay."""
    from scipy.sparse import diags

    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return (diags(1.0 / np.where(length > 0.0, length, 1.0)) @ matrix).tocsr()


def cluster(profile: csr_matrix, clusters: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Return the cluster of each row (n,): k-means from far apart rows, by the cosine.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> rows = csr_matrix([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> found = cluster(rows, 2, np.random.default_rng(1))
    >>> bool(found[0] == found[1] != found[2])
    True
    """
    if clusters == 1 or profile.shape[0] <= 1:
        return np.zeros(profile.shape[0], np.int64)
    profile = _of_length_one(profile)
    chosen = [int(random.integers(profile.shape[0]))]
    nearest = np.zeros(profile.shape[0])
    for _ in range(clusters - 1):
        nearest = np.maximum(nearest, (profile @ profile[chosen[-1]].T).toarray().ravel())
        far = np.maximum(1.0 - nearest, 0.0) + 1e-12
        chosen.append(int(random.choice(len(far), p=far / far.sum())))
    centres = profile[chosen].toarray()
    members = np.full(profile.shape[0], -1)
    for _ in range(ROUNDS):
        near = profile @ centres.T
        now = near.argmax(axis=1)
        if np.array_equal(now, members):
            break
        members = now
        sums = np.zeros_like(centres)
        for number in range(clusters):
            inside = members == number
            if inside.any():
                sums[number] = np.asarray(profile[inside].sum(axis=0)).ravel()
            else:
                # An empty cluster begins again at the row that fits its own worst.
                sums[number] = profile[int(near.max(axis=1).argmin())].toarray().ravel()
        centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-300)
    return members


def kinds_of_steps(
    rows: Rows,
    coded: LabelCodes,
    weights: NDArray[np.float64],
    states_each: NDArray[np.int64],
    engine: Engine,
    random: np.random.Generator,
) -> NDArray[np.int32]:
    """Return the state of every step whose label is known (P,), -1 for the others."""
    if rows.values is not None and np.any(rows.values < 0.0):
        # Numbers below 0 are no counts, of which EM would know how they come about.
        return split_steps(rows, coded, states_each, random)
    if np.all(states_each == 1):
        return coded.codes
    chain = GenerativeChain(rows, coded, weights, states_each, engine)
    return best_states(
        chain, (split_steps(rows, coded, states_each, random) for _ in range(STARTS))
    )


def begin_from_clusters(
    rows: Rows,
    coded: LabelCodes,
    weights: NDArray[np.float64],
    shape: LatentShape,
    l2: float,
    engine: Engine,
    random: np.random.Generator,
) -> NDArray[np.float64]:
    """Return theta of a chain whose states are kinds of steps of each label."""
    counts = np.bincount(coded.codes[coded.codes != UNKNOWN], minlength=shape.labels)
    theta = np.zeros(len(shape))
    if shape.fixed is not None:
        each = shape.fixed.shares.sum(axis=1).astype(np.int64)
    elif shape.states < shape.labels:
        # Too few for one each: labels share states, as the likelihood of random ones decides.
        return begin_at_random(shape, random)
    else:
        each = states_of_labels(counts, shape.states)
        owner = np.repeat(np.arange(shape.labels), each)
        shares = np.where(owner == np.arange(shape.labels)[:, None], 1.0 - DOUBT, 0.0)
        scores = np.log(shares + DOUBT / shape.labels)
        shape.blocks(theta).labels[:] = scores - scores.mean(axis=0)
    states = kinds_of_steps(rows, coded, weights, each, engine, random)
    told = LabelCodes(states, rows.offsets, list(range(shape.states)))
    layout, arcs = shape.layout, Arcs.all(shape.states)
    objective = NegativeLogLikelihood(
        make_partitions(rows, told, weights, layout),
        observed_counts(rows, told, weights, layout, arcs),
        layout,
        arcs,
        l2,
        engine,
    )
    start = np.zeros(len(layout) + len(arcs))
    for now in islice(minimise(objective, start), ITERATIONS + 1):
        theta[: len(start)] = now.x
    return shape.centre(theta)


def begin_at_random(shape: LatentShape, random: np.random.Generator) -> NDArray[np.float64]:
    """Return theta drawn at random, as the paper begins."""
    return shape.centre(random.normal(0.0, SPREAD, len(shape)))
