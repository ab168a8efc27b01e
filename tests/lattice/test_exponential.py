"""The vector exponential against NumPy's, and rows of log scores into potentials."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.lattice.potentials import WIDEST, Emissions


def exponentials(numbers):
    """exp of numbers at most 0, through rows whose largest score is 0."""
    rows = np.stack([np.zeros(len(numbers)), numbers], axis=1)
    return Emissions.of(rows, np.inf).rows[:, 1]


def test_one_unit_in_the_last_place():
    numbers = -np.concatenate([np.linspace(0, 708, 200_001), np.logspace(-300, 2.8, 50_001)])
    found, expected = exponentials(numbers), np.exp(numbers)
    np.testing.assert_array_less(np.abs(found - expected), 1.5 * np.spacing(expected))


@pytest.mark.parametrize("number", [-709.0, -750.0, -1e300, -np.inf])
def test_what_is_too_small_is_zero(number):
    assert exponentials(np.array([number]))[0] == 0.0


@given(
    st.lists(st.floats(-1e6, 1e6) | st.just(-np.inf), min_size=1, max_size=9),
    st.floats(-1e6, 1e6),
)
def test_rows_keep_their_scores(scores, shift):
    scores = np.array(scores) + shift
    found = Emissions.of(scores[None].copy())
    finite = scores[np.isfinite(scores)]
    if not len(finite):
        assert not found.rows.any()
        assert found.spread[0] == 0.0
        return
    assert found.highest[0] == finite.max()
    assert found.spread[0] == finite.max() - finite.min()
    if found.spread[0] > WIDEST:
        np.testing.assert_array_equal(found.rows[0], scores)
    else:
        np.testing.assert_allclose(found.rows[0], np.exp(scores - finite.max()), rtol=4e-16)
