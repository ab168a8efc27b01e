"""Unique rows against plain Python: sorted tuples in a dict."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.features import unique
from purport.features.rows import Rows
from purport.features.unique import unique_rows

entries = st.tuples(st.integers(-1, 4), st.sampled_from([1.0, 0.0, -0.0, 0.5, -2.0]))
ragged = st.lists(st.lists(entries, max_size=6), max_size=25)


def encoded(positions: list[list[tuple[int, float]]], weighted: bool) -> Rows:
    flat = [entry for position in positions for entry in position]
    columns = np.array([column for column, _ in flat], np.int32)
    values = np.array([value for _, value in flat], np.float64) if weighted else None
    starts = np.append(0, np.cumsum([len(position) for position in positions])).astype(np.int64)
    return unique_rows(columns, starts, values, 5, np.array([0, len(positions)]))


def listed(rows: Rows) -> list[tuple[tuple[int, float], ...]]:
    values = np.ones(len(rows.columns)) if rows.values is None else rows.values
    pairs = list(zip(rows.columns.tolist(), values.tolist(), strict=True))
    return [tuple(pairs[start:stop]) for start, stop in pairwise(rows.indptr.tolist())]


def expected(
    positions: list[list[tuple[int, float]]], weighted: bool
) -> tuple[list[tuple[tuple[int, float], ...]], list[int]]:
    numbers: dict[tuple[tuple[int, float], ...], int] = {}
    index = []
    for position in positions:
        kept = [(c, v if weighted else 1.0) for c, v in position if c >= 0]
        # -0.0 == 0.0, so that one stands for the other as a key.
        index.append(numbers.setdefault(tuple(sorted(kept)), len(numbers)))
    return list(numbers), index


def check(positions: list[list[tuple[int, float]]], weighted: bool) -> None:
    rows = encoded(positions, weighted)
    # As the bits tell values apart, negative ones do not come in the order of numbers.
    found = [tuple(sorted(row)) for row in listed(rows)]
    assert (found, rows.index.tolist()) == expected(positions, weighted)
    assert all([c for c, _ in row] == sorted(c for c, _ in row) for row in listed(rows))
    assert rows.indptr.dtype == rows.offsets.dtype == np.int64
    assert rows.columns.dtype == rows.index.dtype == np.int32
    assert rows.values is None or rows.values.dtype == np.float64


@given(ragged, st.booleans())
def test_unique_rows_are_what_a_dict_of_tuples_says(
    positions: list[list[tuple[int, float]]], weighted: bool
) -> None:
    check(positions, weighted)


def test_rows_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_slot(*arguments: np.ndarray) -> int:
        """Number rows as the kernel does, with every row starting at the same slot."""
        columns, bits, starts, _, index, first = arguments
        count = 0
        for position in range(len(index)):
            for other in range(count):
                if unique.same_row(columns, bits, starts, position, int(first[other])):
                    index[position] = other
                    break
            else:
                first[count], index[position] = position, count
                count += 1
        return count

    rng = np.random.default_rng(3)
    positions = [
        [(int(c), 1.0) for c in rng.integers(0, 4, rng.integers(0, 4))] for _ in range(300)
    ]
    fast = encoded(positions, weighted=False)
    monkeypatch.setattr(unique, "number_rows", one_slot)
    slow = encoded(positions, weighted=False)
    assert listed(fast) == listed(slow)
    assert fast.index.tolist() == slow.index.tolist()


def test_long_rows_are_sorted() -> None:
    rng = np.random.default_rng(5)
    columns = rng.integers(0, 10_000, 5_000)
    position = [(int(column), float(column % 7)) for column in columns]
    check([position, position[::-1]], weighted=True)
    assert encoded([position, position[::-1]], weighted=True).unique == 1


def test_values_that_are_all_one_are_left_out() -> None:
    assert encoded([[(0, 1.0)], [(1, 1.0)]], weighted=True).values is None
    assert encoded([[(0, 1.0)], [(1, 2.0)]], weighted=True).values is not None


def test_the_arrays_given_stay_as_they_are() -> None:
    columns, values = np.array([3, 1, 2], np.int32), np.array([1.0, 2.0, 3.0])
    for array in (columns, values):
        array.setflags(write=False)
    starts = np.array([0, 3])
    starts.setflags(write=False)
    rows = unique_rows(columns, starts, values, 4, np.array([0, 1]))
    assert rows.columns.tolist() == [1, 2, 3]
    assert rows.values is not None
    assert rows.values.tolist() == [2.0, 3.0, 1.0]
    assert columns.tolist() == [3, 1, 2]
