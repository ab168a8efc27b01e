"""The chain against enumeration in every form of its transitions, and against log space."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import enumeration

from purport.lattice.chain import Chain
from purport.lattice.potentials import NO_CLAMP, Clamp, Emissions, Potentials
from purport.lattice.transitions import Arcs, Transitions


@st.composite
def problems(draw):
    """Ragged sequences over shared rows, arcs in any form, perhaps a clamp."""
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    states = draw(st.integers(1, 4))
    unique = draw(st.integers(1, 5))
    lengths = draw(st.lists(st.integers(0, 5), min_size=0, max_size=12))
    scale = draw(st.sampled_from([0.0, 1.0, 30.0, 400.0]))
    share = draw(st.sampled_from([0.0, 0.3, 1.0]))
    rest = draw(st.sampled_from([0.0, -np.inf]))
    listed = random.random((states, states)) < share
    sources, targets = np.nonzero(listed)
    arcs = Arcs(states, sources, targets, rest)
    scores = random.normal(0, 1 + scale / 20, len(arcs))
    if draw(st.booleans()) and len(scores):
        scores[random.integers(len(scores))] = -np.inf
    positions = sum(lengths)
    index = random.integers(0, unique, positions).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    emissions = random.normal(0, 1 + scale, (unique, states))
    clamp = None
    if draw(st.booleans()):
        clamp_scores = random.normal(0, 1, (3, states))
        clamp_scores[random.random((3, states)) < 0.4] = -np.inf
        clamp = Clamp(clamp_scores, random.integers(0, 3, positions).astype(np.int32))
    start, stop = random.normal(0, 1, (2, states))
    return arcs, scores, emissions, index, offsets, clamp, start, stop, random


def each_sequence(problem):
    arcs, scores, emissions, index, offsets, clamp, start, stop, _ = problem
    matrix = arcs.matrix(scores)
    for n in range(len(offsets) - 1):
        span = slice(offsets[n], offsets[n + 1])
        rows = emissions[index[span]]
        if clamp is not None:
            rows = rows + clamp.scores[clamp.index[span]]
        yield span, rows, matrix, start, stop


@given(problems())
@settings(max_examples=150, deadline=None)
def test_sums_equal_enumeration(problem):
    arcs, scores, emissions, index, offsets, clamp, start, stop, random = problem
    chain = Chain(index, offsets, arcs.states)
    transitions = Transitions.of(arcs, scores)
    potentials = Potentials(Emissions.of(emissions.copy()), transitions, start, stop)
    weights = random.uniform(0.5, 2.0, len(chain))
    posteriors = np.zeros((len(index), arcs.states))
    everyone = np.arange(len(index), dtype=np.int32)
    found = chain.expectations(potentials, weights, posteriors, everyone, clamp)
    pairs = np.zeros((arcs.states, arcs.states))
    for n, (span, *sequence) in enumerate(each_sequence(problem)):
        z, expected, sequence_pairs = enumeration.sums(*sequence)
        np.testing.assert_allclose(found.log_partition[n], z, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(posteriors[span], weights[n] * expected, atol=1e-9)
        pairs += weights[n] * sequence_pairs
    np.testing.assert_allclose(found.pairs, pairs[arcs.sources, arcs.targets], atol=1e-9)
    again = chain.log_partition(potentials, clamp)
    np.testing.assert_array_equal(again, found.log_partition)


@given(problems())
@settings(max_examples=100, deadline=None)
def test_best_paths_equal_enumeration(problem):
    arcs, scores, emissions, index, offsets, clamp, start, stop, _ = problem
    chain = Chain(index, offsets, arcs.states)
    path, found = chain.best_paths(emissions, Transitions.of(arcs, scores), clamp, start, stop)
    for n, (span, *sequence) in enumerate(each_sequence(problem)):
        best = enumeration.best_score(*sequence)
        np.testing.assert_allclose(found[n], best, rtol=1e-12, atol=1e-12)
        if len(sequence[0]) and best > -np.inf:
            np.testing.assert_allclose(
                score_of(path[span], *sequence), best, rtol=1e-12, atol=1e-12
            )


def score_of(states, rows, matrix, start, stop):
    steps = rows[np.arange(len(rows)), states].sum() + matrix[states[:-1], states[1:]].sum()
    return steps + start[states[0]] + stop[states[-1]]


@given(problems(), st.integers(1, 6))
@settings(max_examples=100, deadline=None)
def test_the_k_best_paths_equal_enumeration(problem, count):
    arcs, scores, emissions, index, offsets, clamp, start, stop, _ = problem
    chain = Chain(index, offsets, arcs.states)
    transitions = Transitions.of(arcs, scores)
    paths, found = chain.k_best(emissions, transitions, count, clamp, start, stop)
    _, best_scores = chain.best_paths(emissions, transitions, clamp, start, stop)
    np.testing.assert_allclose(found[:, 0], best_scores, rtol=1e-12, atol=1e-12)
    for n, (span, *sequence) in enumerate(each_sequence(problem)):
        if not len(sequence[0]):
            np.testing.assert_array_equal(found[n], [0.0] + [-np.inf] * (count - 1))
            continue
        every = np.sort(enumeration.path_scores(*sequence)[1])[::-1]
        expected = np.full(count, -np.inf)
        expected[: len(every)] = every[:count]
        np.testing.assert_allclose(found[n], expected, rtol=1e-12, atol=1e-12)
        possible = [
            tuple(path[span]) for path, x in zip(paths, found[n], strict=True) if x > -np.inf
        ]
        assert len(set(possible)) == len(possible)
        for path, x in zip(possible, found[n], strict=False):
            np.testing.assert_allclose(
                score_of(np.array(path), *sequence), x, rtol=1e-12, atol=1e-9
            )


@given(problems())
@settings(max_examples=40, deadline=None)
def test_no_sample_is_impossible(problem):
    arcs, scores, emissions, index, offsets, clamp, start, stop, random = problem
    chain = Chain(index, offsets, arcs.states)
    uniforms = random.random((20, len(index)))
    drawn = chain.sample(emissions, Transitions.of(arcs, scores), uniforms, clamp, start, stop)
    for span, *sequence in each_sequence(problem):
        if not len(sequence[0]):
            continue
        possible = enumeration.best_score(*sequence) > -np.inf
        for path in drawn[:, span]:
            if possible:
                assert score_of(path, *sequence) > -np.inf
            else:
                assert np.all(path == -1)


@pytest.mark.parametrize(("rest", "lead"), [(0.0, 0.0), (-np.inf, 0.0), (-np.inf, 1600.0)])
def test_samples_come_as_often_as_they_are_probable(rest, lead):
    """Chi-squared over all paths; with scores that exponentials alone could not hold, too."""
    random = np.random.default_rng(3)
    states, steps, draws = 3, 3, 20_000
    listed = np.array([[1, 0, 0], [0, 1, 1], [0, 1, 1]], bool)
    arcs = Arcs(states, *np.nonzero(listed), rest)
    transitions = Transitions.of(arcs, random.normal(0, 1, len(arcs)))
    emissions = random.normal(0, 1, (steps, states))
    emissions[:, 0] += [lead, -lead / 2, -lead / 2]  # far ahead at first, and in the end not
    start, stop = random.normal(0, 1, (2, states))
    chain = Chain(np.arange(steps, dtype=np.int32), np.array([0, steps]), states)
    uniforms = random.random((draws, steps))
    drawn = chain.sample(emissions, transitions, uniforms, None, start, stop)
    paths, scores = enumeration.path_scores(emissions, arcs.matrix(transitions.scores), start, stop)
    expected = draws * np.exp(scores - enumeration.log_sum(scores))
    number = {path: k for k, path in enumerate(paths)}
    counts = np.bincount([number[tuple(path)] for path in drawn.tolist()], minlength=len(paths))
    often = expected >= 5
    chi2 = np.sum((counts - expected)[often] ** 2 / expected[often])
    assert counts[expected == 0].sum() == 0
    assert chi2 < 2 * often.sum() + 20
    assert often.sum() >= 2


def test_forbidden_arcs_that_are_made_up_for_in_two_steps_stay_out_of_log_space():
    """B and O are reached from everywhere, I from B and I alone: two steps reach everything."""
    allowed = np.ones((3, 3), bool)
    allowed[0, 2] = False  # O before I
    arcs = Arcs(3, *np.nonzero(allowed), -np.inf)
    assert arcs.reach == 2
    assert Arcs(3, [0, 1, 2], [1, 2, 0], -np.inf).reach == 0
    assert Arcs(3, [0], [1], 0.0).reach == 1
    random = np.random.default_rng(2)
    transitions = Transitions.of(arcs, random.normal(0, 1, len(arcs)))
    steps = 400
    emissions = random.uniform(-40, 40, (steps, 3))
    chain = Chain(np.arange(steps, dtype=np.int32), np.array([0, steps]), 3)
    start = np.array([0.0, 0.0, -np.inf])
    potentials = Potentials(Emissions.of(emissions.copy()), transitions, start)
    posteriors = np.zeros((steps, 3))
    found = chain.expectations(potentials, np.ones(1), posteriors, np.arange(steps, dtype=np.int32))
    emissions[0] += start
    z, expected = enumeration.log_space_sums(emissions, arcs.matrix(transitions.scores))
    np.testing.assert_allclose(found.log_partition[0], z, rtol=1e-12)
    np.testing.assert_allclose(posteriors, expected, atol=1e-10)
    walk = SimpleNamespace(potentials=potentials, clamp=NO_CLAMP)
    walked = chain._out_of_range(walk)
    assert not walked.any()


@pytest.mark.parametrize("states", [5, 40])
@pytest.mark.parametrize("share", [0.05, 0.9, 1.0])
def test_wide_packs_in_every_form(states, share):
    """Many lanes of many lengths, against log space in NumPy."""
    random = np.random.default_rng(states)
    sources, targets = np.nonzero(random.random((states, states)) < share)
    arcs = Arcs(states, sources, targets, 0.0)
    transitions = Transitions.of(arcs, random.normal(0, 1, len(arcs)))
    lengths = random.integers(1, 20, 150)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    emissions = random.normal(0, 2, (30, states))
    index = random.integers(0, 30, offsets[-1]).astype(np.int32)
    chain = Chain(index, offsets, states)
    posteriors = np.zeros((len(index), states))
    found = chain.expectations(
        Potentials(Emissions.of(emissions.copy()), transitions),
        np.ones(len(chain)),
        posteriors,
        np.arange(len(index), dtype=np.int32),
    )
    matrix = arcs.matrix(transitions.scores)
    for n in range(0, len(chain), 7):
        span = slice(offsets[n], offsets[n + 1])
        z, expected = enumeration.log_space_sums(emissions[index[span]], matrix)
        np.testing.assert_allclose(found.log_partition[n], z, rtol=1e-12)
        np.testing.assert_allclose(posteriors[span], expected, atol=1e-12)
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_long_sequences(scale):
    """100 000 steps, with scores that scaling can hold and with scores that it cannot."""
    random = np.random.default_rng(1)
    states, steps = 3, 100_000
    arcs = Arcs.all(states)
    transitions = Transitions.of(arcs, random.normal(0, 1, 9))
    emissions = random.uniform(-scale, scale, (200, states))
    index = random.integers(0, 200, steps).astype(np.int32)
    chain = Chain(index, np.array([0, steps]), states)
    posteriors = np.zeros((steps, states))
    found = chain.expectations(
        Potentials(Emissions.of(emissions.copy()), transitions),
        np.ones(1),
        posteriors,
        np.arange(steps, dtype=np.int32),
    )
    z, expected = enumeration.log_space_sums(emissions[index], arcs.matrix(transitions.scores))
    np.testing.assert_allclose(found.log_partition[0], z, rtol=1e-12)
    np.testing.assert_allclose(posteriors, expected, atol=1e-7)


def test_strongly_negative_scores_leave_the_sparse_form():
    """exp(-40) - 1 is -1 to the bit; the sparse form would make such an arc impossible."""
    arcs = Arcs(3, np.array([0]), np.array([1]), 0.0)
    transitions = Transitions.of(arcs, np.array([-40.0]))
    emissions = np.array([[0.0, -200.0, -200.0], [-100.0, 100.0, -100.0]])
    chain = Chain(np.array([0, 1], np.int32), np.array([0, 2]), 3)
    found = chain.log_partition(Potentials(Emissions.of(emissions.copy()), transitions))
    z, _, _ = enumeration.sums(emissions, arcs.matrix(transitions.scores))
    np.testing.assert_allclose(found[0], z, rtol=1e-12)


def test_states_that_never_meet_are_kept_apart_in_log_space():
    """Two chains without an arc between: one falls behind step by step, and only it may end."""
    arcs = Arcs(2, np.array([0, 1]), np.array([0, 1]), -np.inf)
    transitions = Transitions.of(arcs, np.zeros(2))
    steps = 200
    emissions = np.array([[0.0, -10.0], [-np.inf, 0.0]])
    index = np.array([0] * (steps - 1) + [1], np.int32)
    chain = Chain(index, np.array([0, steps]), 2)
    found = chain.log_partition(Potentials(Emissions.of(emissions.copy()), transitions))
    np.testing.assert_allclose(found[0], -10.0 * (steps - 1), rtol=1e-12)
