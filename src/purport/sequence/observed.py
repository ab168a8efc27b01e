"""What labelled sequences show: which pairs occur, and what their features and pairs count.

Symbols: P positions, N sequences, L labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from purport.features.rows import Rows
from purport.lattice.transitions import Arcs
from purport.sequence.labels import UNKNOWN, LabelCodes
from purport.sequence.scorer import Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

AT_ONCE = 4096
"""So many positions are spread out over all labels at once."""


class Shown(NamedTuple):
    """Positions and their labels; a position of which shares are known shows several.

    Attributes
    ----------
    positions : (n,) int64
        Where.
    labels : (n,) int32
        What.
    shares : (n,) float64
        How much of the position.
    """

    positions: NDArray[np.int64]
    labels: NDArray[np.int32]
    shares: NDArray[np.float64]


def shown_labels(coded: LabelCodes, chosen: NDArray[np.bool_] | None = None) -> Shown:
    """Return the labels that positions show, at chosen ones or all; every label of a set is."""
    told = coded.told if chosen is None else coded.told & chosen
    sure = np.flatnonzero(told & (coded.codes != UNKNOWN))
    parts = [Shown(sure, coded.codes[sure], np.ones(len(sure)))]
    spread = np.flatnonzero(told & (coded.codes == UNKNOWN))
    for positions in _parts(spread):
        shares = coded.shares_at(positions)
        at, labels = np.nonzero(shares)
        parts.append(Shown(positions[at], labels.astype(np.int32), shares[at, labels]))
    return Shown(*map(np.concatenate, zip(*parts, strict=True)))


def observed_layout(rows: Rows, coded: LabelCodes, at_least: float = 0.0) -> Layout:
    """List the pairs of features and labels that are shown often enough."""
    shown = shown_labels(coded)
    index = rows.index[shown.positions]
    layout = Layout.observed(rows, shown.labels, len(coded.classes), index)
    if not at_least:
        return layout
    return layout.keep(layout.count(rows, shown.labels, shown.shares, index) >= at_least)


def observed_arcs(rows: Rows, coded: LabelCodes, at_least: float = 0.0) -> Arcs:
    """List the pairs of neighbouring labels that occur often enough; the others score 0."""
    labels = len(coded.classes)
    counts = _count_pairs(rows, coded, coded.told, np.ones(len(rows)))
    sources, targets = np.nonzero((counts > 0.0) & (counts >= at_least))
    return Arcs(labels, sources, targets, 0.0)


def observed_counts(
    rows: Rows,
    coded: LabelCodes,
    weights: NDArray[np.float64],
    layout: Layout,
    arcs: Arcs,
) -> NDArray[np.float64]:
    """Sum up features and pairs of the sequences whose labels are all known, times their weights.

    Returns one number for each weight of the layout, then one for each arc.
    """
    chosen = np.repeat(coded.whole, np.diff(rows.offsets))
    shown = shown_labels(coded, chosen)
    of_position = np.repeat(weights, np.diff(rows.offsets))
    of_features = layout.count(
        rows,
        shown.labels,
        shown.shares * of_position[shown.positions],
        rows.index[shown.positions],
    )
    pairs = _count_pairs(rows, coded, coded.told & chosen, weights)
    return np.concatenate([of_features, pairs[arcs.sources, arcs.targets]])


def _count_pairs(
    rows: Rows, coded: LabelCodes, chosen: NDArray[np.bool_], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum up the pairs of neighbouring labels (L, L), where both positions are chosen."""
    labels = len(coded.classes)
    second = _second_of_pairs(rows, chosen)
    of_position = np.repeat(weights, np.diff(rows.offsets))
    before, after = coded.codes[second - 1], coded.codes[second]
    sure = (before != UNKNOWN) & (after != UNKNOWN)
    numbers = before[sure].astype(np.int64) * labels + after[sure]
    flat = np.bincount(numbers, of_position[second[sure]], minlength=labels**2)
    counts = flat.astype(np.float64).reshape(labels, labels)
    for positions in _parts(second[~sure]):
        ahead = coded.shares_at(positions - 1) * of_position[positions, None]
        counts += ahead.T @ coded.shares_at(positions)
    return counts


def _second_of_pairs(rows: Rows, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the positions that have a predecessor, both chosen."""
    has_before = np.ones(len(chosen), np.bool_)
    has_before[rows.offsets[:-1][np.diff(rows.offsets) > 0]] = False
    has_before[1:] &= chosen[:-1]
    return np.flatnonzero(has_before & chosen)


def _parts(positions: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(positions), AT_ONCE):
        yield positions[start : start + AT_ONCE]
