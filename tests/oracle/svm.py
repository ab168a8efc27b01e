"""Linear support vector machines the slow, obvious way: a quadratic programme with slacks."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def losses(weights, X, y, how):
    """Return the loss of each row; weights (L, F), y numbers of labels."""
    found = []
    for row, right in zip(X, y, strict=True):
        scores = weights @ row
        if how == "crammer_singer":
            ahead = [scores[m] + (m != right) for m in range(len(scores))]
            found.append(max(ahead) - scores[right])
        else:
            signs = [1.0 if m == right else -1.0 for m in range(len(scores))]
            found.append(sum(max(0.0, 1.0 - s * x) for s, x in zip(signs, scores, strict=True)))
    return np.array(found)


def objective(weights, X, y, costs, how):
    """Return half the sum of squares and the costs of all losses."""
    return 0.5 * float(np.sum(weights**2)) + float(costs @ losses(weights, X, y, how))


def optimum(X, y, costs, labels, how):
    """Return the weights (L, F) of the lowest objective: slacks at least each violation."""
    n, width = X.shape
    size = labels * width
    # One slack a row for rivals, one a row and label otherwise.
    of_row = [[i] * labels if how == "crammer_singer" else range(i * labels, (i + 1) * labels)
              for i in range(n)]  # fmt: skip
    slacks = n if how == "crammer_singer" else n * labels
    prices = costs if how == "crammer_singer" else np.repeat(costs, labels)
    rows, bounds = [], []
    for i in range(n):
        for m in range(labels):
            if how == "crammer_singer" and m == y[i]:
                continue
            row = np.zeros(size + slacks)
            if how == "crammer_singer":
                row[y[i] * width : (y[i] + 1) * width] += X[i]
                row[m * width : (m + 1) * width] -= X[i]
            else:
                row[m * width : (m + 1) * width] = X[i] if m == y[i] else -X[i]
            row[size + of_row[i][m]] = 1.0
            rows.append(row)
            bounds.append(1.0)
    A, b = np.array(rows).reshape(-1, size + slacks), np.array(bounds)
    begin = np.concatenate([np.zeros(size), np.ones(slacks)])
    found = minimize(
        lambda v: 0.5 * v[:size] @ v[:size] + prices @ v[size:],
        begin,
        jac=lambda v: np.concatenate([v[:size], prices]),
        bounds=[(None, None)] * size + [(0.0, None)] * slacks,
        constraints={"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return found.x[:size].reshape(labels, width)
