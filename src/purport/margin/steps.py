"""The kernels of the linear SVM: looking at all rows and labels, and the exact steps of one row.

S. S. Keerthi, S. Sundararajan, K.-W. Chang, C.-J. Hsieh, C.-J. Lin: A sequential dual method for
large scale multi-class linear SVMs (2008). Symbols: n samples (a row, a label, a cost), U rows, F
columns, L labels, K slots; x the row of a sample, y its label, c its cost, w the weights, a the
shares. The weights are always w_m = sum over samples of a_m x. Two problems have this form:

    rivals (Crammer and Singer): loss = max over m of (w_m x + [m != y]) - w_y x
        a_y <= c, a_m <= 0 for the others, sum of a = 0; dual = a_y - |w|^2 / 2
    one against the rest: loss = sum over m of max(0, 1 - s_m w_m x), s_y = 1, s_m = -1
        0 <= s_m a_m <= c; dual = sum of |a_m| - |w|^2 / 2

A step moves the shares of one sample to where its part of the dual is highest. Most labels of most
rows never get a share, so that after a look at all of them (`look`) the steps are between few: the
active labels of a sample stand in its slots, the right one, if it is active, in the first.
"""

from __future__ import annotations

from purport.fold.kernel import Booleans, Floats, Int32s, Int64s, kernel
from purport.lattice.lane_steps import add_four

ALL = -1
"""The number of active labels of a sample that has too many for its slots."""


@kernel()
def score_row(
    columns: Int32s,  # (nonzeros,)
    values: Floats,  # (nonzeros,)
    start: int,
    stop: int,
    weights: Floats,  # (F, L)
    scores: Floats,  # (L,) out
) -> None:
    """Fill the scores of all labels for the row whose entries are start to stop."""
    for m in range(len(scores)):
        scores[m] = 0.0
    for p in range(start, stop, 4):
        # The last group of four may go beyond the row: its last entry again, times zero.
        p1, p2, p3 = min(p + 1, stop - 1), min(p + 2, stop - 1), min(p + 3, stop - 1)
        add_four(
            scores, False,
            weights[columns[p]], weights[columns[p1]], weights[columns[p2]], weights[columns[p3]],
            values[p],
            values[p1] if p + 1 < stop else 0.0,
            values[p2] if p + 2 < stop else 0.0,
            values[p3] if p + 3 < stop else 0.0,
        )  # fmt: skip


@kernel("void(int64[::1], int32[::1], float64[::1], float64[:, ::1], float64[:, ::1])")
def score_rows(
    indptr: Int64s,  # (U + 1,)
    columns: Int32s,  # (nonzeros,)
    values: Floats,  # (nonzeros,)
    weights: Floats,  # (F, L)
    scores: Floats,  # (U, L) out
) -> None:
    """Fill the scores of all labels for all rows."""
    for u in range(len(scores)):
        score_row(columns, values, indptr[u], indptr[u + 1], weights, scores[u])


@kernel()
def step_rivals(
    scores: Floats,  # (k,)
    held: Floats,  # (k,)
    new: Floats,  # (k,) out
    k: int,
    right: int,
    norm: float,
    cost: float,
) -> float:
    """Find the best shares of labels that are rivals, and return how far they were from it.

    norm (c [m = y] - a_m) are the distances of points from a common threshold, 0 where negative:
    a projection on a simplex. The threshold is raised until those above it are all that count.
    """
    highest: float = scores[right]
    lowest = highest if held[right] < cost else 1e308
    top = -1e308
    for r in range(k):
        gradient = scores[r]
        if r != right:
            gradient += 1.0
            if held[r] < 0.0:
                lowest = min(lowest, gradient)
            highest = max(highest, gradient)
        point = gradient - norm * held[r]
        if r == right:
            point += norm * cost
        new[r] = point
        top = max(top, point)
    total, above = 0.0, 0
    for r in range(k):
        if new[r] >= top - norm * cost:
            total += new[r]
            above += 1
    threshold = (total - norm * cost) / above
    while True:
        total, fewer = 0.0, 0
        for r in range(k):
            if new[r] > threshold:
                total += new[r]
                fewer += 1
        if fewer >= above or fewer == 0:
            break
        above = fewer
        threshold = (total - norm * cost) / above
    for r in range(k):
        share = -max(new[r] - threshold, 0.0) / norm
        new[r] = share + cost if r == right else share
    return highest - lowest


@kernel()
def step_alone(
    scores: Floats,  # (k,)
    held: Floats,  # (k,)
    new: Floats,  # (k,) out
    k: int,
    right: int,
    norm: float,
    cost: float,
) -> float:
    """Find the best share of each label for itself, and return how far one was from it at most."""
    furthest = 0.0
    for r in range(k):
        sign = 1.0 if r == right else -1.0
        gradient = 1.0 - sign * scores[r]
        share = sign * held[r]
        off = abs(gradient)
        if (share <= 0.0 and gradient < 0.0) or (share >= cost and gradient > 0.0):
            off = 0.0
        furthest = max(furthest, off)
        new[r] = sign * min(max(share + gradient / norm, 0.0), cost)
    return furthest


@kernel(
    "void(int64[::1], boolean, int64[::1], int32[::1], float64[::1], float64[::1], int32[::1],"
    " int32[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], int32[::1])"
)
def step_everywhere(
    order: Int64s,  # (some samples,)
    rivals: bool,
    indptr: Int64s,  # (U + 1,)
    columns: Int32s,  # (nonzeros,)
    values: Floats,  # (nonzeros,)
    norms: Floats,  # (U,)
    row_of: Int32s,  # (n,)
    label_of: Int32s,  # (n,)
    cost_of: Floats,  # (n,)
    weights: Floats,  # (F, L) in and out
    shares: Floats,  # (n, L) in and out
    work: Floats,  # (2, L)
    moved: Int32s,  # (L,)
) -> None:
    """Take a step between all labels of some samples, one sample after the other."""
    labels = weights.shape[1]
    scores, new = work[0], work[1]
    for i in order:
        u = row_of[i]
        held = shares[i]
        score_row(columns, values, indptr[u], indptr[u + 1], weights, scores)
        if rivals:
            step_rivals(scores, held, new, labels, label_of[i], norms[u], cost_of[i])
        else:
            step_alone(scores, held, new, labels, label_of[i], norms[u], cost_of[i])
        count = 0
        for m in range(labels):
            if new[m] != held[m]:
                scores[count] = new[m] - held[m]
                held[m] = new[m]
                moved[count] = m
                count += 1
        add_steps(columns, values, indptr[u], indptr[u + 1], weights, moved, scores, count)


@kernel()
def add_steps(
    columns: Int32s,  # (nonzeros,)
    values: Floats,  # (nonzeros,)
    start: int,
    stop: int,
    weights: Floats,  # (F, L) in and out
    labels: Int32s,  # (k,)
    steps: Floats,  # (k,)
    k: int,
) -> None:
    """Add the row whose entries are start to stop, times a step for each of some labels."""
    if k == 0:
        return
    for p in range(start, stop):
        of_column = weights[columns[p]]
        for r in range(k):
            of_column[labels[r]] += values[p] * steps[r]


@kernel(
    "void(boolean, int64[::1], int32[::1], float64[::1], int32[::1], int32[::1], float64[::1],"
    " float64[:, ::1], float64[:, ::1], int32[:, ::1], int32[::1], float64[::1], float64[::1])"
)
def look(
    rivals: bool,
    indptr: Int64s,  # (U + 1,)
    columns: Int32s,  # (nonzeros,)
    values: Floats,  # (nonzeros,)
    row_of: Int32s,  # (n,)
    label_of: Int32s,  # (n,)
    cost_of: Floats,  # (n,)
    weights: Floats,  # (F, L)
    shares: Floats,  # (n, L)
    active: Int32s,  # (n, K) out
    count: Int32s,  # (n,) out
    scores: Floats,  # (L,)
    sums: Floats,  # (2,) out
) -> None:
    """Sum up the loss and the linear part of the dual, and choose the active labels."""
    loss = linear = 0.0
    for i in range(len(row_of)):
        start, stop = indptr[row_of[i]], indptr[row_of[i] + 1]
        score_row(columns, values, start, stop, weights, scores)
        right, cost = label_of[i], cost_of[i]
        if rivals:
            loss += cost * choose_rivals(scores, shares[i], right, cost, active, count, i)
            linear += shares[i, right]
        else:
            loss += cost * choose_alone(scores, shares[i], right, cost, active, count, i)
            for m in range(len(scores)):
                linear += abs(shares[i, m])
    sums[0], sums[1] = loss, linear


ENTER = 4
"""So many labels without a share become active at once, those that are furthest ahead."""


@kernel()
def choose_rivals(
    scores: Floats,  # (L,) in, changed
    held: Floats,  # (L,)
    right: int,
    cost: float,
    active: Int32s,  # (n, K) out
    count: Int32s,  # (n,) out
    i: int,
) -> float:
    """Choose labels with a share and the best of those ahead of them; return the loss."""
    labels, slots = len(scores), active.shape[1]
    for m in range(labels):
        scores[m] += 1.0
    scores[right] -= 1.0
    top = scores[right]
    lowest = top if held[right] < cost else 1e308
    used = 1
    active[i, 0] = right
    for m in range(labels):
        top = max(top, scores[m])
        # The share of the right label may be a rounding error below 0.
        if held[m] < 0.0 and m != right:
            lowest = min(lowest, scores[m])
            if used < slots:
                active[i, used] = m
            used += 1
    count[i] = used
    if top <= lowest:
        count[i] = 0
    elif used > slots - ENTER and slots < labels:
        count[i] = ALL
    else:
        most = min(used + ENTER, slots)
        first = used
        for m in range(labels):
            if scores[m] <= lowest or held[m] != 0.0 or m == right:
                continue
            if used < most:
                place = used
                used += 1
            elif scores[active[i, used - 1]] < scores[m]:
                place = used - 1
            else:
                continue
            while place > first and scores[active[i, place - 1]] < scores[m]:
                active[i, place] = active[i, place - 1]
                place -= 1
            active[i, place] = m
        count[i] = used
    loss: float = top - scores[right]
    return loss


@kernel()
def choose_alone(
    scores: Floats,  # (L,)
    held: Floats,  # (L,)
    right: int,
    cost: float,
    active: Int32s,  # (n, K) out
    count: Int32s,  # (n,) out
    i: int,
) -> float:
    """Choose the labels whose share may still move; return the sum of their losses."""
    labels, slots = len(scores), active.shape[1]
    loss, used = 0.0, 0
    for turn in range(labels):
        # The right label comes first, then the others.
        m = right if turn == 0 else (turn - 1 if turn <= right else turn)
        sign = 1.0 if m == right else -1.0
        gradient = 1.0 - sign * scores[m]
        share = sign * held[m]
        loss += max(gradient, 0.0)
        if (share <= 0.0 and gradient <= 0.0) or (share >= cost and gradient >= 0.0):
            continue
        if used < slots:
            active[i, used] = m
        used += 1
    count[i] = used if used <= slots else ALL
    return loss


@kernel(
    "float64(int64[::1], boolean, float64, int64[::1], int32[::1], float64[::1], float64[::1],"
    " int32[::1], int32[::1], float64[::1], float64[:, ::1], int32[:, ::1], int32[::1],"
    " float64[:, ::1], boolean[::1], float64[:, ::1])"
)
def step_between_active(
    order: Int64s,  # (some samples,)
    rivals: bool,
    enough: float,
    indptr: Int64s,  # (U + 1,)
    columns: Int32s,  # (nonzeros,)
    values: Floats,  # (nonzeros,)
    norms: Floats,  # (U,)
    row_of: Int32s,  # (n,)
    label_of: Int32s,  # (n,)
    cost_of: Floats,  # (n,)
    weights: Floats,  # (F, L) in and out
    active: Int32s,  # (n, K)
    count: Int32s,  # (n,)
    held: Floats,  # (n, K) in and out
    resting: Booleans,  # (n,) in and out
    work: Floats,  # (2, K)
) -> float:
    """Take a step between the active labels of some samples; return how far they were from it.

    A sample that was nearer than `enough` rests from then on.
    """
    scores, new = work[0], work[1]
    far = 0.0
    for i in order:
        if resting[i]:
            continue
        u, k, labels, shares = row_of[i], count[i], active[i], held[i]
        start, stop = indptr[u], indptr[u + 1]
        for r in range(k):
            scores[r] = 0.0
        for p in range(start, stop):
            of_column = weights[columns[p]]
            for r in range(k):
                scores[r] += values[p] * of_column[labels[r]]
        if rivals:
            off = step_rivals(scores, shares, new, k, 0, norms[u], cost_of[i])
        else:
            right = 0 if labels[0] == label_of[i] else -1
            off = step_alone(scores, shares, new, k, right, norms[u], cost_of[i])
        if off <= enough:
            resting[i] = True
            continue
        far += off
        for r in range(k):
            scores[r] = new[r] - shares[r]
            shares[r] = new[r]
        add_steps(columns, values, start, stop, weights, labels, scores, k)
    return far


@kernel("void(float64[:, ::1], int32[:, ::1], int32[::1], float64[:, ::1], boolean)")
def move_shares(
    shares: Floats,  # (n, L) in or out
    active: Int32s,  # (n, K)
    count: Int32s,  # (n,)
    held: Floats,  # (n, K) out or in
    back: bool,
) -> None:
    """Copy the shares of active labels into the slots, or back."""
    for i in range(len(count)):
        for r in range(count[i]):
            if back:
                shares[i, active[i, r]] = held[i, r]
            else:
                held[i, r] = shares[i, active[i, r]]
