"""Learning from batches: near the optimum, to the same bits after a break, in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest

import purport
from purport.errors import InputError, ParameterError
from purport.features.token_windows import TokenWindows
from purport.lattice.transitions import Arcs
from purport.optimize.leader import Leader
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.sequence.growth import grow
from purport.sequence.scorer import Layout
from purport.simulate.utterances import utterance_world


@pytest.fixture(scope="module")
def talk():
    return utterance_world(1500, 1)


@pytest.fixture(scope="module")
def test():
    return utterance_world(500, 2)


def cut(records, size):
    return [records[start : start + size] for start in range(0, len(records), size)]


def test_passes_over_batches_come_near_the_optimum(talk, test):
    best = CRF(l2=0.1, max_iter=500).fit(talk)
    batched = CRF(l2=0.1).fit_batches(lambda: cut(talk, 400), passes=5)
    assert batched.classes_.tolist() == best.classes_.tolist()
    assert batched._encoder.feature_names() == best._encoder.feature_names()
    assert len(batched._theta) == len(best._theta)
    gap = (best.log_likelihood(test) - batched.log_likelihood(test)) / int(test.offsets[-1])
    assert gap < 0.01
    assert batched.score(test) > best.score(test) - 0.01
    assert [now["sequences"] for now in batched.history_] == [1500, 3000, 4500, 6000, 7500]
    losses = [now["objective"] for now in batched.history_]
    assert losses == sorted(losses, reverse=True)
    assert batched.converged_


def test_the_size_of_what_is_read_changes_nothing_but_the_order(talk):
    one = CRF(l2=0.1, batch_size=50).fit_batches(lambda: [talk], passes=1)
    other = CRF(l2=0.1, batch_size=50).fit_batches(lambda: iter([talk]), passes=1)
    np.testing.assert_array_equal(one._theta, other._theta)


def test_lists_come_as_pairs(talk):
    X, y = TokenWindows().strings(talk[:300]), talk[:300].slots
    crf = CRF(l2=0.1, batch_size=16).fit_batches(lambda: [(X[:100], y[:100]), (X[100:], y[100:])])
    assert crf.score(X, y) > 0.9


@pytest.mark.parametrize("n_threads", [1, 3])
def test_saved_in_the_middle_it_goes_on_to_the_same_bits(talk, tmp_path, n_threads):
    batches = cut(talk, 300)
    classes = sorted({label for labels in talk.slots for label in labels})
    whole = CRF(l2=0.1, random_state=4)
    for batch in batches:
        whole.partial_fit(batch, classes=classes)
    half = CRF(l2=0.1, random_state=4, n_threads=n_threads)
    for batch in batches[:2]:
        half.partial_fit(batch, classes=classes)
    purport.save(half, tmp_path / "half")
    half = purport.load(tmp_path / "half")
    for batch in batches[2:]:
        assert half.partial_fit(batch) is half
    np.testing.assert_array_equal(half._theta, whole._theta)
    np.testing.assert_array_equal(half._online.leader.q, whole._online.leader.q)
    assert half._counts == whole._counts
    assert half._counts["sequences"] == len(talk)


def test_later_batches_bring_new_pairs_and_change_only_what_they_show(talk):
    first = CRF(l2=0.0).partial_fit([[["a"], ["b"]]], [["P", "Q"]], classes=["P", "Q", "R"])
    before = first.state_features_
    assert ("b", "R") not in first.state_features_
    first.partial_fit([[["b"], ["b"]]] * 5, [["R", "R"]] * 5)
    assert first.state_features_["b", "R"] > 0.0
    assert first.state_features_["a", "P"] == before["a", "P"]
    assert first.transition_features_["R", "R"] > 0.0
    assert first.predict([[["b"], ["b"]], [["a"]]]) == [["R", "R"], ["P"]]


def test_features_that_the_first_call_did_not_show_are_left_out(talk):
    crf = CRF().partial_fit([[["a"], ["b"]]], [["P", "Q"]])
    crf.partial_fit([[["new"], ["b"]]], [["P", "Q"]])
    assert crf.attributes_ == ["a", "b"]
    hashed = CRF(features=TokenWindows(hash_bits=12), l2=0.01)
    classes = sorted({label for labels in talk.slots for label in labels})
    hashed.partial_fit(talk[:50], classes=classes)
    for batch in cut(talk[50:], 250):
        hashed.partial_fit(batch)
    assert hashed.score(talk) > 0.9


@pytest.mark.filterwarnings("ignore::purport.errors.UnseenWarning")
def test_after_fit_it_goes_on_from_there(talk):
    crf = CRF(l2=0.1, max_iter=500).fit(talk[:900])
    before = crf.log_likelihood(talk[900:])
    theta = crf._theta.copy()
    crf.partial_fit(talk[900:])
    assert crf.log_likelihood(talk[900:]) > before
    assert len(crf._theta) > len(theta)
    anew = crf.fit(talk[:900])
    np.testing.assert_array_equal(anew._theta, theta)


def test_weights_count_as_often_as_they_say(talk):
    heavy, light = (
        CRF(l2=0.1, batch_size=10_000).partial_fit(talk[:50], sample_weight=np.full(50, w))
        for w in (3.0, 1.0)
    )
    tripled = CRF(l2=0.1, batch_size=10_000).partial_fit(Utterances.concatenate([talk[:50]] * 3))
    np.testing.assert_allclose(heavy._theta, tripled._theta, rtol=1e-9)
    assert not np.allclose(heavy._theta, light._theta)


@pytest.mark.filterwarnings("ignore::purport.errors.UnseenWarning")
def test_the_pass_after_which_dev_data_are_most_likely_is_kept(talk, test):
    crf = CRF(l2=0.0, learning_rate=3.0, batch_size=16).fit_batches(
        lambda: cut(talk[:200], 100), passes=12, dev=test
    )
    told = [now["dev_log_likelihood"] for now in crf.history_]
    assert len(told) < 12
    assert told[-1] <= max(told) == told[-2]
    assert crf.log_likelihood(test) / int(test.offsets[-1]) == pytest.approx(max(told), rel=0.01)


def test_what_cannot_be_learnt_from(talk):
    for read, message in (
        (list, "gave no batches"),
        (lambda: [Utterances.from_lists([["a"]])], "at least one known label"),
        (lambda: [([["a"]], None)], "needs labels"),
        (iter([talk]), "a list of batches; got list_iterator"),
        (talk, "a list of batches; got Utterances"),
        (lambda: [(np.eye(2), [1, 2])], "partial_fit"),
        (lambda: [talk, ([[["a"]]], [["P"]])], "one form"),
        (lambda: [([[["a"]]], [[None]])], "at least one known label"),
    ):
        model = CRF()
        with pytest.raises(InputError, match=message):
            model.fit_batches(read)
        assert not model._is_fitted()
    with pytest.raises(ParameterError, match="passes"):
        CRF().fit_batches(lambda: [talk], passes=0)
    with pytest.raises(InputError, match="min_freq"):
        CRF(min_freq=2).partial_fit(talk)
    crf = CRF().partial_fit(talk[:10])
    theta = crf._theta
    with pytest.raises(InputError, match=r"not among the classes of the model.* give classes="):
        crf.partial_fit(Utterances.from_lists([["a"]], slots=[["new"]]))
    with pytest.raises(InputError, match="differ from those of the first call"):
        crf.partial_fit(talk[:10], classes=["a"])
    assert crf._theta is theta


def test_batches_that_run_dry_are_refused(talk):
    once = iter([talk[:50], talk[50:80]])
    with pytest.raises(InputError, match="other data when it was called again: 0 sequences, 80"):
        CRF().fit_batches(lambda: once, passes=2)


def test_a_list_of_batches_is_read_again_and_again(talk):
    batches = cut(talk[:90], 30)
    given, read = CRF().fit_batches(batches), CRF().fit_batches(lambda: iter(batches))
    np.testing.assert_array_equal(given._theta, read._theta)


def test_batches_without_a_label_or_a_record_teach_no_weights(talk):
    labelled, unlabelled = talk[:50], Utterances.from_lists(talk[50:60].tokens)
    some = CRF(l2=0.01).fit_batches([unlabelled, labelled[:0], labelled])
    assert some.classes_.tolist() == CRF().fit_batches([labelled]).classes_.tolist()
    assert some.history_[-1]["sequences"] == 3 * 60
    assert some.score(labelled) > 0.9
    X, y = TokenWindows().strings(labelled), labelled.slots
    lists = CRF(l2=0.01).fit_batches([([], []), (X[:5], [None] * 5), (X, y)])
    assert lists.score(X, y) > 0.9
    with pytest.raises(InputError, match="at least one known label"):
        CRF().fit_batches([unlabelled, unlabelled], classes=["O"])


def test_the_leader_minimises_what_it_says():
    """After batches of quadratics: the penalised optimum of their sum."""
    random = np.random.default_rng(0)
    targets = random.normal(1.0, 0.1, (4000, 3)) * [1.0, 0.0, -2.0]
    leader = Leader.at(np.zeros(3), 1.0)
    for number, target in enumerate(targets):
        weights = leader.weights(l1=0.0, l2=400.0 * number / 4000)
        leader.add(weights - target, weights)
    # sum 1/2 (w - t)^2 + 400 w^2 is least at sum t / (4000 + 800)
    np.testing.assert_allclose(leader.weights(0.0, 400.0), targets.sum(0) / 4800, atol=0.02)
    assert leader.weights(l1=1e5, l2=0.0).tolist() == [0.0, 0.0, 0.0]
    start = np.array([0.5, -1.0, 0.0])
    np.testing.assert_allclose(Leader.at(start, 0.3, 0.7, 2.0).weights(0.7, 2.0), start, atol=1e-15)


def test_grown_weights_keep_their_meaning():
    random = np.random.default_rng(1)
    for _ in range(20):
        states, width = 3, 5
        pairs = [np.flatnonzero(random.random(states * width) < 0.4) for _ in range(2)]
        arcs = [np.flatnonzero(random.random(states**2) < 0.4) for _ in range(2)]
        layouts = [
            Layout.of(
                states,
                np.searchsorted(numbers // states, np.arange(width + 1)).astype(np.int64),
                (numbers % states).astype(np.int32),
            )
            for numbers in pairs
        ]
        links = [Arcs(states, *np.divmod(numbers, states), 0.0) for numbers in arcs]
        grown = grow(layouts[0], links[0], layouts[1], links[1])
        assert len(grown.layout) == len(np.union1d(*pairs))
        assert len(grown.arcs) == len(np.union1d(*arcs))
        values = random.normal(size=len(pairs[0]) + len(arcs[0]))
        spread = grown.spread(values)
        column = np.repeat(np.arange(width), np.diff(grown.layout.pointers))
        found = dict(zip((column * states + grown.layout.targets).tolist(), spread, strict=False))
        assert all(found[n] == v for n, v in zip(pairs[0].tolist(), values, strict=False))
        of_arcs = spread[len(grown.layout) :]
        numbers = grown.arcs.sources * states + grown.arcs.targets
        found = dict(zip(numbers.tolist(), of_arcs, strict=True))
        assert all(
            found[n] == v for n, v in zip(arcs[0].tolist(), values[len(pairs[0]) :], strict=True)
        )
