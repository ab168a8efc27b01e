"""Slot scores against counting by hand, and the bootstrap against enumeration."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from purport.errors import InputError, ParameterError, ShapeError
from purport.measure.bootstrap import bootstrap_interval, paired_bootstrap
from purport.measure.counts import MEASURES, Measure, span_counts
from purport.measure.slots import slot_scores
from purport.measure.tags import spans

Tags = list[list[str]]
TAG = st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y"])
MEASURE_NAMES: list[Measure] = ["f1", "precision", "recall", "token_accuracy", "exact_match"]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Tags, Tags]:
    gold = draw(st.lists(st.lists(TAG, max_size=5), min_size=1, max_size=5))
    same = [st.just(tags) for tags in gold]
    other = [st.lists(TAG, min_size=len(tags), max_size=len(tags)) for tags in gold]
    return gold, [draw(kept | drawn) for kept, drawn in zip(same, other, strict=True)]


def located(tags: Tags, label: str | None = None) -> set[tuple[int, str, int, int]]:
    return {
        (number, *span)
        for number, one in enumerate(tags)
        for span in spans(one)
        if label in (None, span.label)
    }


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


@given(both=pairs())
def test_scores_are_those_of_sets_of_spans(both: tuple[Tags, Tags]) -> None:
    gold, predicted = both
    scores = slot_scores(gold, predicted)
    for row in (scores, *scores.by_label):
        true = located(gold, getattr(row, "label", None))
        found = located(predicted, getattr(row, "label", None))
        shared = len(true & found)
        precision, recall = ratio(shared, len(found)), ratio(shared, len(true))
        assert (row.support, row.predicted) == (len(true), len(found))
        assert (row.precision, row.recall) == (precision, recall)
        assert row.f1 == pytest.approx(ratio(2 * precision * recall, precision + recall))
    assert [row.label for row in scores.by_label] == sorted(
        {label for _, label, _, _ in located(gold) | located(predicted)}
    )
    flat = list(zip(itertools.chain(*gold), itertools.chain(*predicted), strict=True))
    assert scores.token_accuracy == ratio(sum(a == b for a, b in flat), len(flat))
    assert scores.exact_match == np.mean([a == b for a, b in zip(gold, predicted, strict=True)])
    assert (scores.sentences, scores.tokens) == (len(gold), len(flat))
    totals = span_counts(gold, predicted).totals()
    for name in MEASURE_NAMES:
        assert MEASURES[name](totals) == pytest.approx(getattr(scores, name))


def test_table_is_aligned() -> None:
    gold = [["B-a_long_name", "B-x"]]
    lines = slot_scores(gold, gold).table().splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[-1].split() == ["all", "1.0000", "1.0000", "1.0000", "2"]


def test_unknown_tags() -> None:
    assert slot_scores([["O", "B-x"]], [[None, None]]).token_accuracy == 0.5
    with pytest.raises(InputError, match=r"gold\[1\] holds an unknown tag"):
        slot_scores([["O"], [None]], [["O"], ["O"]])


def test_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match="predicted has length 1, but gold has length 2"):
        slot_scores([["O"], ["O"]], [["O"]])
    with pytest.raises(ShapeError, match=r"b\[1\] has length 2, but gold\[1\] has length 1"):
        paired_bootstrap([["O"], ["O"]], [["O"], ["O"]], [["O"], ["O", "O"]])
    with pytest.raises(InputError, match="no sequences"):
        slot_scores([], [])
    with pytest.raises(ShapeError, match="groups has length 1"):
        bootstrap_interval([["O"], ["O"]], [["O"], ["O"]], groups=["u"])


@pytest.mark.parametrize(
    ("name", "value"), [("statistic", "bleu"), ("samples", 0), ("confidence", 1.0)]
)
def test_parameters_are_checked(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=name):
        bootstrap_interval([["O"]], [["O"]], **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("statistic", MEASURE_NAMES)
def test_draws_agree_with_all_draws(statistic: Measure) -> None:
    """Over four sentences all 256 draws can be listed: percentiles and p-value must come close."""
    gold = [["B-x"], ["B-x", "O"], ["B-y", "I-y"], ["O", "B-y"]]
    a = [["B-x"], ["B-x", "B-y"], ["B-y", "O"], ["O", "B-y"]]
    b = [["B-x"], ["O", "O"], ["B-y", "I-y"], ["O", "O"]]
    draws = list(itertools.product(range(4), repeat=4))

    def score(predicted: Tags, draw: tuple[int, ...]) -> float:
        drawn = slot_scores([gold[i] for i in draw], [predicted[i] for i in draw])
        return float(getattr(drawn, statistic))

    everyone = (0, 1, 2, 3)
    observed = score(a, everyone) - score(b, everyone)
    differences = np.array([score(a, draw) - score(b, draw) for draw in draws])
    told = paired_bootstrap(gold, a, b, statistic, samples=20_000, confidence=0.8)
    assert told.difference == pytest.approx(observed)
    assert (told.a, told.b) == pytest.approx((score(a, everyone), score(b, everyone)))
    exact = np.mean(np.abs(differences - observed) >= abs(observed) - 1e-9)
    assert told.p_value == pytest.approx(exact, abs=0.02)
    # The draws are few different values: the bound lies between near percentiles of them.
    for bound, tail in ((told.low, 0.1), (told.high, 0.9)):
        near = np.quantile(differences, [tail - 0.02, tail + 0.02])
        assert near[0] - 1e-9 <= bound <= near[1] + 1e-9


@given(both=pairs(), seed=st.integers(0, 9))
def test_bootstrap_laws(both: tuple[Tags, Tags], seed: int) -> None:
    gold, predicted = both
    told = paired_bootstrap(gold, predicted, gold, samples=50, random_state=seed)
    back = paired_bootstrap(gold, gold, predicted, samples=50, random_state=seed)
    assert (told.difference, told.p_value) == (-back.difference, back.p_value)
    assert (told.low, told.high) == pytest.approx((-back.high, -back.low))
    assert told == paired_bootstrap(gold, predicted, gold, samples=50, random_state=seed)
    same = paired_bootstrap(gold, predicted, predicted, samples=50)
    assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)
    alone = bootstrap_interval(gold, predicted, samples=50, random_state=seed)
    assert alone.value == slot_scores(gold, predicted).f1
    assert 0 <= alone.low <= alone.high <= 1


@given(both=pairs())
def test_groups_are_drawn_whole(both: tuple[Tags, Tags]) -> None:
    gold, predicted = both
    assume(len(gold) > 1)
    one = bootstrap_interval(gold, predicted, samples=20, groups=["u"] * len(gold))
    assert one.low == one.high == one.value
    each = bootstrap_interval(gold, predicted, samples=20, groups=range(len(gold)))
    assert each == bootstrap_interval(gold, predicted, samples=20)


def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(7)
    covered = 0
    for _ in range(200):
        right = generator.random(60) < 0.8
        predicted = [["O"] if hit else ["B-x"] for hit in right]
        told = bootstrap_interval(
            [["O"]] * 60, predicted, "exact_match", samples=300, random_state=generator
        )
        covered += told.low <= 0.8 <= told.high
    assert 0.88 <= covered / 200 <= 0.99


def test_bootstrap_is_fast() -> None:
    gold = [["B-x", "I-x", "O", "B-y"]] * 1000
    start = time.perf_counter()
    paired_bootstrap(gold, gold, [["B-x", "O", "O", "B-y"]] * 1000)
    assert time.perf_counter() - start < 2
