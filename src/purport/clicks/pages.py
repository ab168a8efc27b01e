"""What every model is asked of a page: how likely its clicks are, and what they say of parameters.

Each kind of model answers in a file of its own; here the right one is asked. All that learns,
scores or simulates goes through these kernels.

Symbols: N pages, n results of one page, M cells, P pairs.
"""

from __future__ import annotations

import numpy as np

from purport.clicks.browsing import browse, browse_unseen, expect_browsing
from purport.clicks.cascade import descend, descend_unseen, expect_descending
from purport.clicks.counting import IS_COUNTED, IS_RATE, count_page, rate
from purport.clicks.kinds import PBM, UBM
from purport.fold.kernel import Booleans, Floats, Int32s, Int64s, kernel

BROWSES = (UBM, PBM)
NO_UNIFORMS = np.empty(0)


@kernel(
    "void(int64, boolean, int64[::1], boolean[::1], int64, float64[::1], float64[::1],"
    " float64[::1], float64[::1], float64[::1])"
)
def click_probabilities(
    kind: int,
    is_marginal: bool,
    offsets: Int64s,  # (N + 1,)
    clicks: Booleans,  # (results,) filled in where there are uniforms
    ranks: int,
    attracts: Floats,  # (results,)
    satisfies: Floats,  # (results,) or empty
    shared: Floats,  # (M,)
    uniforms: Floats,  # (results,) or empty: numbers that draw clicks
    out: Floats,  # (results,) out
) -> None:
    """Fill in P(C_r = 1), or P(C_r = 1 | c_<r) and with uniforms the clicks that follow from it."""
    longest = 0
    for page in range(len(offsets) - 1):
        longest = max(longest, offsets[page + 1] - offsets[page])
    work = np.empty(longest + 1)
    for page in range(len(offsets) - 1):
        first = offsets[page]
        n = offsets[page + 1] - first
        a, p = attracts[first : first + n], out[first : first + n]
        s = satisfies[first : first + n] if len(satisfies) else a
        if kind in IS_RATE:
            rate(kind, n, clicks, first, ranks, a, shared, uniforms, p)
        elif kind in BROWSES:
            if is_marginal:
                browse_unseen(kind, n, ranks, a, shared, p, work)
            else:
                browse(kind, n, clicks, first, ranks, a, shared, uniforms, p)
        elif is_marginal:
            descend_unseen(kind, n, ranks, a, s, shared, p)
        else:
            descend(kind, n, clicks, first, ranks, a, s, shared, uniforms, p)


@kernel(distinct=True)
def doubt_of(expected: float) -> float:
    """Return how much an expected value leaves open; above 1 it is that of two, one of them 1."""
    open_one = expected - 1.0 if expected > 1.0 else expected
    return open_one * (1.0 - open_one)


@kernel(distinct=True)
def expect_page(
    kind: int,
    n: int,
    clicks: Booleans,  # (results,)
    first: int,
    ranks: int,
    attracts: Floats,  # (n or more,)
    satisfies: Floats,  # (n or more,)
    shared: Floats,  # (M,)
    found: Floats,  # (4, n or more) out: attraction and satisfaction, expected and how often
    cells: Int32s,  # (n or more, at least 3) out
    counted: Floats,  # (2, n or more, at least 3) out
    work: Floats,  # (n + 1 or more,)
) -> int:
    """Fill in what one page says of its pairs and of the cells; return how many cells."""
    if kind in BROWSES:
        return expect_browsing(
            kind, n, clicks, first, ranks, attracts, shared, found, cells, counted
        )
    if kind in IS_COUNTED:
        return count_page(kind, n, clicks, first, ranks, found, cells, counted)
    return expect_descending(
        kind, n, clicks, first, attracts, satisfies, shared, found, cells, counted, work
    )


@kernel(
    "void(int64, int64[::1], boolean[::1], int32[::1], int64, float64[::1], float64[::1],"
    " float64[::1], float64[::1], float64[:, ::1], float64[:, ::1])"
)
def sum_pages(
    kind: int,
    offsets: Int64s,  # (N + 1,)
    clicks: Booleans,  # (results,)
    pairs: Int32s,  # (results,)
    ranks: int,
    attract: Floats,  # (P,)
    satisfy: Floats,  # (P,) or empty
    shared: Floats,  # (M or more,)
    rates: Floats,  # (R,), or empty where ranks are not asked for
    of_pairs: Floats,  # (P, 4 or 7) added to: expected, how often defined, doubt; by ranks expected
    of_cells: Floats,  # (M + R, 2) added to
) -> None:
    """Add up what pages say of pairs and of cells, all parameters being held."""
    longest = 3
    for page in range(len(offsets) - 1):
        longest = max(longest, offsets[page + 1] - offsets[page])
    a, s, work = np.empty(longest), np.empty(longest), np.empty(longest + 1)
    found, counted = np.empty((4, longest)), np.empty((2, longest))
    cells = np.empty(longest, np.int32)
    s[:] = 0.0
    width = of_pairs.shape[1]
    of_ranks = len(of_cells) - ranks
    for page in range(len(offsets) - 1):
        first = offsets[page]
        n = offsets[page + 1] - first
        for r in range(n if width else 0):
            a[r] = attract[np.uint32(pairs[first + r])]
        for r in range(n if width == 7 else 0):
            s[r] = satisfy[np.uint32(pairs[first + r])]
        used = expect_page(kind, n, clicks, first, ranks, a, s, shared, found, cells, counted, work)
        for r in range(n if width else 0):
            pair = np.uint32(pairs[first + r])
            of_pairs[pair, 0] += found[0, r]
            of_pairs[pair, 1] += found[1, r]
            of_pairs[pair, 2] += doubt_of(found[0, r])
            if width == 7:
                of_pairs[pair, 4] += found[2, r]
                of_pairs[pair, 5] += found[3, r]
                of_pairs[pair, 6] += doubt_of(found[2, r])
            if len(rates):
                rank = min(r, ranks - 1)
                of_pairs[pair, 3] += found[1, r] * rates[rank]
                of_cells[of_ranks + rank, 0] += found[0, r]
                of_cells[of_ranks + rank, 1] += found[1, r]
        for k in range(used):
            cell = np.uint32(cells[k])
            of_cells[cell, 0] += counted[0, k]
            of_cells[cell, 1] += counted[1, k]
