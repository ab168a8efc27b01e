"""The fast path of the chain: sums over all paths with per-step scaling, many sequences abreast.

Symbols: T steps, S states, B lanes, r_t = 1 / c_t.

    a_t(j)  = psi_t(j) * sum_i a_{t-1}(i) r_{t-1} E(i, j)        c_t = sum_j a_t(j)
    log Z   = sum_t log c_t + log sum_j a_{T-1}(j) r_{T-1} stop(j)
    b_t(i)  = sum_j E(i, j) v_{t+1}(j) r_{t+1}                   v_t(j) = psi_t(j) b_t(j)
    p(t, i) = a_t(i) r_t b_t(i) / last                           last = the sum inside the last log
    p(t, i, j) = a_t(i) r_t E(i, j) v_{t+1}(j) r_{t+1} / last

`a` is stored unscaled and scaled by the reader, which saves a pass over it. With E = 1 + D the sum
over i is 1 + sum over the listed arcs of a r D, because a r sums to one.

The caller keeps sequences away that could leave the range of float64 (see `chain`); one that does
so all the same shows in c, is left out of every sum here, and gets the log partition NaN.
"""

from __future__ import annotations

import math

import numpy as np

from purport.fold.kernel import Booleans, Floats, Int32s, Int64s, kernel
from purport.lattice.lane_steps import (
    add_four,
    count_four,
    finish_state,
    multiply,
    reach,
    reach_by_four,
    reach_product,
    reach_times,
)
from purport.lattice.lanes import clamp_lanes, gather, scatter

SMALLEST_SUM = 1e-280
LARGEST_SUM = 1e280


@kernel()
def rest_lanes(
    step: Floats,  # (S, B)
    total: Floats,  # (B,)
    length: Int64s,  # (B,)
    t: int,
) -> None:
    """Put ones into the lanes that have ended: no zero or infinity of theirs shall spread."""
    states, lanes = step.shape
    for b in range(lanes):
        if t >= length[b]:
            total[b] = 1.0
            for j in range(states):
                step[j, b] = 1.0


@kernel()
def begin_forward(
    psi: Floats,  # (T, S, B)
    a: Floats,  # (T, S, B)
    c: Floats,  # (T, B)
    start: Floats,  # (S,)
) -> None:
    """Fill the first step of a and c."""
    _, states, lanes = psi.shape
    for b in range(lanes):
        c[0, b] = 0.0
    for j in range(states):
        reach_times(a[0, j], c[0], psi[0, j], start[j])


@kernel()
def begin_step(
    c: Floats,  # (T, B)
    t: int,
    scale: Floats,  # (B,) out
) -> None:
    """Set the scale of step t from the sums before it, and its own sums to zero."""
    for b in range(len(scale)):
        scale[b] = 1.0 / c[t - 1, b]
        c[t, b] = 0.0


@kernel(reassociate=True)
def forward_lists(
    psi: Floats,  # (T, S, B)
    a: Floats,  # (T, S, B)
    c: Floats,  # (T, B)
    start: Floats,  # (S,)
    length: Int64s,  # (B,)
    groups: Int32s,  # (S + 1,)
    others: Int32s,  # (groups * 4,)
    values: Floats,  # (groups * 4,)
    one_plus: float,
    scale: Floats,  # (B,) work
    sums: Floats,  # (B,) work
) -> None:
    """Fill a (T, S, B) and c (T, B) from psi; arcs by target in padded groups of four."""
    steps, states, _ = psi.shape
    begin_forward(psi, a, c, start)
    for t in range(1, steps):
        total = c[t]
        begin_step(c, t, scale)
        before = a[t - 1]
        for j in range(states):
            last = groups[j + 1] - 1
            if last < groups[j]:
                reach_times(a[t, j], total, psi[t, j], one_plus)
                continue
            k = 4 * last
            d0, d1, d2, d3 = values[k], values[k + 1], values[k + 2], values[k + 3]
            x0, x1 = before[others[k]], before[others[k + 1]]
            x2, x3 = before[others[k + 2]], before[others[k + 3]]
            if last == groups[j]:
                reach_by_four(
                    a[t, j], total, psi[t, j], scale, one_plus, x0, x1, x2, x3, d0, d1, d2, d3
                )  # fmt: skip
                continue
            add_four(sums, True, x0, x1, x2, x3, d0, d1, d2, d3)
            for g in range(groups[j], last):
                k = 4 * g
                d0, d1, d2, d3 = values[k], values[k + 1], values[k + 2], values[k + 3]
                x0, x1 = before[others[k]], before[others[k + 1]]
                x2, x3 = before[others[k + 2]], before[others[k + 3]]
                add_four(sums, False, x0, x1, x2, x3, d0, d1, d2, d3)
            reach(a[t, j], total, psi[t, j], scale, sums, one_plus)
        rest_lanes(a[t], total, length, t)


@kernel(reassociate=True)
def forward_dense(
    psi: Floats,  # (T, S, B)
    a: Floats,  # (T, S, B)
    c: Floats,  # (T, B)
    start: Floats,  # (S,)
    length: Int64s,  # (B,)
    into: Floats,  # (S, S)
    scale: Floats,  # (B,) work
) -> None:
    """Fill a (T, S, B) and c (T, B) from psi; `into` is E transposed."""
    steps, states, _ = psi.shape
    begin_forward(psi, a, c, start)
    for t in range(1, steps):
        total = c[t]
        begin_step(c, t, scale)
        np.dot(into, a[t - 1], a[t])
        for j in range(states):
            reach_product(a[t, j], total, psi[t, j], scale)
        rest_lanes(a[t], total, length, t)


@kernel()
def close_lanes(
    a: Floats,  # (T, S, B)
    c: Floats,  # (T, B)
    stop: Floats,  # (S,)
    length: Int64s,  # (B,)
    last: Floats,  # (B,) out
) -> None:
    """Fill `last` (B,) with the closing sums; NaN for a lane that left the range of float64."""
    _, states, lanes = a.shape
    for b in range(lanes):
        last[b] = 0.0
        if length[b] == 0:
            continue
        t = length[b] - 1
        for j in range(states):
            last[b] += a[t, j, b] * stop[j]
        last[b] /= c[t, b]
        good = last[b] > SMALLEST_SUM and last[b] < LARGEST_SUM
        for t in range(length[b]):
            good = good and c[t, b] > SMALLEST_SUM and c[t, b] < LARGEST_SUM
        if not good:
            last[b] = math.nan


@kernel()
def silence(
    psi: Floats,  # (T, S, B)
    a: Floats,  # (T, S, B)
    c: Floats,  # (T, B)
    b: int,
) -> None:
    """Make a lane that left the range harmless to its neighbours' sums."""
    steps, states, _ = psi.shape
    for t in range(steps):
        c[t, b] = 1.0
        for j in range(states):
            psi[t, j, b] = 1.0
            a[t, j, b] = 0.0


@kernel(reassociate=True)
def step_back_lists(
    before: Floats,  # (S, B)
    v: Floats,  # (S, B)
    beta: Floats,  # (S, B) out
    flow: Floats,  # (B,)
    groups: Int32s,  # (S + 1,)
    others: Int32s,  # (groups * 4,)
    values: Floats,  # (groups * 4,)
    total: Floats,  # (B,)
    scale: Floats,  # (B,)
    pairs: Floats,  # (groups * 4,) added to
    weighed: Floats,  # (B,) work
) -> None:
    """Fill beta (S, B) of a step from v (S, B) of the next, and count the pairs between.

    Both need the same four rows of v at a time: beta(i) = total + scale * sum of D v over the arcs
    from i, and each arc's pair grows by the sum over lanes of before(i) flow v(j). `total` is
    one_plus * scale * sum of v.
    """
    states, lanes = v.shape
    for i in range(states):
        out = beta[i]
        first = groups[i]
        if first == groups[i + 1]:
            for b in range(lanes):
                out[b] = total[b]
            continue
        multiply(weighed, before[i], flow)
        for g in range(first, groups[i + 1]):
            k = 4 * g
            d0, d1, d2, d3 = values[k], values[k + 1], values[k + 2], values[k + 3]
            x0, x1, x2, x3 = v[others[k]], v[others[k + 1]], v[others[k + 2]], v[others[k + 3]]
            if g == first:
                p0, p1, p2, p3 = count_four(
                    out, True, total, scale, weighed, x0, x1, x2, x3, d0, d1, d2, d3
                )
            else:
                p0, p1, p2, p3 = count_four(
                    out, False, total, scale, weighed, x0, x1, x2, x3, d0, d1, d2, d3
                )
            pairs[k] += p0
            pairs[k + 1] += p1
            pairs[k + 2] += p2
            pairs[k + 3] += p3


@kernel(reassociate=True)
def backward(
    psi: Floats,  # (T, S, B)
    a: Floats,  # (T, S, B)
    c: Floats,  # (T, B)
    stop: Floats,  # (S,)
    length: Int64s,  # (B,)
    share: Floats,  # (B,)
    is_dense: bool,
    dense: Floats,  # (S, S)
    groups: Int32s,  # (S + 1,)
    others: Int32s,  # (groups * 4,)
    values: Floats,  # (groups * 4,)
    one_plus: float,
    pairs: Floats,  # (groups * 4,) added to
    pair_matrix: Floats,  # (S, S) added to
    beta: Floats,  # (S, B) work
    products: Floats,  # (S, S) work
    total: Floats,  # (B,) work
    scale: Floats,  # (B,) work
    flow: Floats,  # (B,) work
    weighed: Floats,  # (B,) work
) -> None:
    """Turn a into posteriors times `share` (B,) and add up the pairs; psi is overwritten by v.

    share : (B,) weight of each lane divided by its closing sum; 0 for lanes that do not count.
    """
    steps, states, lanes = psi.shape
    for t in range(steps - 1, -1, -1):
        if t < steps - 1:
            v = psi[t + 1]
            for b in range(lanes):
                scale[b] = 1.0 / c[t + 1, b]
                # Pairs count only while the lane's sequence still has a next step.
                flow[b] = share[b] * scale[b] / c[t, b] if t + 1 < length[b] else 0.0
                total[b] *= scale[b] * one_plus
            if is_dense:
                for i in range(states):
                    multiply(beta[i], a[t, i], flow)
                np.dot(beta, v.T, products)
                for i in range(states):
                    for j in range(states):
                        pair_matrix[i, j] += products[i, j]
                np.dot(dense, v, beta)
                for i in range(states):
                    for b in range(lanes):
                        beta[i, b] *= scale[b]
            else:
                step_back_lists(
                    a[t], v, beta, flow, groups, others, values, total, scale, pairs, weighed
                )  # fmt: skip
        for b in range(lanes):
            if t >= length[b] - 1:
                for i in range(states):
                    beta[i, b] = stop[i] if t == length[b] - 1 else 1.0
            scale[b] = share[b] / c[t, b]
            total[b] = 0.0
        for i in range(states):
            finish_state(a[t, i], psi[t, i], total, beta[i], scale)


@kernel(
    "void(float64[:, ::1], float64[::1], int32[::1], int64[::1],"  # potentials ... offsets
    " boolean, float64[:, ::1], float64[::1], int32[::1],"  # clamp
    " float64[::1], float64[::1], float64[::1],"  # weights, start, stop
    " int32[::1], int32[::1], float64[::1], int32[::1], int32[::1], float64[::1], float64,"  # lists
    " boolean, float64[:, ::1], float64[:, ::1], float64,"  # dense
    " int64[::1], int64[::1], int64[::1], boolean[::1],"  # packs
    " float64[::1], float64[::1], float64[::1], float64[:, ::1], float64[:, ::1],"  # work
    " float64[::1], boolean, int32[::1], float64[:, ::1], float64[::1], float64[:, ::1])"  # out
)
def sum_paths(
    potentials: Floats,  # (U, S)
    highest: Floats,  # (U,)
    index: Int32s,  # (P,)
    offsets: Int64s,  # (N + 1,)
    is_clamped: bool,
    factors: Floats,  # (D, S)
    clamp_highest: Floats,  # (D,)
    clamp_index: Int32s,  # (P,)
    weights: Floats,  # (N,)
    start: Floats,  # (S,)
    stop: Floats,  # (S,)
    forward_starts: Int32s,  # (S + 1,)
    forward_others: Int32s,  # (groups * 4,)
    forward_values: Floats,  # (groups * 4,)
    backward_starts: Int32s,  # (S + 1,)
    backward_others: Int32s,  # (groups * 4,)
    backward_values: Floats,  # (groups * 4,)
    one_plus: float,
    is_dense: bool,
    dense: Floats,  # (S, S) or (0, 0)
    dense_transposed: Floats,  # (S, S) or (0, 0)
    shift: float,
    order: Int64s,  # (N',)
    pack_starts: Int64s,  # (packs + 1,)
    widths: Int64s,  # (packs,)
    skipped: Booleans,  # (N,)
    psi_work: Floats,  # flat
    a_work: Floats,  # flat
    c_work: Floats,  # flat
    lane_work: Floats,  # (6, B)
    products: Floats,  # (S, S) work
    log_partition: Floats,  # (N,) out
    wants_posteriors: bool,
    destination: Int32s,  # (P,)
    posteriors: Floats,  # (rows, S) added to
    pairs: Floats,  # (groups * 4,) added to
    pair_matrix: Floats,  # (S, S) added to
) -> None:
    """Walk all packs: log Z of every sequence and, if wanted, posteriors and pairs added up.

    skipped : (N,) sequences left to log space
    log_partition : (N,) out; NaN where the sequence has to be done in log space
    destination : (P,) the row of `posteriors` that a position's posterior, times its weight, is
    added to
    pairs : out, in the padded order of the backward lists, without the factor E(i, j)
    pair_matrix : (S, S) the same for the dense form
    """
    states = potentials.shape[1]
    ones = np.ones(states)
    widest = lane_work.shape[1]
    first_work, length_work = np.zeros(widest, np.int64), np.zeros(widest, np.int64)
    for k in range(len(widths)):
        lanes = widths[k]
        first, length, share = first_work[:lanes], length_work[:lanes], lane_work[5, :lanes]
        length[:] = 0
        share[:] = 0.0
        steps = 0
        for b in range(pack_starts[k + 1] - pack_starts[k]):
            n = order[pack_starts[k] + b]
            if not skipped[n]:
                first[b] = offsets[n]
                length[b] = offsets[n + 1] - offsets[n]
                steps = max(steps, length[b])
        if steps == 0:
            continue
        size = steps * states * lanes
        psi = psi_work[:size].reshape((steps, states, lanes))
        a = a_work[:size].reshape((steps, states, lanes))
        c = c_work[: steps * lanes].reshape((steps, lanes))
        scale, sums = lane_work[0, :lanes], lane_work[1, :lanes]
        total, flow, last = lane_work[2, :lanes], lane_work[3, :lanes], lane_work[4, :lanes]
        gather(potentials, index, first, length, ones, psi)
        if is_clamped:
            clamp_lanes(factors, clamp_index, first, length, psi)
        if is_dense:
            forward_dense(psi, a, c, start, length, dense_transposed, scale)
        else:
            forward_lists(
                psi, a, c, start, length, forward_starts, forward_others, forward_values, one_plus,
                scale, sums,
            )  # fmt: skip
        close_lanes(a, c, stop, length, last)
        for b in range(pack_starts[k + 1] - pack_starts[k]):
            if length[b] == 0:
                continue
            n = order[pack_starts[k] + b]
            z = math.log(last[b]) + shift * (length[b] - 1)
            for t in range(length[b]):
                z += math.log(c[t, b]) + highest[index[first[b] + t]]
                if is_clamped:
                    z += clamp_highest[clamp_index[first[b] + t]]
            log_partition[n] = z
            if math.isnan(last[b]):
                silence(psi, a, c, b)
                length[b] = 0
            else:
                share[b] = weights[n] / last[b]
        if wants_posteriors:
            beta = psi_work[size : size + states * lanes].reshape((states, lanes))
            backward(
                psi, a, c, stop, length, share, is_dense, dense, backward_starts, backward_others,
                backward_values, one_plus, pairs, pair_matrix, beta, products, total, scale, flow,
                sums,
            )  # fmt: skip
            scatter(a, destination, first, length, posteriors)
