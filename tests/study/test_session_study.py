"""The stage on sessions: models beside each other, one kept by the dev part, nothing let out."""

from __future__ import annotations

import json

import pytest

from purport.errors import InputError
from purport.records.sessions import Sessions
from purport.sequence.crf import CRF
from purport.sequence.shdcrf import SHDCRF
from purport.simulate.searches import SearchWorld
from purport.study import sessions
from purport.study.evaluation import evaluate
from purport.study.floors import label_before, most_frequent_label
from purport.study.pipeline import run_study, write_report
from purport.study.sessions import Parts, study_sessions
from purport.study.stages import Material, Settings, read_material

SETTINGS = Settings(samples=50)


@pytest.fixture(scope="module")
def world():
    return SearchWorld(seed=8)


@pytest.fixture(scope="module")
def logs(world):
    return tuple(
        world.sessions(count, seed).sessions for seed, count in ((1, 90), (2, 40), (3, 40))
    )


@pytest.fixture(scope="module")
def studied(logs):
    return study_sessions(*logs, invented=True, settings=SETTINGS)


def names(found):
    return [model.name for model in found.models]


def test_models_stand_from_floors_to_the_richest(studied):
    _, found = studied
    trained = ["CRF", "LDCRF", "SHDCRF", "SHDCRF, self-trained"]
    assert names(found) == ["most frequent label", "label of the step before", *trained]
    assert [model.is_floor for model in found.models] == [True, True, *[False] * 4]
    assert {model.states for model in found.models[3:]} == {24}
    assert found.above_floor
    assert (found.unlabeled, found.test.sessions) == (40, 40)
    assert found.train.sessions + found.dev.sessions == 90


def test_the_one_kept_is_the_best_on_the_dev_part(studied, logs):
    model, found = studied
    assert found.best.dev == max(one.dev for one in found.trained)
    assert found.best.name == found.kept
    assert isinstance(model, CRF) == (found.kept == "CRF")
    parts = Parts.of(*logs)
    assert found.best.dev == pytest.approx(model.score(parts.dev))


def test_the_findings_agree_with_an_evaluation(studied, logs):
    model, found = studied
    scores = evaluate(model, logs[1]).scores
    assert found.best.accuracy.value == pytest.approx(scores.accuracy)
    assert found.best.macro_f1.value == pytest.approx(scores.macro_f1)
    assert found.tested.scores == scores
    by_name = {one.name: one.accuracy.value for one in found.models}
    for gain in found.gains:
        assert gain.accuracy.difference == pytest.approx(by_name[gain.of] - by_name[gain.over])
    assert ("SHDCRF", "CRF") in [(gain.of, gain.over) for gain in found.gains]


def test_nobody_is_on_both_sides_of_the_cut(logs):
    parts = Parts.of(*logs)
    who = [{one for steps in part.who for one in steps} for part in (parts.learning, parts.dev)]
    assert not who[0] & who[1]
    alone = Sessions.from_lists(
        [["a"]] * 10, labels=[["x"], ["y"]] * 5, who=[["ann"]] * 10, ids=[*map(str, range(10))]
    )
    cut = Parts.of(alone, alone)
    assert (len(cut.learning), len(cut.dev), cut.groups) == (8, 2, None)


def test_a_field_may_say_what_belongs_together():
    rows = [
        {"day": number % 5, "steps": [{"obs": f"q{number}", "label": "xy"[number % 2]}]}
        for number in range(20)
    ]
    log = Sessions.from_rows(rows)
    parts = Parts.of(log, log, groups="day")
    days = [{row["day"] for row in part.rows()} for part in (parts.learning, parts.dev)]
    assert not days[0] & days[1]
    assert len(set(parts.groups)) == 5
    with pytest.raises(InputError, match="no field 'week'"):
        Parts.of(log, log, groups="week")


def test_what_cannot_be_studied(logs):
    train, test, _ = logs
    few = Sessions.from_lists([["a"], ["b"]], labels=[["x"], ["y"]])
    with pytest.raises(InputError, match="to choose by; there are 2"):
        study_sessions(few, few)
    without = Sessions.from_lists([["a"]])
    with pytest.raises(InputError, match="The training records have no labels"):
        study_sessions(without, test)
    with pytest.raises(InputError, match="The test records have no labels"):
        study_sessions(train, without)


def test_sessions_without_labels_are_left_out(world):
    rows = list(world.sessions(40, 1).sessions.rows())
    unknown = [{"steps": [{"obs": "hm"}]}, {"steps": []}]
    told = Sessions.from_rows([unknown[0], *rows, *unknown])
    parts = Parts.of(told, told)
    assert len(parts.learning) + len(parts.dev) == 40
    assert len(parts.test) == 40


def test_floors():
    train = Sessions.from_lists([["a", "b"], ["c"]], labels=[["x", "y"], ["y"]])
    test = Sessions.from_lists([["d", "e", "f"], ["g"], []], labels=[["x", None, "x"], [None], []])
    assert most_frequent_label(train, test) == [["y"] * 3, ["y"], []]
    assert label_before(train, test) == [["y", "x", "y"], ["y"], []]
    tie = Sessions.from_lists([["a", "b"]], labels=[["b", "a"]])
    assert most_frequent_label(tie, train[:1]) == [["a", "a"]]
    with pytest.raises(InputError, match="have no labels"):
        most_frequent_label(test[:0], test)


def test_many_labels_have_fewer_states_each(monkeypatch, logs):
    monkeypatch.setattr(sessions, "MOST_STATES", 17)
    _, found = study_sessions(*logs[:2], settings=SETTINGS)
    assert {model.states for model in found.models[3:]} == {16}


def kept(name):
    """Let one model be the best of the dev part."""

    def best(trained):
        return next((one for one in trained if one.name == name), trained[0])

    return best


@pytest.mark.parametrize("name", ["CRF", "SHDCRF"])
def test_the_report_shows_the_states_of_the_model_that_is_kept(name, logs, monkeypatch, tmp_path):
    monkeypatch.setattr(sessions, "_best", kept(name))
    material = Material(train_sessions=logs[0], test_sessions=logs[1], invented=True)
    (outcome,) = run_study(material, samples=20)
    assert isinstance(outcome.model, CRF if name == "CRF" else SHDCRF)
    assert outcome.name == "sessions"
    assert len(outcome.further) == (name != "CRF")
    assert ("states" in outcome.numbers) == (name != "CRF")
    write_report([outcome], tmp_path / "report.html", "a log")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ("Hidden states of sessions" in html) == (name != "CRF")
    assert "How far probabilities can be believed" in html
    assert "What is taken for what" in html
    assert "They are invented, so they may be shown" in html


def test_numbers_for_programs_hold_no_words_even_of_invented_data(logs, monkeypatch):
    monkeypatch.setattr(sessions, "_best", kept("SHDCRF"))
    train, test, _ = logs
    material = Material(train_sessions=train, test_sessions=test, invented=True)
    (outcome,) = run_study(material, samples=10)
    told = json.dumps(outcome.numbers)
    typed = {word for texts in test.texts for text in texts for word in text.split()}
    said = {word for word in told.replace('"', " ").split() if len(word) > 3}
    assert not said & typed
    assert outcome.numbers["kept"] == "SHDCRF"
    assert len(outcome.numbers["states"]) == 24


def test_what_few_people_sent_is_nowhere(logs, monkeypatch, tmp_path):
    monkeypatch.setattr(sessions, "_best", kept("SHDCRF"))
    rows = list(logs[0].rows())
    for number, row in enumerate(rows):
        for step in row["steps"]:
            # Five sessions hold it, but two people sent it: the one of the step counts.
            step["obs"], step["who"] = f"xyzzy{number % 3}", f"agent{number % 2}"
            step.pop("clicked", None)
        row["steps"][0]["obs"] = "what everybody asks"
        row["steps"][0]["who"] = f"u{number}"
    log = Sessions.from_rows(rows)
    material = Material(train_sessions=log, test_sessions=log)
    (outcome,) = run_study(material, samples=10)
    write_report([outcome], tmp_path / "report.html", "a log")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "xyzzy" not in html
    assert "what everybody asks" in html
    assert "No sessions are shown" in html


def test_material_is_read_as_its_columns_tell(tmp_path, logs):
    logs[0].write(tmp_path / "log.parquet")
    logs[2].write(tmp_path / "more.jsonl")
    paths = tmp_path / "log.parquet", tmp_path / "log.parquet", tmp_path / "more.jsonl"
    for held in (None, "sessions"):
        material = read_material(*paths, held=held)
        assert material.train_sessions == material.test_sessions == logs[0]
        assert material.unlabeled_sessions == logs[2]
        assert material.train_utterances is None
