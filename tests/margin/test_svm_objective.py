"""The optimum of the linear SVM: against a quadratic programme, LIBLINEAR, and its own dual."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.svm import objective, optimum

from purport.errors import ConvergenceWarning, PurportWarning
from purport.margin import dual
from purport.margin.svm import LinearSVM

HOWS = ["crammer_singer", "ovr"]
both = pytest.mark.parametrize("how", HOWS)


def blurred(rows=120, width=6, labels=4, seed=1, noise=0.7):
    """Draw rows around a centre for each label; not all can be told apart."""
    random = np.random.default_rng(seed)
    y = random.integers(labels, size=rows)
    y[:labels] = np.arange(labels)
    X = random.normal(size=(labels, width))[y] + noise * random.normal(size=(rows, width))
    X[random.random(X.shape) < 0.3] = 0.0
    return X, y


@st.composite
def problems(draw):
    n, width, labels = draw(st.integers(1, 7)), draw(st.integers(1, 3)), draw(st.integers(2, 4))
    values = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 3.0])
    X = np.array(draw(st.lists(values, min_size=n * width, max_size=n * width)))
    y = draw(st.lists(st.integers(0, labels - 1), min_size=n, max_size=n))
    weights = draw(st.lists(st.sampled_from([0.25, 1.0, 2.0]), min_size=n, max_size=n))
    return X.reshape(n, width), np.array(y), np.array(weights), draw(st.sampled_from([0.1, 1, 10]))


@settings(max_examples=40)
@given(problems(), st.sampled_from(HOWS), st.booleans())
@pytest.mark.filterwarnings("ignore::purport.errors.PurportWarning")
def test_tiny_problems_have_the_optimum_of_the_quadratic_programme(problem, how, intercept):
    X, y, weights, C = problem
    svm = LinearSVM(C=C, multi_class=how, tol=1e-9, fit_intercept=intercept)
    svm.fit(X, y, sample_weight=weights)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) == 1:
        assert svm.predict(X).tolist() == y.tolist()
        return
    wide = np.hstack([X, np.ones((len(X), 1))]) if intercept else X
    found = np.hstack([svm.coef_, svm.intercept_[:, None]]) if intercept else svm.coef_
    best = optimum(wide, codes, C * weights, len(classes), how)
    lowest = objective(best, wide, codes, C * weights, how)
    reached = objective(found, wide, codes, C * weights, how)
    assert reached == pytest.approx(lowest, rel=1e-6, abs=1e-9)
    assert svm.history_[-1]["objective"] == pytest.approx(reached, rel=1e-9)
    np.testing.assert_allclose(found, best, atol=2e-3 * max(1.0, np.abs(best).max()))


@both
@pytest.mark.parametrize("C", [0.01, 0.3, 3.0])
def test_the_gap_is_measured_and_closes(how, C):
    X, y = blurred()
    svm = LinearSVM(C=C, multi_class=how, tol=1e-6, fit_intercept=False).fit(X, y)
    last = svm.history_[-1]
    assert last["objective"] == pytest.approx(
        objective(svm.coef_, X, y, np.full(len(y), C), how), rel=1e-12
    )
    assert 0.0 <= last["objective"] - last["dual"] <= 1e-6 * last["objective"]
    assert last["gap"] <= 1e-6
    assert svm.converged_
    # No weights are better than the dual says, and it only rises.
    duals = [told["dual"] for told in svm.history_]
    assert all(b >= a - 1e-9 * abs(a) for a, b in pairwise(duals))
    assert all(told["objective"] >= duals[-1] for told in svm.history_)
    assert svm.n_iter_ == len(svm.history_)


@both
def test_the_weights_are_the_rows_times_their_shares_within_their_bounds(how):
    X, y = blurred()
    svm = LinearSVM(C=0.5, multi_class=how, tol=1e-6, fit_intercept=False).fit(X, y)
    shares = svm._shares
    # Put them back in the order of the rows by what they explain.
    total = np.zeros(svm.coef_.shape)
    from purport.margin.inputs import RowReader
    from purport.margin.samples import make_samples

    _, rows = RowReader.learn("LinearSVM", X)
    samples = make_samples(rows, y.astype(np.int32), np.full(len(y), 0.5), 4, False)
    spread = shares.spread(samples)
    matrix = scipy.sparse.csr_matrix(
        (samples.values, samples.columns, samples.indptr), shape=(len(samples.norms), 6)
    )
    total = (matrix[samples.row_of].T @ spread).T
    np.testing.assert_allclose(total, svm.coef_, atol=1e-12)
    right = spread[np.arange(len(samples)), samples.label_of]
    others = spread.copy()
    others[np.arange(len(samples)), samples.label_of] = 0.0
    assert np.all(others <= 0.0)
    assert np.all(right >= -1e-12)
    assert np.all(right <= samples.cost_of)
    if how == "crammer_singer":
        np.testing.assert_allclose(spread.sum(axis=1), 0.0, atol=1e-12)
    else:
        assert np.all(others >= -samples.cost_of[:, None])


@both
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("labels", [2, 5])
def test_it_reaches_the_objective_of_liblinear(how, intercept, labels):
    svms = pytest.importorskip("sklearn.svm")
    X, y = blurred(300, 8, labels, seed=3)
    theirs = svms.LinearSVC(
        multi_class=how, loss="hinge", C=0.3, tol=1e-8, max_iter=100_000, random_state=0,
        fit_intercept=intercept,
    ).fit(X, y)  # fmt: skip
    ours = LinearSVM(C=0.3, multi_class=how, tol=1e-8, fit_intercept=intercept).fit(X, y)
    if labels == 2:
        # They keep one row of weights for two labels: the difference, or the second one.
        half = 2.0 if how == "crammer_singer" else 1.0
        coef = np.vstack([-theirs.coef_, theirs.coef_]) / half
        constant = np.array([-1.0, 1.0]) * theirs.intercept_ / half
    else:
        coef, constant = theirs.coef_, theirs.intercept_ * np.ones(labels)
    np.testing.assert_allclose(ours.coef_, coef, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, constant, atol=2e-4)
    wide = np.hstack([X, np.ones((len(X), 1))])
    reached = objective(np.hstack([coef, constant[:, None]]), wide, y, np.full(len(y), 0.3), how)
    assert ours.history_[-1]["objective"] == pytest.approx(reached, rel=1e-6)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.98
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)


@both
def test_many_labels_with_shares_do_not_fit_into_the_slots(how, monkeypatch):
    X, y = blurred(200, 5, 12, seed=4)
    usual = LinearSVM(multi_class=how, tol=1e-4).fit(X, y)
    monkeypatch.setattr(dual, "SLOTS", 6)
    few = LinearSVM(multi_class=how, tol=1e-4).fit(X, y)
    assert few.converged_
    np.testing.assert_allclose(few.coef_, usual.coef_, atol=0.05)
    assert few.history_[-1]["objective"] == pytest.approx(usual.history_[-1]["objective"], rel=1e-4)


def test_empty_rows_cost_what_they_must():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    y = np.array([0, 1, 2])
    for how in HOWS:
        svm = LinearSVM(multi_class=how, fit_intercept=False, tol=1e-9).fit(X, y)
        assert svm.history_[-1]["objective"] == pytest.approx(
            objective(svm.coef_, X, y, np.ones(3), how)
        )
        assert svm.converged_
        nothing = LinearSVM(multi_class=how, fit_intercept=False).fit(np.zeros((3, 2)), y)
        assert not nothing.coef_.any()
        assert nothing.converged_
        assert nothing.predict(X).tolist() == [0, 0, 0]


@both
def test_it_says_once_that_it_stopped_too_early(how):
    X, y = blurred()
    with pytest.warns(ConvergenceWarning, match="max_iter=1 before its duality gap") as told:
        svm = LinearSVM(max_iter=1, multi_class=how, tol=1e-6).fit(X, y)
    assert len(told) == 1
    assert not svm.converged_
    assert svm.n_iter_ == 1
    assert svm.score(X, y) > 0.5
    assert issubclass(ConvergenceWarning, PurportWarning)
