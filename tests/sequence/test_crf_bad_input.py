"""What cannot be used is refused with a sentence that says what was wrong, given and to do."""

from __future__ import annotations

import numpy as np
import pytest

from purport.errors import (
    InputError,
    NotFittedError,
    ParameterError,
    PurportError,
    ShapeError,
)
from purport.features.token_windows import TokenWindows
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF

X = [[["a"], ["b"]], [["c"]]]
Y = [["P", "Q"], ["P"]]
TALK = Utterances.from_lists([["a", "b"], ["c"]], slots=Y)
BARE = Utterances.from_lists([["a", "b"], ["c"]])


@pytest.fixture(scope="module")
def crf():
    return CRF().fit(X, Y)


BAD_DATA = {
    "a sequence too few": (X, Y[:1], ShapeError, "y has length 1, but X has length 2"),
    "a label too many": (
        X,
        [["P", "Q"], ["P", "P"]],
        ShapeError,
        r"y\[1\] has length 2, but X\[1\] has length 1",
    ),
    "NaN": ([[{"a": float("nan")}]], [["P"]], InputError, r"X\[0\]\[0\].*NaN or infinite"),
    "infinite": ([[["b"]], [{"a": 1}, {"a": 1e999}]], None, InputError, r"X\[1\]\[1\]"),
    "numbers as labels": (X, [[1, 2], [1]], InputError, "Labels must be strings.* int"),
    "NaN as a label": (X, [["P", float("nan")], ["P"]], InputError, "Labels must be strings"),
    "no sequences": ([], [], InputError, "at least one position"),
    "only empty sequences": ([[], []], [[], []], InputError, "at least one position"),
    "nothing known": (X, [[None, None], None], InputError, "at least one known label"),
    "no labels": (X, None, InputError, "needs labels, but y is None"),
    "records without slots": (BARE, None, InputError, "records have no slots"),
    "X a string": ("abc", Y, InputError, "X must be a list of sequences; got str"),
    "X a number": (3, Y, InputError, "X must be a list of sequences; got int"),
    "X None": (None, Y, InputError, "X must be a list of sequences; got NoneType"),
    "X a dict": ({"a": 1}, Y, InputError, "X must be a list of sequences; got dict"),
    "a sequence a string": (["ab", "c"], Y, InputError, r"X\[0\].* must be a list of positions"),
    "a position a string": ([["a", "b"], ["c"]], Y, InputError, r"X\[0\]\[0\].*plain string"),
    "positions that are numbers": ([[1, 2], [3]], Y, InputError, "rows of different lengths"),
    "a position a number": ([[["a"], 2], [["c"]]], Y, InputError, r"X\[0\]\[1\].*int"),
    "a feature a number": ([[[1], ["b"]], [["c"]]], Y, InputError, r"X\[0\]\[0\].*int"),
    "y a string": (X, "PQ", InputError, "y must be a list of lists of labels; got str"),
    "y a number": (X, 3, InputError, "y must be a list of lists of labels; got int"),
    "y flat": (X, ["PQ", "P"], InputError, r"y\[0\] must be a list of labels.* got str"),
    "y of numbers": (X, [1, 2], InputError, r"y\[0\] must be a list of labels.* got int"),
    "y of dicts": (X, [{"P": 1}, {"Q": 1}], InputError, r"y\[0\] must be a list of labels"),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_fit_refuses(name):
    sequences, labels, error, message = BAD_DATA[name]
    labels = labels if labels is not None or name != "infinite" else [["P"], ["P", "Q"]]
    model = CRF()
    with pytest.raises(error, match=message):
        model.fit(sequences, labels)
    with pytest.raises(NotFittedError):
        model.predict(X)


BAD_WEIGHTS = {
    "too few": ([1.0], ShapeError, "sample_weight has length 1, but X has length 2"),
    "negative": ([1.0, -1.0], InputError, "at least 0"),
    "NaN": ([1.0, float("nan")], InputError, "finite"),
    "infinite": ([1.0, float("inf")], InputError, "finite"),
    "words": (["one", "two"], InputError, "must hold numbers"),
    "ragged": ([[1.0], [1.0, 2.0]], InputError, "must hold numbers"),
    "one a position": ([[1.0, 1.0], [1.0, 1.0]], InputError, "flat list"),
    "one number": (2.0, InputError, "flat list"),
}


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_bad_sample_weights_are_refused(name):
    weights, error, message = BAD_WEIGHTS[name]
    with pytest.raises(error, match=message):
        CRF().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("value", [1e200, 1e308])
def test_values_beyond_float64_are_refused(value):
    with pytest.raises(InputError, match=r"too large for float64\. Scale the values"):
        CRF().fit([[{"a": value}, {"b": -value}]], [["P", "Q"]])
    with pytest.raises(InputError, match="too large for float64"):
        CRF().fit(X, Y, sample_weight=[value, value])


BAD_PARAMETERS = {
    "l2": -1.0,
    "l1": float("nan"),
    "max_iter": 0,
    "tol": -1e-3,
    "features": "words",
    "all_possible_states": "yes",
    "all_possible_transitions": 2,
    "min_freq": -1,
    "n_threads": 0,
    "verbose": "loud",
    "algorithm": "arow",
    "c1": "0.1",
    "c2": -1,
    "max_iterations": 1.5,
    "epsilon": -1.0,
    "linesearch": "none",
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_a_bad_parameter_is_refused_at_fit(name):
    model = CRF(**{name: BAD_PARAMETERS[name]})
    with pytest.raises(ParameterError, match=f"CRF: parameter '{name}' must be .* got "):
        model.fit(X, Y)


ASKED_EARLY = {
    "predict": lambda crf: crf.predict(X),
    "predict_proba": lambda crf: crf.predict_proba(X),
    "predict_marginals": lambda crf: crf.predict_marginals(X),
    "predict_single": lambda crf: crf.predict_single(X[0]),
    "predict_marginals_single": lambda crf: crf.predict_marginals_single(X[0]),
    "label": lambda crf: crf.label(TALK),
    "log_likelihood": lambda crf: crf.log_likelihood(X, Y),
    "score": lambda crf: crf.score(X, Y),
    "count_unseen": lambda crf: crf.count_unseen(X),
    "transitions_": lambda crf: crf.transitions_,
    "n_features_": lambda crf: crf.n_features_,
    "state_features": lambda crf: crf.state_features("P"),
    "state_features_": lambda crf: crf.state_features_,
    "transition_features_": lambda crf: crf.transition_features_,
    "attributes_": lambda crf: crf.attributes_,
    "warm start": lambda crf: crf.fit(X, Y, warm_start=True),
    "save": lambda crf: crf._to_state(),
}


@pytest.mark.parametrize("name", ASKED_EARLY)
def test_asked_before_fit(name):
    with pytest.raises(NotFittedError, match=r"not fitted yet\. Call fit first"):
        ASKED_EARLY[name](CRF())


def test_a_failed_fit_leaves_what_was_learnt(crf):
    model = CRF().fit(X, Y)
    before = model.predict(X)
    for sequences, labels, error, _ in BAD_DATA.values():
        if labels is not None:
            with pytest.raises(error):
                model.fit(sequences, labels)
    assert model.predict(X) == before
    assert model.transitions_.tolist() == crf.transitions_.tolist()


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_marginals", "label"])
def test_a_model_refuses_another_form(crf, method):
    with pytest.raises(InputError, match=r"fitted on lists .*given records .*Give it the same"):
        getattr(crf, method)(TALK)
    with pytest.raises(InputError, match=r"fitted on records .*given lists"):
        getattr(CRF().fit(TALK), method)(X)


def test_label_takes_records_alone(crf):
    with pytest.raises(InputError, match=r"CRF\.label takes records"):
        crf.label(X)


def test_features_are_for_records():
    with pytest.raises(InputError, match="features= says how rows are made from records"):
        CRF(features=TokenWindows()).fit(X, Y)


def test_a_warm_start_with_other_labels_is_refused(crf):
    model = CRF().fit(X, Y)
    with pytest.raises(InputError, match=r"2 labels are not among the classes .* Fit anew"):
        model.fit(X, [["new", "newer"], ["P"]], warm_start=True)
    with pytest.raises(InputError, match="fitted on lists"):
        model.fit(TALK, warm_start=True)
    np.testing.assert_array_equal(model._theta, crf._theta)


@pytest.mark.parametrize("method", ["score", "log_likelihood"])
def test_labels_that_do_not_fit_are_refused_after_fit_too(crf, method):
    for labels, error in ((Y[:1], ShapeError), ([["P"], ["P"]], ShapeError), (None, InputError)):
        with pytest.raises(error):
            getattr(crf, method)(X, labels)
    with pytest.raises(InputError, match="Labels must be strings"):
        getattr(crf, method)(X, [[1, 2], [3]])


def test_score_needs_a_known_label(crf):
    for sequences, labels in ((X, [None, None]), ([], [])):
        with pytest.raises(InputError, match="at least one known label"):
            crf.score(sequences, labels)


def test_state_features_of_no_label(crf):
    with pytest.raises(ParameterError, match="one of classes_"):
        crf.state_features("new")


def test_no_message_holds_a_feature():
    """Features are somebody's words."""
    secret = "word=a-very-private-word"
    bad = [
        ([[[secret, 3]]], [["P"]]),
        ([[{secret: float("nan")}]], [["P"]]),
        ([[{secret: object()}]], [["P"]]),
        ([[secret]], [["P"]]),
        ([secret], [["P"]]),
        (secret, [["P"]]),
        ([[[secret]]], [["P", "Q"]]),
    ]
    for sequences, labels in bad:
        with pytest.raises(PurportError) as refused:
            CRF().fit(sequences, labels)
        assert "private" not in str(refused.value)
