"""Buckets and combinations against what Python's own numbers and dicts say of them."""

from __future__ import annotations

import math
import sys
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracle import step_features

from purport.features.buckets import BUCKETS, bin_names, bins_of, doubling, quantile_cuts, rounded
from purport.features.combinations import Combinations

numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 2**45).map(float)


@given(st.lists(numbers))
def test_buckets_double(drawn: list[float]) -> None:
    codes = doubling(np.array(drawn, np.float64))
    assert [BUCKETS[code] for code in codes] == list(map(step_features.doubling, drawn))
    assert len(set(BUCKETS)) == len(BUCKETS)


def test_what_is_no_number_is_unknown() -> None:
    codes = doubling(np.array([math.nan, math.inf, -math.inf, -0.0, 5e-324, 2.0**40]))
    last = f"<={2**40}"
    assert [BUCKETS[code] for code in codes] == ["unknown", last, "<0", "0", "<=1", last]


@given(st.lists(numbers, min_size=1), st.integers(2, 9))
def test_bins_are_those_of_sorted_numbers(drawn: list[float], bins: int) -> None:
    drawn = [number for number in drawn if abs(number) < 1e300] or [1.0]
    values, counts = np.unique(rounded(np.array(drawn)), return_counts=True)
    cuts = quantile_cuts(values, counts, bins)
    assert cuts.tolist() == step_features.cuts_of(drawn, bins)
    names = bin_names(cuts)
    assert len(names) <= bins
    found = [names[code] for code in bins_of(np.array(drawn), cuts)]
    assert found == [step_features.bin_of(number, cuts.tolist()) for number in drawn]


def test_rounding_keeps_three_digits_of_any_number() -> None:
    drawn = np.array([sys.float_info.max, 1e300, 123456.0, -1e-300, 0.0])
    found = rounded(drawn)
    assert found[0] == math.inf
    np.testing.assert_allclose(found[1:], drawn[1:], rtol=1e-3)
    assert bins_of(drawn, found[:1]).tolist() == [0] * 5


@given(st.lists(st.lists(st.tuples(st.integers(-4, 3), st.integers(0, 2)), max_size=9), max_size=9))
def test_combinations_are_counted_over_batches(batches: list[list[tuple[int, int]]]) -> None:
    met = Combinations(2)
    for batch in batches:
        met.add(np.array(batch, np.int32).reshape(-1, 2))
    counted = Counter(pair for batch in batches for pair in batch)
    found, counts = met.finish()
    assert list(map(tuple, found.tolist())) == list(counted)
    assert counts.tolist() == list(counted.values())


def test_combinations_of_nothing() -> None:
    met = Combinations(0)
    met.add(np.empty((3, 0), np.int32))
    met.add(np.empty((2, 0), np.int32))
    found, counts = met.finish()
    assert (found.shape, counts.tolist()) == ((1, 0), [5])
