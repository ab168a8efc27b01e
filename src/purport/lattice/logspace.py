"""The exact path of the chain, in log space, for scores that scaling cannot hold.

One sequence at a time, slow (T S^2 exponentials) and rarely used. Impossible is -inf throughout; a
sequence with no path at all has the log partition -inf and adds nothing to posteriors or pairs.
"""

from __future__ import annotations

import math

import numpy as np

from purport.fold.kernel import Booleans, Floats, Int32s, Int64s, kernel
from purport.lattice.exponential import exponential


@kernel()
def log_sum(
    terms: Floats,
) -> float:
    """Return log(sum(exp(terms))), -inf when every term is."""
    high = -np.inf
    for term in terms:
        high = max(high, term)
    if high == -np.inf:
        return high
    total = 0.0
    for term in terms:
        total += exponential(term - high)
    return high + math.log(total)


@kernel()
def read_scores(
    rows: Floats,  # (U, S)
    highest: Floats,  # (U,)
    spread: Floats,  # (U,)
    widest: float,
    index: Int32s,  # (P,)
    is_clamped: bool,
    clamp_scores: Floats,  # (D, S) log
    clamp_index: Int32s,  # (P,)
    first: int,
    out: Floats,  # (T, S) log
) -> None:
    """Fill out with the log emissions of one sequence, of rows exponentiated or not."""
    steps, states = out.shape
    for t in range(steps):
        u = index[first + t]
        for s in range(states):
            x = rows[u, s]
            if spread[u] <= widest:
                x = math.log(x) + highest[u]
            if is_clamped:
                x += clamp_scores[clamp_index[first + t], s]
            out[t, s] = x


@kernel(
    "void(float64[:, ::1], float64[::1], float64[::1], float64, int32[::1], int64[::1],"
    " boolean, float64[:, ::1], int32[::1],"
    " float64[::1], float64[::1], float64[::1], float64[:, ::1], boolean[::1],"
    " float64[::1], boolean, int32[::1], float64[:, ::1], float64[:, ::1])"
)
def sum_paths_in_log_space(
    rows: Floats,  # (U, S)
    highest: Floats,  # (U,)
    spread: Floats,  # (U,)
    widest: float,
    index: Int32s,  # (P,)
    offsets: Int64s,  # (N + 1,)
    is_clamped: bool,
    clamp_scores: Floats,  # (D, S) log
    clamp_index: Int32s,  # (P,)
    weights: Floats,  # (N,)
    start: Floats,  # (S,) log
    stop: Floats,  # (S,) log
    scores: Floats,  # (S, S) log
    chosen: Booleans,  # (N,)
    log_partition: Floats,  # (N,) out
    wants_posteriors: bool,
    destination: Int32s,  # (P,)
    posteriors: Floats,  # (rows, S) added to
    pair_matrix: Floats,  # (S, S) added to
) -> None:
    """Do the chosen sequences: log Z and, if wanted, posteriors and pairs times their weights.

    start, stop : (S,) log;  scores : (S, S) log;  pair_matrix : (S, S), expected counts of pairs,
    added to
    """
    states = rows.shape[1]
    terms = np.empty(states)
    after = np.empty(states)
    for n in range(len(chosen)):
        steps = offsets[n + 1] - offsets[n]
        if not chosen[n] or steps == 0:
            continue
        first = offsets[n]
        emitted = np.empty((steps, states))
        read_scores(
            rows, highest, spread, widest, index, is_clamped, clamp_scores, clamp_index, first,
            emitted,
        )  # fmt: skip
        alpha = np.empty((steps, states))
        for j in range(states):
            alpha[0, j] = start[j] + emitted[0, j]
        for t in range(1, steps):
            for j in range(states):
                for i in range(states):
                    terms[i] = alpha[t - 1, i] + scores[i, j]
                alpha[t, j] = log_sum(terms) + emitted[t, j]
        for j in range(states):
            terms[j] = alpha[steps - 1, j] + stop[j]
        z = log_sum(terms)
        log_partition[n] = z
        if not wants_posteriors or z == -np.inf:
            continue
        beta = stop.copy()
        for t in range(steps - 1, -1, -1):
            if t < steps - 1:
                for j in range(states):
                    after[j] = emitted[t + 1, j] + beta[j]
                for i in range(states):
                    for j in range(states):
                        terms[j] = scores[i, j] + after[j]
                        pair_matrix[i, j] += weights[n] * exponential(alpha[t, i] + terms[j] - z)
                    beta[i] = log_sum(terms)
            row = posteriors[destination[first + t]]
            for i in range(states):
                row[i] += weights[n] * exponential(alpha[t, i] + beta[i] - z)
