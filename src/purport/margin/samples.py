"""What a linear SVM learns from: the different pairs of row and label, each with its cost.

A row that occurs several times with one label is one sample whose cost is the sum of theirs, which
changes no optimum. Samples stand in the order of a fingerprint, so that neither the order of the
rows nor whether a row was repeated or weighted decides anything.

Symbols: n samples, U rows, F columns that occur, L labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.features.rows import Rows
from purport.features.unique import fingerprints

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MIX = np.int64(0x2545F4914F6CDD1D)


@dataclass(frozen=True)
class Samples:
    """Samples, over those columns alone that occur among them.

    Attributes
    ----------
    indptr, columns, values
        The different rows as CSR; columns are numbered as in `used`.
    norms : (U,) float64
        The sum of squares of each row.
    row_of, label_of, cost_of : (n,) int32, int32, float64
        The row, the label and the cost of each sample.
    keys : (n,) int64
        A fingerprint of the row and the label of each, ascending.
    used : (F,) int32
        Which columns of the data occur, ascending; with an intercept one more follows them.
    labels : int
        L.
    lost : float
        The costs of rows that are empty, which no weight can reach, together.
    """

    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    norms: NDArray[np.float64]
    row_of: NDArray[np.int32]
    label_of: NDArray[np.int32]
    cost_of: NDArray[np.float64]
    keys: NDArray[np.int64]
    used: NDArray[np.int32]
    labels: int
    lost: float

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def width(self) -> int:
        """How many columns there are, with that of the intercept."""
        intercept = int(self.columns.max(initial=-1)) >= len(self.used)
        return len(self.used) + intercept


def make_samples(
    rows: Rows,
    codes: NDArray[np.int32],
    costs: NDArray[np.float64],
    labels: int,
    intercept: bool,
) -> Samples:
    """Return the samples of labelled rows.

    Parameters
    ----------
    rows : Rows
        All rows; each position counts for itself.
    codes : (P,) int32
        The label of each; those below 0 are not known and left out.
    costs : (P,) float64
        What an error costs there; rows that cost nothing are left out.
    labels : int
        L.
    intercept : bool
        Add a column that is always 1.

    Examples
    --------
    >>> from purport.features.strings import FeatureStrings
    >>> rows = FeatureStrings().fit_transform([[["a"], ["b"], ["a"], ["a"]]])
    >>> samples = make_samples(rows, np.array([0, 1, 0, 1], np.int32), np.ones(4), 2, False)
    >>> len(samples), sorted(samples.cost_of.tolist())
    (3, [1.0, 1.0, 2.0])
    """
    counts = (codes >= 0) & (costs > 0.0)
    pairs = rows.index[counts].astype(np.int64) * labels + codes[counts]
    pairs, place = np.unique(pairs, return_inverse=True)
    cost_of = np.bincount(place, costs[counts], len(pairs)).astype(np.float64)
    kept, row_of = np.unique(pairs // labels, return_inverse=True)
    matrix = _canonical(rows, kept)
    # Hashed columns may be so many that nothing as long as all of them should be made.
    used, places = np.unique(matrix.indices, return_inverse=True)
    columns: NDArray[np.int32] = places.astype(np.int32)
    starts = matrix.indptr.astype(np.int64)
    prints = fingerprints(matrix.indices.astype(np.int32), matrix.data, starts)
    values = matrix.data
    if intercept:
        columns = np.insert(columns, starts[1:], np.int32(len(used))).astype(np.int32)
        values = np.insert(values, starts[1:], 1.0)
        starts = starts + np.arange(len(starts))
    norms = _norms(values, starts)
    label_of = (pairs % labels).astype(np.int32)
    # A row whose square is no number above 0 any more is as good as empty.
    empty = norms[row_of] < np.finfo(np.float64).tiny
    keys = prints[row_of] ^ (_MIX * (label_of.astype(np.int64) + 1))
    order = np.argsort(keys, kind="stable")
    order = order[~empty[order]]
    return Samples(
        indptr=starts,
        columns=columns,
        values=values,
        norms=norms,
        row_of=row_of[order].astype(np.int32),
        label_of=label_of[order],
        cost_of=cost_of[order],
        keys=keys[order],
        used=used.astype(np.int32),
        labels=labels,
        lost=float(np.sum(cost_of[empty])),
    )


def _canonical(rows: Rows, kept: NDArray[np.int64]) -> Any:
    """Return some unique rows as a CSR matrix in which no column repeats or is 0."""
    matrix = rows.matrix()[kept]
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _norms(values: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    # The solver finds out what is too large for float64; NumPy need not tell of it too.
    with np.errstate(over="ignore"):
        squares = np.append(values, 0.0) ** 2
        norms = np.add.reduceat(squares, starts[:-1]) if len(starts) > 1 else np.zeros(0)
    norms[np.diff(starts) == 0] = 0.0
    return norms
