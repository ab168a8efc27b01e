"""The best path of every sequence.

Where arcs that are not listed score exactly 0, the best of them into a state comes from the leader
(the best state of the step before) or, if that has a listed arc to it, from the next leader. Listed
arcs from states that lie too far behind to win anywhere are not looked at. So a step costs little
more than one look at every state, and the result is exact.

Ties go to the state with the smallest number.
"""

from __future__ import annotations

import numpy as np

from purport.fold.kernel import Booleans, Floats, Int32s, Int64s, kernel

LEADERS = 4


@kernel()
def find_leaders(
    best: Floats,  # (S,)
    leaders: Int64s,  # (LEADERS,) work
) -> int:
    """Fill `leaders` with the states of the highest scores, best first."""
    filled = 0
    for s in range(len(best)):
        x = best[s]
        if filled == len(leaders) and not x > best[leaders[filled - 1]]:
            continue
        place = filled if filled < len(leaders) else filled - 1
        while place > 0 and x > best[leaders[place - 1]]:
            leaders[place] = leaders[place - 1]
            place -= 1
        leaders[place] = s
        filled = min(filled + 1, len(leaders))
    return filled


@kernel()
def step_lists(
    best: Floats,  # (S,)
    next_best: Floats,  # (S,) out
    back: Int32s,  # (S,) out
    starts: Int64s,  # (S + 1,)
    targets: Int32s,  # (A,)
    scores: Floats,  # (A,)
    highest: Floats,  # (S,)
    is_listed: Booleans,  # (S, S)
    leaders: Int64s,  # (LEADERS,) work
) -> None:
    """Best predecessor of every state when arcs that are not listed score 0.

    starts, targets, scores: the arcs by source; highest: the highest score of each source's arcs.
    """
    states = len(best)
    count = find_leaders(best, leaders)
    leader = leaders[0]
    lowest = best[leader]
    for j in range(states):
        next_best[j] = best[leader]
        back[j] = leader
    # Where the leader has a listed arc, the best arc that is not listed comes from another state.
    for k in range(starts[leader], starts[leader + 1]):
        j = targets[k]
        back[j] = -1
        next_best[j] = -np.inf
        for place in range(1, count):
            if not is_listed[leaders[place], j]:
                back[j] = leaders[place]
                next_best[j] = best[leaders[place]]
                break
        else:
            for i in range(states):
                if not is_listed[i, j] and (back[j] < 0 or best[i] > next_best[j]):
                    back[j] = i
                    next_best[j] = best[i]
        lowest = min(lowest, next_best[j])
    for i in range(states):
        if best[i] + highest[i] < lowest:
            continue
        for k in range(starts[i], starts[i + 1]):
            j = targets[k]
            x = best[i] + scores[k]
            if x > next_best[j] or back[j] < 0 or (x == next_best[j] and i < back[j]):
                next_best[j] = x
                back[j] = i


@kernel()
def step_dense(
    best: Floats,  # (S,)
    next_best: Floats,  # (S,) out
    back: Int32s,  # (S,) out
    scores: Floats,  # (S, S)
) -> None:
    """Best predecessor of every state from an (S, S) matrix of scores."""
    states = len(best)
    for j in range(states):
        next_best[j] = best[0] + scores[0, j]
        back[j] = 0
    for i in range(1, states):
        row = scores[i]
        for j in range(states):
            x = best[i] + row[j]
            if x > next_best[j]:
                next_best[j] = x
                back[j] = i


@kernel(
    "void(float64[:, ::1], int32[::1], int64[::1], boolean, float64[:, ::1], int32[::1],"
    " float64[::1], float64[::1], boolean, float64[:, ::1],"
    " int64[::1], int32[::1], float64[::1], float64[::1], boolean[:, ::1], int32[:, ::1],"
    " int32[::1], float64[::1])"
)
def best_paths(
    rows: Floats,  # (U, S) log
    index: Int32s,  # (P,)
    offsets: Int64s,  # (N + 1,)
    is_clamped: bool,
    clamp_scores: Floats,  # (D, S) log
    clamp_index: Int32s,  # (P,)
    start: Floats,  # (S,) log
    stop: Floats,  # (S,) log
    is_dense: bool,
    matrix: Floats,  # (S, S) log, or (0, 0)
    starts: Int64s,  # (S + 1,)
    targets: Int32s,  # (A,)
    scores: Floats,  # (A,)
    highest: Floats,  # (S,)
    is_listed: Booleans,  # (S, S)
    back: Int32s,  # (longest, S) work
    path: Int32s,  # (P,) out
    path_score: Floats,  # (N,) out
) -> None:
    """Fill `path` (P,) with the states of each best path and `path_score` (N,) with its score.

    rows : (U, S) log emissions;  back : (longest, S) work;  a sequence without any path scores -inf
    """
    states = rows.shape[1]
    best = np.empty(states)
    next_best = np.empty(states)
    leaders = np.empty(LEADERS, np.int64)
    for n in range(len(offsets) - 1):
        first = offsets[n]
        steps = offsets[n + 1] - first
        path_score[n] = 0.0
        if steps == 0:
            continue
        for t in range(steps):
            if t == 0:
                for s in range(states):
                    next_best[s] = start[s]
            elif is_dense:
                step_dense(best, next_best, back[t], matrix)
            else:
                step_lists(
                    best, next_best, back[t], starts, targets, scores, highest, is_listed, leaders
                )  # fmt: skip
            row = rows[index[first + t]]
            for s in range(states):
                best[s] = next_best[s] + row[s]
            if is_clamped:
                clamp = clamp_scores[clamp_index[first + t]]
                for s in range(states):
                    best[s] += clamp[s]
        arg = 0
        for s in range(states):
            best[s] += stop[s]
            if best[s] > best[arg]:
                arg = s
        path_score[n] = best[arg]
        for t in range(steps - 1, -1, -1):
            path[first + t] = arg
            if t > 0:
                arg = back[t, arg]
