"""Models with hidden states: how they begin, learn, teach themselves and are used."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from purport.errors import ConvergenceWarning, InputError, ParameterError
from purport.features.session_windows import SessionWindows
from purport.fold import threads
from purport.sequence import training
from purport.sequence.beginnings import cluster, split_steps, states_of_labels, step_profiles
from purport.sequence.crf import CRF
from purport.sequence.generative import GenerativeChain, best_states
from purport.sequence.hidden_states import with_bias
from purport.sequence.inputs import make_encoder
from purport.sequence.labels import UNKNOWN, encode_labels
from purport.sequence.ldcrf import LDCRF
from purport.sequence.shdcrf import SHDCRF
from purport.simulate.searches import SearchWorld
from purport.store.folders import load, save

WINDOWS = SessionWindows(window=(0, 0))


@pytest.fixture(scope="module")
def world():
    return SearchWorld(seed=21, names=12)


@pytest.fixture(scope="module")
def log(world):
    return world.sessions(500, 1).sessions


@pytest.fixture(scope="module")
def other_log(world):
    return world.sessions(300, 2).sessions


def shd(**changed):
    usual = {"states": 24, "l2": 0.3, "max_iter": 60, "tol": 1e-3, "random_state": 1}
    return SHDCRF(**usual | {"features": WINDOWS} | changed)


stops_early = pytest.mark.filterwarnings("ignore::purport.errors.ConvergenceWarning")


@pytest.fixture(scope="module")
def fitted(log):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return shd().fit(log)


@stops_early
def test_hidden_states_see_what_labels_do_not(fitted, log, other_log):
    every = {"all_possible_states": True, "all_possible_transitions": True}
    crf = CRF(l2=0.3, max_iter=200, features=WINDOWS, **every).fit(log)
    assert fitted.score(other_log) > crf.score(other_log) + 0.05


@stops_early
def test_the_start_from_clusters_beats_one_by_chance(fitted, log, other_log):
    by_chance = shd(init="random").fit(log)
    assert fitted.history_[-1]["objective"] < by_chance.history_[-1]["objective"]
    assert fitted.score(other_log) > by_chance.score(other_log) + 0.05


@stops_early
def test_it_teaches_itself(fitted, world, log, other_log):
    more = world.sessions(1500, 3).sessions
    taught = shd(semi="self-training").fit(log, unlabeled=more)
    assert taught.score(other_log) > fitted.score(other_log) + 0.03
    assert taught._trained_on()["unlabeled_sequences"] == 1500
    assert taught._trained_on()["sequences"] == 500
    # Words that only the unlabelled sessions have are learnt, too.
    assert taught._encoder.width > fitted._encoder.width
    assert taught.count_unseen(other_log) < fitted.count_unseen(other_log)


@stops_early
def test_sparse_states_have_few_labels(log):
    entropies = []
    for sparsity in (0.0, 0.1):
        found = shd(sparsity=sparsity).fit(log).label_given_state_
        entropies.append(float(-(found * np.log(found)).sum()))
        np.testing.assert_allclose(found.sum(axis=0), 1.0)
    assert entropies[1] < 0.8 * entropies[0]


@stops_early
def test_usage_weighs_entropies(log):
    model = shd(entropy_weight="usage", max_iter=15).fit(log)
    assert len(model.history_) == 3 * 16
    assert not np.array_equal(model._theta, shd(max_iter=15).fit(log)._theta)


@stops_early
def test_threads_do_not_show(fitted, log):
    for count in (1, 3):
        again = shd().fit(log, engine=threads(count))
        np.testing.assert_array_equal(again._theta, fitted._theta)


SEQUENCES = [[["a", "b"], ["b"], ["c"]], [["c"], ["a"]], [["b", "d"]]] * 4
TOLD = [["A", "B", "A"], ["B", None], ["A"]] * 4


def test_restarts_keep_the_lowest_objective():
    def ends(**changed):
        model = SHDCRF(3, init="random", random_state=5, l2=0.01, **changed)
        return model.fit(SEQUENCES, TOLD).history_[-1]["objective"]

    assert ends(restarts=4) <= ends(restarts=1)


def test_warm_start_goes_on():
    model = SHDCRF(3, tol=1e-6, max_iter=500).fit(SEQUENCES, TOLD)
    reached = model.history_[-1]["objective"]
    model.fit(SEQUENCES, TOLD, warm_start=True)
    assert model.history_[0]["objective"] == pytest.approx(reached, rel=1e-12)
    assert len(model.history_) < 20
    with pytest.raises(InputError, match="not among the classes of the model"):
        model.fit(SEQUENCES, [["A", "B", "Z"], *TOLD[1:]], warm_start=True)


def test_squares_are_measured_from_a_split_alone():
    split = SHDCRF(3, l2=0.01).fit(SEQUENCES, TOLD)
    of_features = slice(split._shape.width * 3)
    began = split._beginning[of_features]
    assert np.abs(split._theta[of_features] - began).max() > 0.1
    split.set_params(l2=1e6).fit(SEQUENCES, TOLD, warm_start=True)
    np.testing.assert_allclose(split._theta[of_features], began, atol=1e-4)
    assert np.abs(began).max() > 0.1
    # At random, and with one state a label, where nothing is split, they are measured from 0.
    for model in (SHDCRF(3, l2=0.1, init="random"), LDCRF(1)):
        assert not model.fit(SEQUENCES, TOLD)._beginning.any()


def test_warm_start_remembers_where_a_split_began(tmp_path):
    model = SHDCRF(3).fit(SEQUENCES, TOLD)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model").fit(SEQUENCES, TOLD, warm_start=True)
    np.testing.assert_array_equal(again._beginning, model._beginning)
    reached = model.history_[-1]["objective"]
    assert again.history_[0]["objective"] == pytest.approx(reached, rel=1e-12)


def test_models_saved_without_a_beginning_are_read():
    state = SHDCRF(3).fit(SEQUENCES, TOLD)._to_state()
    del state.arrays["beginning"]
    old = SHDCRF(3)
    old._restore(state)
    assert not old._beginning.any()
    assert len(old.predict(SEQUENCES)) == len(SEQUENCES)


def test_sequences_that_count_nothing_are_not_there():
    weights = np.ones(len(SEQUENCES))
    weights[:3] = 0.0
    weighed = SHDCRF(3, random_state=2).fit(SEQUENCES, TOLD, sample_weight=weights)
    without = SHDCRF(3, random_state=2).fit(SEQUENCES[3:], TOLD[3:])
    np.testing.assert_array_equal(weighed._theta, without._theta)


def test_an_interruption_leaves_a_model(monkeypatch):
    found = training.minimise

    def interrupted(*given, **named):
        for number, now in enumerate(found(*given, **named)):
            if number == 3:
                raise KeyboardInterrupt
            yield now

    monkeypatch.setattr(training, "minimise", interrupted)
    model = SHDCRF(3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(SEQUENCES, TOLD)
    assert len(model.history_) == 3
    assert not model.converged_
    assert len(model.predict(SEQUENCES)) == len(SEQUENCES)


def test_a_failed_fit_changes_nothing():
    model = SHDCRF(3).fit(SEQUENCES, TOLD)
    before = dict(vars(model))
    with pytest.raises(InputError):
        model.fit(SEQUENCES, [[None] * len(s) for s in SEQUENCES])
    assert vars(model) == before


def test_unlabelled_sequences_that_cannot_be_used_are_refused():
    with pytest.raises(InputError, match="has no position"):
        SHDCRF(2).fit(SEQUENCES, TOLD, unlabeled=[[]])
    with pytest.raises(InputError, match="not rows of numbers"):
        SHDCRF(2).fit(np.eye(4), ["A", "B"] * 2, groups=[0, 0, 1, 1], unlabeled=np.eye(4))
    with pytest.raises(InputError, match="was given rows of numbers"):
        SHDCRF(2, semi="self-training").fit(SEQUENCES, TOLD, unlabeled=np.eye(4))


def test_parameters_are_checked():
    for wrong in ({"states": 0}, {"sparsity": -1.0}, {"decode": "viterbi"}, {"semi": "both"}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            SHDCRF(**wrong).fit(SEQUENCES, TOLD)
    with pytest.raises(ParameterError, match="state"):
        SHDCRF(2).fit(SEQUENCES, TOLD).state_features(2)


@pytest.mark.parametrize("model", [SHDCRF(6, max_iter=30), LDCRF(2, max_iter=30)], ids=repr)
def test_check_estimator(model):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = checks.check_estimator(model, on_fail=None)
    assert len(results) > 40
    failed = {each["check_name"] for each in results if each["status"] == "failed"}
    # A sequence of weight two and the same one twice split into other clusters, so that training
    # begins elsewhere and ends in another of the many optima.
    assert failed <= {
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    }


def test_states_are_dealt_by_how_frequent_labels_are():
    assert states_of_labels(np.array([5, 5]), 2).tolist() == [1, 1]
    assert states_of_labels(np.array([400, 100]), 6).tolist() == [4, 2]
    assert states_of_labels(np.array([0, 9, 9]), 7).sum() == 7


def test_clusters_are_found():
    random = np.random.default_rng(3)
    kinds = random.integers(0, 3, 90)
    matrix = csr_matrix(np.eye(3)[kinds] + 0.1 * random.random((90, 3)))
    found = cluster(matrix, 3, random)
    for kind in range(3):
        assert len(set(found[kinds == kind].tolist())) == 1
    assert len(set(found.tolist())) == 3


def test_steps_are_split_within_their_labels():
    X = [[["a"], ["x"]], [["b"], ["y"]]] * 5
    y = [["A", "B"], ["A", None]] * 5
    encoder = make_encoder("test", X, None)
    rows = encoder.fit_transform(X)
    coded = encode_labels(y, rows.offsets)
    states = split_steps(rows, coded, np.array([2, 1]), np.random.default_rng(1))
    assert (states[coded.codes == UNKNOWN] == UNKNOWN).all()
    assert set(states[coded.codes == 0].tolist()) == {0, 1}
    assert set(states[coded.codes == 1].tolist()) == {2}
    profiles = step_profiles(rows)
    assert profiles.shape == (20, 2 * rows.width)
    lengths = np.sqrt(np.asarray(profiles.multiply(profiles).sum(axis=1)).ravel())
    np.testing.assert_allclose(lengths, np.sqrt(2.0))


def generative_chain(X, y, each, weights=None, engine=None):
    rows = with_bias(make_encoder("test", X, None).fit_transform(X))
    weights = np.ones(len(rows)) if weights is None else weights
    coded = encode_labels(y, rows.offsets)
    each = np.array(each)
    return GenerativeChain(rows, coded, weights, each, engine or threads(1)), rows, coded


def persisting(random, count=150):
    """Sequences of two kinds that last, each with words it prefers, while labels alternate."""
    X, y = [], []
    for kind in random.integers(0, 2, count).tolist():
        labels = random.integers(0, 2, 8).tolist()
        sides = np.where(random.random(8) < 0.75, kind, 1 - kind)
        words = (3 * sides + random.integers(0, 3, 8)).tolist()
        X.append([[f"{label} {word}"] for label, word in zip(labels, words, strict=True)])
        y.append(["AB"[label] for label in labels])
    return X, y


def shares_told(states, truth):
    """Return how often the commonest truth of its state is that of a step."""
    together = np.zeros((states.max() + 1, truth.max() + 1))
    np.add.at(together, (states, truth), 1.0)
    return together.max(axis=1).sum() / len(truth)


def test_em_finds_what_clusters_do_not(world):
    log = world.sessions(500, 1)
    rows = with_bias(SessionWindows(window=(0, 0), change=False).fit_transform(log.sessions))
    coded = encode_labels(log.sessions.known_labels, rows.offsets)
    truth = np.unique([name for names in log.sub_intents for name in names], return_inverse=True)[1]
    each = np.full(len(coded.classes), 3)
    random = np.random.default_rng(1)
    starts = [split_steps(rows, coded, each, random) for _ in range(2)]
    chain = GenerativeChain(rows, coded, np.ones(len(rows)), each, threads(1))
    states = best_states(chain, starts)
    # States keep to their labels, and tell the sub-intents inside them.
    np.testing.assert_array_equal(states // 3, coded.codes)
    clusters = max(shares_told(start, truth) for start in starts)
    assert shares_told(states, truth) > clusters + 0.1


@pytest.mark.parametrize("hidden", [False, True])
def test_em_never_falls(hidden):
    X, y = persisting(np.random.default_rng(3), 30)
    if hidden:
        for labels in y[::3]:
            labels[2], labels[5] = None, {"A", "B"}
    weights = np.random.default_rng(4).uniform(0.5, 2.0, len(X))
    chain, rows, coded = generative_chain(X, y, [3, 2], weights)
    expected = chain._first(split_steps(rows, coded, np.array([3, 2]), np.random.default_rng(5)))
    reached = []
    for _ in range(25):
        theta, believed = chain._maximised(expected, 0.2)
        expected = chain._expected(theta)
        reached.append(expected.log_likelihood + believed)
    assert np.all(np.diff(reached) > -1e-9 * abs(reached[0]))
    assert reached[-1] > reached[0] + 1.0
    weighed = (weights * np.diff(rows.offsets)).sum()
    assert expected.features.sum() == pytest.approx(weighed, rel=1e-9)


def test_threads_do_not_show_in_em(cut_small):
    cut_small(64)
    X, y = persisting(np.random.default_rng(6))
    found = []
    for count in (1, 2):
        chain, rows, coded = generative_chain(X, y, [2, 2], engine=threads(count))
        start = split_steps(rows, coded, np.array([2, 2]), np.random.default_rng(7))
        found.append(chain.learn(start).theta)
    np.testing.assert_array_equal(*found)


def test_numbers_below_zero_are_split_into_clusters_alone():
    numbers = np.random.default_rng(8).normal(size=(40, 3))
    y = np.where(numbers[:, 0] > 0, "A", "B")
    model = LDCRF(2, random_state=1).fit(numbers, y, groups=np.repeat(np.arange(8), 5))
    assert model.score(numbers, y, groups=np.repeat(np.arange(8), 5)) > 0.9
