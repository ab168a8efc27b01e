"""The exponential of float64 numbers with vector instructions; log scores into potentials.

Numba's own `exp` calls the C library for one number at a time. This one is a polynomial that the
compiler turns into vector code: exp(x) = 2^k exp(r), |r| <= log(2) / 2, with a Taylor polynomial of
degree 13 (truncation error below 4e-18), correct to one unit in the last place.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.fold.kernel import Floats, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOG2_E = 1.4426950408889634
# log(2) in two parts: the first has zeros at its end, so that k * LN2_HIGH is exact.
LN2_HIGH = 6.93145751953125e-1
LN2_LOW = 1.42860682030941723212e-6


@kernel()
def exponential(x: float) -> Any:
    """Return exp(x); results below the smallest normal number are 0."""
    bounded = max(x, -750.0)
    k = math.floor(bounded * LOG2_E + 0.5)
    r = (bounded - k * LN2_HIGH) - k * LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    # 2^k is written straight into the exponent of a float64.
    power = np.int64((np.int64(np.int32(k)) + 1023) << 52).view(np.float64)
    return p * power if k > -1022.0 else 0.0


@kernel()
def exponentiate_row(
    row: Floats,  # (S,)
    widest: float,
) -> tuple[float, float]:
    """Turn one row of log scores into potentials in place; return the highest and the spread.

    The row is divided by its largest potential. A row whose finite scores lie further apart than
    `widest` keeps its logarithms: the sequences that meet it are done in log space. A row of -inf
    alone becomes zeros.
    """
    states = len(row)
    # Four running extremes each: one alone would wait for itself at every number.
    high0 = high1 = high2 = high3 = row[0]
    low0 = low1 = low2 = low3 = row[0]
    whole = states - states % 4
    for s in range(0, whole, 4):
        high0, low0 = max(high0, row[s]), min(low0, row[s])
        high1, low1 = max(high1, row[s + 1]), min(low1, row[s + 1])
        high2, low2 = max(high2, row[s + 2]), min(low2, row[s + 2])
        high3, low3 = max(high3, row[s + 3]), min(low3, row[s + 3])
    for s in range(whole, states):
        high0, low0 = max(high0, row[s]), min(low0, row[s])
    high = max(max(high0, high1), max(high2, high3))
    low = min(min(low0, low1), min(low2, low3))
    if low == -np.inf:
        low = high
        for s in range(states):
            if row[s] > -np.inf:
                low = min(low, row[s])
    if high == -np.inf:
        high = 0.0
        low = 0.0
    if high - low <= widest:
        for s in range(states):
            row[s] = exponential(row[s] - high)
    return high, high - low


@kernel("void(float64[:, ::1], float64, float64[::1], float64[::1])")
def exponentiate_rows(
    rows: NDArray[np.float64],  # (U, S) log in, exp(row - highest) out
    widest: float,
    highest: NDArray[np.float64],  # (U,) out
    spread: NDArray[np.float64],  # (U,) out: highest less lowest finite score
) -> None:
    """Do `exponentiate_row` for all rows."""
    for u in range(len(rows)):
        highest[u], spread[u] = exponentiate_row(rows[u], widest)
