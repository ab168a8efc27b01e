"""Training data of models with hidden states, cut into partitions that a fold walks twice.

The free walk meets each different sequence of rows once. The clamped walk meets each different
sequence of rows and labels once, and tells its posteriors apart by row and by label: the rows teach
the weights of features, the labels p(y | h).

Symbols: N sequences, P positions, R different pairs of a row and a set of labels, D sets of labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.features.rows import Rows
from purport.features.unique import number_ragged
from purport.lattice.chain import Chain
from purport.records.columns import positions_of
from purport.sequence.labels import Possible
from purport.sequence.partitions import cut_sequences, select_rows
from purport.sequence.scorer import LaidOut, Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = slice | NDArray[np.int64]


@dataclass(frozen=True)
class Walk:
    """Different sequences, and how often each counts.

    Attributes
    ----------
    chain : Chain
        The sequences.
    weights : (N,) float64
        How often each counts.
    """

    chain: Chain
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class Told:
    """Sequences with what is known of their labels.

    Attributes
    ----------
    walk : Walk
        The different sequences of rows and labels.
    pairs : (P,) int32
        The pair of a row and a set of labels at each position of the walk.
    sets : (P,) int32
        The set of labels there.
    row_of_pair, set_of_pair : (R,) int32
        What each pair is made of.
    """

    walk: Walk
    pairs: NDArray[np.int32]
    sets: NDArray[np.int32]
    row_of_pair: NDArray[np.int32]
    set_of_pair: NDArray[np.int32]


@dataclass(frozen=True)
class LatentPartition:
    """A part of the training data.

    Attributes
    ----------
    rows : LaidOut
        The different rows.
    free : Walk
        All sequences.
    told : Told or None
        Those with labels; None in a part that has none.
    """

    rows: LaidOut
    free: Walk
    told: Told | None


def make_latent_partitions(
    rows: Rows,
    possible: Possible | None,
    free_weights: NDArray[np.float64],
    told_weights: NDArray[np.float64],
    layout: Layout,
) -> list[LatentPartition]:
    """Cut sequences into partitions.

    Parameters
    ----------
    rows : Rows
        All sequences.
    possible : Possible or None
        The labels that positions may have; None where no sequence has labels.
    free_weights, told_weights : (N,) float64
        How often each sequence counts in the free and in the clamped walk.
    layout : Layout
        Which (column, state) pairs have a weight.
    """
    used = np.flatnonzero((free_weights != 0.0) | (told_weights != 0.0))
    return [
        _make_partition(rows, possible, free_weights, told_weights, part, layout)
        for part in cut_sequences(rows, used, layout.states)
    ]


def _make_partition(
    rows: Rows,
    possible: Possible | None,
    free_weights: NDArray[np.float64],
    told_weights: NDArray[np.float64],
    sequences: NDArray[np.int64],
    layout: Layout,
) -> LatentPartition:
    positions, offsets = positions_of(sequences, rows.offsets)
    local = select_rows(rows, rows.index[positions], offsets)
    free, _ = _different(local.index, offsets, local.index, free_weights[sequences], layout.states)
    told = None
    if possible is not None:
        told = _make_told(local, possible, positions, told_weights[sequences], layout.states)
    return LatentPartition(LaidOut(layout, local), free, told)


def _make_told(
    local: Rows,
    possible: Possible,
    positions: Places,
    weights: NDArray[np.float64],
    states: int,
) -> Told:
    sets = possible.set_of[positions]
    numbers = local.index.astype(np.int64) * len(possible.allowed) + sets
    different, pairs = np.unique(numbers, return_inverse=True)
    pairs = pairs.astype(np.int32)
    walk, kept = _different(pairs, local.offsets, local.index, weights, states)
    row_of_pair, set_of_pair = np.divmod(different, len(possible.allowed))
    return Told(
        walk, pairs[kept], sets[kept], row_of_pair.astype(np.int32), set_of_pair.astype(np.int32)
    )


def _different(
    signs: NDArray[np.int32],
    offsets: NDArray[np.int64],
    index: NDArray[np.int32],
    weights: NDArray[np.float64],
    states: int,
) -> tuple[Walk, Places]:
    """Return the different sequences of signs as a walk over rows, and their positions."""
    number, first = number_ragged(signs, offsets)
    kept, unique_offsets = positions_of(first, offsets)
    together = np.bincount(number, weights, len(first)).astype(np.float64)
    return Walk(Chain(index[kept], unique_offsets, states), together), kept
