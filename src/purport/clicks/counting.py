"""What is counted where nothing is hidden: SDBN, DCM, the cascade model and the click rates.

SDBN and DCM take all results down to the last click as examined, all of a page without one; the
cascade model those down to the first. Click rates are of everything (GCTR), of each rank (RCTR) or
of each pair (DCTR).

Symbols: n results of a page, R ranks with cells of their own.
"""

from __future__ import annotations

from purport.clicks.kinds import CASCADE, DCM, DCTR, GCTR, RCTR, SDBN
from purport.fold.kernel import Booleans, Floats, Int32s, kernel


@kernel(distinct=True)
def rate(
    kind: int,
    n: int,
    clicks: Booleans,  # (results,)
    first: int,
    ranks: int,
    attracts: Floats,  # (n,)
    shared: Floats,  # (M,)
    uniforms: Floats,  # (results,) or empty
    out: Floats,  # (n,) out: P(C_r = 1)
) -> None:
    """Fill in the click rates of one page; with uniforms draw its clicks."""
    for r in range(n):
        if kind == DCTR:
            out[r] = attracts[r]
        else:
            out[r] = shared[0] if kind == GCTR else shared[min(r, ranks - 1)]
        if len(uniforms):
            clicks[first + r] = uniforms[first + r] < out[r]


@kernel(distinct=True)
def count_page(
    kind: int,
    n: int,
    clicks: Booleans,  # (results,)
    first: int,
    ranks: int,
    found: Floats,  # (4, n) out: attraction and satisfaction, seen and how often defined
    cells: Int32s,  # (n or more,) out
    counted: Floats,  # (2, n or more) out
) -> int:
    """Fill in what one page says of its pairs and of the cells; return how many cells."""
    if kind in (GCTR, RCTR):
        for r in range(n):
            cells[r] = 0 if kind == GCTR else min(r, ranks - 1)
            counted[0, r] = 1.0 if clicks[first + r] else 0.0
            counted[1, r] = 1.0
        return n
    end, last, used = n, n, 0
    for r in range(n):
        if clicks[first + r]:
            last = r
            if kind == CASCADE:
                break
    if kind != DCTR and last < n:
        end = last + 1
    for r in range(n):
        is_click = 1.0 if clicks[first + r] else 0.0
        is_examined = 1.0 if r < end else 0.0
        found[0, r], found[1, r] = is_click * is_examined, is_examined
        found[2, r], found[3, r] = (is_click if r == last else 0.0), is_click
        if kind == DCM and is_click > 0.0:
            cells[used] = min(r, ranks - 1)
            counted[0, used] = 1.0 if r < last else 0.0
            counted[1, used] = 1.0
            used += 1
    return used


IS_RATE = (GCTR, RCTR, DCTR)
IS_COUNTED = (*IS_RATE, DCM, SDBN, CASCADE)
