"""What stands beside X, one a sample: flat labels as numbers, and weights, both checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import InputError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_LABEL = -1
"""The number of a label that is not known."""

OTHER_LABEL = -2
"""The number of a label that is not among those given."""


def flat_labels(
    owner: str,
    y: Any,
    rows: int,
    classes: Sequence[Any] | None = None,
    counts: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Return the number of each label, and the labels in the order of their numbers.

    Parameters
    ----------
    owner : str
        Whom messages speak of.
    y : (rows,) labels
        Of any kind that can be sorted; None where a label is not known.
    rows : int
        How many there must be.
    classes : list, optional
        The labels there are; None takes those that occur.
    counts : (rows,) booleans, optional
        Which rows count; the labels of the others are not known.

    Examples
    --------
    >>> codes, classes = flat_labels("LinearSVM", ["b", "a", None], 3)
    >>> codes.tolist(), classes.tolist()
    ([1, 0, -1], ['a', 'b'])
    """
    if y is None:
        raise InputError(
            f"{owner} requires y to be passed, but the target y is None. Give one label a row."
        )
    given = np.asarray(y)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given.ravel()
    if given.ndim != 1:
        raise InputError(f"y must be flat, one label a row; got an array of shape {given.shape}.")
    if len(given) != rows:
        raise ShapeError.lengths("y", len(given), "X", rows)
    if given.dtype.kind == "f" and not np.all(np.isfinite(given)):
        raise InputError("Input y contains NaN or infinity. Give a label for every row.")
    told = np.ones(rows, np.bool_)
    if given.dtype == object:
        told = np.array([label is not None for label in given], np.bool_)
    if counts is not None:
        told &= counts
    try:
        present = np.unique(given[told])
        known = present if classes is None else np.asarray(classes)
        if len(known):
            order = np.argsort(known, kind="stable")
            place = np.searchsorted(known[order], given[told])
            found = order[np.minimum(place, len(known) - 1)]
            found = np.where(known[found] == given[told], found, OTHER_LABEL)
        else:
            found = np.full(int(told.sum()), OTHER_LABEL)
    except TypeError:
        raise InputError(
            "y holds labels of several kinds, which cannot be sorted. Convert them with str()."
        ) from None
    codes = np.full(rows, NO_LABEL, np.int32)
    codes[told] = found
    return codes, known


def sample_weights(given: Any, count: int, each: str = "row") -> NDArray[np.float64]:
    """Return how often each sample counts, checked; None is once each.

    Parameters
    ----------
    given : (count,) numbers or None
        At least 0.
    count : int
        How many there must be.
    each : str
        What a sample is called.

    Examples
    --------
    >>> sample_weights(None, 2).tolist()
    [1.0, 1.0]
    """
    if given is None:
        return np.ones(count)
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"sample_weight must hold numbers, one a {each}.") from None
    if weights.ndim != 1:
        raise InputError(
            f"sample_weight must be a flat list, one number a {each};"
            f" got {weights.ndim} dimensions."
        )
    if len(weights) != count:
        raise ShapeError.lengths("sample_weight", len(weights), "X", count)
    if not np.all(np.isfinite(weights)) or np.any(weights < 0.0):
        raise InputError(f"sample_weight must be finite numbers at least 0, one a {each}.")
    return weights
