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

        values = np.ones(len(self.columns)) if self.values is None else self.values
        shape = (self.unique, self.width)
        return csr_matrix((values, self.columns, self.indptr), shape=shape)
