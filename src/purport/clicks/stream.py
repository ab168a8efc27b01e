"""Online EM: one pass over pages in the order of the log; each changes what the next one sees.

Implements Eq. 3 and 4 of "Online Expectation-Maximization for Click Models": what a page says of a
parameter is expected under the parameters of that moment, and added to its sums,

    sums <- (1 - eta) sums + (expected, defined)

with eta = 0 for Eq. 3. Only what a page touches decays, each time it does. The prior stands beside
the sums and never decays:

    parameter = (expected + strength * prior) / (defined + strength)

Forgetting by calendar time multiplies both sums by 2^(-days / half life), when a pair is next met.

Symbols: P pairs, Q queries, M cells, R ranks. Behind the M cells of a model stand R sums over all
pairs by their rank: they tell what to expect of a pair that is new.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from purport.clicks.browsing import cell_of, expect_skip
from purport.clicks.pages import BROWSES, doubt_of, expect_page
from purport.clicks.pairs import COLUMNS, DEFINED, DOUBT, EXPECTED, LEAST, MOST, PRIOR, prior_of
from purport.fold.kernel import Booleans, Floats, Int32s, Int64s, kernel


@kernel(distinct=True)
def parameter_of(expected: float, defined: float, prior: float, strength: float) -> float:
    """Return a parameter from its sums and its prior."""
    found = (expected + strength * prior) / (defined + strength)
    return min(max(found, LEAST), MOST)


@kernel(
    "void(int64, int64[::1], int64[::1], boolean[::1], int32[::1], int32[::1], int64[::1], int64,"
    " float64[::1], float64, float64, float64, int64, float64[:, ::1], int64[::1],"
    " float64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1], float64[::1])"
)
def stream_pages(
    kind: int,
    chosen: Int64s,  # (pages,) in the order of the log
    offsets: Int64s,  # (N + 1,)
    clicks: Booleans,  # (results,)
    queries: Int32s,  # (N,) rows
    pairs: Int32s,  # (results,) rows
    days: Int64s,  # (N,), or empty where time does not count
    ranks: int,
    strengths: Floats,  # (3,) of the priors of attraction, of satisfaction, and of a query's pairs
    forget_shared: float,
    forget_pairs: float,
    half_life: float,
    width: int,
    kept: Floats,  # (P, 4 or 8) in and out
    kept_days: Int64s,  # (P,) in and out: the day of the sums
    query_sums: Floats,  # (Q, 2) in and out
    sums: Floats,  # (M + R, 2) in and out: of cells, and of ranks
    remaining: Floats,  # (M + R,) in and out: the share of the sums at the beginning still in
    cell_priors: Floats,  # (M + R, 2) what stands beside the sums
    parameters: Floats,  # (M + R,) in and out: the parameters that follow from the sums
) -> None:
    """Take pages in, one after the other."""
    longest = 3
    for page in chosen:
        longest = max(longest, offsets[page + 1] - offsets[page])
    a, s, work = np.empty(longest), np.empty(longest), np.empty(longest + 1)
    found, counted = np.empty((4, longest)), np.empty((2, longest))
    cells = np.empty(longest, np.int32)
    of_ranks = len(sums) - ranks
    keep_pairs, keep_shared = 1.0 - forget_pairs, 1.0 - forget_shared
    s[:] = 0.0
    for page in chosen:
        first = offsets[page]
        n = offsets[page + 1] - first
        if len(days):
            age_pairs(n, pairs, first, days[page], half_life, width, kept, kept_days)
        if kind in BROWSES:
            stream_browsing(
                kind, n, clicks, first, ranks, pairs, queries[page], strengths, keep_shared,
                keep_pairs, of_ranks, kept, query_sums, sums, remaining, cell_priors, parameters,
            )  # fmt: skip
            continue
        if width:
            meet_pairs(n, pairs, first, queries[page], strengths[2], query_sums, kept)
            gather_parameters(n, pairs, first, kept, 0, strengths[0], a)
        if width == 2:
            gather_parameters(n, pairs, first, kept, COLUMNS, strengths[1], s)
        used = expect_page(
            kind, n, clicks, first, ranks, a, s, parameters, found, cells, counted, work
        )
        if width:
            expected, defined = 0.0, 0.0
            for r in range(n):
                if found[1, r] == 0.0:
                    continue
                p, cell = np.uint32(pairs[first + r]), of_ranks + min(r, ranks - 1)
                kept[p, EXPECTED] = keep_pairs * kept[p, EXPECTED] + found[0, r]
                kept[p, DEFINED] = keep_pairs * kept[p, DEFINED] + found[1, r]
                kept[p, DOUBT] = keep_pairs * kept[p, DOUBT] + doubt_of(found[0, r])
                expected += found[0, r]
                defined += parameters[cell] * found[1, r]
                add_to_cell(cell, found[0, r], found[1, r], keep_shared, sums, remaining)
            q = queries[page]
            query_sums[q, EXPECTED] = keep_pairs * query_sums[q, EXPECTED] + expected
            query_sums[q, DEFINED] = keep_pairs * query_sums[q, DEFINED] + defined
        if width == 2:
            for r in range(n):
                if found[3, r] == 0.0:
                    continue
                p = np.uint32(pairs[first + r])
                kept[p, COLUMNS] = keep_pairs * kept[p, COLUMNS] + found[2, r]
                kept[p, COLUMNS + 1] = keep_pairs * kept[p, COLUMNS + 1] + found[3, r]
                kept[p, COLUMNS + 2] = keep_pairs * kept[p, COLUMNS + 2] + doubt_of(found[2, r])
        for k in range(used):
            if counted[1, k] > 0.0:  # others the page has not touched
                add_to_cell(cells[k], counted[0, k], counted[1, k], keep_shared, sums, remaining)
        refresh_cells(used, cells, sums, cell_priors, parameters)


@kernel(distinct=True)
def stream_browsing(
    kind: int,
    n: int,
    clicks: Booleans,  # (results,)
    first: int,
    ranks: int,
    pairs: Int32s,  # (results,)
    query: int,
    strengths: Floats,  # (3,)
    keep_shared: float,
    keep_pairs: float,
    of_ranks: int,
    kept: Floats,  # (P, 4)
    query_sums: Floats,  # (Q, 2)
    sums: Floats,  # (M + R, 2)
    remaining: Floats,  # (M + R,)
    cell_priors: Floats,  # (M + R, 2)
    parameters: Floats,  # (M + R,)
) -> None:
    """Take in a page of UBM or PBM, result by result.

    A page touches each pair and each cell once, so that this is the same as first looking at all of
    the page, which takes three times as long. Where a document is listed twice, the second place
    sees what the first has brought.
    """
    last = -1
    total, usual = 0.0, 0.0
    q = np.uint32(query)
    for r in range(n):
        p = np.uint32(pairs[first + r])
        expected, defined, prior = kept[p, EXPECTED], kept[p, DEFINED], kept[p, PRIOR]
        if prior < 0.0:
            prior = prior_of(-prior, query_sums[q], strengths[2])
            kept[p, PRIOR] = prior
        a = parameter_of(expected, defined, prior, strengths[0])
        cell = np.uint32(cell_of(kind, r, last, ranks))
        if clicks[first + r]:
            attracted, examined = 1.0, 1.0
            last = r
        else:
            attracted, examined = expect_skip(a, parameters[cell])
        kept[p, EXPECTED] = keep_pairs * expected + attracted
        kept[p, DEFINED] = keep_pairs * defined + 1.0
        kept[p, DOUBT] = keep_pairs * kept[p, DOUBT] + doubt_of(attracted)
        add_to_cell(cell, examined, 1.0, keep_shared, sums, remaining)
        parameters[cell] = parameter_of_cell(
            sums[cell, EXPECTED], sums[cell, DEFINED],
            cell_priors[cell, EXPECTED], cell_priors[cell, DEFINED],
        )  # fmt: skip
        of_rank = np.uint32(of_ranks + min(r, ranks - 1))
        total += attracted
        usual += parameters[of_rank]
        add_to_cell(of_rank, attracted, 1.0, keep_shared, sums, remaining)
    query_sums[q, EXPECTED] = keep_pairs * query_sums[q, EXPECTED] + total
    query_sums[q, DEFINED] = keep_pairs * query_sums[q, DEFINED] + usual


@kernel(distinct=True)
def meet_pairs(
    n: int,
    pairs: Int32s,  # (results,)
    first: int,
    query: int,
    strength: float,
    query_sums: Floats,  # (Q, 2)
    kept: Floats,  # (P, 4 or 8) in and out
) -> None:
    """Set the priors of a page's new pairs by what others of their query did until now."""
    for r in range(n):
        p = np.uint32(pairs[first + r])
        if kept[p, PRIOR] < 0.0:
            kept[p, PRIOR] = prior_of(-kept[p, PRIOR], query_sums[query], strength)


@kernel(distinct=True)
def gather_parameters(
    n: int,
    pairs: Int32s,  # (results,)
    first: int,
    kept: Floats,  # (P, 4 or 8)
    column: int,
    strength: float,
    out: Floats,  # (n or more,) out
) -> None:
    """Fill in a parameter of a page's pairs."""
    for r in range(n):
        p = np.uint32(pairs[first + r])
        out[r] = parameter_of(
            kept[p, column + EXPECTED], kept[p, column + DEFINED], kept[p, column + PRIOR], strength
        )


@kernel(distinct=True)
def refresh_cells(
    used: int,
    cells: Int32s,  # (used or more,)
    sums: Floats,  # (cells, 2)
    priors: Floats,  # (cells, 2)
    parameters: Floats,  # (cells,) out at those that were used
) -> None:
    """Compute the parameters of the cells that a page has touched."""
    for k in range(used):
        cell = np.uint32(cells[k])
        parameters[cell] = parameter_of_cell(
            sums[cell, EXPECTED], sums[cell, DEFINED],
            priors[cell, EXPECTED], priors[cell, DEFINED],
        )  # fmt: skip


@kernel(distinct=True)
def age_pairs(
    n: int,
    pairs: Int32s,  # (results,)
    first: int,
    day: int,
    half_life: float,
    width: int,
    kept: Floats,  # (P, 4 or 8) in and out
    kept_days: Int64s,  # (P,) in and out
) -> None:
    """Let the sums of a page's pairs grow old up to a day; time that goes back changes nothing."""
    for r in range(n if width else 0):
        p = np.uint32(pairs[first + r])
        if kept_days[p] < day:
            aged = 2.0 ** ((kept_days[p] - day) / half_life)
            for w in range(width):
                for column in (EXPECTED, DEFINED, DOUBT):
                    kept[p, COLUMNS * w + column] *= aged
            kept_days[p] = day


@kernel(distinct=True)
def add_to_cell(
    cell: Any,
    expected: float,
    defined: float,
    keep: float,
    sums: Floats,  # (M + R, 2)
    remaining: Floats,  # (M + R,)
) -> None:
    """Let the sums of a cell decay, and add to them."""
    sums[cell, EXPECTED] = keep * sums[cell, EXPECTED] + expected
    sums[cell, DEFINED] = keep * sums[cell, DEFINED] + defined
    if keep < 1.0:
        remaining[cell] *= keep


@kernel(distinct=True)
def parameter_of_cell(
    expected: float, defined: float, prior_expected: float, prior_defined: float
) -> float:
    """Return the parameter of a cell."""
    found = (expected + prior_expected) / (defined + prior_defined)
    return min(max(found, LEAST), MOST)


@kernel("void(float64[:, ::1], float64[:, ::1], float64[::1])")
def fill_parameters(
    sums: Floats,  # (cells, 2)
    priors: Floats,  # (cells, 2)
    out: Floats,  # (cells,) out
) -> None:
    """Fill in the parameters that follow from the sums."""
    for cell in range(len(out)):
        out[cell] = parameter_of_cell(
            sums[cell, EXPECTED], sums[cell, DEFINED], priors[cell, EXPECTED], priors[cell, DEFINED]
        )
