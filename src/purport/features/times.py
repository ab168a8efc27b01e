"""When steps were: how long after the one before, how soon before the next, at which hour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purport.features.buckets import doubling
from purport.features.keys import NOTHING
from purport.features.parts import first_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.sessions import Sessions

HOURS = [*map(str, range(24)), "unknown"]


def times_of(records: Sessions) -> NDArray[np.float64]:
    """Return the time of every step, NaN where it is not known."""
    positions = int(records.offsets[-1])
    return np.full(positions, np.nan) if records.times is None else records.times


def gaps(records: Sessions) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return buckets of the seconds since the step before and until the next.

    NOTHING where a session has no such step.

    Examples
    --------
    >>> from purport.features.buckets import BUCKETS
    >>> from purport.records.sessions import Sessions
    >>> since, until = gaps(Sessions.from_lists([["a", "b"]], times=[[0, 60]]))
    >>> since.tolist(), BUCKETS[since[1]], until.tolist() == [since[1], NOTHING]
    ([-2, 9], '<=64', True)
    """
    times = times_of(records)
    since = np.full(len(times), NOTHING, np.int32)
    since[1:] = doubling(np.diff(times))
    since[first_steps(records.offsets)] = NOTHING
    until = np.append(since[1:], np.int32(NOTHING))[: len(times)]
    return since, until


def hours(times: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the number in `HOURS` of the hour of the day, in UTC, of each time.

    Examples
    --------
    >>> [HOURS[code] for code in hours(np.array([0.0, 7200, np.nan])).tolist()]
    ['0', '2', 'unknown']
    """
    known = np.where(np.isnan(times), 0.0, times)
    return np.where(np.isnan(times), 24, np.floor(known / 3600) % 24).astype(np.int32)
