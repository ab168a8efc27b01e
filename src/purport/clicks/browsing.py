"""UBM and PBM: whether a rank is examined depends on where it is and on the click before.

A result is clicked if it is examined and attracts: P(C_r = 1 | c_<r) = a_r g_r, with g_r the cell
of rank r and of the rank of the last click before it (UBM) or of rank r alone (PBM).

Symbols: n results of a page, R ranks with cells of their own, a attractiveness, g examination.
"""

from __future__ import annotations

import numpy as np

from purport.clicks.kinds import UBM
from purport.fold.kernel import Booleans, Floats, Int32s, kernel


@kernel(distinct=True)
def cell_of(kind: int, rank: int, last: int, ranks: int) -> int:
    """Return the cell of a rank after a click at rank `last`, -1 for none."""
    row = min(rank, ranks - 1)
    return row * (ranks + 1) + min(last + 1, ranks) if kind == UBM else row


@kernel(distinct=True)
def browse(
    kind: int,
    n: int,
    clicks: Booleans,  # (results,)
    first: int,
    ranks: int,
    attracts: Floats,  # (n,)
    shared: Floats,  # (M,)
    uniforms: Floats,  # (results,) or empty
    out: Floats,  # (n,) out: P(C_r = 1 | c_<r)
) -> None:
    """Fill in the conditional click probabilities of one page; with uniforms draw its clicks."""
    last = -1
    for r in range(n):
        out[r] = attracts[r] * shared[cell_of(kind, r, last, ranks)]
        if len(uniforms):
            clicks[first + r] = uniforms[first + r] < out[r]
        if clicks[first + r]:
            last = r


@kernel(distinct=True)
def browse_unseen(
    kind: int,
    n: int,
    ranks: int,
    attracts: Floats,  # (n,)
    shared: Floats,  # (M,)
    out: Floats,  # (n,) out: P(C_r = 1)
    reached: Floats,  # (n + 1,) work: P(the last click before r was at j - 1)
) -> None:
    """Fill in the marginal click probabilities of one page."""
    reached[0] = 1.0
    for r in range(n):
        total = 0.0
        if kind == UBM:
            for j in range(r + 1):
                p = attracts[r] * shared[cell_of(kind, r, j - 1, ranks)]
                total += reached[j] * p
                reached[j] *= 1.0 - p
        else:
            total = attracts[r] * shared[cell_of(kind, r, -1, ranks)]
        reached[r + 1] = total
        out[r] = total


@kernel(distinct=True)
def expect_browsing(
    kind: int,
    n: int,
    clicks: Booleans,  # (results,)
    first: int,
    ranks: int,
    attracts: Floats,  # (n,)
    shared: Floats,  # (M,)
    found: Floats,  # (2, n) out: expected attraction, and how often it was defined
    cells: Int32s,  # (n or more,) out
    counted: Floats,  # (2, n or more) out: expected examination, and how often it was defined
) -> int:
    """Fill in what one page says of its pairs and of the cells; return how many cells."""
    last = -1
    for r in range(n):
        cell = np.uint32(cell_of(kind, r, last, ranks))
        cells[r] = cell
        found[1, r] = counted[1, r] = 1.0
        if clicks[first + r]:
            found[0, r] = counted[0, r] = 1.0
            last = r
        else:
            found[0, r], counted[0, r] = expect_skip(attracts[r], shared[cell])
    return n


@kernel(distinct=True)
def expect_skip(attracts: float, examined: float) -> tuple[float, float]:
    """Return how likely a result that was skipped attracted, and was examined."""
    skipped = 1.0 / (1.0 - attracts * examined)
    return attracts * (1.0 - examined) * skipped, examined * (1.0 - attracts) * skipped
