"""Tests of models: spans and labels of positions, in groups, beside each other, in private."""

from __future__ import annotations

import json

import numpy as np
import pytest

from purport.errors import InputError
from purport.measure import calibration, slot_scores, token_scores
from purport.measure.mistakes import Mistake
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances
from purport.report.told import headline, lines, numbers
from purport.sequence.crf import CRF
from purport.simulate.utterances import utterance_world
from purport.study import evaluation
from purport.study.evaluation import Questions, evaluate, write_evaluation
from purport.study.tested_records import texts_to_show, values_of_field, with_known_labels

SECRET = "xyzzysecretword"
ALL = Questions(confusion=True, calibration=True, errors=5, samples=50)


class Reader:
    """A model of sessions that goes by the first letter of a step, and is never quite sure."""

    classes_ = np.array(["buy", "learn"])

    def __init__(self, sure=0.8):
        self.sure = sure

    def predict(self, X):
        return [["buy" if text.startswith("b") else "learn" for text in texts] for texts in X.texts]

    def predict_proba(self, X):
        return [
            np.array(
                [[self.sure, 1 - self.sure][:: 1 if text.startswith("b") else -1] for text in texts]
            ).reshape(-1, 2)
            for texts in X.texts
        ]


@pytest.fixture(scope="module")
def tagger():
    return CRF(max_iter=500, l2=0.03).fit(utterance_world(200, 1))


@pytest.fixture(scope="module")
def log():
    return Sessions.from_lists(
        [["buy it", "learn"], ["bring", "look", "how"], ["hm"], ["buy it", "b"]] * 5,
        labels=[["buy", "learn"], ["learn", "learn", None], [None], ["buy", "buy"]] * 5,
        ids=[f"s{number}" for number in range(20)],
    )


def test_labels_of_steps_are_scored_position_by_position(log):
    found = evaluate(Reader(), log, ALL)
    kept = [labels for labels in log.known_labels if any(labels)]
    told = [
        labels
        for labels, known in zip(Reader().predict(log), log.known_labels, strict=True)
        if any(known)
    ]
    assert found.level == "tokens"
    assert found.scores == token_scores(kept, told)
    assert found.left_out == 5
    assert found.scores.unknown == 5
    assert "steps right 83.3%" in headline(found)
    assert "sessions all right 66.7% of 15" in headline(found)
    assert "5 steps without a known label left out" in headline(found)
    assert "5 without known labels left out" in headline(found)
    (cell,) = found.confusion.mistakes
    assert (cell.gold, cell.predicted, cell.count, cell.examples) == ("learn", "buy", 5, (1, 5, 9))
    assert [each.count for each in found.calibration.bins] == [30]
    first = found.errors.found.mistakes[0]
    assert (first.sequence, first.id, first.start, first.predicted) == (1, "s1", 0, ("buy",))
    shown = lines(found, confusion=True, calibration=True, errors=True)
    assert "record 2 (s1), step 1" in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_tags_are_scored_as_spans_whole_or_in_batches(tagger, monkeypatch):
    test = utterance_world(60, 2)
    whole = evaluate(tagger, test, ALL)
    assert whole.level == "spans"
    assert whole.scores == slot_scores(test.slots, tagger.predict(test))
    expected = calibration(
        test.slots,
        tagger.predict_proba(test),
        tagger.classes_.tolist(),
        tagger.predict(test),
        samples=50,
    )
    assert whole.calibration == expected
    monkeypatch.setattr(evaluation, "BATCH", 7)
    assert numbers(evaluate(tagger, test, ALL)) == numbers(whole)


def test_records_keep_their_numbers_when_others_are_left_out(tagger):
    test = utterance_world(40, 2)
    nothing = Utterances.from_lists([["hello"]])
    alone = evaluate(tagger, test, ALL)
    after = evaluate(tagger, Utterances.concatenate([nothing, test]), ALL)
    assert after.left_out == 1
    assert alone.confusion.mistakes
    assert [tuple(n + 1 for n in cell.examples) for cell in alone.confusion.cells] == [
        cell.examples for cell in after.confusion.cells
    ]
    assert [m.sequence + 1 for m in alone.errors.found.mistakes] == [
        m.sequence for m in after.errors.found.mistakes
    ]


def test_groups_make_intervals_wider(log):
    days = ["monday"] * 10 + ["tuesday"] * 10
    found = evaluate(Reader(), log, Questions(groups=days, samples=200))
    assert found.groups == 2
    assert "2 groups of sessions drawn whole" in lines(
        found, confusion=False, calibration=False, errors=False
    )
    each = evaluate(Reader(), log, Questions(groups=[None] * 20, samples=200))
    assert each.intervals == evaluate(Reader(), log, Questions(samples=200)).intervals
    with pytest.raises(InputError, match="groups must be one a record: 20, not 3"):
        evaluate(Reader(), log, Questions(groups=["u"] * 3))


def test_two_models_are_compared_on_the_same_records(tagger):
    test = utterance_world(80, 2)
    worse = CRF(max_iter=1, l2=10.0)
    with pytest.warns(UserWarning, match="max_iter=1"):
        worse.fit(utterance_world(40, 3))
    found = evaluate(tagger, test, Questions(samples=200), other=worse, other_name="worse")
    gain = found.compared.scores.overall["f1"]
    assert gain.a == found.f1.value
    assert gain.b == pytest.approx(slot_scores(test.slots, worse.predict(test)).f1)
    text = lines(found, confusion=False, calibration=False, errors=False)
    assert "This model is better: F1 by" in text
    back = evaluate(worse, test, Questions(samples=200), other=tagger, other_name="better")
    text = lines(back, confusion=False, calibration=False, errors=False)
    assert "The other model, better, is better: F1 by" in text
    same = evaluate(tagger, test, Questions(samples=50), other=tagger)
    assert "do not tell which is better" in lines(
        same, confusion=False, calibration=False, errors=False
    )


def test_numbers_are_json_and_hold_everything(tagger, log):
    test = utterance_world(30, 2)
    told = json.loads(json.dumps(numbers(evaluate(tagger, test, ALL, other=tagger))))
    assert {"confusion", "calibration", "errors", "compared", "slots", "intervals"} <= set(told)
    for row in told["slots"]:
        low = row["intervals"]["f1"]["low"]
        assert low is None if row["support"] < 5 else low <= row["f1"]
    assert {row["support"] < 5 for row in told["slots"]} == {True, False}
    told = json.loads(json.dumps(numbers(evaluate(Reader(), log, ALL))))
    assert {row["label"] for row in told["labels"]} == {"buy", "learn"}
    assert told["errors"]["mistakes"][0]["record"] == 2
    assert told["unknown"] == 5


def mistake(sequence, start, end):
    return Mistake(sequence, start, end, ("x",), ("y",), 0.9, 0.1, False)


def test_an_utterance_is_shown_if_five_people_sent_it():
    rows = [["my", SECRET]] * 4 + [["to", "rome"]] * 6
    talk = Utterances.from_lists(rows)
    people = [*"abcd", *"abcdee"]
    errors = [mistake(0, 0, 2), mistake(4, 1, 2)]
    assert texts_to_show(talk, errors, people) == [None, "to [rome]"]
    assert texts_to_show(talk, errors) == [None, None]
    assert texts_to_show(talk, errors, [None] * 10) == [None, None]
    assert texts_to_show(talk, errors, min_people=0) == [f"[my {SECRET}]", "to [rome]"]


def test_a_step_is_shown_if_five_people_or_sessions_sent_it():
    steps = [["rome", SECRET]] + [["rome"]] * 4
    unknown = Sessions.from_lists(steps)
    errors = [mistake(0, 0, 1), mistake(0, 0, 2)]
    assert texts_to_show(unknown, errors) == ["rome", None]
    one = Sessions.from_lists(steps, who=[["ann"] * len(row) for row in steps])
    assert texts_to_show(one, errors) == [None, None]
    assert texts_to_show(unknown, errors, ["ann"] * 5) == [None, None]
    assert texts_to_show(unknown, errors, list("abcde")) == ["rome", None]
    features = Sessions.from_lists([[{"tabs": 3}]] * 6)
    assert texts_to_show(features, errors[:1]) == [None]


def test_what_few_people_said_is_nowhere(tmp_path):
    class Wrong(Reader):
        def predict(self, X):
            return [["buy"] * len(texts) for texts in X.texts]

    log = Sessions.from_lists([[SECRET, "look"]] * 4, labels=[["learn", "learn"]] * 4)
    found = evaluate(Wrong(), log, ALL)
    path = tmp_path / "page.html"
    write_evaluation(found, path, "four sessions")
    told = lines(found, confusion=True, calibration=True, errors=True)
    page = path.read_text(encoding="utf-8")
    assert SECRET not in told + page + json.dumps(numbers(found))
    assert "texts are shown only if enough different people sent them" in told


def test_what_cannot_be_tested():
    talk = Utterances.from_lists([["a"], ["b"], []], slots=[["O"], [None], []])
    assert with_known_labels(talk, "test")[1] == [0]
    partly = Sessions.from_lists([["a", "b"]], labels=[["x", None]])
    assert with_known_labels(partly, "test", "tokens")[1] == [0]
    with pytest.raises(InputError, match="The test records have no slots"):
        with_known_labels(Utterances.from_lists([["a"]]), "test")
    with pytest.raises(InputError, match="The given records have no labels"):
        evaluate(Reader(), Sessions.from_lists([["a"]]))


def test_fields_tell_groups():
    rows = [{"text": "a", "user": 7}, {"text": "b", "user": {"name": "ann"}}, {"text": "c"}]
    talk = Utterances.from_rows(rows)
    assert values_of_field(talk, "user") == ["7", '{"name": "ann"}', None]
    with pytest.raises(InputError, match="no field 'day'"):
        values_of_field(talk, "day")
