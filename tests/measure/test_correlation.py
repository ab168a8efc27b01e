"""Rank correlation: as SciPy has it, and NaN where there is no order."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from purport.measure.correlation import rank_correlation

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=20)


@given(PAIRS)
def test_it_is_spearmans(pairs):
    from scipy.stats import spearmanr

    a, b = np.array(pairs, np.float64).T
    assume(len(set(a)) > 1 and len(set(b)) > 1)
    assert math.isclose(rank_correlation(a, b), spearmanr(a, b)[0], abs_tol=1e-12)


def test_one_value_has_no_order():
    assert math.isnan(rank_correlation(np.ones(3), np.arange(3.0)))
    assert math.isnan(rank_correlation(np.array([1.0]), np.array([2.0])))
