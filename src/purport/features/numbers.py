"""Rows from numbers: a matrix, dense or sparse, whose rows are cut into sequences.

The columns are those of the matrix and one more, always 1, so that a model can learn how frequent
each label is.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from purport.errors import InputError, PurportWarning, ShapeError
from purport.estimator.base import Estimator, State
from purport.features.rows import Rows
from purport.features.unique import unique_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

BIAS = "bias"


@dataclass(frozen=True)
class NumberRows:
    """Rows of numbers, each different from 0 with its column, and where each sequence starts.

    Attributes
    ----------
    columns : (nonzeros,) int32
        Columns, row after row.
    values : (nonzeros,) float64
        What stands there.
    starts : (P + 1,) int64
        Where each row starts in `columns`.
    offsets : (N + 1,) int64
        Where each sequence starts among the rows.
    width : int
        How many columns the matrix has.
    names : list of str or None
        What a data frame calls its columns, if by strings.
    """

    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    starts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    width: int
    names: list[str] | None

    @classmethod
    def of(cls, owner: str, X: Any, groups: Any) -> NumberRows:
        """Check a matrix and the groups of its rows.

        Parameters
        ----------
        owner : str
            Whom messages speak of.
        X : (rows, columns) array, sparse matrix or data frame
            Finite numbers.
        groups : (rows,) or None
            The sequence of each row; the rows of one stand together. None makes every row a
            sequence.
        """
        columns, values, starts, width = _entries(owner, X)
        offsets = offsets_of_groups(owner, groups, len(starts) - 1)
        return cls(columns, values, starts, offsets, width, _names_of(X))

    @classmethod
    def apart(cls, owner: str, X: Any) -> NumberRows:
        """Check a matrix whose rows have nothing to do with each other: each is a sequence.

        Examples
        --------
        >>> NumberRows.apart("LinearSVM", [[0.5, 0.0], [0.0, 2.0]]).offsets.tolist()
        [0, 1, 2]
        """
        columns, values, starts, width = _entries(owner, X)
        offsets = np.arange(len(starts), dtype=np.int64)
        return cls(columns, values, starts, offsets, width, _names_of(X))

    def __len__(self) -> int:
        return len(self.offsets) - 1


class NumberColumns(Estimator):
    """Rows of numbers as features, with one more that is always 1.

    Examples
    --------
    >>> X = NumberRows.of("CRF", [[1.0, 0.0], [0.5, 2.0]], ["a", "a"])
    >>> rows = NumberColumns().fit_transform(X)
    >>> rows.matrix().toarray()
    array([[1. , 0. , 1. ],
           [0.5, 2. , 1. ]])
    """

    names_: list[str]
    named_: bool

    def __init__(self) -> None:
        pass

    def learn(self, batches: Iterable[NumberRows]) -> Self:
        """Learn the columns from the first batch; the others must have as many."""
        first = next(iter(batches), None)
        if first is None:
            raise InputError("There are no rows to learn columns from.")
        self._learn(first)
        return self

    def fit_transform(self, X: NumberRows) -> Rows:
        """Learn how many columns there are and return the rows."""
        self._learn(X)
        return self.transform(X)

    def transform(self, X: NumberRows) -> Rows:
        """Return the rows of the columns that were learnt."""
        self._check_fitted()
        expected = len(self.names_) - 1
        if self.named_ and X.names is not None:
            _check_names(X.names, self.names_[:-1])
        if X.width != expected:
            raise InputError(
                f"X has {X.width} features, but CRF is expecting {expected} features as input."
            )
        rows = len(X.starts) - 1
        starts = X.starts + np.arange(rows + 1)
        columns = np.full(len(X.columns) + rows, expected, np.int32)
        values = np.ones(len(columns))
        place = np.ones(len(columns), np.bool_)
        place[starts[1:] - 1] = False
        columns[place], values[place] = X.columns, X.values
        return unique_rows(columns, starts, values, expected + 1, X.offsets)

    @property
    def width(self) -> int:
        """How many columns there are."""
        self._check_fitted()
        return len(self.names_)

    def feature_names(self) -> list[str]:
        """Return what a data frame calls its columns, else x0, x1 and so on; the last is "bias"."""
        self._check_fitted()
        return self.names_

    def _learn(self, X: NumberRows) -> None:
        self.names_ = [*(X.names or _usual_names(X.width)), BIAS]
        self.named_ = X.names is not None

    def _to_state(self) -> State:
        self._check_fitted()
        return State(settings={"names": self.names_, "named": self.named_})

    def _restore(self, state: State) -> None:
        self.names_ = state.settings["names"]
        # Models of format 2 and before do not say whether somebody gave the names.
        usual = [*_usual_names(len(self.names_) - 1), BIAS]
        self.named_ = state.settings.get("named", self.names_ != usual)


def _names_of(X: Any) -> list[str] | None:
    """Return what a data frame calls its columns; pyarrow says so in its own way."""
    for attribute in ("columns", "column_names"):
        names = list(getattr(X, attribute, ()))
        if names and all(isinstance(name, str) for name in names):
            return [str(name) for name in names]
    return None


def _usual_names(width: int) -> list[str]:
    return [f"x{number}" for number in range(width)]


def _check_names(given: list[str], learnt: list[str]) -> None:
    """Refuse columns that are not those of training, or stand in another order."""
    if given == learnt:
        return
    unknown, absent = len(set(given) - set(learnt)), len(set(learnt) - set(given))
    differ = f"{unknown} of X were not there, and {absent} are not in X"
    raise InputError(
        "The feature names should match those that were passed during fit:"
        f" {differ if unknown or absent else 'they stand in another order'}. Give the same columns"
        " in the same order."
    )


def _entries(owner: str, X: Any) -> tuple[Any, Any, Any, int]:
    """Return the columns and the values of all rows, where each starts, and the width."""
    entries = _of_sparse(X) if hasattr(X, "tocsr") else _of_dense(X)
    values = entries[1]
    if not np.all(np.isfinite(values)):
        found = "NaN" if np.any(np.isnan(values)) else "infinity"
        raise InputError(
            f"Input X of {owner} contains {found}. Give finite numbers, or leave such rows out."
        )
    return entries


def _of_sparse(X: Any) -> tuple[Any, Any, Any, int]:
    matrix = X.tocsr().copy()
    matrix.sum_duplicates()
    _check_shape(matrix.shape, matrix.dtype)
    return (
        matrix.indices.astype(np.int32),
        _floats(matrix.data),
        matrix.indptr.astype(np.int64),
        int(matrix.shape[1]),
    )


def _of_dense(X: Any) -> tuple[Any, Any, Any, int]:
    try:
        array = np.asarray(X)
    except ValueError:
        raise InputError(
            "X holds numbers in rows of different lengths. Give each row as many numbers; or, if"
            " they are sequences, a list of feature strings or a dict for each position."
        ) from None
    _check_shape(array.shape, array.dtype)
    floats = _floats(array)
    places, columns = np.nonzero(floats)
    starts = np.searchsorted(places, np.arange(len(floats) + 1)).astype(np.int64)
    return columns.astype(np.int32), floats[places, columns], starts, int(array.shape[1])


def _floats(array: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(array, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "X must hold numbers; some of it is not a number. Records in a data frame, as tokens or"
            " texts, are read first: Utterances.read(frame) or Sessions.read(frame)."
        ) from None


def _check_shape(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise InputError("Complex data not supported: X must hold real numbers.")
    if len(shape) != 2:
        raise InputError(
            f"Expected 2D array, got {len(shape)}D array instead. Reshape your data: one row a"
            " position, one column a feature (X.reshape(1, -1) for a single row)."
        )
    if not shape[0]:
        raise InputError(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required."
        )
    if not shape[1]:
        raise InputError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )


def offsets_of_groups(owner: str, groups: Any, rows: int) -> NDArray[np.int64]:
    """Return where each sequence starts; rows of one group must stand together."""
    if groups is None:
        warnings.warn(
            f"{owner} was given rows without groups=, so every row is a sequence of its own and"
            " nothing is learnt of transitions. Say groups= (the sequence of each row), or give a"
            " list of sequences, also to grid search and cross-validation.",
            PurportWarning,
            stacklevel=6,
        )
        return np.arange(rows + 1, dtype=np.int64)
    # Lists are taken as they are: as an array of strings, NaN would be one of them.
    given = np.asarray(groups, object if isinstance(groups, list | tuple) else None)
    if given.ndim != 1:
        raise InputError(
            f"groups must be a flat list, one value a row; got {given.ndim} dimensions."
        )
    if len(given) != rows:
        raise ShapeError.lengths("groups", len(given), "X", rows)
    if _lacks_some(given):
        raise InputError(
            "Some of groups are None or NaN, so nobody knows which sequence these rows belong to."
            " Give each row its group, or leave such rows out."
        )
    begins = np.append(True, given[1:] != given[:-1])
    starts = np.flatnonzero(begins).astype(np.int64)
    if len(set(given[starts].tolist())) != len(starts):
        raise InputError(
            "The rows of one group must stand together, and those of some groups do not. Sort the"
            " rows by group, in the order of the sequence."
        )
    return np.append(starts, rows)


def _lacks_some(values: NDArray[Any]) -> bool:
    try:
        differ = np.any(values != values)
    except TypeError:  # what pandas puts for a missing value does not even say that it differs
        return True
    return bool(differ) or (values.dtype == object and any(each is None for each in values))


def holds_numbers(X: Any) -> bool:
    """Tell a matrix, a data frame or a list of lists of numbers from lists of features."""
    if hasattr(X, "tocsr") or hasattr(X, "iloc") or hasattr(X, "select_dtypes"):
        return True
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "biufc" or (X.ndim == 2 and X.size > 0 and _is_number(X[0, 0]))
    if not isinstance(X, list | tuple):
        return hasattr(X, "__array__")
    first = next(
        (row for row in X if isinstance(row, list | tuple | np.ndarray) and len(row)), None
    )
    return first is not None and _is_number(first[0])


def _is_number(value: Any) -> bool:
    return isinstance(value, Number | np.bool_)
