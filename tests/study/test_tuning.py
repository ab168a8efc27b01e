"""The choice of a penalty: inside the training records, groups whole, within a budget."""

from __future__ import annotations

import numpy as np
import pytest

from purport.errors import InputError, ParameterError
from purport.measure.slots import slot_scores
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.sequence.ldcrf import LDCRF
from purport.sequence.shdcrf import SHDCRF
from purport.simulate.searches import SearchWorld
from purport.simulate.utterances import utterance_world
from purport.study import tuning
from purport.study.tuning import choose_l2


@pytest.fixture(scope="module")
def talk():
    return utterance_world(150, 1)


def test_scores_are_those_of_models_that_have_not_seen_the_records(talk):
    crf = CRF(max_iter=400)
    tuned = choose_l2(crf, talk, values=[0.1, 30.0], folds=3, random_state=5)
    parts = talk.split(1 / 3, 1 / 3, 1 / 3, random_state=5)
    for trial in tuned.trials:
        gold, said = [], []
        for number, held in enumerate(parts):
            others = [part for other, part in enumerate(parts) if other != number]
            model = CRF(l2=trial.l2, max_iter=400).fit(Utterances.concatenate(others))
            gold += held.slots
            said += model.predict(held)
        # Warm starts end near the same optimum, not at the same bits.
        assert trial.score == pytest.approx(slot_scores(gold, said).f1, abs=0.01)
    assert [trial.l2 for trial in tuned.trials] == [30.0, 0.1]
    assert tuned.l2 == 0.1
    assert not crf._is_fitted()
    assert crf.l2 == 1.0
    assert "<-" in tuned.table().splitlines()[2]
    again = choose_l2(crf, talk, values=[30.0, 0.1], folds=3, random_state=5)
    assert [trial.score for trial in again.trials] == [trial.score for trial in tuned.trials]


def test_it_stops_when_weaker_is_worse(talk, monkeypatch):
    scores = iter([0.5, 0.7, 0.6, 0.65, 0.9])

    def score(self, l2):
        return tuning.Trial(l2, next(scores), -1.0, 0.0)

    monkeypatch.setattr(tuning._Folds, "score", score)
    tuned = choose_l2(CRF(), talk, values=[5, 4, 3, 2, 1], folds=2)
    assert [trial.l2 for trial in tuned.trials] == [5, 4, 3, 2]
    assert tuned.l2 == 4
    assert tuned.stopped == "the last 2 were worse than the best"


def test_the_budget_is_kept(talk, monkeypatch):
    def score(self, l2):
        return tuning.Trial(l2, 0.5, -1.0, 50.0)

    monkeypatch.setattr(tuning._Folds, "score", score)
    tuned = choose_l2(CRF(), talk, values=[1.0, 0.1], folds=2, budget=40)
    assert [trial.l2 for trial in tuned.trials] == [1.0]
    assert tuned.stopped == "the budget of 40 s would not suffice for l2=0.1"
    assert len(choose_l2(CRF(), talk, values=[1.0, 0.1], folds=2, budget=60).trials) == 2


def test_groups_stay_whole(talk, monkeypatch):
    groups = [number // 10 for number in range(len(talk))]
    met = []

    def score(self, l2):
        met.extend(
            ({int(i[1:]) // 10 for i in a.ids}, {int(i[1:]) // 10 for i in b.ids})
            for a, b in zip(self.train, self.held, strict=True)
        )
        return tuning.Trial(l2, 0.5, -1.0, 0.0)

    monkeypatch.setattr(tuning._Folds, "score", score)
    ids = [f"u{number}" for number in range(len(talk))]
    named = Utterances.from_lists(talk.tokens, slots=talk.slots, ids=ids)
    choose_l2(CRF(), named, values=[1.0], folds=3, groups=groups)
    assert len(met) == 3
    assert all(not train & held for train, held in met)


def test_sessions_are_scored_by_the_share_that_is_right():
    random = np.random.default_rng(1)
    steps = random.integers(0, 3, (60, 5)).tolist()
    log = Sessions.from_lists(
        [[f"query {n}" for n in session] for session in steps],
        labels=[["abc"[n] if k else None for k, n in enumerate(session)] for session in steps],
    )
    tuned = choose_l2(CRF(max_iter=300), log, values=[1.0, 0.1], folds=3)
    assert tuned.measure == "right"
    assert tuned.trials[-1].score == 1.0


@pytest.mark.parametrize("model", [LDCRF(2), SHDCRF(4)])
def test_models_with_hidden_states_start_anew_at_each_penalty(model):
    log = SearchWorld(seed=5).sessions(40, random_state=1).sessions
    model = model.set_params(max_iter=20)
    tuned = choose_l2(model, log, values=[3.0, 0.3], folds=2)
    alone = choose_l2(model, log, values=[0.3], folds=2)
    assert tuned.trials[-1].score == alone.trials[0].score
    assert tuned.trials[-1].log_likelihood == alone.trials[0].log_likelihood
    assert not model._is_fitted()


def test_what_cannot_be_tuned(talk):
    with pytest.raises(InputError, match="needs records with labels"):
        choose_l2(CRF(), Utterances.from_lists([["a"]] * 9))
    with pytest.raises(InputError, match=r"got list\. For lists .* GridSearchCV"):
        choose_l2(CRF(), [[["w=a"]]])
    with pytest.raises(InputError, match="3 records cannot be cut into 5 folds"):
        choose_l2(CRF(), talk[:3])
    for wrong in ({"values": []}, {"values": [-1.0]}, {"folds": 1}, {"budget": -1}):
        with pytest.raises(ParameterError, match=f"choose_l2: parameter '{next(iter(wrong))}'"):
            choose_l2(CRF(), talk, **wrong)
