"""The k best paths of every sequence, best first.

At each step every state keeps its k best ways there. The best ways of a step are merged by one
pointer for each state of the step before, so a step costs k S^2 looks and nothing is sorted.

Ties go to the state with the smallest number. Symbols: S states, K paths, T steps.
"""

from __future__ import annotations

import numpy as np

from purport.fold.kernel import Floats, Int32s, Int64s, kernel


@kernel()
def merge_best(
    best: Floats,  # (S, K)
    scores: Floats,  # (S,)
    pointers: Int64s,  # (S,) work
    found: Floats,  # (K,) out
    came_from: Int32s,  # (K,) out
) -> None:
    """Take the K highest of best[i, r] + scores[i]; each came from the number i * K + r."""
    states, count = best.shape
    for i in range(states):
        pointers[i] = 0
    for r in range(count):
        found[r] = -np.inf
        came_from[r] = -1
        for i in range(states):
            if pointers[i] < count:
                x = best[i, pointers[i]] + scores[i]
                if x > found[r]:
                    found[r] = x
                    came_from[r] = i * count + pointers[i]
        if came_from[r] >= 0:
            pointers[came_from[r] // count] += 1


@kernel(
    "void(float64[:, ::1], int32[::1], int64[::1], boolean, float64[:, ::1], int32[::1],"
    " float64[::1], float64[::1], float64[:, ::1], int32[:, :, ::1], int32[:, ::1],"
    " float64[:, ::1])"
)
def k_best_paths(
    rows: Floats,  # (U, S) log
    index: Int32s,  # (P,)
    offsets: Int64s,  # (N + 1,)
    is_clamped: bool,
    clamp_scores: Floats,  # (D, S) log
    clamp_index: Int32s,  # (P,)
    start: Floats,  # (S,) log
    stop: Floats,  # (S,) log
    into: Floats,  # (S, S) log, the arcs into each state in a row
    back: Int32s,  # (longest, S, K) work
    paths: Int32s,  # (K, P) out
    path_scores: Floats,  # (N, K) out
) -> None:
    """Fill `paths` with the states of the best paths and `path_scores` with their scores.

    Where a sequence has fewer paths, the score of those missing is -inf and their states are 0.
    """
    states = rows.shape[1]
    count = path_scores.shape[1]
    best = np.empty((states, count))
    next_best = np.empty((states, count))
    pointers = np.empty(states, np.int64)
    last = np.empty(count, np.int32)
    for n in range(len(offsets) - 1):
        first = offsets[n]
        steps = offsets[n + 1] - first
        if steps == 0:
            # There is one path, which visits nothing.
            path_scores[n] = -np.inf
            path_scores[n, 0] = 0.0
            continue
        for t in range(steps):
            row = rows[index[first + t]]
            for s in range(states):
                if t == 0:
                    next_best[s] = -np.inf
                    next_best[s, 0] = start[s]
                else:
                    merge_best(best, into[s], pointers, next_best[s], back[t, s])
                x = row[s]
                if is_clamped:
                    x += clamp_scores[clamp_index[first + t], s]
                for r in range(count):
                    next_best[s, r] += x
            best, next_best = next_best, best
        merge_best(best, stop, pointers, path_scores[n], last)
        for r in range(count):
            number = last[r]
            for t in range(steps - 1, -1, -1):
                if number < 0:
                    paths[r, first + t] = 0
                    continue
                state = number // count
                paths[r, first + t] = state
                if t > 0:
                    number = back[t, state, number - state * count]
