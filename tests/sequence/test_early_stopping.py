"""Stopping early: the weights kept are those under which the dev data were most likely."""

from __future__ import annotations

import numpy as np
import pytest

from purport.errors import InputError, ParameterError
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.simulate.utterances import utterance_world


def mean_likelihood(crf, X, y):
    return crf.log_likelihood(X, y) / sum(map(len, y))


def test_the_weights_kept_are_the_best_for_the_dev_data(corpus, other_corpus):
    X, y = corpus
    X_dev, y_dev = other_corpus
    crf = CRF(l2=0.0, max_iter=500, patience=5).fit(X, y, dev=(X_dev, y_dev))
    told = [now["dev_log_likelihood"] for now in crf.history_]
    best = int(np.argmax(told))
    assert 0 < best < len(told) - 1
    assert len(told) - 1 - best == 5
    assert crf.converged_
    assert mean_likelihood(crf, X_dev, y_dev) == pytest.approx(told[best], rel=1e-9)
    with pytest.warns(UserWarning, match="max_iter"):
        there = CRF(l2=0.0, max_iter=best).fit(X, y)
    np.testing.assert_array_equal(there._theta, crf._theta)


def test_with_much_patience_the_end_is_reached_and_the_best_kept(corpus, other_corpus):
    X, y = corpus
    crf = CRF(l2=0.5, max_iter=500, patience=10_000).fit(X, y, dev=other_corpus)
    told = [now["dev_log_likelihood"] for now in crf.history_]
    assert mean_likelihood(crf, *other_corpus) == pytest.approx(max(told), rel=1e-9)
    plain = CRF(l2=0.5, max_iter=500).fit(X, y)
    assert len(plain.history_) == len(crf.history_)


def test_records_bring_their_labels():
    train, dev = utterance_world(80, 1), utterance_world(40, 2)
    crf = CRF(l2=1e-4, max_iter=500, patience=3).fit(train, dev=dev)
    assert len(crf.history_) < 200
    assert "dev_log_likelihood" in crf.history_[-1]


def test_dev_data_that_cannot_be_used(corpus):
    X, y = corpus
    with pytest.raises(InputError, match="fitted on lists"):
        CRF().fit(X, y, dev=utterance_world(5, 1))
    with pytest.raises(InputError, match="dev data have no label that the model knows"):
        CRF().fit(X, y, dev=([[["a"]]], [["new"]]))
    with pytest.raises(InputError, match="needs labels"):
        CRF().fit(utterance_world(5, 1), dev=Utterances.from_lists([["a"]]))
    with pytest.raises(ParameterError, match="'patience'"):
        CRF(patience=0).fit(X, y)
    with pytest.raises(InputError, match=r"dev=\(X_dev, y_dev\)"):
        CRF().fit(X, y, None, X)
