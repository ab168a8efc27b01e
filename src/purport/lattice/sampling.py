"""Paths drawn at random, each as often as it is probable.

Forward sums in log space, then states drawn from the last step back. A step of the forward sums
takes S exponentials and S logarithms: products are scaled by the largest entry, and a state whose
sum is so small that products could be lost is summed up in logarithms.

Symbols: S states, M draws, P positions.
"""

from __future__ import annotations

import math

import numpy as np

from purport.fold.kernel import Floats, Int32s, Int64s, kernel
from purport.lattice.exponential import exponential
from purport.lattice.logspace import log_sum

SURE = 1e-270
"""What products below the smallest float64 could add to a sum above this cannot be seen."""


@kernel()
def step_forward(
    before: Floats,  # (S,) log
    into: Floats,  # (S, S) log, the arcs into each state in a row
    factors: Floats,  # (S, S) exp(into - shift)
    shift: float,
    work: Floats,  # (2, S) work
    after: Floats,  # (S,) log, out
) -> None:
    """Sum up the ways into every state."""
    states = len(before)
    high = -np.inf
    for i in range(states):
        high = max(high, before[i])
    if high == -np.inf:
        after[:] = -np.inf
        return
    for i in range(states):
        work[0, i] = exponential(before[i] - high)
    for j in range(states):
        total = 0.0
        for i in range(states):
            total += work[0, i] * factors[j, i]
        if total > SURE:
            after[j] = high + shift + math.log(total)
        else:
            for i in range(states):
                work[1, i] = before[i] + into[j, i]
            after[j] = log_sum(work[1])


@kernel()
def draw(
    scores: Floats,  # (S,) log
    uniform: float,
) -> int:
    """Return the state at which the sum of the shares first exceeds `uniform`; -1 for none."""
    high = -np.inf
    for score in scores:
        high = max(high, score)
    if high == -np.inf:
        return -1
    total = 0.0
    for score in scores:
        total += exponential(score - high)
    left = uniform * total
    chosen = -1
    for s in range(len(scores)):
        share = exponential(scores[s] - high)
        if share > 0.0:
            # Rounding may leave a little at the end: the last possible state takes it.
            chosen = s
            left -= share
            if left < 0.0:
                break
    return chosen


@kernel(
    "void(float64[:, ::1], int32[::1], int64[::1], boolean, float64[:, ::1], int32[::1],"
    " float64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64, float64[:, ::1],"
    " float64[:, ::1], int32[:, ::1])"
)
def sample_paths(
    rows: Floats,  # (U, S) log
    index: Int32s,  # (P,)
    offsets: Int64s,  # (N + 1,)
    is_clamped: bool,
    clamp_scores: Floats,  # (D, S) log
    clamp_index: Int32s,  # (P,)
    start: Floats,  # (S,) log
    stop: Floats,  # (S,) log
    into: Floats,  # (S, S) log, the arcs into each state in a row
    factors: Floats,  # (S, S) exp(into - shift)
    shift: float,
    uniforms: Floats,  # (M, P)
    alpha: Floats,  # (longest, S) work
    paths: Int32s,  # (M, P) out; -1 where a sequence has no path
) -> None:
    """Fill `paths` with states, one number from [0, 1) deciding each."""
    states = rows.shape[1]
    work = np.empty((2, states))
    terms = np.empty(states)
    for n in range(len(offsets) - 1):
        first = offsets[n]
        steps = offsets[n + 1] - first
        for t in range(steps):
            if t == 0:
                alpha[0] = start
            else:
                step_forward(alpha[t - 1], into, factors, shift, work, alpha[t])
            row = rows[index[first + t]]
            for s in range(states):
                alpha[t, s] += row[s]
                if is_clamped:
                    alpha[t, s] += clamp_scores[clamp_index[first + t], s]
        for m in range(len(paths)):
            state = -1
            for t in range(steps - 1, -1, -1):
                for s in range(states):
                    terms[s] = alpha[t, s]
                    if t == steps - 1:
                        terms[s] += stop[s]
                    elif state >= 0:
                        terms[s] += into[state, s]
                state = draw(terms, uniforms[m, first + t])
                paths[m, first + t] = state
                if state < 0:
                    for u in range(steps):
                        paths[m, first + u] = -1
                    break
