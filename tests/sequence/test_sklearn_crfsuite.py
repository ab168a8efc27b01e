"""Code written for sklearn-crfsuite needs only another import, also inside scikit-learn."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import purport
from purport.sequence.labels import LabelLists

SENTENCES = [
    [("play", "O"), ("some", "O"), ("Jazz", "B-genre"), ("now", "O")],
    [("play", "O"), ("Blues", "B-genre"), ("by", "O"), ("Ada", "B-artist"), ("Lind", "I-artist")],
    [("stop", "O")],
    [("Ada", "B-artist"), ("Lind", "I-artist"), ("please", "O")],
    [("some", "O"), ("Soul", "B-genre"), ("by", "O"), ("Bo", "B-artist")],
    [("put", "O"), ("on", "O"), ("Jazz", "B-genre"), ("by", "O"), ("Bo", "B-artist")],
] * 3


def word_to_features(sentence, i):
    word = sentence[i][0]
    features = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-2:]": word[-2:],
        "word.istitle()": word.istitle(),
        "length": len(word) / 10,
    }
    if i > 0:
        features["-1:word.lower()"] = sentence[i - 1][0].lower()
    else:
        features["BOS"] = True
    if i == len(sentence) - 1:
        features["EOS"] = True
    return features


@pytest.fixture(scope="module")
def data():
    X = [[word_to_features(s, i) for i in range(len(s))] for s in SENTENCES]
    return X, [[label for _, label in s] for s in SENTENCES]


def tutorial(package, data):
    """The tutorial of sklearn-crfsuite, with the package as the only thing that changes."""
    X, y = data
    crf = package.CRF(
        algorithm="lbfgs",
        c1=0.1,
        c2=0.1,
        max_iterations=100,
        all_possible_transitions=True,
    )
    crf.fit(X, y)
    labels = list(crf.classes_)
    labels.remove("O")
    predicted = crf.predict(X)
    return {
        "crf": crf,
        "predicted": [list(sequence) for sequence in predicted],
        "single": crf.predict_single(X[1]),
        "marginals": crf.predict_marginals(X),
        "one marginal": crf.predict_marginals_single(X[1]),
        "labels": sorted(labels),
        "f1": package.metrics.flat_f1_score(y, predicted, average="weighted", labels=labels),
        "score": crf.score(X, y),
        "transitions": crf.transition_features_,
        "states": crf.state_features_,
        "attributes": crf.attributes_,
    }


@pytest.fixture(scope="module")
def ours(data):
    return tutorial(purport, data)


@pytest.mark.skipif(
    importlib.util.find_spec("sklearn_crfsuite") is None, reason="sklearn-crfsuite is not installed"
)
def test_the_tutorial_gives_the_same(data, ours):
    import sklearn_crfsuite
    import sklearn_crfsuite.metrics

    theirs = tutorial(sklearn_crfsuite, data)
    for name in ("predicted", "single", "labels", "f1", "score"):
        assert ours[name] == theirs[name], name
    # Both stop a little before the optimum, at places of their own.
    for mine, other in zip(ours["one marginal"], theirs["one marginal"], strict=True):
        assert mine == pytest.approx(other, abs=1e-2)
    for name in ("transitions", "states"):
        for key in theirs[name].keys() | ours[name].keys():
            mine, other = (found[name].get(key, 0.0) for found in (ours, theirs))
            assert mine == pytest.approx(other, abs=0.1), key
    # Theirs leaves out the features of which no weight is left.
    assert set(theirs["attributes"]) <= set(ours["attributes"])


def test_the_tutorial_works(ours, data):
    _, y = data
    assert ours["predicted"] == y
    assert ours["single"] == y[1]
    assert ours["f1"] == ours["score"] == 1.0
    assert ours["one marginal"] == ours["marginals"][1]
    for sequence in ours["marginals"]:
        for position in sequence:
            assert sum(position.values()) == pytest.approx(1.0)
    assert all(isinstance(weight, float) for weight in ours["transitions"].values())
    assert ours["transitions"]["B-artist", "I-artist"] > 0
    assert ours["states"]["word.lower():jazz", "B-genre"] > 0
    assert 0.0 not in ours["states"].values()


def test_parameters_of_sklearn_crfsuite_stand_for_ours(data):
    X, y = data
    new = purport.CRF(l1=0.2, l2=0.3, max_iter=50, tol=1e-4).fit(X, y)
    old = purport.CRF(
        algorithm="lbfgs", c1=0.2, c2=0.3, max_iterations=50, epsilon=1e-3, delta=1e-4
    ).fit(X, y)
    assert [facts["objective"] for facts in old.history_] == [
        facts["objective"] for facts in new.history_
    ]
    with pytest.raises(purport.ParameterError, match="'algorithm' must be None or 'lbfgs'"):
        purport.CRF(algorithm="ap").fit(X, y)


def test_inside_scikit_learn(data):
    pytest.importorskip("sklearn")
    from sklearn.base import clone, is_classifier
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import RandomizedSearchCV, cross_val_predict, cross_val_score

    X, y = data
    crf = purport.CRF(algorithm="lbfgs", max_iterations=30, all_possible_transitions=True, tol=1e-2)
    assert not is_classifier(crf)
    scorer = make_scorer(
        purport.metrics.flat_f1_score,
        average="weighted",
        labels=["B-genre", "B-artist", "I-artist"],
    )
    search = RandomizedSearchCV(
        crf, {"c1": [0.01, 0.1], "c2": [0.01, 1.0]}, cv=3, n_iter=3, scoring=scorer, random_state=0
    ).fit(X, y)
    assert search.best_score_ > 0.8
    assert set(search.best_params_) == {"c1", "c2"}
    best = search.best_estimator_
    assert best.predict(X) == y
    assert best.transitions_.any(), "whole sequences were cut, so transitions were learnt"
    predicted = cross_val_predict(best, X, y, cv=3)
    assert [len(labels) for labels in predicted] == [len(labels) for labels in y]
    assert len(cross_val_score(crf, X, y, cv=3)) == 3
    copy = clone(best)
    assert copy.get_params() == best.get_params()
    assert not hasattr(copy, "classes_")


@pytest.mark.parametrize(
    "labels", [[], [[]], [["a"], ["b"]], [["a", "b"], ["c", "d"]], [["a"], [], ["b", "c"]]]
)
def test_predictions_join_as_one_object_a_sequence(labels):
    found = np.concatenate([LabelLists(labels), LabelLists(labels)])
    assert found.shape == (2 * len(labels),)
    assert found.tolist() == labels + labels
    assert LabelLists(labels) == labels
