"""The CRF's objective against enumeration, and its gradient against finite differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.crf import WrittenDown

from purport.fold import threads
from purport.sequence import crf as module
from purport.sequence import given as given_module
from purport.sequence.crf import CRF

LABELS = ("A", "B", "C")


def draw_corpus(random, labels, sequences, longest, valued, hidden):
    X, y = [], []
    for length in random.integers(0, longest + 1, sequences):
        sequence = []
        for _ in range(length):
            names = random.choice(["a", "b", "c", "d", "e"], random.integers(0, 4)).tolist()
            if valued:
                sequence.append({name: float(random.normal()) for name in names} | {"in": "set"})
            else:
                sequence.append(names)
        X.append(sequence)
        drawn = random.choice(labels, length).tolist()
        y.append([None if random.random() < hidden else label for label in drawn])
    # Something must be known.
    X.append([["a"]])
    y.append([labels[0]])
    if valued:
        X[-1] = [{"a": 0.5}]
    return X, y


@st.composite
def problems(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = LABELS[: draw(st.integers(1, 3))]
    hidden = draw(st.sampled_from([0.0, 0.4]))
    longest = draw(st.sampled_from([1, 4]))
    X, y = draw_corpus(
        random, labels, draw(st.integers(0, 6)), longest, draw(st.booleans()), hidden
    )
    weights = random.uniform(0.0, 3.0, len(X)) if draw(st.booleans()) else None
    if weights is not None and len(X) > 1:
        weights[0] = 0.0
    settings = {
        "all_possible_states": draw(st.booleans()),
        "all_possible_transitions": draw(st.booleans()),
        "l2": draw(st.sampled_from([0.0, 0.7])),
    }
    scale = draw(st.sampled_from([0.0, 1.0, 30.0]))
    return X, y, weights, settings, scale, random


def objective_and_crf(X, y, settings, weights=None, **parameters):
    caught = []

    def catch(owner, objective, start, keep, **rest):
        caught.append(objective)
        keep(start, [], True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "train", catch)
        patch.setattr(given_module.warnings, "warn", lambda *arguments, **rest: None)
        crf = CRF(**settings).fit(X, y, sample_weight=weights, **parameters)
    return caught[0], crf


@given(problems())
@settings(max_examples=120)
def test_the_objective_equals_enumeration(problem):
    X, y, weights, parameters, scale, random = problem
    objective, crf = objective_and_crf(X, y, parameters, weights)
    written = WrittenDown(crf)
    theta = scale * random.normal(size=len(written))
    weights = np.ones(len(X)) if weights is None else weights
    expected = written.negative_log_likelihood(theta, X, y, weights, parameters["l2"])
    found, gradient = objective(theta)
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-10 * (1.0 + scale))
    assert gradient.shape == theta.shape


@given(problems())
@settings(max_examples=60)
def test_the_gradient_equals_finite_differences(problem):
    X, y, weights, parameters, scale, random = problem
    objective, crf = objective_and_crf(X, y, parameters, weights)
    theta = min(scale, 1.0) * random.normal(size=len(crf._theta))
    assert_gradient(objective, theta)


def assert_gradient(objective, theta, width=1e-5):
    _, gradient = objective(theta)
    found = np.empty_like(theta)
    for k in range(len(theta)):
        step = np.zeros_like(theta)
        step[k] = width
        # Fourth order, so that rounding and curvature both stay far below the tolerance.
        near = objective(theta + step)[0] - objective(theta - step)[0]
        far = objective(theta + 2.0 * step)[0] - objective(theta - 2.0 * step)[0]
        found[k] = (8.0 * near - far) / (12.0 * width)
    np.testing.assert_allclose(gradient, found, atol=1e-6 * (1.0 + np.max(np.abs(gradient))))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"all_possible_transitions": True},
        {"all_possible_states": True},
        {"min_freq": 3},
        {"c2": 0.3, "l2": 9.0},
    ],
    ids=repr,
)
@pytest.mark.parametrize("hidden", [0.0, 0.3])
def test_gradients_on_a_corpus(corpus, parameters, hidden):
    X, y = corpus
    random = np.random.default_rng(0)
    y = [[None if random.random() < hidden else label for label in labels] for labels in y]
    weights = random.uniform(0.2, 2.0, len(X))
    objective, crf = objective_and_crf(X[:25], y[:25], parameters, weights[:25])
    theta = random.normal(size=len(crf._theta))
    chosen = random.choice(len(theta), 30, replace=False)

    def along(part):
        moved = theta.copy()
        moved[chosen] = part
        value, gradient = objective(moved)
        return value, gradient[chosen]

    assert_gradient(along, theta[chosen], width=1e-4)


def test_what_has_a_weight(corpus):
    X, y = corpus
    seen = {
        (feature, label)
        for sequence, labels in zip(X, y, strict=True)
        for position, label in zip(sequence, labels, strict=True)
        for feature in position
    }
    pairs = {pair for labels in y for pair in itertools.pairwise(labels)}
    _, observed = objective_and_crf(X, y, {})
    assert set(WrittenDown(observed).names) == seen
    assert set(WrittenDown(observed).pairs) == pairs
    _, complete = objective_and_crf(
        X, y, {"all_possible_states": True, "all_possible_transitions": True}
    )
    classes, features = complete.classes_.tolist(), complete.attributes_
    assert WrittenDown(complete).names == list(itertools.product(features, classes))
    assert WrittenDown(complete).pairs == list(itertools.product(classes, classes))


def test_labels_that_are_not_known_show_no_pairs():
    X = [[["a"], ["b"], ["c"]], [["d"]]]
    _, crf = objective_and_crf(X, [["A", None, "B"], None], {})
    assert WrittenDown(crf).names == [("a", "A"), ("c", "B")]
    assert WrittenDown(crf).pairs == []


def test_a_weight_of_two_is_the_sequence_twice(corpus):
    X, y = corpus
    twice, crf = objective_and_crf(X + X[:20], y + y[:20], {})
    weighted, _ = objective_and_crf(X, y, {}, [2.0] * 20 + [1.0] * (len(X) - 20))
    theta = np.random.default_rng(1).normal(size=len(crf._theta))
    for one, other in zip(twice(theta), weighted(theta), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_a_weight_of_none_leaves_a_sequence_out(corpus):
    X, y = corpus
    weights = [0.0] * 10 + [1.0] * (len(X) - 10)
    weighted, crf = objective_and_crf(X, y, {"l2": 0.0}, weights)
    fewer, other = objective_and_crf(X[10:], y[10:], {"l2": 0.0})
    assert crf.classes_.tolist() == other.classes_.tolist()
    at_zero = [
        objective(np.zeros(len(model._theta)))[0]
        for objective, model in ((weighted, crf), (fewer, other))
    ]
    assert at_zero[0] == pytest.approx(at_zero[1], rel=1e-12)


@pytest.mark.parametrize("size", [1e4, 1e6])
@pytest.mark.parametrize("hidden", [False, True])
def test_huge_weights_keep_the_objective_finite(corpus, size, hidden):
    X, y = corpus
    if hidden:
        y = [[None, *labels[1:]] if labels else labels for labels in y]
    objective, crf = objective_and_crf(X, y, {"l2": 0.0, "all_possible_transitions": True})
    for seed in range(3):
        theta = size * np.random.default_rng(seed).normal(size=len(crf._theta))
        value, gradient = objective(theta)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
        assert value >= -1e-9 * size
        short = [k for k in range(len(X)) if 0 < len(X[k]) <= 4][:8]
        written = WrittenDown(crf)
        crf._keep(theta, [], True)
        for k in short:
            free, clamped = (written.log_sum(theta, X[k], known) for known in (None, y[k]))
            assert crf.log_likelihood([X[k]], [y[k]]) == pytest.approx(
                clamped - free, rel=1e-9, abs=1e-9 * size
            )


@pytest.mark.parametrize("hidden", [False, True])
def test_the_same_bits_at_any_number_of_threads(hidden, cut_small):
    """Many partitions: the objective, and with it the whole fit, does not see the threads."""
    cut_small(40)
    random = np.random.default_rng(8)
    X, y = draw_corpus(random, LABELS, 150, 6, valued=True, hidden=0.3 * hidden)
    objectives = [objective_and_crf(X, y, {}, engine=threads(n)) for n in (1, 2, 3, 5)]
    theta = random.normal(size=len(objectives[0][1]._theta))
    assert len(objectives[0][0]._placed) > 5
    value, gradient = objectives[0][0](theta)
    for objective, _ in objectives[1:]:
        for _ in range(3):
            other_value, other_gradient = objective(theta)
            assert other_value == value
            np.testing.assert_array_equal(other_gradient, gradient)


def test_the_objective_does_not_depend_on_the_cuts(cut_small, corpus):
    X, y = corpus
    whole, crf = objective_and_crf(X, y, {})
    theta = np.random.default_rng(2).normal(size=len(crf._theta))
    for size in (1, 30, 100):
        cut_small(size)
        cut, _ = objective_and_crf(X, y, {})
        for one, other in zip(whole(theta), cut(theta), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-11)
