"""Which records go into which part: at random, whole groups together."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from purport.errors import InputError
from purport.estimator.chance import RandomState, generator_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cut_at_shares(
    count: int,
    shares: Sequence[float],
    groups: Sequence[Hashable] | None,
    random_state: RandomState,
) -> list[NDArray[np.int64]]:
    """Return the numbers of the records of each part, ascending.

    Groups come in random order; a part is closed when it has its share of the records, so that
    sizes are met as well as whole groups allow.

    Examples
    --------
    >>> [len(part) for part in cut_at_shares(10, (0.8, 0.2), None, 0)]
    [8, 2]
    >>> parts = cut_at_shares(4, (0.5, 0.5), ["a", "b", "a", "b"], 0)
    >>> [part.tolist() for part in parts]
    [[0, 2], [1, 3]]
    """
    if not all(share > 0.0 for share in shares) or not math.isclose(sum(shares), 1.0, abs_tol=1e-6):
        raise InputError(
            f"The shares of the parts must be positive numbers that add up to 1; got {shares}."
        )
    group = numbers_of_groups(count, groups)
    sizes = np.bincount(group)
    order = generator_of("split", random_state).permutation(len(sizes))
    # A group goes where its middle falls.
    middles = np.cumsum(sizes[order]) - sizes[order] / 2.0
    ends = np.cumsum(shares) * count
    part_of_group = np.empty(len(sizes), np.int64)
    part_of_group[order] = np.searchsorted(ends[:-1], middles, side="right")
    part = part_of_group[group]
    return [np.flatnonzero(part == number) for number in range(len(shares))]


def numbers_of_groups(count: int, groups: Sequence[Hashable] | None) -> NDArray[np.int64]:
    """Return the number of each record's group; a record without one is a group by itself.

    Examples
    --------
    >>> numbers_of_groups(4, ["a", None, "a", None]).tolist()
    [0, 1, 0, 2]
    """
    if groups is None:
        return np.arange(count, dtype=np.int64)
    met: dict[Hashable, int] = {}
    keys = (("alone", place) if key is None else ("group", key) for place, key in enumerate(groups))
    try:
        return np.array([met.setdefault(key, len(met)) for key in keys], np.int64)
    except TypeError:
        raise InputError(
            "Groups must be single values, as strings or numbers, one a record; some are lists or"
            " dicts. Give one value each."
        ) from None
