"""The linear SVM as users meet it: what it takes, what it says, how it goes on."""

from __future__ import annotations

import pickle  # noqa: TID251 - that estimators can be pickled is promised; the package never does it
import warnings

import numpy as np
import pytest
import scipy.sparse
from oracle.svm import objective

import purport
from purport.errors import (
    DataConversionWarning,
    InputError,
    ModelCorruptError,
    NotFittedError,
    ParameterError,
    PurportWarning,
    ShapeError,
    UnseenWarning,
)
from purport.features.session_windows import SessionWindows
from purport.margin.dual import Dual
from purport.margin.svm import LinearSVM
from purport.records.sessions import Sessions

both = pytest.mark.parametrize("how", ["crammer_singer", "ovr"])


def blurred(rows=150, width=6, labels=4, seed=1):
    random = np.random.default_rng(seed)
    y = random.integers(labels, size=rows)
    y[:labels] = np.arange(labels)
    X = random.normal(size=(labels, width))[y] + 0.7 * random.normal(size=(rows, width))
    return np.where(random.random(X.shape) < 0.3, 0.0, X), np.array(list("abcdefgh"))[y]


@pytest.fixture(scope="module")
def data():
    return blurred()


def bits(svm):
    return {name: array.tobytes() for name, array in svm._to_state().arrays.items()}


@both
@pytest.mark.parametrize(
    "make", [scipy.sparse.csr_matrix, scipy.sparse.coo_array, list, "frame", "rows", "float32"]
)
def test_every_kind_of_rows(data, how, make):
    X, y = data
    svm = LinearSVM(multi_class=how).fit(X, y)
    given = X
    if make == "frame":
        given = pytest.importorskip("pandas").DataFrame(X, columns=list("uvwxyz"))
    elif make == "rows":
        from purport.margin.inputs import RowReader

        given = RowReader.learn("LinearSVM", X)[1]
    elif make == "float32":
        X = X.astype(np.float32).astype(np.float64)
        svm, given = LinearSVM(multi_class=how).fit(X, y), X.astype(np.float32)
    else:
        given = X.tolist() if make is list else make(X)
    same = LinearSVM(multi_class=how).fit(given, y)
    assert bits(same) == bits(svm)
    np.testing.assert_array_equal(same.decision_function(given), svm.decision_function(X))
    assert same.n_features_in_ == 6
    if make == "frame":
        assert same.feature_names_in_.tolist() == list("uvwxyz")
        assert {name for name, _ in same.feature_weights("a")} == set("uvwxyz")
        with pytest.raises(InputError, match="feature names should match"):
            same.predict(given[list("zyxwvu")])
    else:
        assert not hasattr(same, "feature_names_in_")


def test_lists_of_features_are_what_they_are_to_a_crf():
    X = [["w=play", "w=jazz"], {"w": "stop", "length": 2.0, "first": True}, ["w=play"], []]
    y = ["music", "halt", "music", "nothing"]
    svm = LinearSVM(C=10.0).fit(X, y)
    assert svm.predict(X).tolist() == y
    some = [("w=play", "never met"), {"w": "stop", "length": 2}]
    assert svm.predict(some).tolist() == ["music", "halt"]
    names = dict(svm.feature_weights("halt", top=None))
    assert set(names) == {"w=play", "w=jazz", "w:stop", "length", "first"}
    assert names["w:stop"] == names["first"] == pytest.approx(names["length"] / 2.0)
    assert [name for name, _ in svm.feature_weights("halt", top=1)] == ["length"]
    with pytest.raises(ParameterError, match="'label' must be one of classes_"):
        svm.feature_weights("halted")
    assert not hasattr(svm, "n_features_in_")
    with pytest.raises(InputError, match=r"was fitted on lists of features .* given rows of num"):
        svm.predict(np.eye(5))
    for wrong, said in (
        (["play jazz"], "plain string"),
        ([["a"], [3]], "X\\[1\\]\\[0\\]"),
        ("play", "must be a list"),
        ([{"a": float("nan")}], "NaN"),
    ):
        with pytest.raises(InputError, match=said):
            LinearSVM().fit(wrong, ["x"] * len(wrong))


def test_it_takes_the_rows_of_sessions_as_a_sequence_model_does():
    texts = [["cheap flights", "flights rome"], ["buy shoes"], ["cheap shoes", "rome hotel"]] * 4
    labels = ["travel", "travel", "shop", "shop", "travel"] * 4
    log, windows = Sessions.from_lists(texts), SessionWindows()
    rows = windows.fit_transform(log)
    svm = LinearSVM(fit_intercept=False).fit(rows, labels)
    assert rows.unique < rows.positions == len(labels)
    assert svm.predict(windows.transform(log)).tolist() == labels
    assert svm.score(rows, labels) == 1.0
    assert svm.coef_.shape == (2, rows.width)
    # The same as the matrix of all positions.
    matrix = rows.matrix()[rows.index]
    same = LinearSVM(fit_intercept=False).fit(matrix, labels)
    assert bits(same) == bits(svm)
    np.testing.assert_array_equal(same.decision_function(rows), svm.decision_function(matrix))


@both
def test_scores_are_rows_times_weights(data, how):
    X, y = data
    for some in (slice(None), np.isin(y, ["a", "b"])):
        svm = LinearSVM(multi_class=how, C=0.1).fit(X[some], y[some])
        scores = X @ svm.coef_.T + svm.intercept_
        assert svm.predict(X).tolist() == svm.classes_[scores.argmax(axis=1)].tolist()
        said = svm.decision_function(X)
        if len(svm.classes_) > 2:
            np.testing.assert_allclose(said, scores, atol=1e-12)
            continue
        np.testing.assert_allclose(svm.coef_[0], -svm.coef_[1], atol=1e-12)
        want = scores[:, 1] - scores[:, 0] if how == "crammer_singer" else scores[:, 1]
        np.testing.assert_allclose(said, want, atol=1e-12)
        assert (said > 0).tolist() == (svm.predict(X) == "b").tolist()
        assert len(svm.decision_function(X[:1])) == 1


@both
def test_neither_order_nor_repetition_nor_weights_of_zero_decide_anything(data, how):
    X, y = data
    usual = LinearSVM(multi_class=how).fit(X, y)
    order = np.random.default_rng(2).permutation(len(y))
    assert bits(LinearSVM(multi_class=how).fit(X[order], y[order])) == bits(usual)
    times = np.arange(len(y)) % 3
    weighted = LinearSVM(multi_class=how).fit(X, y, sample_weight=times)
    repeated = LinearSVM(multi_class=how).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert bits(weighted) == bits(repeated)
    # A label that only rows of weight 0 have is not there at all.
    without = LinearSVM(multi_class=how).fit(X, y, sample_weight=(y != "c").astype(float))
    assert without.classes_.tolist() == ["a", "b", "d"]
    some = np.where(y == "c", None, y.astype(object))
    assert bits(LinearSVM(multi_class=how).fit(X, some)) == bits(without)


@both
def test_class_weights_are_weights_of_the_rows(data, how):
    X, y = data
    weights = {"a": 3.0, "d": 0.5}
    named = LinearSVM(multi_class=how, class_weight=weights).fit(X, y)
    each = np.array([weights.get(label, 1.0) for label in y])
    assert bits(named) == bits(LinearSVM(multi_class=how).fit(X, y, sample_weight=each))
    balanced = LinearSVM(multi_class=how, class_weight="balanced", tol=1e-6).fit(X, y)
    counts = {label: np.mean(y == label) for label in "abcd"}
    each = np.array([1.0 / (4 * counts[label]) for label in y])
    by_hand = LinearSVM(multi_class=how, tol=1e-6).fit(X, y, sample_weight=each)
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, atol=5e-3)
    rare = np.append(np.flatnonzero(y != "a"), np.flatnonzero(y == "a")[:5])
    plain = LinearSVM(multi_class=how).fit(X[rare], y[rare])
    fair = LinearSVM(multi_class=how, class_weight="balanced").fit(X[rare], y[rare])
    assert np.mean(fair.predict(X) == "a") > np.mean(plain.predict(X) == "a")
    with pytest.raises(InputError, match="class_weight names 1 labels that y does not have"):
        LinearSVM(class_weight={"A": 2.0}).fit(X, y)
    # A fold may lack a label, if all that it has are named.
    every = LinearSVM(class_weight=dict.fromkeys("abcd", 2.0)).fit(X[y != "a"], y[y != "a"])
    assert every.classes_.tolist() == ["b", "c", "d"]


@both
def test_class_weights_reach_liblinears_objective(data, how):
    svms = pytest.importorskip("sklearn.svm")
    X, y = data
    weights = np.where(y == "a", 4.0, 1.0)
    theirs = svms.LinearSVC(
        multi_class=how, loss="hinge", tol=1e-8, max_iter=100_000, random_state=0
    ).fit(X, y, sample_weight=weights)
    ours = LinearSVM(multi_class=how, class_weight={"a": 4.0}, tol=1e-4).fit(X, y)
    wide, codes = np.hstack([X, np.ones((len(X), 1))]), np.unique(y, return_inverse=True)[1]
    best = objective(
        np.hstack([theirs.coef_, theirs.intercept_[:, None]]), wide, codes, weights, how
    )
    assert ours.history_[-1]["objective"] == pytest.approx(best, rel=1e-4)
    assert ours.history_[-1]["dual"] <= best * (1 + 1e-9)


@both
def test_a_warm_start_goes_on(data, how):
    X, y = data
    make = lambda tol=1e-6: LinearSVM(multi_class=how, tol=tol)  # noqa: E731
    anew = make().fit(X, y)
    again = make().fit(X, y).fit(X, y, warm_start=True)
    assert again.n_iter_ == 1
    np.testing.assert_allclose(again.coef_, anew.coef_, atol=1e-12)
    # From rough weights on, from a part of the rows, at another C, with other weights.
    rough = make(tol=0.1).fit(X, y).set_params(tol=1e-6).fit(X, y, warm_start=True)
    part = make().fit(X[:120], y[:120]).fit(X, y, warm_start=True)
    dear = make().set_params(C=1.3).fit(X, y).set_params(C=1.0).fit(X, y, warm_start=True)
    for other in (rough, part, dear):
        assert other.converged_
        np.testing.assert_allclose(other.coef_, anew.coef_, atol=0.02)
        assert other.history_[0]["gap"] < anew.history_[0]["gap"]
    # Without warm_start nothing of this is left.
    assert bits(part.fit(X, y)) == bits(anew)


def test_a_warm_start_needs_the_same_labels_columns_and_kind(data):
    X, y = data
    svm = LinearSVM().fit(X, y)
    before = bits(svm)
    with pytest.raises(InputError, match="1 labels are not among the classes"):
        svm.fit(X[:2], ["a", "new"], warm_start=True)
    with pytest.raises(InputError, match="X has 2 features, but LinearSVM is expecting 6"):
        svm.fit(X[:, :2], y, warm_start=True)
    with pytest.raises(InputError, match="Set it back, or fit anew"):
        svm.set_params(multi_class="ovr").fit(X, y, warm_start=True)
    with pytest.raises(InputError, match="must be True or False"):
        svm.fit(X, y, warm_start=1)
    with pytest.raises(NotFittedError):
        LinearSVM().fit(X, y, warm_start=True)
    assert bits(svm) == before


@both
def test_saved_and_loaded_it_goes_on_to_the_same_bits(data, how, tmp_path):
    X, y = data
    weights = {"a": 2.0, "b": 1.0}
    svm = LinearSVM(multi_class=how, tol=0.1, class_weight=weights).fit(X[:100], y[:100])
    purport.save(svm, tmp_path / "model")
    loaded = purport.load(tmp_path / "model")
    copied = pickle.loads(pickle.dumps(svm))
    for model in (svm, loaded, copied):
        model.set_params(tol=1e-5).fit(X, y, warm_start=True)
    assert bits(loaded) == bits(copied) == bits(svm)
    told = purport.store.folders.describe(tmp_path / "model")["trained_on"]
    assert (told["rows"], told["known_labels"]) == (100, 100)


def test_labels_and_class_weights_of_any_kind_are_saved(data, tmp_path):
    X, y = data
    for number, (labels, weights) in enumerate(
        (
            ((y == "a").astype(int), {0: 2.0, 1: 0.5}),
            (y == "a", {True: 2.0}),
            (y.astype(object), "balanced"),
            (np.searchsorted(list("abcd"), y) * 1.0, {1.0: 2.0}),
        )
    ):
        svm = LinearSVM(class_weight=weights).fit(X, labels)
        assert svm.predict(X).dtype == svm.classes_.dtype
        purport.save(svm, tmp_path / str(number))
        loaded = purport.load(tmp_path / str(number))
        assert loaded.class_weight == weights
        assert loaded.predict(X).tolist() == svm.predict(X).tolist()
        assert loaded.classes_.dtype == svm.classes_.dtype


def test_a_folder_whose_parts_do_not_fit_is_refused(data, tmp_path, monkeypatch):
    X, y = data
    svm = LinearSVM().fit(X, y)
    for number, (name, change) in enumerate(
        (
            ("weights", lambda a: a[:, :-1].copy()),
            ("weights", lambda a: a[:-2].copy()),
            ("used", lambda a: a[::-1].copy()),
            ("used", lambda a: a + 1),
            ("shares/starts", lambda a: a[:-1].copy()),
            ("shares/labels", lambda a: a + 4),
            ("shares/costs", lambda a: -a),
        )
    ):
        state = svm._to_state()
        state.arrays[name] = change(state.arrays[name])
        with monkeypatch.context() as patched:
            patched.setattr(LinearSVM, "_to_state", lambda self, state=state: state)
            purport.save(svm, tmp_path / str(number))
        with pytest.raises(ModelCorruptError, match="do not fit together"):
            purport.load(tmp_path / str(number))


@both
def test_random_state_decides_the_way_not_the_end(data, how):
    X, y = data
    first, second = (
        LinearSVM(multi_class=how, tol=1e-6, random_state=seed).fit(X, y) for seed in (1, 2)
    )
    assert bits(first) != bits(second)
    np.testing.assert_allclose(first.coef_, second.coef_, atol=0.02)
    assert bits(LinearSVM(multi_class=how, tol=1e-6, random_state=1).fit(X, y)) == bits(first)


def test_an_interruption_leaves_the_last_pass(data, monkeypatch):
    X, y = data
    svm = LinearSVM(tol=1e-8)
    calls = {"look": 0, "step": 0}
    look, step = Dual.look, Dual._step_between_active

    def interrupted_look(self):
        calls["look"] += 1
        if calls["look"] == 1:
            raise KeyboardInterrupt
        return look(self)

    monkeypatch.setattr(Dual, "look", interrupted_look)
    with pytest.raises(KeyboardInterrupt):
        svm.fit(X, y)
    assert not svm._is_fitted()

    def interrupted_step(self, *given):
        calls["step"] += 1
        if calls["step"] == 4:
            raise KeyboardInterrupt
        return step(self, *given)

    monkeypatch.setattr(Dual, "_step_between_active", interrupted_step)
    with pytest.raises(KeyboardInterrupt):
        svm.fit(X, y)
    assert not svm.converged_
    assert svm.score(X, y) > 0.5
    monkeypatch.undo()
    # What it has kept is whole: it goes on from there.
    svm.fit(X, y, warm_start=True)
    assert svm.converged_
    np.testing.assert_allclose(svm.coef_, LinearSVM(tol=1e-8).fit(X, y).coef_, atol=1e-3)


def test_what_is_wrong_is_said(data):
    X, y = data
    many = np.array([1, "a"] * (len(X) // 2), object)
    for rows, labels, error, message in (
        (X * np.nan, y, InputError, "Input X of LinearSVM contains NaN"),
        (X + np.inf, y, InputError, "contains infinity"),
        (scipy.sparse.csr_matrix(X * np.nan), y, InputError, "contains NaN"),
        (X[0], y, InputError, "Expected 2D array, got 1D array instead"),
        (X[None], y, InputError, "Expected 2D array, got 3D array instead"),
        (X[:0], y[:0], InputError, r"0 sample\(s\)"),
        ([], [], InputError, "needs at least one row"),
        (X[:, :0], y, InputError, r"0 feature\(s\)"),
        (X, y[:-1], ShapeError, "y has length 149, but X has length 150"),
        (X, None, InputError, "requires y to be passed"),
        (X, np.stack([y, y], 1), InputError, "y must be flat"),
        (X, X[:, 0], InputError, "Unknown label type"),
        (X, X[:, 0] * np.nan, InputError, "y contains NaN"),
        (X, [None] * len(X), InputError, "needs at least one known label"),
        (X, many, InputError, "several kinds"),
        (X * 1e200, y, InputError, "too large for float64"),
    ):
        svm = LinearSVM()
        with pytest.raises(error, match=message):
            svm.fit(rows, labels)
        assert not svm._is_fitted()
    for weights, message in (
        (np.zeros(len(X)), "every weight in sample_weight is zero"),
        (-np.ones(len(X)), "at least 0, one a row"),
        (np.ones(3), "sample_weight has length 3"),
        (np.ones((len(X), 2)), "one number a row"),
    ):
        with pytest.raises(InputError, match=message):
            LinearSVM().fit(X, y, sample_weight=weights)
    with pytest.raises(ParameterError, match="'class_weight' must be a dict whose values are each"):
        LinearSVM(class_weight={"a": -1.0}).fit(X, y)
    with pytest.raises(InputError, match="X has 2 features, but LinearSVM is expecting 6"):
        LinearSVM().fit(X, y).predict(X[:, :2])


def test_a_single_label_is_said_and_predicted(data):
    X, _ = data
    for how in ("crammer_singer", "ovr"):
        with pytest.warns(PurportWarning, match="will predict nothing else"):
            svm = LinearSVM(multi_class=how).fit(X, ["a"] * len(X))
        assert set(svm.predict(X).tolist()) == {"a"}
        assert svm.converged_
        assert svm.decision_function(X).shape == (len(X), 1)


def test_a_column_of_labels_is_taken_as_flat(data):
    X, y = data
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        svm = LinearSVM().fit(X, y[:, None])
    assert bits(svm) == bits(LinearSVM().fit(X, y))


def test_labels_never_met_count_as_wrong(data):
    X, y = data
    svm = LinearSVM().fit(X, y)
    right = svm.predict(X)
    assert svm.score(X, right) == 1.0
    changed = np.where(np.arange(len(y)) < 30, "z", right)
    with pytest.warns(UnseenWarning, match="30 labels"):
        assert svm.score(X, changed) == pytest.approx(120 / 150)
    some = np.where(np.arange(len(y)) < 30, None, right.astype(object))
    assert svm.score(X, some) == 1.0
    wrong = np.where(right == "a", "b", "a")
    mixed = np.where(np.arange(len(y)) < 50, wrong, right)
    weights = np.where(np.arange(len(y)) < 50, 3.0, 1.0)
    assert svm.score(X, mixed, sample_weight=weights) == pytest.approx(100 / 250)
    with pytest.raises(InputError, match="at least one known label"):
        svm.score(X, [None] * len(X))


def test_columns_that_never_occur_cost_nothing():
    """A hashed matrix is much wider than what is in it."""
    random = np.random.default_rng(1)
    columns = np.sort(random.choice(2**30, 40, replace=False))
    dense = random.normal(size=(60, 40)) * (random.random((60, 40)) < 0.4)
    X = scipy.sparse.csr_matrix(dense)
    wide = scipy.sparse.csr_matrix((X.data, columns[X.indices], X.indptr), shape=(60, 2**30))
    y = random.integers(3, size=60)
    narrow, svm = LinearSVM().fit(X, y), LinearSVM().fit(wide, y)
    assert svm._weights.shape == narrow._weights.shape
    np.testing.assert_allclose(svm.decision_function(wide), narrow.decision_function(X), atol=0.05)
    # A column that was not there has no weight.
    other = scipy.sparse.csr_matrix(([5.0], ([0], [columns[0] + 1])), shape=(1, 2**30))
    np.testing.assert_array_equal(svm.decision_function(other)[0], svm.intercept_)


def test_progress_is_shown_and_is_harmless(data, capsys):
    X, y = data
    shown = LinearSVM(verbose="lines").fit(X, y)
    assert bits(shown) == bits(LinearSVM().fit(X, y))
    assert not capsys.readouterr().out


@pytest.mark.parametrize("how", ["crammer_singer", "ovr"])
def test_check_estimator(how):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = checks.check_estimator(LinearSVM(multi_class=how), on_fail=None)
    told = {each["check_name"]: each for each in results}
    assert len(told) > 50
    failed = {
        name: str(each["exception"]) for name, each in told.items() if each["status"] == "failed"
    }
    assert not failed
    # This one runs where SciPy was told to take other arrays; nothing else may be left out.
    skipped = {name for name, each in told.items() if each["status"] != "passed"}
    assert skipped <= {"check_array_api_input"}


def test_it_is_a_classifier_for_scikit_learn(data):
    base = pytest.importorskip("sklearn.base")
    model_selection = pytest.importorskip("sklearn.model_selection")
    X, y = data
    assert base.is_classifier(LinearSVM())
    search = model_selection.GridSearchCV(
        LinearSVM(), {"C": [1e-6, 1.0], "multi_class": ["crammer_singer", "ovr"]}, cv=3
    ).fit(X, y)
    assert search.best_score_ > 0.5
    rows = [[f"w={int(value > 0)}{column}" for column, value in enumerate(row)] for row in X]
    scores = model_selection.cross_val_score(LinearSVM(), rows, y, cv=3, error_score="raise")
    assert scores.min() > 0.4
