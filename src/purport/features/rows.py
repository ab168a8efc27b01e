"""Feature rows of positions: each different row is stored once, positions point at it.

Half of all token rows of a corpus repeat. Everything below the features works on the unique rows,
and meets positions only through `index`.

Symbols: N sequences, P positions of all sequences together, U unique rows, F columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix


@dataclass(frozen=True)
class Rows:
    """Sparse rows of ragged sequences.

    Attributes
    ----------
    indptr : (U + 1,) int64
        Where each unique row starts in `columns`.
    columns : (nonzeros,) int32
        Column numbers, ascending within a row; a column may repeat, its values then add.
    values : (nonzeros,) float64 or None
        None when every value is 1, as for most text.
    width : int
        F, the number of columns.
    index : (P,) int32
        The unique row of each position.
    offsets : (N + 1,) int64
        Where each sequence starts in `index`.
    unseen : int
        How many features had no column and were left out.
    """

    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float64] | None
    width: int
    index: NDArray[np.int32]
    offsets: NDArray[np.int64]
    unseen: int = 0

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def positions(self) -> int:
        """P, the number of positions of all sequences together."""
        return len(self.index)

    @property
    def unique(self) -> int:
        """U, the number of different rows."""
        return len(self.indptr) - 1

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what is said of each sequence (N,) at each of its positions (P,)."""
        return np.repeat(values, np.diff(self.offsets))

    def matrix(self) -> csr_matrix:
        """Return the unique rows as a SciPy matrix of shape (U, F)."""
        from scipy.sparse import csr_matrix

        shape = (self.unique, self.width)
        return csr_matrix((self._filled_values(), self.columns, self.indptr), shape=shape)

    def join(self, other: Rows) -> Rows:
        """Return these sequences followed by others whose columns mean the same."""
        values = None
        if self.values is not None or other.values is not None:
            values = np.concatenate([self._filled_values(), other._filled_values()])
        return Rows(
            indptr=np.concatenate([self.indptr, self.indptr[-1] + other.indptr[1:]]),
            columns=np.concatenate([self.columns, other.columns]),
            values=values,
            width=self.width,
            index=np.concatenate([self.index, other.index + np.int32(self.unique)]),
            offsets=np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]]),
            unseen=self.unseen + other.unseen,
        )

    def _filled_values(self) -> NDArray[np.float64]:
        return np.ones(len(self.columns)) if self.values is None else self.values
