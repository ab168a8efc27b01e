"""Slow and obvious twins of the chain's kernels: every path is written down."""

from __future__ import annotations

import itertools

import numpy as np


def path_scores(emissions, scores, start=None, stop=None):
    """Return every path of one sequence with its log score: (paths, scores)."""
    steps, states = emissions.shape
    start = np.zeros(states) if start is None else start
    stop = np.zeros(states) if stop is None else stop
    paths = list(itertools.product(range(states), repeat=steps))
    totals = []
    for path in paths:
        total = start[path[0]] + stop[path[-1]]
        for t, state in enumerate(path):
            total += emissions[t, state]
            if t > 0:
                total += scores[path[t - 1], state]
        totals.append(total)
    return paths, np.array(totals)


def log_sum(values):
    high = np.max(values)
    if high == -np.inf:
        return -np.inf
    return high + np.log(np.sum(np.exp(values - high)))


def sums(emissions, scores, start=None, stop=None):
    """Return log Z, posteriors (T, S) and expected pairs (S, S) of one sequence."""
    steps, states = emissions.shape
    posteriors = np.zeros((steps, states))
    pairs = np.zeros((states, states))
    if steps == 0:
        return 0.0, posteriors, pairs
    paths, totals = path_scores(emissions, scores, start, stop)
    z = log_sum(totals)
    if z == -np.inf:
        return z, posteriors, pairs
    for path, total in zip(paths, totals, strict=True):
        p = np.exp(total - z)
        for t, state in enumerate(path):
            posteriors[t, state] += p
            if t > 0:
                pairs[path[t - 1], state] += p
    return z, posteriors, pairs


def best_score(emissions, scores, start=None, stop=None):
    if len(emissions) == 0:
        return 0.0
    return np.max(path_scores(emissions, scores, start, stop)[1])


def log_space_sums(emissions, scores):
    """Forward and backward in log space with NumPy, for sequences too long to enumerate."""
    steps, states = emissions.shape
    alpha = np.empty((steps, states))
    beta = np.zeros((steps, states))
    alpha[0] = emissions[0]
    for t in range(1, steps):
        alpha[t] = emissions[t] + np.logaddexp.reduce(alpha[t - 1][:, None] + scores, axis=0)
    for t in range(steps - 2, -1, -1):
        beta[t] = np.logaddexp.reduce(scores + (emissions[t + 1] + beta[t + 1])[None, :], axis=1)
    z = np.logaddexp.reduce(alpha[-1])
    return z, np.exp(alpha + beta - z)
