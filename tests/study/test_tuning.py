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
    assert [trial.l2 for trial in tuned.trials] == [0.1, 30.0]
    assert tuned.l2 == 0.1
    assert not crf._is_fitted()
    assert crf.l2 == 1.0
    assert "<-" in tuned.table().splitlines()[1]
    assert tuned.edge == "weakest"
    again = choose_l2(crf, talk, values=[30.0, 0.1], folds=3, random_state=5)
    assert [trial.score for trial in again.trials] == [trial.score for trial in tuned.trials]


@pytest.mark.parametrize(
    ("near", "scores", "tried", "stopped", "edge"),
    [
        (0.1, {}, [0.1, 0.01, 1, 0.001, 10, 100], "", "strongest"),
        (0.2, {0.1: 2}, [0.1, 0.01, 1, 0.001, 10], "stronger ones were worse than the best", ""),
        (100.0, {100: 2, 10: 1, 1: 1}, [100, 10, 1], "weaker ones were worse than the best",
         "strongest"),
        (0.0, {0.01: 2}, [0.001, 0.01, 0.1, 1], "stronger ones were worse than the best", ""),
        (1.0, {1: 2, 100: 3}, [1, 0.1, 10, 0.01, 100], "weaker ones were worse than the best",
         "strongest"),
    ],
)  # fmt: skip
def test_it_goes_outwards_until_both_ways_are_worse(
    talk, monkeypatch, near, scores, tried, stopped, edge
):
    def score(self, l2):
        return tuning.Trial(l2, scores.get(l2, 0.5), -1.0, 0.0)

    monkeypatch.setattr(tuning._Folds, "score", score)
    tuned = choose_l2(CRF(l2=near), talk, values=[100, 10, 1, 0.1, 0.01, 0.001], folds=2)
    assert [trial.l2 for trial in tuned.trials] == tried
    assert tuned.l2 == max(tried, key=lambda l2: (scores.get(l2, 0.5), l2))
    assert (tuned.stopped, tuned.edge) == (stopped, edge)


def test_the_budget_is_kept(talk, monkeypatch):
    def score(self, l2):
        return tuning.Trial(l2, 0.5, -1.0, 50.0)

    monkeypatch.setattr(tuning._Folds, "score", score)
    tuned = choose_l2(CRF(), talk, values=[1.0, 0.1], folds=2, budget=40)
    assert [trial.l2 for trial in tuned.trials] == [1.0]
    assert tuned.edge == "only"
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


def test_no_more_folds_than_groups(talk):
    groups = [number % 3 for number in range(len(talk))]
    tuned = choose_l2(CRF(max_iter=300), talk, values=[0.1], groups=groups)
    assert tuned.folds == 3
    uneven = [min(number // 140, 2) for number in range(len(talk))]
    tuned = choose_l2(CRF(max_iter=300), talk, values=[0.1], groups=uneven)
    assert tuned.folds == 2
    with pytest.raises(InputError, match=r"of one group.*\(--groups\) of which there are at least"):
        choose_l2(CRF(), talk, groups=[1] * len(talk))
    with pytest.raises(InputError, match="groups has length 1"):
        choose_l2(CRF(), talk, groups=[1])


def test_records_without_a_label_are_in_no_fold(talk):
    """Not even if all of a group are so; nothing else changes."""
    slots = talk.slots[:60] + [None] * 90
    bare = Utterances.from_lists(talk.tokens, slots=slots)
    groups = [number // 10 for number in range(150)]
    tuned = choose_l2(CRF(max_iter=300), bare, values=[0.1], folds=3, groups=groups)
    alone = choose_l2(CRF(max_iter=300), talk[:60], values=[0.1], folds=3, groups=groups[:60])
    assert tuned.trials[0].score == alone.trials[0].score
    with pytest.raises(InputError, match="of one group"):
        choose_l2(CRF(), bare, groups=[number // 60 for number in range(150)])


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
    alone = choose_l2(model, log, values=[3.0], folds=2)
    assert [trial.l2 for trial in tuned.trials] == [0.3, 3.0]
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
