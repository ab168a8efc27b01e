"""Training data cut into partitions, each with all that a fold needs of it.

A sequence of rows that occurs several times is walked once, with the sum of its weights. Sequences
are sorted by their rows before they are cut, so that sequences with rows in common come to lie in
one partition, where a row is scored once.

Symbols: N sequences, P positions, S states.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.features.rows import Rows
from purport.features.unique import number_ragged
from purport.lattice.chain import Chain
from purport.lattice.potentials import Clamp
from purport.records.columns import positions_of
from purport.sequence.labels import LabelCodes
from purport.sequence.scorer import LaidOut, Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORK = 2**20
"""Positions times (states + `BASE`) of a partition: few enough that its rows stay near a cache."""

BASE = 32
"""What a position costs beside its states, in states."""

SORTED_BY = 6
"""So many first positions decide the order of sequences."""


@dataclass(frozen=True)
class Evidence:
    """Sequences whose labels are known in part: walked again, with the paths that agree."""

    chain: Chain
    clamp: Clamp
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class Partition:
    """A part of the training data.

    Attributes
    ----------
    rows : LaidOut
        The different rows of the partition.
    chain : Chain
        The different sequences.
    weights : (N,) float64
        How often each sequence counts.
    evidence : Evidence or None
        The sequences with labels known in part.
    """

    rows: LaidOut
    chain: Chain
    weights: NDArray[np.float64]
    evidence: Evidence | None


def make_partitions(
    rows: Rows, labels: LabelCodes, weights: NDArray[np.float64], layout: Layout
) -> list[Partition]:
    """Cut labelled sequences into partitions.

    Parameters
    ----------
    rows : Rows
        All sequences.
    labels : LabelCodes
        What is known of each position. Sequences of which nothing is known say nothing about the
        model and are left out.
    weights : (N,) float64
        How often each sequence counts.
    layout : Layout
        Which (column, state) pairs have a weight.
    """
    used = np.flatnonzero(labels.informative & (weights > 0.0))
    return [
        _make_partition(rows, labels, weights, part, layout)
        for part in cut_sequences(rows, used, layout.states)
    ]


def cut_sequences(rows: Rows, used: NDArray[np.int64], states: int) -> list[NDArray[np.int64]]:
    """Return the numbers of the sequences of each partition; the cuts depend on the data alone."""
    order = used[_sorted_by_rows(rows, used)]
    lengths = np.diff(rows.offsets)[order]
    begins = np.cumsum(lengths) - lengths
    # A power of two shares out evenly among two, four or eight threads.
    work = int(lengths.sum()) * (states + BASE)
    parts = 1 << max(0, round(math.log2(max(1, work) / WORK)))
    cuts = np.searchsorted(begins, np.arange(1, parts) * (lengths.sum() / parts))
    return [part for part in np.split(order, cuts) if len(part)]


def _sorted_by_rows(rows: Rows, sequences: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order of the sequences by the rows of their first positions."""
    first, end = rows.offsets[sequences], rows.offsets[sequences + 1]
    keys = []
    for t in range(SORTED_BY):
        place = np.minimum(first + t, len(rows.index) - 1)
        keys.append(np.where(first + t < end, rows.index[place], -1))
    return np.lexsort(keys[::-1])


def _make_partition(
    rows: Rows,
    labels: LabelCodes,
    weights: NDArray[np.float64],
    sequences: NDArray[np.int64],
    layout: Layout,
) -> Partition:
    positions, offsets = positions_of(sequences, rows.offsets)
    local = select_rows(rows, rows.index[positions], offsets)
    evidence = _make_evidence(local, labels, sequences, rows.offsets, weights)
    number, first = number_ragged(local.index, local.offsets)
    kept, unique_offsets = positions_of(first, local.offsets)
    return Partition(
        rows=LaidOut(layout, local),
        chain=Chain(local.index[kept], unique_offsets, layout.states),
        weights=np.bincount(number, weights[sequences], len(first)).astype(np.float64),
        evidence=evidence,
    )


def _make_evidence(
    local: Rows,
    labels: LabelCodes,
    sequences: NDArray[np.int64],
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> Evidence | None:
    partial = np.flatnonzero(~labels.whole[sequences])
    if not len(partial):
        return None
    positions, cuts = positions_of(partial, local.offsets)
    everywhere, _ = positions_of(sequences[partial], offsets)
    chain = Chain(local.index[positions], cuts, len(labels.classes))
    return Evidence(chain, labels.clamp(everywhere), weights[sequences[partial]])


def select_rows(rows: Rows, index: NDArray[np.int32], offsets: NDArray[np.int64]) -> Rows:
    """Return only the unique rows that `index` uses, numbered in the order in which they come."""
    used, first, local = np.unique(index, return_index=True, return_inverse=True)
    by_place = np.argsort(first, kind="stable")
    rank = np.empty(len(used), np.int32)
    rank[by_place] = np.arange(len(used), dtype=np.int32)
    chosen = used[by_place].astype(np.int64)
    entries, indptr = positions_of(chosen, rows.indptr)
    return Rows(
        indptr=indptr,
        columns=rows.columns[entries],
        values=None if rows.values is None else rows.values[entries],
        width=rows.width,
        index=rank[local].astype(np.int32),
        offsets=offsets,
    )
