"""What a CRF promises: probabilities, records, warm starts, interruptions, the same bits always."""

from __future__ import annotations

import copy
import functools
import itertools
import logging
import math
import time

import numpy as np
import pytest
from oracle.crf import WrittenDown

from purport.errors import (
    ConvergenceWarning,
    InputError,
    NotFittedError,
    PurportWarning,
    UnseenWarning,
)
from purport.estimator.base import State
from purport.features.token_windows import TokenWindows
from purport.fold import threads
from purport.records.utterances import Utterances
from purport.sequence import decoding
from purport.sequence.crf import CRF


@pytest.fixture(scope="module")
def fitted(corpus):
    return CRF(l2=0.1).fit(*corpus)


@pytest.fixture(scope="module")
def talk():
    tokens = [["play", "some", "jazz"], [], ["play", "blues", "now"], ["stop"], ["jazz", "now"]] * 4
    slots = [["O", "O", "B-g"], [], ["O", "B-g", "O"], ["O"], ["B-g", "O"]] * 4
    ids = [f"u{number}" for number in range(len(tokens))]
    return Utterances.from_lists(tokens, slots=slots, ids=ids)


# Probabilities


def test_the_probabilities_of_all_labellings_sum_to_one(fitted, corpus):
    X, _ = corpus
    written = WrittenDown(fitted)
    for sequence in [*[s for s in X if 0 < len(s) <= 4][:6], []]:
        paths = [list(path) for path in written.labellings(sequence)]
        found = [fitted.log_likelihood([sequence], [path]) for path in paths]
        assert math.fsum(map(math.exp, found)) == pytest.approx(1.0, rel=1e-12)
        assert max(found) <= 1e-15
        best = paths[int(np.argmax(found))]
        assert fitted.predict([sequence]) == [best]


def test_unknown_labels_are_summed_over(fitted, corpus):
    X, y = corpus
    assert fitted.log_likelihood(X, [[None] * len(sequence) for sequence in X]) == 0.0
    assert fitted.log_likelihood(X, [None] * len(X)) == 0.0
    assert fitted.log_likelihood([], []) == 0.0
    sequence, labels = next((s, t) for s, t in zip(X, y, strict=True) if len(s) == 3)
    half = [labels[0], None, labels[2]]
    whole = [
        fitted.log_likelihood([sequence], [[labels[0], middle, labels[2]]])
        for middle in fitted.classes_
    ]
    expected = math.log(math.fsum(map(math.exp, whole)))
    assert fitted.log_likelihood([sequence], [half]) == pytest.approx(expected, rel=1e-10)
    total = sum(fitted.log_likelihood([s], [t]) for s, t in zip(X, y, strict=True))
    assert fitted.log_likelihood(X, y) == pytest.approx(total, rel=1e-12)


def test_marginals_equal_enumeration(fitted, corpus):
    X, _ = corpus
    written = WrittenDown(fitted)
    short = [s for s in X if len(s) <= 4][:12]
    proba = fitted.predict_proba(short)
    assert [p.shape for p in proba] == [(len(s), len(fitted.classes_)) for s in short]
    for sequence, found in zip(short, proba, strict=True):
        paths = list(written.labellings(sequence))
        scores = np.array([written.score(fitted._theta, sequence, path) for path in paths])
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        for t, k in itertools.product(range(len(sequence)), range(len(fitted.classes_))):
            chosen = [path[t] == fitted.classes_[k] for path in paths]
            assert found[t, k] == pytest.approx(shares[chosen].sum(), abs=1e-12)
    marginals = fitted.predict_marginals(short)
    assert [[list(p.values()) for p in s] for s in marginals] == [p.tolist() for p in proba]


# Forms of data


def test_empty_sequences_inside_data(fitted, corpus):
    X, y = corpus
    assert [] in X
    filled = [k for k, sequence in enumerate(X) if sequence]
    without = CRF(l2=0.1).fit([X[k] for k in filled], [y[k] for k in filled])
    assert fitted.predict(X) == without.predict(X)
    assert [len(s) for s in fitted.predict(X)] == [len(s) for s in X]
    assert [len(p) for p in fitted.predict_proba(X)] == [len(s) for s in X]
    np.testing.assert_array_equal(without._theta, fitted._theta)
    for nothing in ([], [[]], [[], []]):
        assert fitted.predict(nothing) == nothing
        assert [p.shape for p in fitted.predict_proba(nothing)] == [(0, 4)] * len(nothing)
        assert fitted.predict_marginals(nothing) == nothing


def test_positions_without_features_and_tuples_and_arrays(fitted, corpus):
    X, y = corpus
    (labels,) = fitted.predict([[[], [], ["never met"]]])
    assert len(labels) == 3
    tuples = tuple(tuple(tuple(position) for position in sequence) for sequence in X)
    arrays = [np.array(labels, dtype=object) for labels in y]
    again = CRF(l2=0.1).fit(tuples, arrays)
    np.testing.assert_array_equal(again._theta, fitted._theta)
    generated = CRF(l2=0.1).fit((sequence for sequence in X), (labels for labels in y))
    np.testing.assert_array_equal(generated._theta, fitted._theta)


@pytest.mark.parametrize("positions", [1, 7, 50, 16384])
def test_predictions_do_not_depend_on_the_cuts(fitted, corpus, monkeypatch, positions):
    X, y = corpus
    before = (fitted.predict(X), fitted.predict_proba(X), fitted.log_likelihood(X, y))
    monkeypatch.setattr(decoding, "POSITIONS", positions)
    assert fitted.predict(X) == before[0]
    for one, other in zip(fitted.predict_proba(X), before[1], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)
    assert fitted.log_likelihood(X, y) == pytest.approx(before[2], rel=1e-12)


def test_much_data_at_once(fitted, corpus):
    """More positions than one part takes, in an order of its own."""
    X, _ = corpus
    single = fitted.predict(X)
    repeated = 100
    assert sum(map(len, X)) * repeated > 16384
    assert fitted.predict(X * repeated) == single * repeated
    long = [position for sequence in X for position in sequence] * repeated
    (labels,) = fitted.predict([long])
    assert len(labels) == len(long)


def test_unseen_features_are_left_out_and_counted(fitted, corpus, caplog):
    X, _ = corpus
    assert fitted.count_unseen(X) == 0
    strange = [[[*position, "new", "newer"] for position in sequence] for sequence in X]
    with caplog.at_level(logging.INFO, logger="purport"):
        assert fitted.predict(strange) == fitted.predict(X)
    count = 2 * sum(map(len, X))
    assert fitted.count_unseen(strange) == count
    (record,) = [r for r in caplog.records if "never met" in r.message]
    assert str(count) in record.message
    assert "newer" not in caplog.text


def test_unseen_labels_are_counted_and_told(fitted, corpus):
    X, y = corpus
    sequence, labels = next((s, t) for s, t in zip(X, y, strict=True) if len(s) == 4)
    with pytest.warns(UnseenWarning, match="^1 labels .* count as not known") as told:
        found = fitted.log_likelihood([sequence], [["new", *labels[1:]]])
    assert told[0].filename == __file__
    assert found == fitted.log_likelihood([sequence], [[None, *labels[1:]]])
    right = fitted.predict([sequence])[0]
    with pytest.warns(UnseenWarning, match="^2 labels .* count as wrong") as told:
        assert fitted.score([sequence], [["new", "newer", *right[2:]]]) == 0.5
    assert told[0].filename == __file__


def test_score_leaves_out_what_is_not_known(fitted, corpus):
    X, y = corpus
    predicted = fitted.predict(X)
    flat = [
        (guess, label)
        for p, t in zip(predicted, y, strict=True)
        for guess, label in zip(p, t, strict=True)
    ]
    assert fitted.score(X, y) == pytest.approx(np.mean([g == t for g, t in flat]))
    known = [[label if t % 2 else None for t, label in enumerate(labels)] for labels in y]
    expected = [
        guess == label
        for p, t in zip(predicted, known, strict=True)
        for guess, label in zip(p, t, strict=True)
        if label is not None
    ]
    assert fitted.score(X, known) == pytest.approx(np.mean(expected))


# Records


def test_records_bring_their_labels(talk):
    crf = CRF(features=TokenWindows(words=(-1, 1))).fit(talk)
    labelled = crf.label(talk)
    assert labelled.labels == crf.predict(talk)
    assert labelled.slots == talk.slots
    assert labelled.ids == talk.ids
    assert crf.score(talk) == 1.0
    for number, probability in enumerate(labelled.probability):
        one = talk[number]
        expected = math.exp(crf.log_likelihood(one, crf.predict(one)))
        assert probability == pytest.approx(expected, rel=1e-9)
    assert labelled.probability[1] == 1.0, "there is one labelling of nothing"
    assert crf.log_likelihood(talk) == crf.log_likelihood(talk, talk.slots)


def test_an_explicit_y_wins_over_the_records(talk):
    turned = [["X" if label == "O" else "Y" for label in labels] for labels in talk.slots]
    assert CRF().fit(talk, turned).classes_.tolist() == ["X", "Y"]


def test_records_without_slots_are_labelled(talk):
    bare = Utterances.from_lists([["play", "unheard"], [], ["jazz"]])
    crf = CRF().fit(talk)
    labelled = crf.label(bare)
    assert labelled.slots is None
    assert [len(labels) for labels in labelled.labels] == [2, 0, 1]
    assert crf.count_unseen(bare) > 0
    assert crf.label(bare[:0]).labels in (None, [])


# Training


def test_one_label_trains_and_says_so():
    with pytest.warns(PurportWarning, match="All known labels are 'O'") as told:
        crf = CRF().fit([[["a"], ["b"]], [["c"]]], [["O", None], ["O"]])
    assert told[0].filename == __file__
    assert crf.predict([[["a"], ["x"]], []]) == [["O", "O"], []]
    assert crf.predict_proba([[["z"]]])[0].tolist() == [[1.0]]
    assert crf.log_likelihood([[["a"]]], [["O"]]) == 0.0


def test_history_says_how_the_fit_went(fitted):
    assert fitted.converged_
    for facts in fitted.history_:
        assert set(facts) == {"objective", "seconds", "gradient_norm", "step", "evaluations"}
    objectives = [facts["objective"] for facts in fitted.history_]
    assert all(b <= a * (1.0 + 1e-15) for a, b in itertools.pairwise(objectives))
    seconds = [facts["seconds"] for facts in fitted.history_]
    assert seconds == sorted(seconds)


def test_reaching_max_iter_warns_once_and_says_what_to_do(corpus):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 .* Raise max_iter") as told:
        crf = CRF(max_iter=3, tol=1e-9).fit(*corpus)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert not crf.converged_
    assert len(crf.history_) == 4


def test_a_warm_start_goes_on_lower(corpus):
    X, y = corpus
    with pytest.warns(ConvergenceWarning):
        crf = CRF(l2=0.1, max_iter=4).fit(X, y)
    before, theta = crf.history_, crf._theta.copy()
    with pytest.warns(ConvergenceWarning):
        assert crf.fit(X, y, warm_start=True) is crf
    assert crf.history_[0]["objective"] == pytest.approx(before[-1]["objective"], rel=1e-12)
    assert crf.history_[-1]["objective"] < before[-1]["objective"]
    assert not np.array_equal(crf._theta, theta)
    done = CRF(l2=0.1, tol=1e-8, max_iter=1000).fit(X, y)
    lowest = done.history_[-1]["objective"]
    again = done.fit(X, y, warm_start=True)
    assert again.history_[-1]["objective"] == pytest.approx(lowest, rel=1e-8)
    with pytest.warns(ConvergenceWarning):
        anew = CRF(l2=0.1, max_iter=4).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        assert anew.fit(X, y).history_[-1]["objective"] == before[-1]["objective"]


def test_a_warm_start_takes_other_data_of_the_same_labels(corpus, other_corpus):
    crf = CRF(l2=0.1).fit(*corpus)
    classes, features = crf.classes_.tolist(), crf.attributes_
    X, y = other_corpus
    y = [[None if n % 5 == 0 else label for n, label in enumerate(labels)] for labels in y]
    lower = crf.log_likelihood(X, y)
    crf.fit(X, y, warm_start=True)
    assert crf.log_likelihood(X, y) > lower
    assert (crf.classes_.tolist(), crf.attributes_) == (classes, features)


@pytest.mark.parametrize("l1", [0.0, 0.5])
def test_the_same_bits_at_any_number_of_threads(corpus, l1, cut_small):
    cut_small(20)
    X, y = corpus
    y = [[None, *labels[1:]] if n % 4 == 0 else labels for n, labels in enumerate(map(list, y))]
    y = [labels[: len(X[n])] for n, labels in enumerate(y)]
    fits = [CRF(l1=l1, l2=0.1, n_threads=n).fit(X, y) for n in (1, 2, 3)]
    fits.append(CRF(l1=l1, l2=0.1).fit(X, y, engine=threads(5)))
    for crf in fits[1:]:
        np.testing.assert_array_equal(crf._theta, fits[0]._theta)
        assert [facts["objective"] for facts in crf.history_] == [
            facts["objective"] for facts in fits[0].history_
        ]
        assert crf.log_likelihood(X, y) == fits[0].log_likelihood(X, y)
        for one, other in zip(crf.predict_proba(X), fits[0].predict_proba(X), strict=True):
            np.testing.assert_array_equal(one, other)


def test_huge_values_are_learnt_from():
    X = [[{"a": 1e6, "bias": 1.0}, {"b": 1e4}], [{"a": -1e6}, {"b": 1e4, "c": 1e-6}]] * 3
    y = [["P", "Q"], ["R", "Q"]] * 3
    crf = CRF(l2=0.01, max_iter=200).fit(X, y)
    assert all(np.isfinite(facts["objective"]) for facts in crf.history_)
    assert crf.predict(X) == y
    assert np.isfinite(crf.log_likelihood(X, y))


# Interruptions


class InterruptedEngine:
    """Works as one thread does, and meets Ctrl-C at the n-th gradient."""

    def __init__(self, after):
        self._engine = threads(1)
        self._left = after
        self.place, self.map, self.close = self._engine.place, self._engine.map, self._engine.close
        self.n = 1

    def fold(self, placed, zero, parameters):
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        return self._engine.fold(placed, zero, parameters)


@pytest.mark.parametrize("after", [0, 1, 3, 8])
@pytest.mark.parametrize("l1", [0.0, 0.2])
def test_an_interruption_leaves_the_last_finished_iteration(corpus, after, l1):
    X, y = corpus
    undisturbed = CRF(l2=0.1, l1=l1).fit(X, y)
    crf = CRF(l2=0.1, l1=l1)
    with pytest.raises(KeyboardInterrupt):
        crf.fit(X, y, engine=InterruptedEngine(after))
    assert crf.converged_ is False
    done = len(crf.history_)
    assert sum(facts["evaluations"] for facts in crf.history_) <= after
    assert [facts["objective"] for facts in crf.history_] == [
        facts["objective"] for facts in undisturbed.history_[:done]
    ]
    if done > 1:
        with pytest.warns(ConvergenceWarning):
            stopped = CRF(l2=0.1, l1=l1, max_iter=done - 1).fit(X, y)
        np.testing.assert_array_equal(crf._theta, stopped._theta)
    assert len(crf.predict(X)) == len(X)
    crf.fit(X, y, warm_start=True)
    assert crf.converged_
    last = crf.history_[-1]["objective"]
    assert last == pytest.approx(undisturbed.history_[-1]["objective"], rel=1e-3)


def test_an_interruption_of_a_second_fit_leaves_one_whole_model(corpus):
    X, y = corpus
    crf = CRF(l2=0.1).fit(X, y)
    with pytest.raises(KeyboardInterrupt):
        crf.fit([[["other"], ["data"]]], [["P", "Q"]], engine=InterruptedEngine(0))
    assert crf.predict([[["data"]]])[0][0] in {"P", "Q"}
    assert crf.transitions_.shape == (2, 2)
    assert (crf.converged_, crf.history_) == (False, [])
    fitted = CRF(l2=0.1).fit(X, y)
    fitted.predict(X)
    theta = fitted._theta
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X, y, warm_start=True, engine=InterruptedEngine(0))
    np.testing.assert_array_equal(fitted._theta, theta)
    assert not fitted.converged_


# What was learnt


def test_what_was_learnt_can_be_read(fitted):
    label = fitted.classes_[0]
    listed = fitted.state_features(label, top=None)
    assert dict(listed) == {
        feature: weight for (feature, of), weight in fitted.state_features_.items() if of == label
    }
    weights = [weight for _, weight in listed]
    assert weights == sorted(weights, reverse=True)
    top = fitted.state_features(label, top=3)
    assert sorted(map(abs, weights))[-3:] == sorted(abs(weight) for _, weight in top)
    classes = fitted.classes_.tolist()
    for (source, target), weight in fitted.transition_features_.items():
        assert fitted.transitions_[classes.index(source), classes.index(target)] == weight
    used = len(fitted.state_features_) + len(fitted.transition_features_)
    assert fitted.n_features_ == used


@pytest.mark.parametrize("form", ["lists", "records"])
def test_a_restored_model_says_the_same(corpus, talk, form):
    data = corpus if form == "lists" else (talk, talk.slots)
    crf = CRF(l2=0.1).fit(*data)
    state = crf._to_state()
    restored = CRF(**crf.get_params())
    restored._restore(State(dict(state.arrays), dict(state.settings)))
    X, y = data
    assert restored.predict(X) == crf.predict(X)
    assert restored.log_likelihood(X, y) == crf.log_likelihood(X, y)
    assert restored.history_ == crf.history_
    assert restored.converged_ == crf.converged_
    assert restored.fit(X, y, warm_start=True).log_likelihood(X, y) >= crf.log_likelihood(X, y) - 1


def test_verbose_lines_go_to_stderr_alone(corpus, capsys, monkeypatch):
    clock = itertools.count(0.0, 11.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    CRF(verbose="lines").fit(*corpus)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "CRF.fit: 1 of 100" in shown.err
    CRF().fit(*corpus)
    assert capsys.readouterr() == ("", "")


class ByValueEngine:
    """An engine whose workers share no memory with the caller: everything is copied both ways."""

    def __init__(self):
        self.closed = False

    def place(self, partitions):
        return copy.deepcopy(list(partitions))

    def fold(self, placed, zero, parameters):
        parts = [
            copy.deepcopy(zero).zero().add(copy.deepcopy(part), copy.deepcopy(parameters))
            for part in placed
        ]
        return functools.reduce(lambda left, right: left.merge(right), parts)

    def map(self, placed, function, parameters):
        return [copy.deepcopy(function(copy.deepcopy(part), parameters)) for part in placed]

    def close(self):
        self.closed = True


def test_an_engine_without_shared_memory_learns_the_same(corpus):
    X, y = corpus
    here = CRF(l2=0.1, n_threads=1).fit(X, y)
    engine = ByValueEngine()
    there = CRF(l2=0.1).fit(X, y, engine=engine)
    np.testing.assert_allclose(there.history_[-1]["objective"], here.history_[-1]["objective"])
    assert there.predict(X) == here.predict(X)
    assert not engine.closed  # who made it closes it


def test_a_fit_that_fails_late_leaves_the_model_as_it_was(corpus):
    X, y = corpus
    crf = CRF(l2=0.1).fit(X, y)
    said, history = crf.predict(X), crf.history_
    with pytest.raises(InputError, match="too large"):
        crf.fit([[{"a": 1e200}, {"b": 1e200}]], [["P", "Q"]])
    assert crf.predict(X) == said
    assert crf.history_ is history
    fresh = CRF()
    with pytest.raises(InputError):
        fresh.fit([[{"a": 1e200}, {"b": 1e200}]], [["P", "Q"]])
    with pytest.raises(NotFittedError):
        fresh.predict(X)


def test_a_weight_of_zero_leaves_a_sequence_out():
    X = [[["a"], ["b"]], [["a"], ["c"]], [["b"], ["c"]]]
    y = [["X", "Y"], ["X", "Z"], ["Y", "X"]]
    weighed = CRF(l2=0.1).fit(X, y, sample_weight=[1, 0, 1])
    without = CRF(l2=0.1).fit([X[0], X[2]], [y[0], y[2]])
    assert weighed.classes_.tolist() == without.classes_.tolist() == ["X", "Y"]
    for mine, other in zip(weighed.predict_proba(X), without.predict_proba(X), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-6)


def test_development_data_of_sklearn_crfsuite_are_refused(corpus):
    X, y = corpus
    with pytest.raises(InputError, match="warm_start"):
        CRF().fit(X, y, np.ones(len(X)), (X, y))


def test_size_and_number_of_attributes(corpus):
    X, y = corpus
    crf = CRF(l2=0.1).fit(X, y)
    assert crf.num_attributes_ == len(crf.attributes_)
    assert crf.size_ > 8 * crf.n_features_
