"""What labelled sequences show: which pairs occur, and what their features and pairs count.

Symbols: P positions, N sequences, L labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purport.features.rows import Rows
from purport.lattice.transitions import Arcs
from purport.sequence.partitions import UNKNOWN
from purport.sequence.scorer import Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray


def observed_arcs(rows: Rows, codes: NDArray[np.int32], labels: int, at_least: float = 0.0) -> Arcs:
    """List the pairs of neighbouring labels that occur often enough; the others score 0."""
    second = _second_of_pairs(rows, codes)
    pairs, counts = np.unique(_numbers_of_pairs(codes, second, labels), return_counts=True)
    pairs = pairs[counts >= at_least]
    return Arcs(labels, pairs // labels, pairs % labels, 0.0)


def observed_counts(
    rows: Rows,
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    layout: Layout,
    arcs: Arcs,
) -> NDArray[np.float64]:
    """Sum up features and pairs of the sequences whose labels are all known, times their weights.

    Returns one number for each weight of the layout, then one for each arc.
    """
    codes = _only_whole_sequences(codes, rows.offsets)
    position_weights = np.repeat(weights, np.diff(rows.offsets))
    second = _second_of_pairs(rows, codes)
    of_pairs = np.bincount(
        _numbers_of_pairs(codes, second, arcs.states),
        position_weights[second],
        minlength=arcs.states**2,
    )
    listed = arcs.sources.astype(np.int64) * arcs.states + arcs.targets
    return np.concatenate([layout.count(rows, codes, position_weights), of_pairs[listed]])


def _second_of_pairs(rows: Rows, codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the positions that have a predecessor, both labels known."""
    has_before = np.ones(len(codes), np.bool_)
    has_before[rows.offsets[:-1][np.diff(rows.offsets) > 0]] = False
    second = np.flatnonzero(has_before)
    known: NDArray[np.bool_] = (codes[second] != UNKNOWN) & (codes[second - 1] != UNKNOWN)
    return second[known]


def _numbers_of_pairs(
    codes: NDArray[np.int32], second: NDArray[np.int64], labels: int
) -> NDArray[np.int64]:
    numbers: NDArray[np.int64] = codes[second - 1].astype(np.int64) * labels + codes[second]
    return numbers


def _only_whole_sequences(
    codes: NDArray[np.int32], offsets: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the labels with those of sequences that are known in part taken out."""
    lengths = np.diff(offsets)
    numbers = np.repeat(np.arange(len(lengths)), lengths)
    unknown = np.bincount(numbers[codes == UNKNOWN], minlength=len(lengths)) > 0
    return np.where(unknown[numbers], np.int32(UNKNOWN), codes)
