"""Pages as kernels take them: numbers of queries and documents, clicks, and days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.clicks.names import UNKNOWN, Names
from purport.fold.kernel import Booleans, Int32s, kernel
from purport.records.columns import positions_of

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
    def of(cls, pages: Pages, queries: Names, docs: Names, grows: bool) -> Log:
        """Make a log of pages; ids that are new are taken in or left unknown."""
        # Copies where kernels would refuse arrays that cannot be written to.
        return cls(
            np.array(pages.offsets),
            np.array(pages.clicks),
            _numbers(pages.queries, queries, grows),
            _numbers(pages.docs, docs, grows),
        )

    def take(self, chosen: NDArray[np.int64]) -> Log:
        """Return some pages by their numbers."""
        places, offsets = positions_of(chosen, self.offsets)
        return Log(offsets, self.clicks[places], self.queries[chosen], self.docs[places])

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
    # Only names that occur, in the order in which they come: a part of a log keeps the names of the
    # whole, and however a log is cut, its ids shall have the same numbers.
    codes = np.array(ids.codes, np.int32)
    used = np.empty(len(ids.names), np.int32)
    used = used[: list_used(codes, np.zeros(len(ids.names), np.bool_), used)]
    numbers = np.full(len(ids.names), UNKNOWN, np.int64)
    numbers[used] = names.numbers(map(ids.names.__getitem__, used.tolist()), grows)
    found: NDArray[np.int64] = numbers[codes]
    return found


@kernel("int64(int32[::1], boolean[::1], int32[::1])")
def list_used(
    codes: Int32s,  # (length,)
    met: Booleans,  # (names,) work, all false
    out: Int32s,  # (names,) out
) -> int:
    """List the codes that occur in the order in which they come; return how many."""
    count = 0
    for code in codes:
        if not met[code]:
            met[code] = True
            out[count] = code
            count += 1
    return count


def days_of(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the day, since 1970 in UTC, of each time in seconds.

    Examples
    --------
    >>> days_of(np.array([0, 86_399, 86_400])).tolist()
    [0, 0, 1]
    """
    days: NDArray[np.int64] = times // SECONDS_A_DAY
    return days
