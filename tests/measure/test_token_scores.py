"""Token scores, their intervals and comparisons against scikit-learn and plain counting."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.errors import InputError, ParameterError, ShapeError
from purport.measure import (
    bootstrap_interval,
    paired_bootstrap,
    score_comparisons,
    score_intervals,
    slot_scores,
    token_scores,
)
from purport.measure.counts import MEASURES
from purport.measure.tags import marks_spans

Tags = list[list[str | None]]
LABEL = st.sampled_from(["a", "b", "c"])


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Tags, Tags]:
    """Return gold labels, of which at least one is known, and predictions."""
    gold = draw(st.lists(st.lists(LABEL | st.none(), max_size=5), min_size=1, max_size=6))
    gold.append([draw(LABEL)])
    return gold, [draw(st.lists(LABEL, min_size=len(tags), max_size=len(tags))) for tags in gold]


def flat(gold: Tags, predicted: Tags) -> tuple[list[str], list[str]]:
    known = [
        (label, guess)
        for labels, guesses in zip(gold, predicted, strict=True)
        for label, guess in zip(labels, guesses, strict=True)
        if label is not None
    ]
    return [str(label) for label, _ in known], [str(guess) for _, guess in known]


@given(both=pairs())
def test_scores_are_those_of_scikit_learn(both: tuple[Tags, Tags]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    gold, predicted = both
    true, told = flat(gold, predicted)
    scores = token_scores(gold, predicted)
    report = metrics.classification_report(true, told, output_dict=True, zero_division=0)
    assert [row.label for row in scores.by_label] == sorted({*true, *told})
    for row in scores.by_label:
        theirs = report[row.label]
        assert (row.precision, row.recall) == (theirs["precision"], theirs["recall"])
        assert row.f1 == pytest.approx(theirs["f1-score"])
        assert row.support == theirs["support"]
        assert row.predicted == told.count(row.label)
    assert scores.accuracy == pytest.approx(metrics.accuracy_score(true, told))
    for name in ("precision", "recall", "f1"):
        mine = getattr(scores, f"macro_{name}")
        assert mine == pytest.approx(report["macro avg"][name.replace("f1", "f1-score")])
    assert scores.weighted_f1 == pytest.approx(report["weighted avg"]["f1-score"])
    with warnings.catch_warnings():  # of labels that are predicted and never gold
        warnings.simplefilter("ignore")
        assert scores.class_accuracy == pytest.approx(metrics.balanced_accuracy_score(true, told))
    assert scores.tokens == len(true)
    assert scores.unknown == sum(label is None for labels in gold for label in labels)


def test_unknown_labels_are_left_out_and_counted() -> None:
    scores = token_scores([["a", None], [None], None, []], [["a", "b"], ["b"], ["b", "b"], []])
    assert (scores.tokens, scores.unknown, scores.sequences) == (1, 4, 1)
    assert (scores.accuracy, scores.exact_match) == (1.0, 1.0)
    assert [row.label for row in scores.by_label] == ["a"]
    assert token_scores([["a"]], [[None]]).accuracy == 0.0
    with pytest.raises(InputError, match="Not one gold label is known"):
        token_scores([[None]], [["a"]])


def test_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"predicted\[0\] has length 2, but gold\[0\]"):
        token_scores([["a"]], [["a", "a"]])
    with pytest.raises(InputError, match="no sequences"):
        token_scores([], [])
    with pytest.raises(ParameterError, match="level"):
        score_intervals([["a"]], [["a"]], level="words")  # type: ignore[arg-type]


@given(both=pairs(), seed=st.integers(0, 5))
def test_all_intervals_are_those_of_one_measure_at_a_time(
    both: tuple[Tags, Tags], seed: int
) -> None:
    gold, predicted = both
    told = score_intervals(gold, predicted, level="tokens", samples=30, random_state=seed)
    for name in MEASURES:
        alone = bootstrap_interval(gold, predicted, name, 30, seed, level="tokens")
        assert told.overall[name] == alone
    scores = token_scores(gold, predicted)
    assert told.overall["token_accuracy"].value == pytest.approx(scores.accuracy)
    for row in scores.by_label:
        sure = told.by_label[row.label]
        for name in ("precision", "recall", "f1"):
            assert getattr(sure, name).value == pytest.approx(getattr(row, name))
            one = getattr(sure, name)
            assert one.too_few or one.low <= one.high
        assert sure.f1.too_few == (row.support < 5)


def test_draws_are_those_that_plain_python_takes() -> None:
    """The draws of the generator, taken by hand and scored one by one."""
    generator = np.random.default_rng(3)
    gold = [[str(generator.choice(list("abc"))) for _ in range(3)] for _ in range(12)]
    predicted = [[str(generator.choice(list("abc"))) for _ in range(3)] for _ in range(12)]
    groups = [number // 3 for number in range(12)]
    told = score_intervals(gold, predicted, level="tokens", samples=40, groups=groups)
    chosen = np.random.default_rng(0).integers(4, size=(40, 4))
    scores = []
    for draw in chosen:
        rows = [row for group in draw for row in range(3 * group, 3 * group + 3)]
        taken = token_scores([gold[row] for row in rows], [predicted[row] for row in rows])
        scores.append({row.label: row.f1 for row in taken.by_label})
    for label in "abc":
        drawn = [score[label] for score in scores if label in score]
        sure = told.by_label[label].f1
        assert (sure.low, sure.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))


def test_a_label_that_is_always_right_is_surely_right() -> None:
    """Draws in which it does not occur say nothing of it."""
    gold = [["rare"]] * 5 + [["often"]] * 95 + [["seldom"]] * 4
    told = score_intervals(gold, gold, level="tokens").by_label
    for label in ("rare", "often"):
        assert told[label].f1.low == told[label].precision.low == told[label].recall.high == 1.0
    assert told["seldom"].f1.too_few
    assert told["seldom"].f1.value == 1.0
    missed = [["often"]] * 100 + [["seldom"]] * 4
    never = score_intervals(gold, missed, level="tokens").by_label["rare"]
    assert (never.recall.low, never.recall.high, never.precision.too_few) == (0.0, 0.0, True)
    table = token_scores(gold, gold).table(score_intervals(gold, gold, level="tokens"))
    lines = table.splitlines()
    assert "1.0000 to 1.0000" in lines[2]
    assert "too few" in lines[3]
    assert len({len(line) for line in lines}) == 1


def test_comparisons_are_those_of_one_measure_at_a_time() -> None:
    gold = [["B-x", "O", "B-y"], ["B-x", "I-x"], ["O", "B-y"]] * 5
    a = [["B-x", "O", "B-y"], ["B-x", "O"], ["O", "B-y"]] * 5
    b = [["B-x", "O", "O"], ["B-x", "I-x"], ["B-z", "O"]] * 5
    groups = [number // 2 for number in range(15)]
    for level in ("spans", "tokens"):
        told = score_comparisons(gold, a, b, level=level, samples=50, groups=groups)
        for name in MEASURES:
            alone = paired_bootstrap(gold, a, b, name, 50, groups=groups, level=level)
            assert told.overall[name] == alone
    told = score_comparisons(gold, a, b, samples=50)
    first = {row.label: row.f1 for row in slot_scores(gold, a).by_label}
    second = {row.label: row.f1 for row in slot_scores(gold, b).by_label}
    assert set(told.by_label) == {"x", "y", "z"}
    for label, found in told.by_label.items():
        assert (found.a, found.b) == (first.get(label, 0.0), second.get(label, 0.0))
        assert found.difference == pytest.approx(found.a - found.b)


def test_intervals_of_grouped_data_cover_the_truth() -> None:
    """Users differ: draws of users cover about as often as they say, draws of sessions do not."""
    generator = np.random.default_rng(5)
    covered = {"users": 0, "sessions": 0}
    rounds = 150
    for _ in range(rounds):
        skill = np.repeat(generator.beta(8, 2, size=40), 10)
        right = generator.random(400) < skill
        predicted = [["a"] if hit else ["b"] for hit in right]
        for name, groups in (("users", np.repeat(np.arange(40), 10).tolist()), ("sessions", None)):
            told = bootstrap_interval(
                [["a"]] * 400,
                predicted,
                "token_accuracy",
                200,
                generator,
                groups=groups,
                level="tokens",
            )
            covered[name] += told.low <= 0.8 <= told.high
    assert 0.88 <= covered["users"] / rounds <= 0.99
    assert covered["sessions"] < covered["users"] - 0.05 * rounds


def test_tables_hold_the_intervals() -> None:
    gold, predicted = [["a", "b"], ["a"]] * 10, [["a", "a"], ["a"]] * 10
    told = score_intervals(gold, predicted, level="tokens", samples=20)
    lines = token_scores(gold, predicted).table(told).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "95% interval" in lines[0]
    assert f"{told.by_label['a'].f1.low:.4f} to " in lines[1]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["O", "B-x", "I-x"], True),
        (["S-x", "B-y", "E-y"], True),
        (["O"], False),
        (["O", "I-x"], True),
        (["B-x", "buy"], False),
        (["B", "I"], False),
        (["watch-tv", "sleep"], False),
        ([], False),
    ],
)
def test_tags_are_told_from_other_labels(labels: list[str], expected: bool) -> None:
    assert marks_spans(labels) is expected


def test_intervals_of_many_labels_are_fast() -> None:
    generator = np.random.default_rng(0)
    names = [f"label{number}" for number in range(100)]
    gold = [[names[at] for at in row] for row in generator.integers(100, size=(5000, 10))]
    start = time.perf_counter()
    score_intervals(gold, gold, level="tokens", samples=500)
    assert time.perf_counter() - start < 8
