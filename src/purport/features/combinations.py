"""The combinations of values that batches show, and how often, in memory of their number only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purport.features.unique import number_ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Combinations:
    """Counts combinations of `size` numbers that arrive in batches.

    Parameters
    ----------
    size : int
        How many numbers make one combination; with none at all there is one combination.

    Examples
    --------
    >>> met = Combinations(2)
    >>> met.add(np.array([[3, 4], [0, 0], [3, 4]], np.int32))
    >>> met.add(np.array([[3, 4]], np.int32))
    >>> found, counts = met.finish()
    >>> found.tolist(), counts.tolist()
    ([[3, 4], [0, 0]], [3, 1])
    """

    def __init__(self, size: int) -> None:
        self._met = np.empty((0, size), np.int32)
        self._counts = np.empty(0, np.int64)
        self._waiting: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
        self._waiting_length = 0

    def add(self, combinations: NDArray[np.int32]) -> None:
        """Count the combinations of a batch, (P, size)."""
        found = _summed(combinations, np.ones(len(combinations), np.int64))
        self._waiting.append(found)
        self._waiting_length += len(found[1])
        # Joining what waits costs what is there already, so it has to wait until it is as much.
        if self._waiting_length > len(self._counts):
            self._join()

    def finish(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the different combinations, in the order in which they came, and their counts."""
        self._join()
        return self._met, self._counts

    def _join(self) -> None:
        met, counts = zip((self._met, self._counts), *self._waiting, strict=True)
        self._met, self._counts = _summed(np.concatenate(met), np.concatenate(counts))
        self._waiting, self._waiting_length = [], 0


def _summed(
    combinations: NDArray[np.int32], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return each different combination once, with the sum of its counts."""
    length, size = combinations.shape
    starts = np.arange(length + 1, dtype=np.int64) * size
    number, first = number_ragged(np.ascontiguousarray(combinations, np.int32).ravel(), starts)
    sums = np.zeros(len(first), np.int64)
    np.add.at(sums, number, counts)
    return combinations[first], sums
