"""The world of searches: what each knob does to its sessions, and the posteriors of labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.errors import InputError, ParameterError
from purport.records.sessions import Sessions
from purport.simulate.pools import GOAL_OF_PART, GROUP_OF_PART, PARTS, Pools
from purport.simulate.queries import BEGINNINGS, ENDINGS, FILLERS, GOALS, SHARED_NOUNS
from purport.simulate.searches import SearchWorld

CHAINS = (None, "labels", "sub-intents")


def accuracies(log, world):
    """Return how often the most likely label is right, of each chain."""
    truth = np.concatenate(log.sessions.known_labels)
    return [
        np.mean(np.array(world.labels)[np.concatenate(found).argmax(axis=1)] == truth)
        for found in (world.posteriors(log.sessions, chain) for chain in CHAINS)
    ]


def label_chain(world):
    """Return how labels follow each other (L, L), and whether each state agrees with its label."""
    own = world.label_given_sub_intent
    onward = world.transitions @ own.T
    chain = (own * world.shares) @ onward / (own @ world.shares)[:, None]
    return chain, bool(np.allclose(onward, own.T @ chain))


def test_the_same_seeds_give_the_same_sessions():
    first, again = (SearchWorld(3).sessions(20, 5) for _ in range(2))
    assert first.sessions == again.sessions
    assert first.sub_intents == again.sub_intents


def test_other_sessions_of_a_world_use_its_words_and_another_world_has_others():
    world = SearchWorld(3)
    words = {
        seed: {
            word
            for texts in SearchWorld(seed).sessions(300, 1).sessions.texts
            for text in texts
            for word in text.split()
        }
        for seed in (3, 4)
    }
    assert world.sessions(20, 1).sessions != world.sessions(20, 2).sessions
    world.posteriors(world.sessions(300, 2).sessions)
    assert len(words[3] - words[4]) > 200


@given(st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_every_step_is_told_in_full(n, seed):
    log = SearchWorld(1).sessions(n, seed)
    sessions = log.sessions
    assert len(sessions) == len(log.sub_intents) == n
    for number in range(n):
        labels = sessions.known_labels[number]
        assert [name.partition(".")[0] for name in log.sub_intents[number]] == labels
        assert all(1 <= len(text.split()) <= 3 for text in sessions.texts[number])
        assert len(set(sessions.who[number])) == 1
    assert sessions.times is None or np.all(np.diff(sessions.times[sessions.offsets[:-1]]) >= 0)
    for number in range(n):
        first, last = sessions.offsets[number : number + 2]
        assert np.all(np.diff(sessions.times[first:last]) >= 0)


def test_no_word_has_two_meanings_that_were_not_meant():
    names = [first + last for first, last in itertools.product(BEGINNINGS, ENDINGS)]
    own = [word for parts in GOALS.values() for nouns in parts.values() for word in nouns.split()]
    shared = [word for nouns in SHARED_NOUNS for word in nouns.split()]
    words = [*names, *own, *shared, *FILLERS]
    assert len(words) == len(set(words))
    pools = Pools(np.random.default_rng(0), 60)
    titles = np.concatenate([pools.pages.ravel(), pools.sites.ravel()])
    assert len(titles) == len(set(titles))


def test_goals_and_groups_are_as_described():
    labels = np.array([label for _, label in PARTS])
    counts = [np.count_nonzero(labels == label) for label in set(labels)]
    assert (len(counts), min(counts), max(counts), sum(counts)) == (8, 2, 4, 24)
    assert {len(set(labels[goal == GOAL_OF_PART])) for goal in range(8)} == {3}
    pairs = []
    for group in range(8):
        members = group == GROUP_OF_PART
        assert len(set(labels[members])) == 3
        pairs += itertools.combinations(sorted(GOAL_OF_PART[members].tolist()), 2)
    assert len(pairs) == len(set(pairs)) == 24


@pytest.mark.parametrize("most", [1, 2, 3, 4])
@pytest.mark.parametrize("persistence", [0.0, 0.6, 1.0])
def test_labels_follow_each_other_equally_whatever_the_persistence_and_sub_intents(
    most, persistence
):
    world = SearchWorld(sub_intents=most, persistence=persistence)
    np.testing.assert_allclose(world.transitions.sum(axis=1), 1.0)
    np.testing.assert_allclose(world.shares @ world.transitions, world.shares)
    chain, is_first_order = label_chain(world)
    np.testing.assert_allclose(chain, label_chain(SearchWorld())[0])
    assert is_first_order == (most == 1 or persistence == 0.0)


@pytest.mark.parametrize("knobs", [{}, {"sub_intents": 2}, {"persistence": 0.3}])
def test_sessions_follow_the_chain(knobs):
    world = SearchWorld(2, **knobs)
    number = {name: state for state, name in enumerate(world.sub_intents)}
    counts = np.zeros(world.transitions.shape)
    for names in world.sessions(4000, 7).sub_intents:
        for before, after in itertools.pairwise(names):
            counts[number[before], number[after]] += 1
    totals = counts.sum(axis=1, keepdims=True)
    sure = np.sqrt(world.transitions * (1 - world.transitions) / totals)
    assert np.all(np.abs(counts / totals - world.transitions) <= 5 * sure)


@pytest.mark.parametrize("most", [1, 4])
def test_posteriors_are_those_of_all_paths(most):
    world = SearchWorld(6, sub_intents=most, disagreement=0.2)
    sessions = world.sessions(60, 1).sessions
    short = sessions[np.diff(sessions.offsets) <= 3]
    evidence = np.exp(world._evidence(short))
    found = world.posteriors(short)
    assert len(short) > 5
    for number, (first, last) in enumerate(itertools.pairwise(short.offsets)):
        expected = np.zeros((last - first, len(world.labels)))
        for path in itertools.product(range(len(world.sub_intents)), repeat=int(last - first)):
            weight = world.shares[path[0]]
            for before, after in itertools.pairwise(path):
                weight *= world.transitions[before, after]
            for step, state in enumerate(path):
                weight *= evidence[first + step, state]
            expected += weight * world.label_given_sub_intent[:, list(path)].T
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found[number], expected, atol=1e-9)


@pytest.mark.parametrize(
    "knobs",
    [
        {},
        {"sub_intents": 1},
        {"sub_intents": 2},
        {"ambiguity": 0.5},
        {"disagreement": 0.2},
        {"persistence": 1.0, "ambiguity": 1.0},
    ],
)
def test_posteriors_are_as_sure_as_they_are_right(knobs):
    world = SearchWorld(6, **knobs)
    log = world.sessions(2000, 3)
    found = np.concatenate(world.posteriors(log.sessions))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    right = np.array(world.labels)[found.argmax(axis=1)] == np.concatenate(
        log.sessions.known_labels
    )
    error = np.sqrt(np.mean(found.max(axis=1) * (1 - found.max(axis=1))) / len(found))
    assert abs(np.mean(right) - np.mean(found.max(axis=1))) < 5 * error + 1e-12


def test_by_default_the_limits_lie_apart():
    world = SearchWorld(6)
    alone, labels, all_known = accuracies(world.sessions(1500, 3), world)
    assert alone + 0.1 < labels < all_known - 0.15


@pytest.mark.parametrize("zero", [{"sub_intents": 1}, {"persistence": 0.0}])
def test_at_its_zeros_a_chain_of_labels_knows_all(zero):
    world = SearchWorld(6, **zero)
    sessions = world.sessions(200, 3).sessions
    of_labels, of_all = (world.posteriors(sessions, chain) for chain in CHAINS[1:])
    np.testing.assert_allclose(np.concatenate(of_labels), np.concatenate(of_all), atol=1e-9)


def test_what_sub_intents_tell_grows_with_persistence():
    gains = []
    for persistence in (0.0, 0.3, 0.6, 0.9):
        world = SearchWorld(6, persistence=persistence)
        _, labels, all_known = accuracies(world.sessions(1500, 3), world)
        gains.append(all_known - labels)
    assert gains[0] == 0.0
    assert np.all(np.diff(gains) > 0.02)


def test_without_ambiguity_each_step_tells_its_label():
    world = SearchWorld(6, ambiguity=0.0)
    assert accuracies(world.sessions(200, 3), world) == [1.0, 1.0, 1.0]


def test_alternation_decides_how_often_labels_change():
    for alternation in (0.0, 0.4, 1.0):
        world = SearchWorld(6, alternation=alternation, persistence=1.0)
        labels = world.sessions(500, 3).sessions.known_labels
        changes = [one != other for steps in labels for one, other in itertools.pairwise(steps)]
        assert abs(np.mean(changes) - alternation) < 0.05


def test_disagreement_gives_steps_the_label_of_a_companion():
    world = SearchWorld(6, disagreement=0.3)
    log = world.sessions(1000, 3)
    names = list(itertools.chain.from_iterable(log.sub_intents))
    told = list(itertools.chain.from_iterable(log.sessions.known_labels))
    own = [name.partition(".")[0] for name in names]
    assert abs(np.mean(np.array(told) != np.array(own)) - 0.3) < 0.03
    for name, goal in {(name, name.partition(".")[2]) for name in names}:
        given = {label for one, label in zip(names, told, strict=True) if one == name}
        assert len(given) == 2
        assert given <= set(GOALS[goal])


def test_length_and_names_are_as_asked():
    world = SearchWorld(6, mean_length=4.0, names=5)
    sessions = world.sessions(4000, 3).sessions
    assert abs(np.mean(np.diff(sessions.offsets)) - 4.0) < 0.2
    assert len(set(np.concatenate(sessions.clicked.lists()))) <= 32 * 5 * 2
    one = SearchWorld(6, mean_length=1.0).sessions(50, 3).sessions
    assert np.all(np.diff(one.offsets) == 1)


def test_sessions_of_another_world_are_refused_without_a_word_of_them():
    world = SearchWorld(6)
    strange = Sessions.from_lists([["free"], ["mint", "secret mint"]])
    with pytest.raises(InputError, match=r"sequence 1, position 1") as error:
        world.posteriors(strange)
    assert "secret" not in str(error.value)
    with pytest.raises(InputError, match="Session 1"):
        world.posteriors(Sessions.from_lists([["free"], ["screens sofas"]]))


def test_sessions_without_words_or_clicks_tell_nothing():
    world = SearchWorld(6)
    (found,) = world.posteriors(Sessions.from_lists([["free", None]]))
    np.testing.assert_allclose(found, np.tile(world.label_given_sub_intent @ world.shares, (2, 1)))
    assert world.posteriors(world.sessions(0).sessions) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"seed": -1},
        {"sub_intents": 0},
        {"persistence": 1.5},
        {"alternation": -0.1},
        {"ambiguity": "much"},
        {"disagreement": 2},
        {"mean_length": 0.5},
        {"names": 61},
    ],
)
def test_impossible_worlds_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        SearchWorld(**wrong)


def test_impossible_questions_are_refused():
    with pytest.raises(ParameterError, match="'n'"):
        SearchWorld().sessions(-1)
    with pytest.raises(ParameterError, match="chain"):
        SearchWorld().posteriors(SearchWorld().sessions(1).sessions, chain="goals")
