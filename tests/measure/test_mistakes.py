"""Errors worth a look: which, in which order, and which gold labels are doubtful."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.errors import ParameterError, ShapeError
from purport.measure import errors_worth_a_look

LABEL = st.sampled_from(["x", "y"])
ROWS = st.lists(
    st.lists(st.tuples(LABEL | st.none(), st.floats(0, 1)), max_size=6), min_size=1, max_size=5
)


@given(rows=ROWS)
def test_every_wrong_position_is_in_one_mistake(rows: list[list[tuple[str | None, float]]]) -> None:
    gold = [[label for label, _ in row] for row in rows]
    marginals = [[{"x": p, "y": 1 - p} for _, p in row] for row in rows]
    predicted = [["x" if p >= 0.5 else "y" for _, p in row] for row in rows]
    told = errors_worth_a_look(gold, marginals, predicted=predicted, n=100)
    wrong = {
        (number, at)
        for number, (labels, guesses) in enumerate(zip(gold, predicted, strict=True))
        for at, (label, guess) in enumerate(zip(labels, guesses, strict=True))
        if label is not None and label != guess
    }
    covered = [
        (error.sequence, at) for error in told.mistakes for at in range(error.start, error.end)
    ]
    assert sorted(covered) == sorted(wrong)
    assert told.count == len(told.mistakes)
    assert told.sequences == len({number for number, _ in wrong})
    assert told.doubtful == sum(error.doubtful for error in told.mistakes)
    runs = [(number, at) for number, at in wrong if (number, at - 1) not in wrong]
    assert len(runs) == told.count
    assert [error.probability for error in told.mistakes] == sorted(
        (error.probability for error in told.mistakes), reverse=True
    )
    for error in told.mistakes:
        labels = slice(error.start, error.end)
        assert list(error.gold) == gold[error.sequence][labels]
        assert list(error.predicted) == predicted[error.sequence][labels]
        given_ = [
            marginals[error.sequence][at][predicted[error.sequence][at]]
            for at in range(error.start, error.end)
        ]
        assert error.probability == min(given_)


def test_flipped_gold_labels_are_found() -> None:
    """A model that is right, and 20 of 500 gold labels flipped: about half cast doubt."""
    generator = np.random.default_rng(0)
    true = generator.integers(2, size=500)
    sure = np.clip(generator.normal(0.9, 0.05, size=500), 0.6, 0.999)
    flipped = set(generator.choice(500, size=20, replace=False).tolist())
    gold = [["xy"[label ^ (n in flipped)]] for n, label in enumerate(true.tolist())]
    tables = [
        np.array([[p, 1 - p] if label == 0 else [1 - p, p]])
        for label, p in zip(true.tolist(), sure.tolist(), strict=True)
    ]
    told = errors_worth_a_look(gold, tables, ["x", "y"], n=50)
    assert {error.sequence for error in told.mistakes} == flipped
    # As sure as usual, or surer: the rule finds those above the mean.
    assert 8 <= told.doubtful <= 16
    # A model that merely guesses casts no doubt on labels that it is usually surer of.
    unsure = [
        np.where(table > 0.5, 0.55, 0.45) if n in flipped else table
        for n, table in enumerate(tables)
    ]
    assert errors_worth_a_look(gold, unsure, ["x", "y"]).doubtful == 0


def test_ids_and_numbers_stand_for_the_sequences() -> None:
    told = errors_worth_a_look([["x"], ["x"]], [[{"y": 1.0}]] * 2, ids=["a", None], n=1)
    assert [(error.sequence, error.id) for error in told.mistakes] == [(0, "a")]
    assert told.count == 2


def test_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match="ids has length 1"):
        errors_worth_a_look([["x"], ["x"]], [[{"y": 1.0}]] * 2, ids=["a"])
    with pytest.raises(ParameterError, match="n"):
        errors_worth_a_look([["x"]], [[{"y": 1.0}]], n=-1)
