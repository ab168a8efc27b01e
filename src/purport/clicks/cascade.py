"""DBN and CCM, and the models that they become where all is seen: people look from top to bottom.

Rank r + 1 is examined if rank r was and the person goes on. With e_r = P(E_r = 1 | c_<r):

    DBN   after a skip k, after a click k (1 - s_r); SDBN is k = 1, the cascade model s = 1, too
    CCM   after a skip t1, after a click (1 - a_r) t2 + a_r t3
    DCM   after a skip 1, after a click l_r

For ranks below the last click l everything was examined. Beyond it, with X_r the chance of at least
one more click from r on given that r is examined, the posterior is exact in two sweeps:

    X_r = a_r + (1 - a_r) k X_{r+1}
    q_r = P(E_r = 1 | c) = e_r (1 - X_r) / (1 - e_r X_r)
    P(A_r = 1 | c) = (1 - e_r) a_r / (1 - e_r X_r)

Whether the rank after the last of the page was examined cannot be seen: it is left out of all sums.

Symbols: n results of a page, a attractiveness, s satisfaction, k, t1, t2, t3, l continuation.
"""

from __future__ import annotations

from typing import Any

from purport.clicks.kinds import CASCADE, CCM, DBN, DCM
from purport.fold.kernel import Booleans, Floats, Int32s, kernel


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
def expect_descending(
    kind: int,
    n: int,
    clicks: Booleans,  # (results,)
    first: int,
    ranks: int,
    attracts: Floats,  # (n,)
    satisfies: Floats,  # (n,)
    shared: Floats,  # (M,)
    found: Floats,  # (4, n) out: attraction and satisfaction, expected and how often defined
    cells: Int32s,  # (3,) out
    counted: Floats,  # (2, 3) out: what is expected of the cells, and how often it was defined
    chance: Floats,  # (n + 1,) work: X
) -> int:
    """Fill in what one page says of its pairs and of the cells, for DBN and CCM; return how many.

    CCM has one set of numbers for a pair: what is expected of its satisfaction is added to what is
    expected of its attraction.
    """
    on = shared[0]
    last = -1
    for r in range(n):
        if clicks[first + r]:
            last = r
    chance[n] = 0.0
    for r in range(n - 1, last, -1):
        a = attracts[r]
        chance[r] = a + (1.0 - a) * on * chance[r + 1]
    # Of the cells: went on after a skip, after a click without, and with, satisfaction.
    went0, went1, went2, could0, could1, could2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(last + 1):
        found[1, r], found[2, r], found[3, r] = 1.0, 0.0, 0.0
        if not clicks[first + r]:
            found[0, r] = 0.0
            if r < n - 1:
                went0 += 1.0
                could0 += 1.0
            continue
        a, s = attracts[r], satisfies[r]
        found[0, r] = found[3, r] = 1.0
        # Whether r + 1 was examined is known for all but the last click.
        if kind == DBN:
            if r == last:
                found[2, r] = s / (1.0 - (1.0 - s) * on * chance[r + 1])
            if r < n - 1:
                could0 += 1.0 - found[2, r]
                went0 += 1.0 if r < last else 0.0
            continue
        without, satisfied = shared[1] * (1.0 - a), shared[2] * a
        if r < last:
            posterior = satisfied / (without + satisfied)
            went1, went2 = went1 + (1.0 - posterior), went2 + posterior
        else:
            x = chance[r + 1]
            none = 1.0 / (1.0 - (without + satisfied) * x)
            posterior = a * (1.0 - shared[2] * x) * none
            if r < n - 1:
                went1 += without * (1.0 - x) * none
                went2 += satisfied * (1.0 - x) * none
        if r < n - 1:
            could1, could2 = could1 + (1.0 - posterior), could2 + posterior
        found[0, r] += posterior
        found[1, r] += 1.0
    examined = 1.0
    if last >= 0:
        examined = after_click(kind, last, 1, attracts[last], satisfies[last], shared)
    for r in range(last + 1, n):
        a = attracts[r]
        none = 1.0 / (1.0 - examined * chance[r])
        q = examined * (1.0 - chance[r]) * none
        if r > 0 and (r - 1 > last or kind == DBN):
            went0 += q
        if r < n - 1:
            could0 += q
        found[0, r] = (1.0 - examined) * a * none
        found[1, r], found[2, r], found[3, r] = 1.0, 0.0, 0.0
        examined *= (1.0 - a) * on / (1.0 - a * examined)
    cells[0], counted[0, 0], counted[1, 0] = 0, went0, could0
    if kind == DBN:
        return 1
    cells[1], counted[0, 1], counted[1, 1] = 1, went1, could1
    cells[2], counted[0, 2], counted[1, 2] = 2, went2, could2
    return 3
