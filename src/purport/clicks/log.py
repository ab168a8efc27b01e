"""Pages as kernels take them: numbers of queries and documents, clicks, and days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.clicks.names import UNKNOWN, Names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.ids import Ids
    from purport.records.pages import Pages

SECONDS_A_DAY = 86_400


@dataclass(frozen=True)
class Log:
    """The pages of a log, in order.

    Attributes
    ----------
    offsets : (N + 1,) int64
        Where the results of each page begin.
    clicks : (results,) bool
        What was clicked.
    queries, docs : (N,), (results,) int64
        Numbers; see `purport.clicks.names`.
    """

    offsets: NDArray[np.int64]
    clicks: NDArray[np.bool_]
    queries: NDArray[np.int64]
    docs: NDArray[np.int64]

    @classmethod
    def of(cls, pages: Pages, names: Names, grows: bool) -> Log:
        """Number the ids of pages; new ones are taken in or left unknown."""
        return cls(
            np.array(pages.offsets),
            np.array(pages.clicks),
            _numbers(pages.queries, names, grows),
            _numbers(pages.docs, names, grows),
        )

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of every result, from 0."""
        return np.arange(self.offsets[-1]) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    @property
    def longest(self) -> int:
        """The most results of a page."""
        return int(np.max(np.diff(self.offsets), initial=0))


def _numbers(ids: Ids, names: Names, grows: bool) -> NDArray[np.int64]:
    if ids.names is None:
        return np.array(ids.codes, np.int64)
    found = np.append(names.numbers(ids.names, grows), UNKNOWN)
    numbers: NDArray[np.int64] = found[ids.codes]
    return numbers


def days_of(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the day, since 1970 in UTC, of each time in seconds.

    Examples
    --------
    >>> days_of(np.array([0, 86_399, 86_400])).tolist()
    [0, 0, 1]
    """
    days: NDArray[np.int64] = times // SECONDS_A_DAY
    return days
