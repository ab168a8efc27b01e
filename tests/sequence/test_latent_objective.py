"""The objective of models with hidden states against enumeration and finite differences."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.latent import HiddenWrittenDown
from sequence.test_objective import LABELS, assert_gradient, draw_corpus

from purport.errors import InputError, PurportWarning
from purport.sequence import latent as module
from purport.sequence.crf import CRF
from purport.sequence.ldcrf import LDCRF
from purport.sequence.shdcrf import SHDCRF


def objective_and_model(model, X, y, **parameters):
    """Return the objective of a fit that does not train, and the model as it begins."""
    caught = []

    def catch(owner, objective, start, keep, **rest):
        caught.append(objective)
        keep(start, [{"objective": 0.0, "seconds": 0.0}], True)

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", PurportWarning)
        patch.setattr(module, "train", catch)
        model.fit(X, y, **parameters)
    return caught[0], model


@st.composite
def problems(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = LABELS[: draw(st.integers(1, 3))]
    hidden = draw(st.sampled_from([0.0, 0.4]))
    longest = draw(st.sampled_from([1, 4]))
    valued = draw(st.booleans())
    X, y = draw_corpus(random, labels, draw(st.integers(0, 6)), longest, valued, hidden)
    if len(labels) > 1 and draw(st.booleans()):
        y[-1] = [set(labels[:2])]
        X.append(X[-1])
        y.append([labels[1]])
    more = draw_corpus(random, labels, draw(st.integers(0, 4)), longest, valued, 0.0)[0]
    weights = random.uniform(0.1, 3.0, len(X)) if draw(st.booleans()) else None
    l2 = draw(st.sampled_from([0.2, 0.7]))
    if draw(st.booleans()):
        model = LDCRF(draw(st.integers(1, 2)), l2=l2, init="random")
        return X, y, weights, model, None, random
    model = SHDCRF(
        draw(st.integers(1, 4)),
        sparsity=draw(st.sampled_from([0.0, 0.3])),
        l2=l2,
        init="random",
        normalisation=draw(st.sampled_from(["local", "joint"])),
        unlabeled_weight=draw(st.sampled_from([None, 0.0, 0.3, 1.0])),
    )
    return X, y, weights, model, more if draw(st.booleans()) else None, random


def given_to(model, X, y, weights, more):
    parameters = {} if more is None else {"unlabeled": more}
    return objective_and_model(model, X, y, sample_weight=weights, **parameters)


def share_of(model, X, y, weights, more):
    if more is None:
        return 0.0
    if model.unlabeled_weight is not None:
        return model.unlabeled_weight
    return sum(map(bool, more)) / (sum(map(bool, more)) + np.count_nonzero(weights))


@given(problems())
@settings(max_examples=100)
def test_the_objective_equals_enumeration(problem):
    X, y, weights, model, more, random = problem
    objective, model = given_to(model, X, y, weights, more)
    written = HiddenWrittenDown(model)
    theta = model._shape.centre(random.normal(size=len(model._theta)))
    weights = np.ones(len(X)) if weights is None else weights
    expected = written.objective(
        theta, X, y, weights, model.l2, getattr(model, "sparsity", 0.0), more or (),
        share_of(model, X, y, weights, more),
    )  # fmt: skip
    assert objective(theta)[0] == pytest.approx(expected, rel=1e-11, abs=1e-10)


@given(problems())
@settings(max_examples=60)
def test_the_gradient_equals_finite_differences(problem):
    X, y, weights, model, more, random = problem
    objective, model = given_to(model, X, y, weights, more)
    theta = model._shape.centre(random.normal(size=len(model._theta)))
    shape = model._shape
    # Along what changes no probability nothing is said of the gradient, so steps are centred.
    assert_gradient(lambda moved: centred_value(objective, shape, theta, moved), theta)


def test_the_gradient_of_squares_measured_from_a_beginning():
    objective, model = objective_and_model(SHDCRF(3, init="random"), SEQUENCES, TOLD)
    shape, random = model._shape, np.random.default_rng(2)
    theta, began = (shape.centre(random.normal(size=len(shape))) for _ in range(2))
    from_zero = objective(theta)[0]
    objective.beginning = began
    moved, without = theta - began, shape.width * shape.states
    for whole, sign in ((moved, 1.0), (theta, -1.0)):
        kept = np.delete(whole, np.s_[without : without + shape.states])
        from_zero += sign * model.l2 * float(kept @ kept)
    assert objective(theta)[0] == pytest.approx(from_zero, rel=1e-12)
    assert_gradient(lambda moved: centred_value(objective, shape, theta, moved), theta)


def centred_value(objective, shape, theta, moved):
    return objective(theta + shape.centre(moved - theta))


SEQUENCES = [[["a", "b"], ["b"], ["c"]], [["c"], ["a"]], [["b", "d"]]]
TOLD = [["A", "B", "A"], ["B", None], ["A"]]


def test_unlabelled_sequences_that_count_nothing_change_nothing():
    alone, model = objective_and_model(SHDCRF(3), SEQUENCES, TOLD)
    beside, _ = objective_and_model(
        SHDCRF(3, unlabeled_weight=0.0), SEQUENCES, TOLD, unlabeled=[[["a"], ["d"]]]
    )
    theta = np.random.default_rng(1).normal(size=len(model._theta))
    for found, expected in zip(beside(theta), alone(theta), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("share", [None, 0.2, 1.0])
def test_unlabelled_sequences_that_are_the_labelled_ones_change_nothing(share):
    alone, model = objective_and_model(SHDCRF(3), SEQUENCES, TOLD)
    beside, _ = objective_and_model(
        SHDCRF(3, unlabeled_weight=share), SEQUENCES, TOLD, unlabeled=SEQUENCES
    )
    theta = np.random.default_rng(1).normal(size=len(model._theta))
    for found, expected in zip(beside(theta), alone(theta), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_both_normalisations_are_one_model_at_mapped_parameters():
    local, model = objective_and_model(SHDCRF(3), SEQUENCES, TOLD)
    joint, _ = objective_and_model(SHDCRF(3, normalisation="joint"), SEQUENCES, TOLD)
    theta = model._shape.centre(np.random.default_rng(2).normal(size=len(model._theta)))
    mapped = theta.copy()
    sums = np.log(np.exp(model._shape.blocks(theta).labels).sum(axis=0))
    model._shape.blocks(mapped).weights[-1] -= sums - sums.mean()
    assert joint(mapped)[0] == pytest.approx(local(theta)[0], rel=1e-13)


def test_ldcrf_with_one_state_a_label_is_the_crf():
    X, y = draw_corpus(np.random.default_rng(3), LABELS, 30, 5, False, 0.0)
    # The CRF pays for its bias and the latent model does not: loud enough, it hardly pays.
    loud = [
        [{name: float(position.count(name)) for name in position} | {"one": 30.0} for position in s]
        for s in X
    ]
    every = {"all_possible_states": True, "all_possible_transitions": True}
    crf = CRF(l2=0.4, tol=1e-7, max_iter=2000, **every).fit(loud, y)
    latent = LDCRF(1, l2=0.4, tol=1e-7, max_iter=2000).fit(X, y)
    ends = [model.history_[-1]["objective"] for model in (latent, crf)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-3)


def test_without_a_penalty_unlabelled_sequences_are_refused():
    with pytest.raises(InputError, match="no optimum unless l2 is above 0"):
        SHDCRF(2, l2=0.0).fit(SEQUENCES, TOLD, unlabeled=SEQUENCES)


def test_a_uniform_start_is_left():
    """With equal p(y | h) the entropy says nothing, so no start may have it."""
    for init in ("split", "random"):
        _, model = objective_and_model(SHDCRF(4, init=init, random_state=3), SEQUENCES, TOLD)
        assert np.ptp(model._shape.blocks(model._theta).labels, axis=0).min() > 0.0
