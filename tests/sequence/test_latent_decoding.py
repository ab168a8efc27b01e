"""What models with hidden states say, against enumeration."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.latent import HiddenWrittenDown
from sequence.test_latent_objective import objective_and_model

from purport.errors import InputError
from purport.sequence.ldcrf import LDCRF
from purport.sequence.shdcrf import SHDCRF

LABELS = ["A", "B", "C"]
NAMES = ["a", "b", "c", "d"]


def draw_model(random, labels, states, steps, scale):
    """Return a model with drawn weights and sequences of up to so many steps."""
    X = [
        [random.choice(NAMES, random.integers(0, 3)).tolist() for _ in range(length)]
        for length in range(steps + 1)
    ]
    told = [[labels[0]] * len(sequence) for sequence in X]
    X.append([NAMES[:1]] * len(labels))
    told.append(list(labels))
    ldcrf = states % len(labels) == 0 and random.random() < 0.5
    model = LDCRF(states // len(labels)) if ldcrf else SHDCRF(states)
    _, model = objective_and_model(model, X, told)
    theta = model._shape.centre(scale * random.normal(size=len(model._theta)))
    model._keep(theta, [], True)
    return model, HiddenWrittenDown(model), X[:-1]


@st.composite
def cases(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = LABELS[: draw(st.integers(1, 3))]
    scale = draw(st.sampled_from([0.3, 1.0, 4.0]))
    return draw_model(random, labels, draw(st.integers(1, 4)), draw(st.integers(1, 4)), scale)


def draw_allowed(random, model, X):
    labels = model.classes_.tolist()
    choices = [None, *labels, set(labels[:2])]
    return [[choices[k] for k in random.integers(len(choices), size=len(s))] for s in X]


@given(cases(), st.booleans())
@settings(max_examples=80)
def test_marginals_and_labels_by_position(case, restrained):
    model, written, X = case
    allowed = draw_allowed(np.random.default_rng(1), model, X) if restrained else None
    found = model.predict_proba(X, allowed=allowed)
    labels = model.predict(X, allowed=allowed)
    for number, sequence in enumerate(X):
        expected = np.zeros((len(sequence), len(model.classes_)))
        for labelling, probability in written.labellings(model._theta, sequence):
            if allowed is None or agrees(written, labelling, allowed[number]):
                for t, label in enumerate(labelling):
                    expected[t, written.labels.index(label)] += probability
        expected /= np.maximum(expected.sum(axis=1, keepdims=True), 1e-300)
        np.testing.assert_allclose(found[number], expected, atol=1e-9)
        for t, label in enumerate(labels[number]):
            chosen = expected[t, written.labels.index(label)]
            assert chosen >= expected[t].max() - 1e-9


def agrees(written, labelling, allowed):
    return all(one in written.possible(some) for one, some in zip(labelling, allowed, strict=True))


@given(cases(), st.booleans(), st.integers(1, 5))
@settings(max_examples=80)
def test_the_n_best_are_those_of_enumeration_wherever_they_are_certain(case, restrained, n):
    model, written, X = case
    allowed = draw_allowed(np.random.default_rng(2), model, X) if restrained else None
    for number, (found, sequence) in enumerate(zip(
        model.predict_nbest(X, n, allowed=allowed), X, strict=True
    )):  # fmt: skip
        every = written.labellings(model._theta, sequence)
        if allowed is not None:
            every = [one for one in every if agrees(written, one[0], allowed[number])]
        total = 1.0 if allowed is None else sum(probability for _, probability in every)
        exact = {tuple(labels): probability / total for labels, probability in every}
        assert len({tuple(one.labels) for one in found}) == len(found) <= n
        for one in found:
            assert one.probability == pytest.approx(exact[tuple(one.labels)], abs=1e-9)
        for rank, one in enumerate(found):
            if one.certain:
                assert one.probability == pytest.approx(every[rank][1] / total, abs=1e-9)
        # So few labellings that all of them are looked at.
        assert all(one.certain for one in found)
        assert len(found) == min(n, sum(value > 0.0 for value in exact.values()))


def test_certificates_of_sequences_with_too_many_labellings_to_look_at_all():
    random = np.random.default_rng(8)
    certain = doubted = 0
    for scale in (0.5, 2.0, 6.0):
        for _ in range(6):
            model, written, X = draw_model(random, LABELS, 3, 7, scale)
            (found,) = model.predict_nbest(X[-1:], 3)
            exact = written.labellings(model._theta, X[-1])
            for rank, one in enumerate(found):
                if one.certain:
                    certain += 1
                    assert one.probability == pytest.approx(exact[rank][1], rel=1e-9)
                doubted += not one.certain
    assert certain > 10
    assert doubted > 10


@given(cases())
@settings(max_examples=40)
def test_joint_decoding_is_the_best_pair_of_path_and_labels(case):
    model, written, X = case
    model.set_params(decode="joint")
    for labels, sequence in zip(model.predict(X), X, strict=True):
        paths, totals = written.path_scores(model._theta, sequence)
        shares = written.parts(model._theta)[-1]
        with np.errstate(divide="ignore"):
            best = [
                total + sum(np.log(shares[:, state].max()) for state in path)
                for path, total in zip(paths, totals, strict=True)
            ]
            ours = [
                total
                + sum(
                    np.log(shares[written.labels.index(label), state])
                    for label, state in zip(labels, path, strict=True)
                )
                for path, total in zip(paths, totals, strict=True)
            ]
        assert max(ours) == pytest.approx(max(best), abs=1e-9)


@given(cases())
@settings(max_examples=40)
def test_states_likelihood_and_probability_of_labels(case):
    model, written, X = case
    states = model.predict_states(X)
    for number, sequence in enumerate(X):
        posteriors = written.state_posteriors(model._theta, sequence)
        for t, state in enumerate(states[number]):
            assert posteriors[t, state] >= posteriors[t].max() - 1e-9
    y = [[model.classes_[0]] * (len(s) - 1) + [None] if s else [] for s in X]
    expected = sum(
        written.log_probability(model._theta, s, known) for s, known in zip(X, y, strict=True) if s
    )
    assert model.log_likelihood(X, y) == pytest.approx(expected, abs=1e-8)


def test_the_best_labelling_as_a_whole():
    random = np.random.default_rng(4)
    differ = 0
    for _ in range(20):
        model, written, X = draw_model(random, LABELS, 4, 4, 1.5)
        by_position = model.predict(X)
        for labels, other, sequence in zip(
            model.set_params(decode="best").predict(X), by_position, X, strict=True
        ):
            best = written.labellings(model._theta, sequence)[0]
            assert np.exp(written.log_probability(model._theta, sequence, labels)) == pytest.approx(
                best[1], abs=1e-10
            )
            differ += labels != other
        model.set_params(decode="position")
    assert differ


def test_samples_come_as_often_as_they_are_probable():
    model, written, X = draw_model(np.random.default_rng(5), LABELS, 4, 2, 1.0)
    draws = 40_000
    (found,) = model.sample(X[-1:], draws, random_state=3)
    counts = Counter(map(tuple, found))
    for labels, probability in written.labellings(model._theta, X[-1]):
        error = np.sqrt(probability * (1.0 - probability) / draws)
        assert abs(counts[tuple(labels)] / draws - probability) < 5.0 * error + 1e-9
    allowed = [[{"A", "B"}, "C"]]
    (found,) = model.sample(X[-1:], 2_000, random_state=3, allowed=allowed)
    assert {tuple(labels) for labels in found} == {("A", "C"), ("B", "C")}


def test_what_no_state_agrees_with_is_refused():
    model, _, X = draw_model(np.random.default_rng(5), LABELS, 3, 2, 1.0)
    with pytest.raises(InputError, match="name only labels that the model does not have"):
        model.predict(X[:2], allowed=[[], ["D"]])
