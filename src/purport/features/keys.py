"""Which whole numbers were met often enough to be a column, and the rank of each among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNSEEN = -1
"""Stands for something that was not met when the columns were learnt."""

NOTHING = -2
"""Stands for a place where there is nothing to look up."""

MOST_SLOTS = 1 << 20
"""Numbers up to here are ranked by one look into a table, larger ones by a search."""


class Keys:
    """Numbers below `size`, kept in ascending order; a number's rank among them is its column.

    Parameters
    ----------
    kept : (columns,) int64
        The numbers, ascending.
    size : int
        All numbers that will be asked for are below it.

    Examples
    --------
    >>> keys = Keys.learn(np.array([7, 3, 7, -2]), np.ones(4, np.int64), size=10)
    >>> keys.kept.tolist()
    [3, 7]
    >>> keys.rank(np.array([7, 5, -2])).tolist()
    [1, -1, -2]
    """

    def __init__(self, kept: NDArray[np.int64], size: int) -> None:
        self.kept = kept
        self._table: NDArray[np.int32] | None = None
        if size <= MOST_SLOTS:
            # UNSEEN and NOTHING count from the end of the table, and find themselves there.
            self._table = np.full(size + 2, UNSEEN, np.int32)
            self._table[NOTHING] = NOTHING
            self._table[kept] = np.arange(len(kept))

    def __len__(self) -> int:
        return len(self.kept)

    @classmethod
    def learn(
        cls, numbers: NDArray[Any], counts: NDArray[np.int64], size: int, min_count: int = 1
    ) -> Self:
        """Keep the numbers whose counts add up to at least `min_count`; those below zero never.

        Examples
        --------
        >>> Keys.learn(np.array([7, 3, 7]), np.array([1, 1, 4]), size=10, min_count=2).kept.tolist()
        [7]
        """
        asked = numbers >= 0
        kept, place = np.unique(numbers[asked], return_inverse=True)
        sums = np.zeros(len(kept), np.int64)
        np.add.at(sums, place, counts[asked])
        return cls(kept[sums >= min_count].astype(np.int64), size)

    def rank(self, numbers: NDArray[Any]) -> NDArray[np.int32]:
        """Return the rank of each number, UNSEEN if it was not kept; negative ones stay.

        Examples
        --------
        >>> Keys(np.array([3, 7]), size=10).rank(np.array([3, 4])).tolist()
        [0, -1]
        """
        ranks: NDArray[np.int32]
        if self._table is not None:
            ranks = self._table[numbers]
            return ranks
        if len(self.kept) == 0:
            ranks = np.minimum(numbers, UNSEEN).astype(np.int32)
            return ranks
        place = np.minimum(np.searchsorted(self.kept, numbers), len(self.kept) - 1)
        missed = np.minimum(numbers, UNSEEN)
        return np.where(self.kept[place] == numbers, place, missed).astype(np.int32)


def pair(left: NDArray[Any], right: NDArray[Any], right_size: int) -> NDArray[np.int64]:
    """Return one number for each pair of numbers; if one is negative, the lesser of the two.

    Examples
    --------
    >>> pair(np.array([2, -1]), np.array([3, 0]), right_size=10).tolist()
    [23, -1]
    """
    joined = left.astype(np.int64) * right_size + right
    negative = (left < 0) | (right < 0)
    pairs: NDArray[np.int64] = np.where(negative, np.minimum(left, right), joined)
    return pairs
