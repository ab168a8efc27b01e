"""L-BFGS against SciPy's, OWL-QN against the conditions of the optimum, and how both stop."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from purport.optimize.lbfgs import minimise

EXACT = {"tol": 0.0, "max_iter": 3000}


def last_of(*arguments, **parameters):
    *_, last = minimise(*arguments, **parameters)
    return last


def scipy_optimum(objective, start):
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-15, "gtol": 1e-10},
    )
    return float(found.fun)


def quadratic(n, condition, seed=0, scale=1.0):
    random = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(random.normal(size=(n, n)))
    matrix = scale * (axes * np.geomspace(1.0, condition, n)) @ axes.T
    centre = random.normal(size=n)

    def objective(x):
        pull = matrix @ (x - centre)
        return 0.5 * float((x - centre) @ pull) + scale, pull

    return objective, centre


def rosenbrock(x):
    inner = x[1:] - x[:-1] ** 2
    gradient = np.zeros_like(x)
    gradient[:-1] = -400.0 * x[:-1] * inner - 2.0 * (1.0 - x[:-1])
    gradient[1:] += 200.0 * inner
    return 1.0 + float(np.sum(100.0 * inner**2 + (1.0 - x[:-1]) ** 2)), gradient


def logistic(n=12, samples=80, l2=0.05, seed=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(samples, n))
    X[:, : n // 2] *= 5.0
    y = np.where(X @ random.normal(size=n) + random.normal(size=samples) > 0, 1.0, -1.0)

    def objective(w):
        margins = y * (X @ w)
        value = float(np.sum(np.logaddexp(0.0, -margins)) + l2 * (w @ w))
        residuals = -y * np.exp(-np.logaddexp(0.0, margins))
        return value, X.T @ residuals + 2.0 * l2 * w

    return objective, X


SMOOTH = {
    "round bowl": (quadratic(5, 1.0)[0], 5),
    "long valley": (quadratic(30, 1e3)[0], 30),
    "small units": (quadratic(10, 100.0, scale=1e-9)[0], 10),
    "large units": (quadratic(10, 100.0, scale=1e12)[0], 10),
    "rosenbrock": (rosenbrock, 10),
    "logistic": (logistic()[0], 12),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_the_optimum_is_that_of_scipy(name):
    objective, n = SMOOTH[name]
    start = np.linspace(-1.5, 2.0, n)
    kept = start.copy()
    ours = last_of(objective, start, **EXACT)
    best = scipy_optimum(objective, start)
    # Relative to what is not 0: each of these lies well above it at its lowest.
    assert ours.value <= best + 1e-8 * abs(best)
    assert objective(ours.x)[0] == ours.value
    np.testing.assert_array_equal(start, kept)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e14])
def test_the_memory_works_in_any_units(scale):
    """Steepest descent, which is all that is left without pairs, would need thousands of steps."""
    objective, centre = quadratic(20, 1e3, scale=scale)
    last = last_of(objective, np.zeros(20), tol=0.0, max_iter=400)
    np.testing.assert_allclose(last.x, centre, atol=1e-6)


@st.composite
def convex_problems(draw):
    """Sums of softplus and a bowl, in some units."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, samples = draw(st.integers(1, 8)), draw(st.integers(0, 20))
    units = draw(st.sampled_from([1e-4, 1.0, 1e4]))
    l2 = draw(st.sampled_from([0.01, 1.0, 100.0]))
    X = random.normal(size=(samples, n)) * random.choice([0.1, 1.0, 10.0], n)

    def objective(w):
        margins = X @ w
        value = float(np.sum(np.logaddexp(0.0, margins)) - 0.3 * np.sum(margins) + l2 * (w @ w))
        slopes = np.exp(-np.logaddexp(0.0, -margins)) - 0.3
        return units * value, units * (X.T @ slopes + 2.0 * l2 * w)

    return objective, random.normal(size=n) * draw(st.sampled_from([0.0, 1.0, 30.0])), units


@given(convex_problems())
@settings(max_examples=25)
def test_small_convex_problems(problem):
    objective, start, units = problem
    trace = list(minimise(objective, start, tol=0.0, max_iter=500))
    best = scipy_optimum(objective, start)
    assert trace[-1].value <= best + 1e-8 * max(abs(best), units)
    assert all(
        after.value <= before.value + 1e-15 * abs(before.value)
        for before, after in itertools.pairwise(trace)
    )


# l1


def assert_optimal_with_l1(objective, x, l1, slack):
    """Where a weight is not 0 its slope is -sign l1, where it is 0 the slope lies within l1."""
    slope = objective(x)[1]
    is_used = x != 0.0
    np.testing.assert_allclose(slope[is_used], -l1 * np.sign(x[is_used]), atol=slack)
    assert np.all(np.abs(slope[~is_used]) <= l1 + slack)


def iterative_shrinkage(objective, n, l1, curvature, steps=20_000):
    """The slow twin: proximal gradient with a fixed step."""
    x = np.zeros(n)
    for _ in range(steps):
        moved = x - objective(x)[1] / curvature
        x = np.sign(moved) * np.maximum(np.abs(moved) - l1 / curvature, 0.0)
    return objective(x)[0] + l1 * float(np.sum(np.abs(x))), x


@pytest.mark.parametrize("l1", [0.1, 2.0, 20.0])
def test_owlqn_meets_the_conditions_of_the_optimum(l1):
    objective, _ = logistic(n=30, samples=60, l2=0.0)
    last = last_of(objective, np.zeros(30), l1=l1, **EXACT)
    assert last.value == pytest.approx(
        objective(last.x)[0] + l1 * np.sum(np.abs(last.x)), rel=1e-14
    )
    assert_optimal_with_l1(objective, last.x, l1, 1e-4)
    assert np.count_nonzero(last.x == 0.0) > 0
    assert last.gradient_norm < 1e-3


@pytest.mark.parametrize("l1", [0.5, 5.0])
def test_owlqn_equals_iterative_shrinkage(l1):
    objective, X = logistic(n=8, samples=40, l2=0.1)
    curvature = 0.25 * np.linalg.norm(X, 2) ** 2 + 0.2
    value, weights = iterative_shrinkage(objective, 8, l1, curvature)
    last = last_of(objective, np.ones(8), l1=l1, **EXACT)
    assert last.value == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(last.x, weights, atol=1e-4)
    np.testing.assert_array_equal(last.x == 0.0, weights == 0.0)


def test_a_strong_l1_leaves_nothing():
    objective, _ = logistic()
    highest = float(np.max(np.abs(objective(np.zeros(12))[1])))
    for start in (np.zeros(12), np.full(12, 0.3)):
        last = last_of(objective, start, l1=1.01 * highest, **EXACT)
        np.testing.assert_array_equal(last.x, 0.0)
        assert last.converged


def test_l1_of_a_bowl_is_the_soft_threshold():
    centre = np.array([3.0, -2.0, 0.5, -0.5, 1.0, 0.0])

    def bowl(x):
        return 0.5 * float(np.sum((x - centre) ** 2)), x - centre

    last = last_of(bowl, np.zeros(6), l1=1.0, **EXACT)
    np.testing.assert_allclose(last.x, [2.0, -1.0, 0.0, 0.0, 0.0, 0.0], atol=1e-9)
    np.testing.assert_array_equal(last.x[2:], 0.0)


# The same bits


@pytest.mark.parametrize("l1", [0.0, 0.05])
def test_long_vectors_give_the_same_bits_at_any_number_of_threads(l1):
    n = 150_001
    assert n > 65_536
    random = np.random.default_rng(5)
    centre, stiffness = random.normal(size=n), random.uniform(0.5, 5.0, n)

    def objective(x):
        pull = stiffness * (x - centre)
        return 0.5 * float(np.sum(pull * (x - centre))), pull

    traces = [
        list(minimise(objective, np.zeros(n), l1=l1, max_iter=5, tol=0.0, n_threads=count))
        for count in (1, 2, 3, 5)
    ]
    for trace in traces[1:]:
        assert len(trace) == len(traces[0])
        for one, other in zip(traces[0], trace, strict=True):
            assert (one.value, one.gradient_norm, one.step) == (
                other.value,
                other.gradient_norm,
                other.step,
            )
            np.testing.assert_array_equal(one.x, other.x)


# How it stops


def test_the_first_item_is_the_start():
    objective, _ = logistic()
    start = np.full(12, 0.1)
    first = next(minimise(objective, start))
    np.testing.assert_array_equal(first.x, start)
    value, gradient = objective(start)
    assert (first.value, first.step, first.evaluations) == (value, 0.0, 1)
    assert first.gradient_norm == pytest.approx(np.linalg.norm(gradient))
    assert not first.converged


@pytest.mark.parametrize("max_iter", [1, 2, 7])
def test_max_iter_is_kept(max_iter):
    trace = list(minimise(rosenbrock, np.full(6, -1.0), max_iter=max_iter, tol=0.0))
    assert len(trace) == max_iter + 1
    assert not trace[-1].converged
    assert all(item.evaluations >= 1 for item in trace)


def test_tol_stops_at_the_norm_of_the_gradient():
    objective, _ = quadratic(6, 3.0)
    trace = list(minimise(objective, np.zeros(6), tol=1e-3))
    assert [item.converged for item in trace] == [False] * (len(trace) - 1) + [True]
    last = trace[-1]
    assert last.gradient_norm <= 1e-3 * max(1.0, np.linalg.norm(last.x))
    assert trace[-2].gradient_norm > 1e-3 * max(1.0, np.linalg.norm(trace[-2].x))


def test_tol_stops_when_the_objective_hardly_falls():
    """Beside a large constant the gain is small long before the gradient is."""
    objective, _ = quadratic(40, 1e5)

    def raised(x):
        value, gradient = objective(x)
        return value + 1e7, gradient

    trace = list(minimise(raised, np.zeros(40), tol=1e-3))
    last = trace[-1]
    assert last.converged
    assert last.gradient_norm > 1e-3 * max(1.0, np.linalg.norm(last.x))
    gains = [before.value - after.value for before, after in zip(trace, trace[10:], strict=False)]
    assert [gain < 1e-3 * last.value for gain in gains] == [False] * (len(gains) - 1) + [True]


def test_without_tol_the_search_ends_where_nothing_falls_any_more():
    objective, centre = quadratic(5, 10.0)
    trace = list(minimise(objective, np.zeros(5), tol=0.0, max_iter=1000))
    assert len(trace) < 100
    assert trace[-1].converged
    np.testing.assert_allclose(trace[-1].x, centre, atol=1e-6)


@pytest.mark.parametrize("l1", [0.0, 0.5])
def test_a_start_at_the_optimum_is_the_end(l1):
    centre = np.array([2.0, 0.0])

    def bowl(x):
        return float(np.sum((x - centre) ** 2)), 2.0 * (x - centre)

    (only,) = minimise(bowl, centre - np.array([l1 / 2.0, 0.0]), l1=l1)
    assert only.converged
    assert only.evaluations == 1


def test_no_weights_at_all():
    (only,) = minimise(lambda x: (1.0, np.zeros(0)), np.zeros(0))
    assert only.converged


def test_a_level_objective_ends_at_once():
    (only,) = minimise(lambda x: (3.0, np.zeros_like(x)), np.ones(3))
    assert only.converged


def test_a_kink_at_the_bottom_ends_the_search():
    """No step lowers the objective, whatever the slope says: the search gives up, and says so."""

    def sharp(x):
        return float(np.sum(np.abs(x))), np.where(x >= 0.0, 1.0, -1.0)

    trace = list(minimise(sharp, np.array([1.0, -0.7]), max_iter=500, tol=0.0))
    assert trace[-1].value < 1e-3
    assert len(trace) < 500


# Objectives that are not finite everywhere


@pytest.mark.parametrize("outside", [math.inf, math.nan, -math.inf])
@pytest.mark.parametrize("l1", [0.0, 1e-3])
def test_the_search_turns_back_where_the_objective_is_not_finite(outside, l1):
    """x - log x with a wall at 0, which the first long steps pass."""

    def walled(x):
        if np.any(x <= 0.0):
            return outside, np.full_like(x, math.nan)
        return float(np.sum(x - 30.0 * np.log(x))), 1.0 - 30.0 / x

    last = last_of(walled, np.array([1e-3, 200.0, 31.0]), l1=l1, **EXACT)
    np.testing.assert_allclose(last.x, 30.0 / (1.0 + l1), rtol=1e-5)
    assert math.isfinite(last.value)


def test_a_gradient_that_is_not_finite_is_no_place_to_go():
    def broken(x):
        value = float(np.sum((x - 3.0) ** 2))
        return value, np.full_like(x, math.nan) if x[0] > 4.0 else 2.0 * (x - 3.0)

    last = last_of(broken, np.full(2, -30.0), **EXACT)
    np.testing.assert_allclose(last.x, 3.0, atol=1e-6)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_start_that_is_not_finite_never_counts_as_converged(value):
    trace = list(minimise(lambda x: (value, np.full_like(x, value)), np.ones(2)))
    assert not any(item.converged for item in trace)


# Interruptions


@pytest.mark.parametrize("l1", [0.0, 0.5])
@pytest.mark.parametrize("after", [1, 2, 3, 8, 15])
def test_an_interruption_leaves_the_last_finished_iteration(after, l1):
    objective, _ = logistic()
    undisturbed = list(minimise(objective, np.zeros(12), l1=l1, **EXACT))
    calls = itertools.count()

    def interrupted(x):
        if next(calls) == after:
            raise KeyboardInterrupt
        return objective(x)

    held = []
    with pytest.raises(KeyboardInterrupt):
        for item in minimise(interrupted, np.zeros(12), l1=l1, **EXACT):
            held.append((item, item.x.copy()))
    assert held
    assert sum(item.evaluations for item, _ in held) <= after
    for (item, x), expected in zip(held, undisturbed, strict=False):
        np.testing.assert_array_equal(item.x, x)
        np.testing.assert_array_equal(item.x, expected.x)
        assert item.value == expected.value
