"""Calibration against scikit-learn and plain Python, and its intervals against simulation."""

from __future__ import annotations

import numpy as np
import pytest

from purport.errors import InputError, ParameterError, ShapeError
from purport.measure import calibration
from purport.measure.sureness import Sureness


def world(n: int, seed: int, length: int = 4, labels: int = 3) -> tuple[list, list, list[str]]:
    """Return gold labels that are drawn from the marginals themselves, and the marginals."""
    generator = np.random.default_rng(seed)
    names = [f"l{number}" for number in range(labels)]
    tables = [generator.dirichlet([0.5] * labels, size=length) for _ in range(n)]
    gold = [[names[generator.choice(labels, p=p)] for p in table] for table in tables]
    return gold, tables, names


def flat(gold: list, tables: list, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    table = np.concatenate(tables)
    true = np.array([names.index(label) for labels in gold for label in labels])
    return table, true


@pytest.mark.parametrize("binning", ["width", "mass"])
def test_bins_are_those_of_scikit_learn(binning: str) -> None:
    sklearn = pytest.importorskip("sklearn.calibration")
    gold, tables, names = world(200, 1)
    table, true = flat(gold, tables, names)
    right = table.argmax(axis=1) == true
    strategy = {"width": "uniform", "mass": "quantile"}[binning]
    shares, sure = sklearn.calibration_curve(right, table.max(axis=1), n_bins=7, strategy=strategy)
    told = calibration(gold, tables, names, bins=7, binning=binning, samples=10)  # type: ignore[arg-type]
    assert [each.right.value for each in told.bins] == pytest.approx(shares.tolist())
    assert [each.probability for each in told.bins] == pytest.approx(sure.tolist())
    assert sum(each.count for each in told.bins) == told.positions == 800


def test_scores_are_those_of_their_formulas() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    gold, tables, names = world(100, 2)
    table, true = flat(gold, tables, names)
    told = calibration(gold, tables, names, samples=10)
    one_hot = np.eye(len(names))[true]
    assert told.brier.value == pytest.approx(((table - one_hot) ** 2).sum(axis=1).mean())
    assert told.log_loss.value == pytest.approx(metrics.log_loss(true, table))
    by_hand = 0.0
    sure, right = table.max(axis=1), table.argmax(axis=1) == true
    for low in range(10):
        inside = (sure > low / 10) & (sure <= (low + 1) / 10)
        if inside.any():
            by_hand += inside.mean() * abs(sure[inside].mean() - right[inside].mean())
    assert told.error.value == pytest.approx(by_hand)


def test_two_labels_have_twice_the_brier_score_of_one() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    gold, tables, names = world(100, 3, labels=2)
    table, true = flat(gold, tables, names)
    told = calibration(gold, tables, names, samples=10)
    assert told.brier.value == pytest.approx(2 * metrics.brier_score_loss(true, table[:, 1]))


def test_dicts_and_arrays_say_the_same_whole_or_in_pieces() -> None:
    gold, tables, names = world(30, 4)
    gold[3][1] = None
    dicts = [[dict(zip(names, p, strict=True)) for p in table.tolist()] for table in tables]
    expected = calibration(gold, tables, names, samples=20)
    assert calibration(gold, dicts, samples=20) == expected
    parts = [Sureness.of(gold[a : a + 7], tables[a : a + 7], names) for a in range(0, 30, 7)]
    assert calibration(gold, Sureness.joined(parts), samples=20) == expected
    assert expected.unknown == 1


def test_given_labels_need_not_be_the_most_probable() -> None:
    told = calibration([["x"]], [[{"x": 0.3, "y": 0.7}]], predicted=[["x"]], samples=5)
    assert [(each.probability, each.right.value) for each in told.bins] == [(0.3, 1.0)]


def test_labels_that_the_model_does_not_know() -> None:
    told = calibration([["x", "new"]], [[{"x": 0.5, "y": 0.5}] * 2], samples=5)
    assert told.unmet == 1
    assert told.log_loss.value == pytest.approx(np.log(2))
    assert told.brier.value == pytest.approx((0.5 + 1.5) / 2)
    both = calibration([["new"]], [[{"x": 1.0}]], predicted=[["new"]], samples=5)
    assert both.bins[0].right.value == 1.0
    assert both.log_loss.value == 0.0


def test_a_probability_of_zero_is_finite() -> None:
    told = calibration([["x"]], [[{"x": 0.0, "y": 1.0}]], samples=5)
    assert 700 < told.log_loss.value < 710


def test_many_equal_probabilities_leave_fewer_bins() -> None:
    told = calibration([["x"]] * 9, [[{"x": 1.0}]] * 9, binning="mass", samples=5)
    assert [(each.low, each.high, each.count) for each in told.bins] == [(0.0, 1.0, 9)]


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    """Users of a model that is 10 points too sure: the bins, the error and the Brier score."""
    generator = np.random.default_rng(6)
    covered = {"bin": 0, "error": 0, "brier": 0}
    rounds = 120
    for _ in range(rounds):
        sure = generator.choice([0.65, 0.95], size=400)
        right = generator.random(400) < sure - 0.1
        gold = [["x"] if hit else ["y"] for hit in right]
        tables = [np.array([[p, 1 - p]]) for p in sure]
        told = calibration(gold, tables, ["x", "y"], samples=150, random_state=generator)
        covered["error"] += told.error.low <= 0.1 <= told.error.high
        covered["bin"] += told.bins[-1].right.low <= 0.85 <= told.bins[-1].right.high
        brier = np.mean([2 * (p**2 - 2 * p * (p - 0.1) + (p - 0.1)) for p in (0.65, 0.95)])
        covered["brier"] += told.brier.low <= brier <= told.brier.high
    for name, count in covered.items():
        assert 0.86 <= count / rounds <= 0.99, name


def test_groups_are_drawn_whole() -> None:
    gold, tables, names = world(10, 7)
    told = calibration(gold, tables, names, samples=10, groups=["u"] * 10)
    assert told.error.low == told.error.high == told.error.value
    assert told.brier.low == told.brier.high


def test_what_cannot_be_judged() -> None:
    with pytest.raises(ShapeError, match="marginals has length 0"):
        calibration([["x"]], [])
    with pytest.raises(ShapeError, match=r"marginals\[0\] has length 2"):
        calibration([["x"]], [[{"x": 1.0}] * 2])
    with pytest.raises(InputError, match="together with classes="):
        calibration([["x"]], [np.ones((1, 1))])
    with pytest.raises(InputError, match="2 columns"):
        calibration([["x"]], [np.ones((1, 1))], ["x", "y"])
    with pytest.raises(InputError, match="Not one gold label"):
        calibration([[None]], [[{"x": 1.0}]])
    with pytest.raises(ParameterError, match="binning"):
        calibration([["x"]], [[{"x": 1.0}]], binning="height")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="bins"):
        calibration([["x"]], [[{"x": 1.0}]], bins=0)


@pytest.mark.parametrize("binning", ["width", "mass"])
def test_a_table_is_aligned(binning: str) -> None:
    gold, tables, names = world(50, 8)
    told = calibration(gold, tables, names, binning=binning, samples=10)  # type: ignore[arg-type]
    head, *lines = told.table().splitlines()
    assert max(map(len, lines)) <= 80
    for title in ("count", "mean", "right"):
        end = head.index(title) + len(title)
        assert {line[end - 1 : end + 1].isspace() for line in lines} == {False}
        assert {line[end : end + 1] for line in lines} == {" "}


def test_bins_of_few_positions_have_no_interval():
    gold = [["x"]] * 100
    marginals = [[{"x": 0.95, "y": 0.05}]] * 91 + [[{"x": 0.75, "y": 0.25}]] * 5
    marginals += [[{"x": 0.65, "y": 0.35}]] * 4
    few, some, most = calibration(gold, marginals).bins
    assert (few.count, few.right.value, few.right.too_few) == (4, 1.0, True)
    # Draws without a position of the bin do not count as all wrong.
    assert (some.right.low, some.right.high) == (most.right.low, most.right.high) == (1.0, 1.0)
