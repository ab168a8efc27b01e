"""What may be known of labels: sets, shares, what is allowed beforehand; against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.crf import WrittenDown

from purport.errors import InputError, ParameterError, ShapeError
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.sequence.labels import encode_labels, with_shares


@pytest.fixture(scope="module")
def fitted(corpus):
    return CRF(l2=0.1).fit(*corpus)


def short(corpus, longest=4):
    return [sequence for sequence in corpus[0] if 0 < len(sequence) <= longest][:8]


def agrees(path, allowed):
    return all(
        known is None or label == known or (not isinstance(known, str) and label in known)
        for label, known in zip(path, allowed, strict=True)
    )


def some_allowed(length, classes, random):
    """Nothing, a label, or a set for each position."""
    found = []
    for _ in range(length):
        kind = random.integers(3)
        size = int(random.integers(1, len(classes) + 1))
        chosen = random.choice(classes, size, replace=False).tolist()
        found.append([None, chosen[0], set(chosen)][kind])
    return found


# Allowed beforehand


@pytest.mark.parametrize("forbid", [None, "bio"])
def test_all_that_is_said_agrees_with_what_is_allowed(corpus, forbid):
    X, y = bio_corpus(corpus)
    crf = CRF(l2=0.1, forbid=forbid).fit(X, y)
    random = np.random.default_rng(2)
    written = WrittenDown(crf)
    classes = crf.classes_.tolist()
    tried = 0
    for sequence in short((X, y), 3):
        allowed = some_allowed(len(sequence), classes, random)
        paths = [
            path
            for path in written.labellings(sequence)
            if agrees(path, allowed) and (forbid is None or is_bio(path))
        ]
        if not paths:
            with pytest.raises(InputError, match=r"X\[0\]: no labelling agrees"):
                crf.predict([sequence], allowed=[allowed])
            continue
        tried += 1
        scores = np.array([written.score(crf._theta, sequence, path) for path in paths])
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        assert tuple(crf.predict([sequence], allowed=[allowed])[0]) == paths[int(np.argmax(scores))]
        (proba,) = crf.predict_proba([sequence], allowed=[allowed])
        for t, k in itertools.product(range(len(sequence)), range(len(classes))):
            chosen = [path[t] == classes[k] for path in paths]
            assert proba[t, k] == pytest.approx(shares[chosen].sum(), abs=1e-12)
        best = crf.predict_nbest([sequence], n=len(paths) + 3, allowed=[allowed])[0]
        assert len(best) == len(paths)
        np.testing.assert_allclose([p for _, p in best], np.sort(shares)[::-1], atol=1e-12)
        for labels in crf.sample([sequence], n=30, random_state=1, allowed=[allowed])[0]:
            assert tuple(labels) in paths
    assert tried >= 4


def bio_corpus(corpus):
    """The same words with labels that are BIO tags."""
    X, y = corpus
    mended = []
    for labels in y:
        before, sequence = "O", []
        for label in labels:
            fits = label[:2] != "I-" or before in (f"B-{label[2:]}", label)
            before = label if fits else f"B-{label[2:]}"
            sequence.append(before)
        mended.append(sequence)
    return X, mended


def is_bio(path):
    return all(
        label[:2] != "I-" or before in (f"B-{label[2:]}", label)
        for before, label in zip(("O", *path), path, strict=False)
    )


def test_no_forbidden_pair_is_ever_said(corpus, other_corpus):
    X, y = bio_corpus(corpus)
    strange, _ = other_corpus
    free, held = (CRF(l2=1e-3, max_iter=500, forbid=rule).fit(X, y) for rule in (None, "bio"))
    strange = [[*s, *s[::-1]] for s in strange]
    assert any(not is_bio(path) for path in free.predict(strange))
    said = held.predict(strange)
    assert all(map(is_bio, said))
    for number, paths in enumerate(held.predict_nbest(strange, n=4)):
        assert all(is_bio(labels) for labels, _ in paths)
        assert not paths or paths[0].labels == said[number]
    for paths in held.sample(strange, n=5, random_state=3):
        assert all(map(is_bio, paths))


def test_pairs_and_ends_may_be_forbidden(corpus):
    X, y = [[["a"], ["b"], ["c"]]] * 3, [["P", "Q", "R"]] * 3
    crf = CRF(l2=0.01, forbid=[("Q", "Q"), (None, "Q"), ("P", None)]).fit(X, y)
    assert crf.predict([[["b"], ["b"], ["a"]]])[0][0] != "Q"
    for labels, _ in crf.predict_nbest([[["b"], ["b"], ["a"]]], n=27)[0]:
        assert labels[0] != "Q"
        assert labels[-1] != "P"
        assert ("Q", "Q") not in itertools.pairwise(labels)
    assert len(crf.predict_nbest([[["b"], ["b"], ["a"]]], n=27)[0]) == 10
    total = sum(
        math.exp(crf.log_likelihood(X[:1], [list(p)])) for p in itertools.product("PQR", repeat=3)
    )
    assert total == pytest.approx(1.0, rel=1e-12)


def test_training_data_that_are_forbidden_are_refused():
    X, y = [[["a"], ["b"]]] * 3, [["O", "B-x"], ["O", "I-x"], ["B-x", "I-x"]]
    with pytest.raises(InputError, match=r"X\[1\] has labels that forbid= forbids, and so have 1"):
        CRF(forbid="bio").fit(X, y)
    # Where not all is known, what is left must hold one allowed labelling.
    CRF(forbid="bio").fit(X, [["O", "B-x"], [{"O", "B-x"}, "I-x"], ["B-x", "I-x"]])
    with pytest.raises(InputError, match=r"X\[1\] has labels"):
        CRF(forbid="bio").fit(X, [["O", "B-x"], [{"O", "B-y"}, "I-x"], ["B-x", "I-x"]])
    with pytest.raises(InputError, match="forbid names the label 'Z'"):
        CRF(forbid=[("O", "Z")]).fit(X, y)
    for wrong in ("iob", 3, [("a",)], ["ab"], [(1, "O")]):
        with pytest.raises(ParameterError, match="parameter 'forbid' must be 'bio' or a list"):
            CRF(forbid=wrong).fit(X, y)


def test_the_optimum_under_rules_is_that_of_the_paths_allowed(corpus):
    X, y = bio_corpus(corpus)
    few = [number for number, sequence in enumerate(X) if 0 < len(sequence) <= 3]
    X, y = [X[number] for number in few], [y[number] for number in few]
    crf = CRF(l2=0.1, forbid="bio", tol=1e-9, max_iter=1000).fit(X, y)
    written = WrittenDown(crf)

    def objective(theta):
        total = 0.1 * float(theta @ theta)
        for sequence, labels in zip(X, y, strict=True):
            paths = filter(is_bio, written.labellings(sequence))
            scores = np.array([written.score(theta, sequence, path) for path in paths])
            total += np.logaddexp.reduce(scores) - written.score(theta, sequence, labels)
        return total

    best = objective(crf._theta)
    assert crf.history_[-1]["objective"] == pytest.approx(best, rel=1e-9)
    random = np.random.default_rng(0)
    for _ in range(5):
        assert objective(crf._theta + 1e-3 * random.normal(size=len(crf._theta))) > best


def test_what_is_allowed_is_checked(fitted, corpus):
    X = [[["w=1"], ["w=2"]]]
    for allowed, error, message in (
        ([["O"]], ShapeError, r"allowed\[0\]"),
        ([], ShapeError, "allowed has length 0"),
        ("O", InputError, "allowed must be a list of lists"),
        ([["Z", None]], InputError, "1 positions of allowed name only labels"),
        ([[{"Z", "Y"}, None]], InputError, "1 positions of allowed name only labels"),
        ([[set(), None]], InputError, "no label at all, an empty set"),
        ([[{1}, None]], InputError, "Labels must be strings"),
        ([[3, None]], InputError, "Labels must be strings"),
    ):
        with pytest.raises(error, match=message):
            fitted.predict(X, allowed=allowed)


# Sets of labels in training


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_sets_are_summed_over_in_the_objective(seed):
    random = np.random.default_rng(seed)
    labels = ["P", "Q", "R"]
    X, y = [], []
    for _ in range(5):
        length = int(random.integers(1, 4))
        X.append([[f"w{w}", "bias"] for w in random.integers(0, 4, length)])
        y.append([str(label) for label in random.choice(labels, length)])
    X += X[:2]
    y += [some_allowed(len(sequence), labels, random) for sequence in X[:2]]
    crf = CRF(l2=0.5, tol=1e-8, max_iter=400).fit(X, y)
    written = WrittenDown(crf)
    total = 0.5 * float(crf._theta @ crf._theta)
    for sequence, known in zip(X, y, strict=True):
        if all(label is None for label in known):
            continue
        paths = list(written.labellings(sequence))
        scores = np.array([written.score(crf._theta, sequence, path) for path in paths])
        inside = [agrees(path, known) for path in paths]
        total += np.logaddexp.reduce(scores) - np.logaddexp.reduce(scores[inside])
    assert crf.history_[-1]["objective"] == pytest.approx(total, rel=1e-9)


def test_a_set_of_one_is_a_label_and_a_set_of_all_is_not_known(corpus):
    X, y = corpus
    every = sorted({label for labels in y for label in labels})
    ones = [[{label} for label in labels] for labels in y]
    np.testing.assert_array_equal(CRF().fit(X, ones)._theta, CRF().fit(X, y)._theta)
    half = [[label if k % 2 else None for k, label in enumerate(labels)] for labels in y]
    alls = [[label if k % 2 else every for k, label in enumerate(labels)] for labels in y]
    one, other = (
        CRF(all_possible_states=True, all_possible_transitions=True, tol=1e-9, max_iter=500).fit(
            X, t
        )
        for t in (half, alls)
    )
    np.testing.assert_allclose(one._theta, other._theta, atol=1e-4)


# Shares


def one_hot(labels, classes):
    return np.array([[float(label == c) for c in classes] for label in labels]).reshape(
        -1, len(classes)
    )


def test_shares_of_one_equal_labels(corpus):
    X, y = corpus
    hard = CRF(l2=0.2).fit(X, y)
    classes = hard.classes_.tolist()
    soft = [one_hot(labels, classes) for labels in y]
    for other in (
        CRF(l2=0.2).fit(X, soft=soft, classes=classes),
        CRF(l2=0.2).fit(X, y, soft=soft),
        CRF(l2=0.2).fit(X, y, soft=[None if k % 3 else s for k, s in enumerate(soft)]),
    ):
        assert other.classes_.tolist() == classes
        np.testing.assert_allclose(other._theta, hard._theta, atol=1e-9)


def test_shares_equal_every_labelling_as_often_as_it_is_probable(corpus):
    X = short(corpus, 3)
    classes = ["B-x", "I-x", "O"]
    random = np.random.default_rng(0)
    soft = [random.dirichlet(np.ones(3), len(sequence)) for sequence in X]
    soft[0][:, 1] = 0.0
    soft[0] /= soft[0].sum(axis=1, keepdims=True)
    many, labels, weights = [], [], []
    for sequence, shares in zip(X, soft, strict=True):
        for path in itertools.product(range(3), repeat=len(sequence)):
            many.append(sequence)
            labels.append([classes[k] for k in path])
            weights.append(np.prod(shares[range(len(path)), path]))
    hard = CRF(l2=0.3, tol=1e-9, max_iter=500).fit(many, labels, sample_weight=weights)
    crf = CRF(l2=0.3, tol=1e-9, max_iter=500).fit(X, soft=soft, classes=classes)
    assert crf._arcs.sources.tolist() == hard._arcs.sources.tolist()
    np.testing.assert_allclose(crf._theta, hard._theta, atol=1e-6)
    assert crf.history_[-1]["objective"] == pytest.approx(hard.history_[-1]["objective"], rel=1e-9)


def test_shares_count_with_weights_and_beside_labels(corpus):
    X, y = corpus
    classes = sorted({label for labels in y for label in labels})
    random = np.random.default_rng(1)
    soft = [random.dirichlet(np.ones(4), len(s)) if k % 2 else None for k, s in enumerate(X)]
    weights = random.integers(1, 4, len(X))
    one = CRF(l2=0.3, tol=1e-8, max_iter=300).fit(X, y, sample_weight=weights, soft=soft)
    again = [k for k, w in enumerate(weights) for _ in range(w)]
    other = CRF(l2=0.3, tol=1e-8, max_iter=300).fit(
        [X[k] for k in again], [y[k] for k in again], soft=[soft[k] for k in again]
    )
    np.testing.assert_allclose(one._theta, other._theta, atol=1e-4)
    assert one.classes_.tolist() == classes


def test_records_without_labels_learn_from_shares_alone():
    said = [["to", "rome"], ["from", "rome"]]
    tags = [["O", "B-city"], ["O", "B-city"]]
    classes = ["B-city", "O"]
    shares = [np.array([[0.1, 0.9], [0.8, 0.2]])] * 2
    with_tags = CRF().fit(Utterances.from_lists(said, slots=tags), soft=shares)
    without = CRF().fit(Utterances.from_lists(said), soft=shares, classes=classes)
    assert without.predict(Utterances.from_lists(said)) == tags
    assert without._theta == pytest.approx(with_tags._theta)
    with pytest.raises(InputError, match="nobody says which"):
        CRF().fit(Utterances.from_lists(said), soft=shares)


def test_shares_are_checked():
    X, y = [[["a"], ["b"]]], [["P", "Q"]]
    good = np.array([[0.5, 0.5], [1.0, 0.0]])
    for soft, error, message in (
        ([], ShapeError, "soft has length 0"),
        ("ab", InputError, "soft must be a list of arrays"),
        ([good[:1]], InputError, r"soft\[0\] has the shape \(1, 2\); it must be \(2, 2\)"),
        ([good - 0.5], InputError, r"rows of soft\[0\] must be shares"),
        ([2 * good], InputError, r"rows of soft\[0\] must be shares"),
        ([good * np.nan], InputError, r"rows of soft\[0\] must be shares"),
        ([[["x", "y"], ["x", "y"]]], InputError, r"soft\[0\] must be an array of numbers"),
    ):
        with pytest.raises(error, match=message):
            CRF().fit(X, y, soft=soft)
    with pytest.raises(InputError, match="Give classes="):
        CRF().fit(X, soft=[good])
    with pytest.raises(InputError, match="must be sorted"):
        CRF().fit(X, soft=[good], classes=["Q", "P"])
    with pytest.raises(InputError, match="not among the classes given"):
        CRF().fit(X, y, classes=["P"])


def test_labels_in_pieces():
    coded = encode_labels([["P", {"P", "Q"}, None], [["R"]]], np.array([0, 3, 4]))
    assert coded.classes == ["P", "Q", "R"]
    assert coded.codes.tolist() == [0, -1, -1, 2]
    assert coded.told.tolist() == [True, True, False, True]
    assert coded.whole.tolist() == [False, True]
    soft = with_shares(coded, [np.full((3, 3), 1 / 3), None])
    assert soft.whole.tolist() == [True, True]
    assert soft.codes.tolist() == [-1, -1, -1, 2]
    assert np.exp(soft.clamp(slice(0, 4)).scores).sum() == 3 + 1


# N best and samples


def test_n_best_equal_enumeration(fitted, corpus):
    written = WrittenDown(fitted)
    sequences = [*short(corpus), []]
    found = fitted.predict_nbest(sequences, n=7)
    assert found[-1] == [([], 1.0)]
    for sequence, best in zip(sequences[:-1], found, strict=False):
        paths = list(written.labellings(sequence))
        scores = np.array([written.score(fitted._theta, sequence, path) for path in paths])
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        expected = np.sort(shares)[::-1][:7]
        np.testing.assert_allclose([p for _, p in best], expected, atol=1e-12)
        for labels, p in best:
            assert shares[paths.index(tuple(labels))] == pytest.approx(p, abs=1e-12)
    assert [best[0].labels for best in found] == fitted.predict(sequences)


def test_samples_come_as_often_as_they_are_probable(fitted, corpus):
    sequence = next(s for s in corpus[0] if len(s) == 3)
    draws = 20_000
    (drawn,) = fitted.sample([sequence], n=draws, random_state=5)
    best = fitted.predict_nbest([sequence], n=64)[0]
    chi2 = often = 0
    for labels, p in best:
        if draws * p >= 5:
            count = sum(labels == other for other in drawn)
            chi2 += (count - draws * p) ** 2 / (draws * p)
            often += 1
    assert often >= 8
    assert chi2 < often + 4 * math.sqrt(2 * often)


def test_samples_are_the_same_for_the_same_number(fitted, corpus, monkeypatch):
    from purport.sequence import decoding

    X, _ = corpus
    once = fitted.sample(X, n=2, random_state=7)
    assert once == fitted.sample(X, n=2, random_state=7)
    assert once != fitted.sample(X, n=2, random_state=8)
    monkeypatch.setattr(decoding, "POSITIONS", 11)
    assert once == fitted.sample(X, n=2, random_state=7)
    for method, wrong in itertools.product(("predict_nbest", "sample"), (0, -1, 1.5, None)):
        with pytest.raises(ParameterError, match=f"{method}: parameter 'n' must be a whole"):
            getattr(fitted, method)(X, wrong)
