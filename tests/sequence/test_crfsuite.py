"""The CRF against CRFsuite: the same features, weights, objective, predictions and optimum."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.crf import WrittenDown
from oracle.crfsuite_model import read_weights

from purport.records.utterances import Utterances
from purport.sequence import crf as module
from purport.sequence.crf import CRF

pycrfsuite = pytest.importorskip("pycrfsuite")

PRINTED = 6e-7
"""CRFsuite reports its loss with six digits behind the point."""


class Peer:
    """CRFsuite, trained; its weights and the loss it reported for them."""

    def __init__(self, folder, X, y, **parameters):
        trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
        for sequence, labels in zip(X, y, strict=True):
            trainer.append(sequence, labels)
        trainer.set_params(parameters)
        path = folder / "peer.crfsuite"
        trainer.train(str(path))
        self.loss = trainer.logparser.last_iteration["loss"]
        self.tagger = pycrfsuite.Tagger()
        self.tagger.open(str(path))
        self.states, self.transitions = read_weights(path, self.tagger)


def with_weights_of(peer, X, y, **parameters):
    """Return our objective at the peer's weights, and a CRF that has them."""
    caught = []

    def catch(owner, objective, start, keep, **settings):
        caught.append(objective)
        keep(start, [], True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "train", catch)
        crf = CRF(**parameters).fit(X, y)
    written = WrittenDown(crf)
    assert set(peer.states) <= set(written.names)
    assert set(peer.transitions) <= set(written.pairs)
    theta = np.array(
        [peer.states.get(name, 0.0) for name in written.names]
        + [peer.transitions.get(pair, 0.0) for pair in written.pairs]
    )
    crf._keep(theta, [], True)
    return caught[0](theta)[0], crf


def filled(X, y):
    """Leave out empty sequences, which CRFsuite does not take."""
    kept = [k for k, sequence in enumerate(X) if sequence]
    return [X[k] for k in kept], [y[k] for k in kept]


@pytest.mark.parametrize("iterations", [1, 2, 3, 10])
@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({}, {}),
        ({"feature.possible_transitions": True}, {"all_possible_transitions": True}),
        ({"feature.possible_states": True}, {"all_possible_states": True}),
        ({"feature.minfreq": 3}, {"min_freq": 3}),
    ],
    ids=["observed", "all transitions", "all states", "frequent"],
)
def test_the_objective_is_the_same(corpus, tmp_path, iterations, theirs, ours):
    X, y = filled(*corpus)
    peer = Peer(tmp_path, X, y, c1=0.0, c2=0.7, max_iterations=iterations, **theirs)
    value, _ = with_weights_of(peer, X, y, l2=0.7, **ours)
    assert value == pytest.approx(peer.loss, rel=1e-9, abs=PRINTED)


@pytest.mark.parametrize("least", [3, 10, 20])
@pytest.mark.parametrize("possible", [False, True])
def test_what_is_rare_has_no_weight(corpus, tmp_path, least, possible):
    """Pairs of labels too; and what never occurs is rarer still, `possible` or not."""
    X, y = filled(*corpus)
    theirs = {"feature.possible_states": possible, "feature.possible_transitions": possible}
    peer = Peer(tmp_path, X, y, c2=0.7, max_iterations=20, **{"feature.minfreq": least}, **theirs)
    ours = {"all_possible_states": possible, "all_possible_transitions": possible}
    _, crf = with_weights_of(peer, X, y, l2=0.7, min_freq=least, **ours)
    assert set(WrittenDown(crf).names) == set(peer.states)
    assert set(WrittenDown(crf).pairs) == set(peer.transitions)


def valued(X, seed):
    random = np.random.default_rng(seed)
    return [
        [dict(zip(position, random.normal(size=3).tolist(), strict=True)) for position in sequence]
        for sequence in X
    ]


def test_values_that_are_not_one(corpus, tmp_path):
    X, y = filled(*corpus)
    X = valued(X, 1)
    peer = Peer(tmp_path, X, y, c2=0.7, max_iterations=5)
    value, crf = with_weights_of(peer, X, y, l2=0.7)
    assert value == pytest.approx(peer.loss, rel=1e-9, abs=PRINTED)
    assert crf.predict(X) == [peer.tagger.tag(sequence) for sequence in X]


def test_predictions_and_marginals_are_the_same(corpus, other_corpus, tmp_path):
    X, y = filled(*corpus)
    peer = Peer(tmp_path, X, y, c2=0.1, max_iterations=30)
    _, crf = with_weights_of(peer, X, y, l2=0.1)
    new, labels = filled(*other_corpus)
    assert crf.count_unseen(new) > 0
    predicted, marginals = crf.predict(new), crf.predict_marginals(new)
    for n, sequence in enumerate(new):
        peer.tagger.set(sequence)
        assert predicted[n] == peer.tagger.tag()
        theirs = [
            {label: peer.tagger.marginal(label, t) for label in crf.classes_}
            for t in range(len(sequence))
        ]
        for mine, other in zip(marginals[n], theirs, strict=True):
            assert mine == pytest.approx(other, abs=1e-12)
        expected = np.log(peer.tagger.probability(labels[n]))
        assert crf.log_likelihood([sequence], [labels[n]]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("c2", [0.05, 1.0])
@pytest.mark.parametrize("all_transitions", [False, True])
def test_our_optimum_is_not_above_theirs(corpus, tmp_path, c2, all_transitions):
    X, y = filled(*corpus)
    peer = Peer(
        tmp_path,
        X,
        y,
        c2=c2,
        max_iterations=5000,
        epsilon=1e-8,
        delta=1e-8,
        **{"feature.possible_transitions": all_transitions},
    )
    crf = CRF(l2=c2, tol=1e-8, max_iter=5000, all_possible_transitions=all_transitions).fit(X, y)
    assert crf.converged_
    found = crf.history_[-1]["objective"]
    assert found <= peer.loss * (1.0 + 1e-6)
    assert found == pytest.approx(peer.loss, rel=1e-6)
    assert crf.predict(X) == [peer.tagger.tag(sequence) for sequence in X]


@pytest.mark.parametrize("c1", [0.3, 3.0])
def test_our_optimum_with_l1_is_not_above_theirs(corpus, tmp_path, c1):
    X, y = filled(*corpus)
    peer = Peer(tmp_path, X, y, c1=c1, c2=0.01, max_iterations=5000, epsilon=1e-8, delta=1e-8)
    crf = CRF(l1=c1, l2=0.01, tol=1e-8, max_iter=5000).fit(X, y)
    theta = np.array([*peer.states.values(), *peer.transitions.values()])
    smooth, _ = with_weights_of(peer, X, y, l2=0.01)
    theirs = smooth + c1 * float(np.sum(np.abs(theta)))
    assert crf.history_[-1]["objective"] <= theirs * (1.0 + 1e-6)
    assert 0 < crf.n_features_ < len(crf._theta)
    assert set(crf.state_features_) <= {
        (feature, label) for feature in crf.attributes_ for label in crf.classes_
    }


def windows(tokens):
    """Words two before to two behind, and their ends: the usual small window."""
    padded = ["<", "<", *tokens, ">", ">"]
    return [
        [f"{k - 2}={padded[t + k]}" for k in range(5)] + [f"end={token[-2:]}", "bias"]
        for t, token in enumerate(tokens)
    ]


@pytest.fixture(scope="module")
def atis(real_data):
    def part(name, count):
        talk = Utterances.read(real_data / "atis" / f"{name}.jsonl.gz")[:count]
        return [windows(tokens) for tokens in talk.tokens], talk.slots

    return part("train", 700), part("test", 150)


def test_atis(atis, tmp_path):
    (X, y), (new, _) = atis
    peer = Peer(tmp_path, X, y, c2=0.7, max_iterations=8)
    value, crf = with_weights_of(peer, X, y, l2=0.7)
    assert len(crf.classes_) > 70
    assert value == pytest.approx(peer.loss, rel=1e-9)
    assert crf.predict(new) == [peer.tagger.tag(sequence) for sequence in new]
    for sequence, ours in zip(new[:20], crf.predict_marginals(new[:20]), strict=True):
        peer.tagger.set(sequence)
        middle = len(sequence) // 2
        theirs = {label: peer.tagger.marginal(label, middle) for label in crf.classes_}
        assert ours[middle] == pytest.approx(theirs, abs=1e-11)
