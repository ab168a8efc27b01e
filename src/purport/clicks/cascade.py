"""DBN and CCM, and the models that they become where all is seen: people look from top to bottom.

Rank r + 1 is examined if rank r was and the person goes on:

    DBN   after a skip k, after a click k (1 - s_r); SDBN is k = 1, the cascade model s = 1, too
    CCM   after a skip t1, after a click m_r = (1 - a_r) t2 + a_r t3
    DCM   after a skip 1, after a click l_r

Down to the last click, at rank l, everything was examined. With Y_r the chance of no click from r
on given that r is examined, F_r the chance of no click up to r and that r is examined, and Z the
chance of no click after l, what nobody has seen is exact in two sweeps and one division:

    Y_r = (1 - a_r) (1 - k + k Y_{r+1})          Y_n = 1
    F_{l+1} = m_l                                F_{r+1} = F_r (1 - a_r) k
    Z = 1 - F_{l+1} + F_{l+1} Y_{l+1}
    q_r = P(E_r = 1 | c) = F_r Y_r / Z
    P(A_r = 1 | c) = a_r (1 - q_r)               whom nobody looks at may attract
    P(S_l = 1 | c) = s_l / Z                     DBN
    P(S_l = 1 | c) = a_l (1 - t3 (1 - Y_{l+1})) / Z, for r < l  t3 a_r / m_r     CCM

Without a click l is -1 and F_0 = 1. Whether the rank after the last of the page was examined cannot
be seen: it is left out of all sums.

Symbols: n results of a page, a attractiveness, s satisfaction, k, t1, t2, t3, l continuation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from purport.clicks.kinds import CASCADE, CCM, DBN, DCM
from purport.fold.kernel import Booleans, Floats, Int32s, Int64s, kernel


@kernel(distinct=True)
def after_skip(kind: int, shared: Floats) -> Any:
    """Return how likely somebody goes on after a skip."""
    return shared[0] if kind in (DBN, CCM) else 1.0


@kernel(distinct=True)
def after_click(
    kind: int,
    rank: int,
    ranks: int,
    attracts: float,
    satisfies: float,
    shared: Floats,  # (M,)
) -> Any:
    """Return how likely somebody goes on after a click."""
    if kind == DBN:
        return shared[0] * (1.0 - satisfies)
    if kind == CCM:
        return shared[1] * (1.0 - attracts) + shared[2] * attracts
    if kind == DCM:
        return shared[min(rank, ranks - 1)]
    return 0.0 if kind == CASCADE else 1.0 - satisfies


@kernel(distinct=True)
def descend(
    kind: int,
    n: int,
    clicks: Booleans,  # (results,)
    first: int,
    ranks: int,
    attracts: Floats,  # (n,)
    satisfies: Floats,  # (n,)
    shared: Floats,  # (M,)
    uniforms: Floats,  # (results,) or empty
    out: Floats,  # (n,) out: P(C_r = 1 | c_<r)
) -> None:
    """Fill in the conditional click probabilities of one page; with uniforms draw its clicks."""
    examined = 1.0
    on = after_skip(kind, shared)
    for r in range(n):
        a = attracts[r]
        out[r] = examined * a
        if len(uniforms):
            clicks[first + r] = uniforms[first + r] < out[r]
        if clicks[first + r]:
            examined = after_click(kind, r, ranks, a, satisfies[r], shared)
        else:
            examined *= (1.0 - a) * on / (1.0 - a * examined)


@kernel(distinct=True)
def descend_unseen(
    kind: int,
    n: int,
    ranks: int,
    attracts: Floats,  # (n,)
    satisfies: Floats,  # (n,)
    shared: Floats,  # (M,)
    out: Floats,  # (n,) out: P(C_r = 1)
) -> None:
    """Fill in the marginal click probabilities of one page."""
    examined = 1.0
    on = after_skip(kind, shared)
    for r in range(n):
        a = attracts[r]
        out[r] = examined * a
        examined *= (1.0 - a) * on + a * after_click(kind, r, ranks, a, satisfies[r], shared)


@kernel(distinct=True)
def stay_silent(
    n: int,
    last: int,
    on: float,
    attracts: Floats,  # (n,)
    out: Floats,  # (n + 1,) out from last + 1: Y
) -> None:
    """Fill in how likely no click comes any more, from each rank after the last click."""
    out[n] = 1.0
    for r in range(n - 1, last, -1):
        out[r] = (1.0 - attracts[r]) * (1.0 - on + on * out[r + 1])


@kernel(distinct=True)
def expect_descending(
    kind: int,
    n: int,
    clicks: Booleans,  # (results,)
    first: int,
    attracts: Floats,  # (n,)
    satisfies: Floats,  # (n,)
    shared: Floats,  # (M,)
    found: Floats,  # (4, n) out: attraction and satisfaction, expected and how often defined
    cells: Int32s,  # (3,) out
    counted: Floats,  # (2, 3) out: what is expected of the cells, and how often it was defined
    silent: Floats,  # (n + 1,) work: Y
) -> int:
    """Fill in what one page says of its pairs and of the cells, for DBN and CCM; return how many.

    CCM has one set of numbers for a pair: what is expected of its satisfaction is added to what is
    expected of its attraction.
    """
    on = shared[0]
    last = -1
    for r in range(n):
        is_click = 1.0 if clicks[first + r] else 0.0
        last = r if clicks[first + r] else last
        found[0, r], found[1, r], found[2, r], found[3, r] = is_click, 1.0, 0.0, is_click
    stay_silent(n, last, on, attracts, silent)
    reached = 1.0
    if last >= 0:
        reached = after_click(kind, last, 1, attracts[last], satisfies[last], shared)
    none = 1.0 / (1.0 - reached + reached * silent[last + 1])
    for k in range(3):
        cells[k], counted[0, k], counted[1, k] = k, 0.0, 0.0
    if kind == DBN:
        # All ranks before the last click were left for the next one.
        counted[0, 0] = counted[1, 0] = max(last, 0)
        if last >= 0:
            found[2, last] = satisfies[last] * none
            if last < n - 1:
                counted[1, 0] += 1.0 - found[2, last]
    else:
        expect_of_clicks(n, last, clicks, first, attracts, shared, none, silent, found, counted)
    for r in range(last + 1, n):
        q = reached * silent[r] * none
        found[0, r] = attracts[r] * (1.0 - q)
        if r > last + 1 or (kind == DBN and r > 0):
            counted[0, 0] += q
        if r < n - 1:
            counted[1, 0] += q
        reached *= (1.0 - attracts[r]) * on
    return 1 if kind == DBN else 3


@kernel(distinct=True)
def expect_of_clicks(
    n: int,
    last: int,
    clicks: Booleans,  # (results,)
    first: int,
    attracts: Floats,  # (n,)
    shared: Floats,  # (3,)
    none: float,
    silent: Floats,  # (n + 1,)
    found: Floats,  # (4, n) in and out
    counted: Floats,  # (2, 3) added to
) -> None:
    """Add what CCM makes of the ranks down to the last click."""
    for r in range(last + 1):
        if not clicks[first + r]:
            counted[0, 0] += 1.0
            counted[1, 0] += 1.0
            continue
        without, satisfied = shared[1] * (1.0 - attracts[r]), shared[2] * attracts[r]
        if r < last:
            posterior = satisfied / (without + satisfied)
            counted[0, 1] += 1.0 - posterior
            counted[0, 2] += posterior
        else:
            posterior = attracts[r] * (1.0 - shared[2] * (1.0 - silent[r + 1])) * none
            if r < n - 1:
                counted[0, 1] += without * silent[r + 1] * none
                counted[0, 2] += satisfied * silent[r + 1] * none
        if r < n - 1:
            counted[1, 1] += 1.0 - posterior
            counted[1, 2] += posterior
        found[0, r] += posterior
        found[1, r] += 1.0


@kernel(
    "void(int64, int64[::1], boolean[::1], int32[::1], float64[::1], float64[::1], float64[::1],"
    " float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def sum_descending(
    kind: int,
    offsets: Int64s,  # (N + 1,)
    clicks: Booleans,  # (results,)
    pairs: Int32s,  # (results,)
    attract: Floats,  # (P,)
    satisfy: Floats,  # (P,) or empty
    shared: Floats,  # (M or more,)
    attracted: Floats,  # (2, P) added to: expected attraction, and doubt
    satisfied_by: Floats,  # (2, P) added to, the same for satisfaction; (2, 0) for CCM
    of_cells: Floats,  # (M or more, 2) added to
) -> None:
    """Add up what pages say for DBN and CCM, all parameters being held, as fast as can be.

    What is certain is left to the caller: how often pairs were shown and clicked.
    """
    longest = 0
    for page in range(len(offsets) - 1):
        longest = max(longest, offsets[page + 1] - offsets[page])
    a, silent = np.empty(longest), np.empty(longest + 1)
    on, t2, t3 = shared[0], 0.0, 0.0
    if kind != DBN:
        t2, t3 = shared[1], shared[2]
    went, could = np.zeros(3), np.zeros(3)
    for page in range(len(offsets) - 1):
        first = offsets[page]
        n = offsets[page + 1] - first
        last = n - 1
        while last >= 0 and not clicks[first + last]:
            last -= 1
        silent[n] = 1.0
        y = 1.0
        for r in range(n - 1, last, -1):
            a[r] = attract[np.uint32(pairs[first + r])]
            y = (1.0 - a[r]) * (1.0 - on + on * y)
            silent[r] = y
        reached, none = 1.0, 1.0 / y
        if last >= 0:
            p = np.uint32(pairs[first + last])
            if kind == DBN:
                reached = on * (1.0 - satisfy[p])
                none = 1.0 / (1.0 - reached + reached * y)
                posterior = satisfy[p] * none
                satisfied_by[0, p] += posterior
                satisfied_by[1, p] += posterior * (1.0 - posterior)
                went[0] += last
                could[0] += last
                if last < n - 1:
                    could[0] += 1.0 - posterior
            else:
                without, satisfied = t2 * (1.0 - attract[p]), t3 * attract[p]
                reached = without + satisfied
                none = 1.0 / (1.0 - reached + reached * y)
                posterior = attract[p] * (1.0 - t3 * (1.0 - y)) * none
                attracted[0, p] += posterior
                attracted[1, p] += posterior * (1.0 - posterior)
                if last < n - 1:
                    went[1] += without * y * none
                    went[2] += satisfied * y * none
                    could[1] += 1.0 - posterior
                    could[2] += posterior
                for r in range(last):
                    if not clicks[first + r]:
                        went[0] += 1.0
                        could[0] += 1.0
                        continue
                    p = np.uint32(pairs[first + r])
                    satisfied = t3 * attract[p]
                    posterior = satisfied / (t2 * (1.0 - attract[p]) + satisfied)
                    attracted[0, p] += posterior
                    attracted[1, p] += posterior * (1.0 - posterior)
                    went[1] += 1.0 - posterior
                    went[2] += posterior
                    could[1] += 1.0 - posterior
                    could[2] += posterior
        # Of the first rank after a click CCM tells elsewhere; the first of a page tells nothing.
        is_told = 1.0 if kind == DBN and last >= 0 else 0.0
        examined, q = 0.0, 0.0
        reached *= none
        for r in range(last + 1, n):
            q = reached * silent[r]
            examined += q
            went[0] += is_told * q
            is_told = 1.0
            x = a[r] * (1.0 - q)
            p = np.uint32(pairs[first + r])
            attracted[0, p] += x
            attracted[1, p] += x * (1.0 - x)
            reached *= (1.0 - a[r]) * on
        # The last rank leads nowhere that could be seen.
        could[0] += examined - q
    for k in range(1 if kind == DBN else 3):
        of_cells[k, 0] += went[k]
        of_cells[k, 1] += could[k]
