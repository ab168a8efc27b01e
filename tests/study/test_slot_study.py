"""The stage on slots: what it finds, and that it never hands on what somebody said."""

from __future__ import annotations

import json

import pytest

from purport.errors import InputError
from purport.estimator.base import Estimator
from purport.measure import score_intervals
from purport.records.utterances import Utterances
from purport.report.markup import element
from purport.report.page import Section
from purport.simulate.utterances import utterance_world
from purport.study.defaults import L2, MAX_ITER
from purport.study.evaluation import evaluate
from purport.study.floors import most_frequent_tags
from purport.study.pipeline import run_study, write_report
from purport.study.slots import Compared, _by_label, study_slots
from purport.study.stages import Material, Outcome, Stage


@pytest.fixture(scope="module")
def studied():
    return study_slots(utterance_world(300, 1), utterance_world(100, 2), samples=50, invented=True)


def compared(gold, predicted):
    tokens = [[f"t{at}" for at in range(len(tags))] for tags in gold]
    return Compared(Utterances.from_lists(tokens, slots=gold), gold, predicted, gold)


def test_the_tagger_is_far_above_its_floor(studied):
    _, found = studied
    assert found.gain.low > 0.1
    assert found.gain.a == pytest.approx(found.f1.value)
    assert found.f1.low <= found.f1.value <= found.f1.high


def test_the_findings_agree_with_an_evaluation(studied):
    crf, found = studied
    scores = evaluate(crf, utterance_world(100, 2)).scores
    assert found.f1.value == pytest.approx(scores.f1)
    assert found.token_accuracy.value == pytest.approx(scores.token_accuracy)
    assert found.exact_match.value == pytest.approx(scores.exact_match)
    by_label = {row.label: row for row in scores.by_label}
    assert {row.label for row in found.by_label} == set(by_label)
    for row in found.by_label:
        assert row.f1.value == pytest.approx(by_label[row.label].f1)
        assert row.support == by_label[row.label].support
        assert row.precision.value == by_label[row.label].precision
        assert row.f1.too_few == (row.support < 5)
        assert row.f1.too_few or row.f1.low <= row.f1.value <= row.f1.high
    wrong = sum(cell.count for cell in found.confusion.mistakes if cell.gold is not None)
    assert wrong == scores.support - sum(row.correct for row in scores.by_label)
    assert found.calibration.positions == scores.tokens
    right = sum(each.right.value * each.count for each in found.calibration.bins)
    assert right / scores.tokens == pytest.approx(scores.token_accuracy)


def test_training_is_told_iteration_by_iteration(studied):
    crf, found = studied
    assert len(found.history) == len(crf.history_)
    seconds, objective = zip(*found.history, strict=True)
    assert list(seconds) == sorted(seconds)
    assert objective[-1] < objective[0]
    assert found.train_seconds > 0


def test_examples_are_given_of_invented_data_alone(studied):
    _, found = studied
    assert {example.right for example in found.examples} == {True, False}
    _, of_people = study_slots(utterance_world(50, 1), utterance_world(20, 2), samples=10)
    assert of_people.examples is None
    assert set(of_people.errors.texts) == {None}
    assert found.errors.texts
    assert all("[" in text for text in found.errors.texts)


def test_numbers_for_programs_hold_no_words_even_of_invented_data():
    train, test = utterance_world(80, 1), utterance_world(30, 2)
    (outcome,) = run_study(Material(train, test, invented=True), samples=10)
    text = json.dumps(outcome.numbers)
    assert "examples" not in outcome.numbers
    assert not [word for word in ("savannah", "please", "umbrella") if word in text]


def test_the_model_is_named_by_what_decides_its_weights():
    material = Material(utterance_world(30, 1), utterance_world(10, 2))
    (outcome,) = run_study(material, n_threads=1, samples=10)
    assert outcome.numbers["model"] == f"CRF(l2={L2}, max_iter={MAX_ITER})"


def test_the_most_frequent_tag_of_each_word():
    train = Utterances.from_lists(
        [["rome"], ["rome"], ["rome"], ["tie"], ["tie"], ["dark"]],
        slots=[["B-city"], ["B-city"], ["O"], ["O"], ["B-x"], [None]],
    )
    given = most_frequent_tags(train, Utterances.from_lists([["rome", "tie", "new", "dark"]]))
    assert given == [["B-city", "B-x", "O", "O"]]


def test_the_floor_needs_slots():
    talk = Utterances.from_lists([["rome"]])
    with pytest.raises(InputError, match="have no slots"):
        most_frequent_tags(talk, talk)


def test_slots_beside_each_other_are_told_apart():
    gold = [["B-a", "I-b", "B-b"]] * 5
    (b, a) = _by_label(compared(gold, gold), score_intervals(gold, gold, samples=10))
    assert (b.label, b.support, b.f1.low) == ("b", 10, 1.0)
    assert (a.label, a.support, a.floor) == ("a", 5, 1.0)


def test_a_stage_runs_only_with_its_data():
    with pytest.raises(InputError, match="nothing to study"):
        run_study(Material(utterance_world(3, 1)))


def test_a_further_stage_needs_no_change_elsewhere(tmp_path):
    section = Section("sessions", "Sessions", (), element("p", "Found 3 < 4."))
    outcome = Outcome("sessions", Estimator(), section, {"sessions": 3}, "sessions: 3")
    stage = Stage("sessions", lambda material: True, lambda material, settings: outcome)
    outcomes = run_study(Material(), stages=[stage])
    write_report(outcomes, tmp_path / "report.html", "some <data>")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Found 3 &lt; 4." in html
    assert "some &lt;data&gt;" in html
