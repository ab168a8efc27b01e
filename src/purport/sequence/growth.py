"""Weights that are added while a model learns: layouts and arcs joined with those met later."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from purport.lattice.transitions import Arcs
from purport.sequence.scorer import Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Grown(NamedTuple):
    """Layout and arcs that hold all of the old ones.

    Attributes
    ----------
    layout, arcs
        What has a weight now.
    places : (weights before,) int64
        Where each old weight stands now.
    """

    layout: Layout
    arcs: Arcs
    places: NDArray[np.int64]

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of the old weights where they stand now, 0 for the new ones."""
        grown = np.zeros(len(self.layout) + len(self.arcs))
        grown[self.places] = values
        return grown


def grow(layout: Layout, arcs: Arcs, more: Layout, more_arcs: Arcs) -> Grown:
    """Join two layouts over the same columns and labels, and two lists of arcs.

    Examples
    --------
    >>> a, b = np.array([0, 1, 1]), np.array([0, 0, 1])
    >>> layout, more = Layout.of(2, a, np.array([1], np.int32)), Layout.of(
    ...     2, b, np.array([0], np.int32)
    ... )
    >>> arcs, none = Arcs(2, np.array([0]), np.array([1]), 0.0), Arcs(2, a[:0], a[:0], 0.0)
    >>> grow(layout, arcs, more, none).places.tolist()
    [0, 2]
    """
    states = layout.states
    old, new = _numbers(layout), _numbers(more)
    listed = np.union1d(old, new)
    columns, targets = np.divmod(listed, states)
    pointers = np.searchsorted(columns, np.arange(layout.width + 1)).astype(np.int64)
    old_arcs, new_arcs = _arc_numbers(arcs), _arc_numbers(more_arcs)
    all_arcs = np.union1d(old_arcs, new_arcs)
    places = np.concatenate(
        [np.searchsorted(listed, old), len(listed) + np.searchsorted(all_arcs, old_arcs)]
    )
    return Grown(
        Layout.of(states, pointers, targets.astype(np.int32)),
        Arcs(states, *np.divmod(all_arcs, states), 0.0),
        places,
    )


def _numbers(layout: Layout) -> NDArray[np.int64]:
    columns = np.repeat(np.arange(layout.width, dtype=np.int64), np.diff(layout.pointers))
    return columns * layout.states + layout.targets


def _arc_numbers(arcs: Arcs) -> NDArray[np.int64]:
    return arcs.sources.astype(np.int64) * arcs.states + arcs.targets
