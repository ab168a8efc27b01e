"""The linear scorer against matrices of SciPy: emissions, their way back, counts, layouts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.features.unique import unique_rows
from purport.sequence.scorer import LaidOut, Layout, Weights


@st.composite
def problems(draw):
    """Ragged rows, with values or without, repeated columns among them; labels known in part."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    width, states = draw(st.integers(1, 8)), draw(st.integers(1, 12))
    lengths = draw(st.lists(st.integers(0, 9), min_size=0, max_size=12))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    columns = random.integers(0, width, starts[-1]).astype(np.int32)
    values = random.normal(size=len(columns)) if draw(st.booleans()) else None
    offsets = np.array([0, len(lengths)], np.int64)
    rows = unique_rows(columns, starts, values, width, offsets)
    labels = random.integers(-1, states, len(lengths)).astype(np.int32)
    complete = draw(st.booleans())
    layout = Layout.complete(width, states) if complete else Layout.observed(rows, labels, states)
    return rows, labels, layout, random


def matrix_of(layout, values):
    matrix = np.zeros((layout.width, layout.states))
    columns = np.repeat(np.arange(layout.width), np.diff(layout.pointers))
    matrix[columns, layout.targets] = values
    return matrix


@given(problems())
def test_scores_and_their_way_back(problem):
    rows, _, layout, random = problem
    theta = random.normal(size=len(layout))
    laid_out = LaidOut(layout, rows)
    scores = Weights(layout, theta).scores(laid_out, np.empty((rows.unique, layout.states)))
    dense = rows.matrix().toarray()
    np.testing.assert_allclose(scores, dense @ matrix_of(layout, theta), atol=1e-12)
    posteriors = random.random((rows.unique, layout.states))
    out = random.normal(size=len(layout))
    expected = out + (dense.T @ posteriors)[matrix_of(layout, np.ones(len(layout))) > 0]
    Weights(layout, theta).take_back(laid_out, posteriors, out)
    np.testing.assert_allclose(out, expected, atol=1e-12)


@given(problems())
def test_counts_of_what_was_observed(problem):
    rows, labels, layout, random = problem
    weights = random.random(rows.positions)
    known = labels >= 0
    shown = np.zeros((rows.positions, layout.states))
    shown[np.flatnonzero(known), labels[known]] = weights[known]
    sums = rows.matrix().toarray()[rows.index].T @ shown
    listed = matrix_of(layout, np.ones(len(layout))) > 0
    np.testing.assert_allclose(layout.count(rows, labels, weights), sums[listed], atol=1e-12)
    if len(layout) < layout.width * layout.states:
        assert not sums[~listed].any()


@pytest.mark.parametrize(
    ("pointers", "targets"),
    [([0, 2, 1], [0]), ([1, 1], [0]), ([0, 2], [0]), ([0, 1], [-1]), ([0, 1], [3])],
)
def test_layouts_that_lie_are_refused(pointers, targets):
    layout = Layout(
        states=3,
        pointers=np.array(pointers, np.int64),
        targets=np.array(targets, np.int32),
        dense_number=np.zeros(0, np.int32),
        dense_slots=np.zeros((0, 2), np.int64),
    )
    with pytest.raises(ValueError, match="layout"):
        layout.check()
