"""How the report writes shares, intervals and times."""

from __future__ import annotations

import math

from purport.measure.bootstrap import Comparison, Interval


def percent(share: float, digits: int = 1) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> percent(0.943)
    '94.3%'
    """
    return f"{share:.{digits}%}"


def bounds(interval: Interval | Comparison, digits: int = 1) -> str:
    """Return between which percentages something lies, if enough of it was met to tell.

    Examples
    --------
    >>> bounds(Interval(0.9, 0.8, 1.0, 0.95))
    '80.0 to 100.0'
    """
    if math.isnan(interval.low):
        return "too few"
    return f"{interval.low * 100:.{digits}f} to {interval.high * 100:.{digits}f}"


def seconds(time: float) -> str:
    """Return a time.

    Examples
    --------
    >>> seconds(1.234), seconds(123.4)
    ('1.23 s', '123 s')
    """
    return f"{time:.2f} s" if time < 10 else f"{time:.0f} s"
