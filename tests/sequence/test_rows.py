"""Rows of numbers with groups, and scikit-learn: its checks, its search, its pipelines."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse

import purport
from purport.errors import InputError, NotFittedError, PurportWarning, ShapeError
from purport.features.token_windows import TokenWindows
from purport.sequence.crf import CRF
from purport.simulate.utterances import utterance_world

WITHOUT = "ignore:CRF was given rows without groups"


def switching(sequences=60, length=12, seed=1):
    """Two states that seldom change, each seen through a noisy number."""
    random = np.random.default_rng(seed)
    X, y, groups = [], [], []
    for number in range(sequences):
        state = int(random.integers(2))
        for _ in range(length):
            state = state if random.random() < 0.9 else 1 - state
            X.append([state + random.normal(0, 1.0), random.normal()])
            y.append(["calm", "busy"][state])
            groups.append(number)
    return np.array(X), np.array(y), np.array(groups)


@pytest.fixture(scope="module")
def data():
    return switching()


@pytest.fixture(scope="module")
def fitted(data):
    X, y, groups = data
    return CRF(l2=0.01, max_iter=500).fit(X, y, groups=groups)


def test_groups_are_sequences(data, fitted):
    """The same as lists of dicts with these numbers and a feature that is always 1."""
    X, y, groups = data
    cuts = np.flatnonzero(np.diff(groups)) + 1
    lists = [
        [{"x0": a, "x1": b, "bias": 1.0} for a, b in rows.tolist()] for rows in np.split(X, cuts)
    ]
    labels = [rows.tolist() for rows in np.split(y, cuts)]
    same = CRF(l2=0.01, max_iter=500).fit(lists, labels)
    np.testing.assert_allclose(fitted.transitions_, same.transitions_, atol=1e-3)
    flat = list(itertools.chain.from_iterable(same.predict(lists)))
    assert fitted.predict(X, groups=groups).tolist() == flat
    proba = fitted.predict_proba(X, groups=groups)
    assert proba.shape == (len(X), 2)
    np.testing.assert_allclose(proba, np.concatenate(same.predict_proba(lists)), atol=1e-4)
    assert fitted.score(X, y, groups=groups) == same.score(lists, labels)
    assert fitted.log_likelihood(X, y, groups=groups) == pytest.approx(
        same.log_likelihood(lists, labels), rel=1e-6
    )
    assert fitted.attributes_ == ["x0", "x1", "bias"]
    assert fitted.n_features_in_ == 2


def test_neighbours_help(data, fitted):
    X, y, groups = switching(seed=2)
    with pytest.warns(PurportWarning, match="every row is a sequence of its own"):
        alone = CRF(l2=0.01, max_iter=500).fit(data[0], data[1])
    assert not alone.transitions_.any()
    with pytest.warns(PurportWarning, match="without groups="):
        accuracy = alone.score(X, y)
    assert fitted.score(X, y, groups=groups) > accuracy + 0.05


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.coo_array, list, "frame"])
def test_every_kind_of_matrix(data, fitted, make):
    X, y, groups = data
    if make == "frame":
        X = pytest.importorskip("pandas").DataFrame(X, columns=["level", "noise"])
        y, groups = X.assign(y=y).y, groups.tolist()
    else:
        X = make(X.tolist()) if make is list else make(X)
    crf = CRF(l2=0.01, max_iter=500).fit(X, y, groups=groups)
    np.testing.assert_array_equal(crf._theta, fitted._theta)
    assert crf.predict(X, groups=groups).tolist() == fitted.predict(data[0], groups=groups).tolist()
    if make == "frame":
        assert crf.feature_names_in_.tolist() == ["level", "noise"]


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_columns_of_a_frame_go_by_their_names(data, tmp_path, kind):
    module = pytest.importorskip(kind)

    def frame(**columns):
        return module.DataFrame(columns) if kind == "pandas" else module.table(columns)

    X, y, groups = data
    level, noise = X.T
    crf = CRF(max_iter=500).fit(frame(level=level, noise=noise), y, groups=groups)
    assert crf.feature_names_in_.tolist() == ["level", "noise"]
    purport.save(crf, tmp_path / "model")
    for model in (crf, purport.load(tmp_path / "model")):
        for wrong, message in (
            (frame(noise=noise, level=level), "fit: they stand in another order"),
            (frame(level=level, loud=noise), "1 of X were not there, and 1 are not in X"),
        ):
            with pytest.raises(InputError, match=message):
                model.predict(wrong, groups=groups)
            with pytest.raises(InputError, match=message):
                model.partial_fit(wrong, y, groups=groups)
        # Who gives no names knows the order.
        said = model.predict(X, groups=groups).tolist()
        assert said == model.predict(frame(level=level, noise=noise), groups=groups).tolist()
    unnamed = CRF(max_iter=500).fit(X, y, groups=groups)
    unnamed.predict(frame(noise=noise, level=level), groups=groups)
    with pytest.raises(InputError, match=r"Utterances.read\(frame\)"):
        CRF().fit(frame(tokens=["play", "jazz"]), ["a", "b"], groups=[1, 1])


def test_a_missing_group_of_pandas(data):
    pandas = pytest.importorskip("pandas")
    X, y, groups = data
    series = pandas.Series(groups, dtype="Int64").mask(groups == 3)
    with pytest.raises(InputError, match="groups are None or NaN"):
        CRF().fit(X, y, groups=series)


def test_rows_to_stop_early_on_have_groups_too(data):
    X, y, groups = data
    X_dev, y_dev, groups_dev = switching(seed=2)
    crf = CRF(l2=0.0, max_iter=500).fit(X, y, groups=groups, dev=(X_dev, y_dev, groups_dev))
    best = max(told["dev_log_likelihood"] for told in crf.history_)
    now = crf.log_likelihood(X_dev, y_dev, groups=groups_dev) / len(y_dev)
    assert now == pytest.approx(best, rel=1e-9)
    with pytest.raises(InputError, match=r"dev=\(X_dev, y_dev, groups_dev\)"):
        CRF().fit(X, y, groups=groups, dev=(X_dev, y_dev))


def test_labels_of_any_kind(data):
    X, y, groups = data
    for labels in ((y == "calm").astype(int), y == "calm", y.astype(object)):
        crf = CRF(max_iter=500).fit(X, labels, groups=groups)
        predicted = crf.predict(X, groups=groups)
        assert predicted.dtype == crf.classes_.dtype
        assert set(predicted.tolist()) <= set(np.unique(labels).tolist())
        assert np.mean(predicted == labels) == crf.score(X, labels, groups=groups) > 0.7
    some = np.where(np.arange(len(y)) % 2, y, None)
    crf = CRF(max_iter=500).fit(X, some, groups=groups)
    assert crf.classes_.tolist() == ["busy", "calm"]
    assert crf._counts["known_labels"] == len(y) // 2


def test_saved_and_loaded(data, fitted, tmp_path):
    X, _, groups = data
    purport.save(fitted, tmp_path / "model")
    loaded = purport.load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.predict_proba(X, groups=groups), fitted.predict_proba(X, groups=groups)
    )
    assert loaded.predict(X, groups=groups).dtype == fitted.predict(X, groups=groups).dtype


def test_what_is_wrong_with_rows_is_said(data, fitted):
    X, y, groups = data
    ones = np.ones(len(X))
    for rows, labels, given, error, message in (
        (X, y, groups[:-1], ShapeError, "groups has length"),
        (X, y, groups % 7, InputError, "rows of one group must stand together"),
        (X, y, np.where(groups, groups, np.nan), InputError, "groups are None or NaN"),
        (X, y, [g or None for g in groups.tolist()], InputError, "groups are None or NaN"),
        (X, y, [str(g) if g else np.nan for g in groups], InputError, "groups are None or NaN"),
        (X, y, X, InputError, "groups must be a flat list"),
        (X * np.nan, y, groups, InputError, "contains NaN"),
        (X + np.inf, y, groups, InputError, "contains infinity"),
        (X + 1j, y, groups, InputError, "Complex data not supported"),
        (X[0], y, groups, InputError, "Expected 2D array, got 1D array instead"),
        (X[:0], y[:0], groups[:0], InputError, r"Found array with 0 sample\(s\)"),
        (X[:, :0], y, groups, InputError, r"0 feature\(s\)"),
        (X, y[:-1], groups, ShapeError, "y has length"),
        (X, None, groups, InputError, "requires y to be passed"),
        (X, np.stack([y, y], 1), groups, InputError, "y must be flat"),
        (X, ones * np.nan, groups, InputError, "y contains NaN"),
        (X, np.array([1, "a"] * (len(X) // 2), object), groups, InputError, "several kinds"),
        ([["a"], ["b"]], [["P"], ["P"]], groups, InputError, "Leave groups out"),
    ):
        with pytest.raises(error, match=message):
            CRF().fit(rows, labels, groups=given)
    with pytest.raises(InputError, match="X has 1 features, but CRF is expecting 2 features"):
        fitted.predict(X[:, :1], groups=groups)
    with pytest.raises(InputError, match=r"was fitted on rows of numbers .* but was given lists"):
        fitted.predict([[["a"]]])
    with pytest.raises(InputError, match="Use predict_proba"):
        fitted.predict_marginals(X)
    with pytest.raises(AttributeError):
        CRF().fit([[["a"]]] * 2, [["P"]] * 2) if False else CRF().n_features_in_


def test_check_estimator():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = checks.check_estimator(CRF(), on_fail=None)
    told = {each["check_name"]: each for each in results}
    assert len(told) > 40
    failed = {
        name: str(each["exception"]) for name, each in told.items() if each["status"] == "failed"
    }
    assert not failed
    # This one runs where SciPy was told to take other arrays; nothing else may be left out.
    skipped = {name for name, each in told.items() if each["status"] != "passed"}
    assert skipped <= {"check_array_api_input"}


def test_not_fitted_is_scikit_learns_error_too():
    theirs = pytest.importorskip("sklearn.exceptions").NotFittedError
    with pytest.raises(theirs, match="is not fitted yet") as raised:
        CRF().predict([[["a"]]])
    assert isinstance(raised.value, NotFittedError)


def test_it_is_no_classifier():
    base = pytest.importorskip("sklearn.base")
    assert not base.is_classifier(CRF())
    assert not base.is_regressor(CRF())


@pytest.mark.parametrize("form", ["lists", "records"])
def test_grid_search_learns_transitions(form):
    model_selection = pytest.importorskip("sklearn.model_selection")
    talk = utterance_world(300, 1)
    X, y = (talk, None) if form == "records" else (TokenWindows().strings(talk), talk.slots)
    search = model_selection.GridSearchCV(
        CRF(max_iter=300), {"l2": [0.01, 30.0]}, cv=3, error_score="raise"
    )
    search.fit(X, y)
    best = search.best_estimator_
    assert np.count_nonzero(best.transitions_) > 10
    assert search.best_params_ == {"l2": 0.01}
    scores = model_selection.cross_val_score(CRF(max_iter=300), X, y, cv=3, error_score="raise")
    assert scores.min() > 0.7
    if form == "lists":
        predicted = model_selection.cross_val_predict(CRF(max_iter=300), X, y, cv=3)
        assert list(map(len, predicted)) == list(map(len, y))


def test_grid_search_over_rows_says_that_it_cannot_see_groups(data):
    model_selection = pytest.importorskip("sklearn.model_selection")
    X, y, groups = data
    search = model_selection.GridSearchCV(
        CRF(max_iter=300), {"l2": [0.1]}, cv=model_selection.GroupKFold(3), error_score="raise"
    )
    with pytest.warns(PurportWarning, match="also to grid search and cross-validation"):
        search.fit(X, y, groups=groups)
    assert not search.best_estimator_.transitions_.any()


def test_sample_takes_a_random_state_or_says_what_one_is(data, fitted):
    X, _, groups = data
    with pytest.raises(InputError, match=r"CRF.sample: parameter 'random_state' must be"):
        fitted.sample(X, random_state="x", groups=groups)


@pytest.mark.filterwarnings(WITHOUT)
def test_in_a_pipeline(data):
    pipeline = pytest.importorskip("sklearn.pipeline")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    X, y, groups = data
    steps = pipeline.make_pipeline(preprocessing.StandardScaler(), CRF(l2=0.01, max_iter=500))
    steps.fit(X, y, crf__groups=groups)
    assert steps[-1].transitions_.any()
    assert steps.predict(X, groups=groups).shape == y.shape
    assert steps.predict(X[:3]).shape == (3,)


def test_what_is_known_beforehand_and_n_best_of_rows(data, fitted):
    X, y, groups = data
    some = [label if k % 3 == 0 else None for k, label in enumerate(y.tolist())]
    predicted = fitted.predict(X, allowed=some, groups=groups)
    assert all(label in (None, said) for label, said in zip(some, predicted, strict=True))
    best = fitted.predict_nbest(X, n=2, groups=groups)
    assert len(best) == len(set(groups.tolist()))
    flat = [label for labellings in best for label in labellings[0].labels]
    assert flat == fitted.predict(X, groups=groups).tolist()
    shares = np.stack([y == "busy", y == "calm"], axis=1)
    soft = CRF(l2=0.01, max_iter=500).fit(X, soft=shares, classes=["busy", "calm"], groups=groups)
    np.testing.assert_allclose(soft._theta, fitted._theta, atol=1e-9)
