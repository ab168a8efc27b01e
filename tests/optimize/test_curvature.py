"""The memory of L-BFGS against the two loops as the textbook writes them."""

from __future__ import annotations

import numpy as np
import pytest

from purport.fold.thread_engine import ThreadEngine
from purport.optimize.curvature import CHUNK, Curvature


def two_loops(pairs, gradient):
    """Nocedal and Wright, algorithm 7.4, in float64."""
    q = gradient.copy()
    kept = []
    for s, y in reversed(pairs):
        a = (s @ q) / (s @ y)
        q -= a * y
        kept.append(a)
    if pairs:
        s, y = pairs[-1]
        q *= (s @ y) / (y @ y)
    for (s, y), a in zip(pairs, reversed(kept), strict=True):
        q += (a - (y @ q) / (s @ y)) * s
    return -q


@pytest.mark.parametrize("n", [1, 7, 3 * CHUNK + 5])
def test_directions_are_those_of_the_two_loops(n):
    random = np.random.default_rng(n)
    memory = 3
    bend = random.uniform(0.5, 2.0, n)
    curvature = Curvature(n, memory, ThreadEngine(2))
    x = random.normal(size=n)
    gradient = bend * x
    direction = np.empty(n)
    curvature.direction(x, None, gradient, None, gradient, direction)
    np.testing.assert_array_equal(direction, -gradient)
    pairs = []
    for _ in range(6):
        x_before, gradient_before = x, gradient
        x = x_before + 0.1 * random.normal(size=n)
        gradient = bend * x
        pairs = [*pairs, (x - x_before, gradient - gradient_before)][-memory:]
        curvature.direction(x, x_before, gradient, gradient_before, gradient, direction)
        expected = two_loops(pairs, gradient)
        # Pairs are kept in float32.
        np.testing.assert_allclose(direction, expected, atol=1e-5 * np.abs(expected).max())
