"""What every public estimator promises, asked of each of them."""

from __future__ import annotations

import inspect
import pickle  # noqa: TID251 - that estimators can be pickled is promised; the package never does it
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import drawn_pages
import numpy as np
import pytest

import purport
from purport import clicks
from purport.clicks.kinds import KINDS
from purport.errors import InputError, NotFittedError, ParameterError
from purport.estimator.base import Estimator
from purport.features.rows import Rows
from purport.features.sensor_windows import SensorWindows
from purport.features.session_windows import SessionWindows
from purport.features.token_windows import TokenWindows
from purport.margin.svm import LinearSVM
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances
from purport.sequence import partitions
from purport.sequence.crf import CRF
from purport.sequence.ldcrf import LDCRF
from purport.sequence.shdcrf import SHDCRF

WORDS = ["play", "some", "jazz", "blues", "by", "wake", "me", "at", "half", "past", "six", "now"]
LABELS = ["O", "B-genre", "B-artist", "B-time", "I-time"]


def invented(sentences: int, seed: int = 5) -> Utterances:
    """Draw sentences whose labels depend on the words and on each other, with some noise."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 12, sentences)
    tokens, slots = [], []
    for length in lengths.tolist():
        numbers = random.integers(len(WORDS), size=length)
        noise = random.random(length) < 0.1
        labels = np.where(noise, random.integers(len(LABELS), size=length), numbers % 4)
        tokens.append([WORDS[number] for number in numbers])
        slots.append([LABELS[label] for label in labels])
    return Utterances.from_lists(tokens, slots=slots)


TALK = invented(400)
OTHER = invented(50, seed=6)


def watched(sessions: int, texts: list[str], seed: int = 5) -> Sessions:
    """Draw sessions of some texts with times, numbers and clicks, not all of them known."""
    random = np.random.default_rng(seed)
    rows = []
    for length in random.integers(1, 9, sessions).tolist():
        steps: list[dict[str, Any]] = []
        for place, number in enumerate(random.integers(len(texts), size=length).tolist()):
            step: dict[str, Any] = {"obs": texts[number], "features": {"tabs": number % 5}}
            step |= {"t": 600 * place} if number % 3 else {"clicked": ["a", "b"][: number % 4]}
            steps.append(step)
        rows.append({"steps": steps})
    return Sessions.from_rows(rows)


QUERIES = [f"{one} {two}" for one, two in pairwise(WORDS)]
LOG = watched(100, QUERIES)
BITS = ["000", "001", "010", "011", "110", "111"]


def features(talk: Utterances) -> list[list[list[str]]]:
    windows = TokenWindows(words=(-1, 1), conjunctions=(), prefixes=(), suffixes=())
    return windows.strings(talk)


@dataclass(frozen=True)
class Case:
    """One way to use one estimator.

    Attributes
    ----------
    make : callable
        Gives a new estimator; takes parameters that shall differ.
    fit : tuple
        What `fit` takes.
    ask : tuple
        What the other methods take, each by itself.
    methods : dict
        The public methods that need a fitted estimator; what each returns, checked.
    empty : list of tuples
        What `fit` refuses because there is nothing to learn from.
    """

    make: Callable[..., Any]
    fit: tuple[Any, ...]
    ask: Any
    methods: dict[str, Callable[[Any, Any, Any], None]]
    empty: list[tuple[Any, ...]]


def labels_of_each(found: Any, model: Any, asked: Any) -> None:
    assert isinstance(found, list)
    assert [len(sequence) for sequence in found] == lengths_of(asked)
    assert all(type(sequence) is list for sequence in found)
    assert {label for sequence in found for label in sequence} <= set(model.classes_.tolist())
    assert {type(label) for sequence in found for label in sequence} == {str}


def probabilities_of_each(found: Any, model: Any, asked: Any) -> None:
    assert type(found) is list
    assert [sequence.shape for sequence in found] == [
        (length, len(model.classes_)) for length in lengths_of(asked)
    ]
    for sequence in found:
        assert sequence.dtype == np.float64
        assert np.all(sequence >= 0.0)
        np.testing.assert_allclose(sequence.sum(axis=1), 1.0, atol=1e-9)


def marginals_of_each(found: Any, model: Any, asked: Any) -> None:
    assert [len(sequence) for sequence in found] == lengths_of(asked)
    positions = [position for sequence in found for position in sequence]
    assert {type(position) for position in positions} == {dict}
    assert {tuple(position) for position in positions} == {tuple(model.classes_.tolist())}
    assert {type(value) for position in positions for value in position.values()} == {float}


def rows_of_all(found: Any, model: Any, asked: Any) -> None:
    assert type(found) is Rows
    assert np.diff(found.offsets).tolist() == lengths_of(asked)
    assert found.width == len(model.feature_names())


def strings(found: Any, model: Any, asked: Any) -> None:
    assert {type(name) for name in found} == {str}


def lengths_of(asked: Any) -> list[int]:
    if isinstance(asked, Sessions):
        return np.diff(asked.offsets).tolist()
    return list(map(len, asked.tokens if isinstance(asked, Utterances) else asked))


def labellings_of_each(found: Any, model: Any, asked: Any) -> None:
    assert type(found) is list
    for labellings, length in zip(found, lengths_of(asked), strict=True):
        assert 1 <= len(labellings) <= 5
        assert all(len(labels) == length for labels, _ in labellings)
        probabilities = [probability for _, probability in labellings]
        assert all(type(probability) is float for probability in probabilities)
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) <= 1.0 + 1e-9


def without_loose_insides(talk: Utterances) -> Utterances:
    """Return the same sentences with tags that are BIO."""
    slots = []
    for tags in talk.slots or []:
        mended: list[str | None] = []
        for tag in tags:
            before = mended[-1] if mended else "O"
            fits = tag != "I-time" or before in ("B-time", "I-time")
            mended.append(tag if fits else "B-time")
        slots.append(mended)
    return Utterances.from_lists(talk.tokens, slots=slots)


def label_of_each_row(found: Any, model: Any, asked: Any) -> None:
    assert type(found) is np.ndarray
    assert found.shape == (len(asked),)
    assert found.dtype == model.classes_.dtype
    assert set(found.tolist()) <= set(model.classes_.tolist())


def scores_of_each_row(found: Any, model: Any, asked: Any) -> None:
    assert type(found) is np.ndarray
    assert found.dtype == np.float64
    assert found.shape == (len(asked), len(model.classes_))


RANDOM = np.random.default_rng(7)
DRAWN = RANDOM.normal(size=(200, 5))
LETTERS = np.array(list("abc"))[np.argmax(DRAWN[:, :3] + RANDOM.normal(size=(200, 3)), axis=1)]
ROWS = {"predict": label_of_each_row, "decision_function": scores_of_each_row}
SEQUENCES = {
    "predict": labels_of_each,
    "predict_proba": probabilities_of_each,
    "predict_marginals": marginals_of_each,
    "predict_nbest": labellings_of_each,
}


def states_of_each(found: Any, model: Any, asked: Any) -> None:
    assert [len(sequence) for sequence in found] == lengths_of(asked)
    states = {state for sequence in found for state in sequence}
    assert {type(state) for state in states} == {int}
    assert states <= set(range(model.label_given_state_.shape[1]))


def one_number(found: Any, model: Any, asked: Any) -> None:
    assert type(found) is float
    assert np.isfinite(found)


def perplexity_of_each_rank(found: Any, model: Any, asked: Any) -> None:
    assert type(found) is np.ndarray
    assert found.dtype == np.float64
    assert found.shape == (np.diff(asked.offsets).max(),)
    assert np.all(found >= 1.0)


def chances_of_each_result(found: Any, model: Any, asked: Any) -> None:
    assert type(found) is np.ndarray
    assert found.dtype == np.float64
    lengths = np.diff(asked.offsets)
    assert found.shape == (len(asked), lengths.max())
    assert (~np.isnan(found)).sum(axis=1).tolist() == lengths.tolist()
    assert np.nanmin(found) >= 0.0
    assert np.nanmax(found) <= 1.0


CLICKS = {
    "log_likelihood": one_number,
    "perplexity": one_number,
    "perplexity_at_rank": perplexity_of_each_rank,
    "click_probabilities": chances_of_each_result,
    "conditional_click_probabilities": chances_of_each_result,
}
SHOWN = drawn_pages.log(150, seed=5)
ASKED = drawn_pages.log(40, seed=6, queries=9)


def click_case(kind: type[Any], given: dict[str, Any]) -> Case:
    return Case(
        lambda **changed: kind(**given | changed),
        (SHOWN, 500),
        ASKED,
        CLICKS,
        [(SHOWN[:0],), (["clicks"],), (None,)],
    )


HIDDEN = SEQUENCES | {"predict_states": states_of_each}
CASES = {
    "CRF on lists": Case(
        lambda **changed: CRF(**{"l2": 0.5, "max_iter": 200, "tol": 1e-3} | changed),
        (features(TALK), TALK.slots),
        features(OTHER),
        SEQUENCES,
        [([], []), ([[]], [[]]), ([[["a"]]], [[None]])],
    ),
    "CRF on records": Case(
        lambda **changed: CRF(
            **{"max_iter": 200, "tol": 1e-3, "features": TokenWindows(suffixes=[2])} | changed
        ),
        (TALK,),
        OTHER,
        SEQUENCES,
        [(TALK[:0],), (TALK[:0], [])],
    ),
    "CRF on sessions": Case(
        lambda **changed: CRF(**{"max_iter": 200, "tol": 1e-3} | changed),
        (LOG, [[f"label{place % 2}" for place in range(n)] for n in lengths_of(LOG)]),
        watched(20, QUERIES, seed=6),
        SEQUENCES,
        [(LOG,), (LOG[:0],), (LOG[:0], [])],
    ),
    "CRF under rules": Case(
        lambda **changed: CRF(**{"max_iter": 200, "tol": 1e-3, "forbid": "bio"} | changed),
        (without_loose_insides(TALK),),
        OTHER,
        SEQUENCES,
        [(TALK,)],
    ),
    "LDCRF on lists": Case(
        lambda **changed: LDCRF(**{"states_per_label": 2, "max_iter": 200, "tol": 1e-3} | changed),
        (features(TALK), TALK.slots),
        features(OTHER),
        HIDDEN,
        [([], []), ([[]], [[]]), ([[["a"]]], [[None]])],
    ),
    "SHDCRF on lists": Case(
        lambda **changed: SHDCRF(**{"states": 8, "max_iter": 200, "tol": 1e-3} | changed),
        (features(TALK), TALK.slots),
        features(OTHER),
        HIDDEN,
        [([], []), ([[]], [[]]), ([[["a"]]], [[None]])],
    ),
    "SHDCRF on sessions": Case(
        lambda **changed: SHDCRF(
            **{"states": 5, "init": "random", "max_iter": 200, "tol": 1e-3, "decode": "best"}
            | changed
        ),
        (LOG, [[f"label{place % 2}" for place in range(n)] for n in lengths_of(LOG)]),
        watched(20, QUERIES, seed=6),
        HIDDEN,
        [(LOG,), (LOG[:0],), (LOG[:0], [])],
    ),
    "LinearSVM on numbers": Case(
        lambda **changed: LinearSVM(**{"C": 0.5, "class_weight": {"b": 2.0}} | changed),
        (DRAWN, LETTERS),
        DRAWN[::3],
        ROWS,
        [(DRAWN[:0], []), (DRAWN, [None] * len(DRAWN)), ([], [])],
    ),
    "LinearSVM on lists": Case(
        lambda **changed: LinearSVM(**{"multi_class": "ovr", "fit_intercept": False} | changed),
        (
            [position for sequence in features(TALK) for position in sequence],
            [label for labels in TALK.slots for label in labels],
        ),
        [position for sequence in features(OTHER) for position in sequence],
        ROWS,
        [([], []), ([["a"]], [None])],
    ),
    "TokenWindows": Case(
        lambda **changed: TokenWindows(**{"words": (-1, 1), "prefixes": [2, 3]} | changed),
        (TALK,),
        OTHER,
        {"transform": rows_of_all},
        # The rows of no records are no rows; whether that is enough is for the model to say.
        [],
    ),
    "TokenWindows of all kinds": Case(
        lambda **changed: TokenWindows(
            **{
                "gazetteers": {"time": ["half past", "six"], "music": ("jazz", "blues")},
                "token_classes": {"number": "[0-9]+"},
                "class_window": (-1, 1),
                "prepositions": True,
            }
            | changed
        ),
        (TALK,),
        OTHER,
        {"transform": rows_of_all},
        [],
    ),
    "TokenWindows, hashed": Case(
        lambda **changed: TokenWindows(**{"prepositions": ["by"], "hash_bits": 8} | changed),
        (TALK,),
        OTHER,
        {"transform": rows_of_all},
        [],
    ),
    "SessionWindows": Case(
        lambda **changed: SessionWindows(**{"window": (-1, 1), "words": [1, 2]} | changed),
        (watched(100, QUERIES),),
        watched(20, QUERIES, seed=6),
        {"transform": rows_of_all},
        [],
    ),
    "SessionWindows of numbers": Case(
        lambda **changed: SessionWindows(**{"words": None, "bins": None, "text": False} | changed),
        (watched(100, QUERIES),),
        watched(20, QUERIES, seed=6),
        {"transform": rows_of_all},
        [],
    ),
    "SensorWindows": Case(
        lambda **changed: SensorWindows(**{"representations": ["raw", "last"]} | changed),
        (watched(100, BITS),),
        watched(20, BITS, seed=6),
        {"transform": rows_of_all},
        [],
    ),
    "SensorWindows, hashed": Case(
        lambda **changed: SensorWindows(**{"texts": "events", "hash_bits": 6} | changed),
        (watched(100, QUERIES),),
        watched(20, QUERIES, seed=6),
        {"transform": rows_of_all},
        [],
    ),
}
CASES |= {
    name: click_case(getattr(clicks, name), {"prior": (0.4, 3.0), "ranks": 4, "shards": 3})
    for name in KINDS
}
CASES |= {
    "UBM that chooses priors": click_case(clicks.UBM, {}),
    "SDBN that chooses priors": click_case(clicks.SDBN, {"sync_every": 10}),
}
every = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def bits(model: Estimator) -> dict[str, bytes]:
    """Return all that a model has learnt, to the bit."""
    return {name: array.tobytes() for name, array in model._to_state().arrays.items()}


def answers(model: Any, case: Case) -> list[Any]:
    """Return what all methods say, to the bit."""
    said = [getattr(model, method)(case.ask) for method in case.methods]
    return [repr([plain(found) for found in answer]) for answer in map(as_list, said)]


def as_list(answer: Any) -> list[Any]:
    if isinstance(answer, Rows):
        return [answer.indptr, answer.columns, answer.index, answer.width, answer.unseen]
    return [answer] if isinstance(answer, float) else list(answer)


def plain(found: Any) -> Any:
    return found.tobytes() if isinstance(found, np.ndarray) else found


def test_every_public_estimator_is_asked() -> None:
    public = {
        thing
        for module in (purport, clicks)
        for name in module.__all__
        if inspect.isclass(thing := getattr(module, name)) and issubclass(thing, Estimator)
    }
    assert public == {type(case.make()) for case in CASES.values()}


@every
def test_the_constructor_only_stores(case: Case) -> None:
    kind = type(case.make())
    names = kind._parameter_names()
    given = {name: object() for name in names}
    model = kind(**given)
    assert vars(model) == given
    assert all(model.get_params(deep=False)[name] is given[name] for name in names)
    defaults = inspect.signature(kind).parameters
    assert all(vars(kind())[name] is defaults[name].default for name in names)


@every
def test_parameters_can_be_asked_for_and_set(case: Case) -> None:
    model = case.make()
    params = model.get_params(deep=False)
    other = type(model)()
    assert other.set_params(**params) is other
    assert other.get_params(deep=False) == params
    with pytest.raises(ParameterError, match="has no parameter 'nonsense'"):
        model.set_params(nonsense=1)
    for name, value in params.items():
        if isinstance(value, Estimator):
            for inner in value._parameter_names():
                assert model.get_params()[f"{name}__{inner}"] is getattr(value, inner)
            model.set_params(**{f"{name}__{inner}": "set"})
            assert getattr(value, inner) == "set"


@every
def test_a_clone_has_the_parameters_and_nothing_learnt(case: Case) -> None:
    base = pytest.importorskip("sklearn.base")
    model = case.make().fit(*case.fit)
    cloned = base.clone(model)
    assert type(cloned) is type(model)
    assert repr(cloned) == repr(model)
    assert not cloned._is_fitted()
    assert bits(cloned.fit(*case.fit)) == bits(model)


@every
def test_its_repr_shows_what_differs_and_can_be_read_back(case: Case) -> None:
    kind = type(case.make())
    assert repr(kind()) == f"{kind.__name__}()"
    model = case.make()
    read = eval(
        repr(model),
        {kind.__name__: kind for kind in {type(case.make()) for case in CASES.values()}},
    )
    assert repr(read) == repr(model)


@every
def test_fit_returns_itself_and_leaves_its_parameters_alone(case: Case) -> None:
    model = case.make()
    before = repr(model.get_params())
    assert model.fit(*case.fit) is model
    assert repr(model.get_params()) == before
    public = [name for name in vars(model) if not name.startswith("_")]
    assert all(name.endswith("_") or name in model.get_params() for name in public)


@every
def test_fit_is_repeatable_and_starts_anew(case: Case) -> None:
    model = case.make().fit(*case.fit)
    first = bits(model)
    assert bits(case.make().fit(*case.fit)) == first
    assert bits(model.fit(*case.fit)) == first


@every
def test_the_number_of_threads_changes_no_bit(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    if "n_threads" not in case.make().get_params():
        return
    # So little data would be one partition; this makes it dozens.
    monkeypatch.setattr(partitions, "WORK", 2**10)
    models = [case.make(n_threads=n_threads).fit(*case.fit) for n_threads in (1, 2, 3)]
    assert bits(models[0]) == bits(models[1]) == bits(models[2])
    said = [answers(model, case) for model in models]
    assert said[0] == said[1] == said[2]


@every
def test_its_methods_return_what_they_should(case: Case) -> None:
    model = case.make().fit(*case.fit)
    for method, check in case.methods.items():
        check(getattr(model, method)(case.ask), model, case.ask)


@every
def test_it_must_be_fitted_first(case: Case) -> None:
    for method in case.methods:
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            getattr(case.make(), method)(case.ask)
    with pytest.raises(NotFittedError):
        case.make()._to_state()


@every
def test_a_fit_that_failed_is_no_fit(case: Case) -> None:
    for empty in case.empty:
        model = case.make()
        with pytest.raises(InputError):
            model.fit(*empty)
        with pytest.raises(NotFittedError):
            model._to_state()


@every
def test_wrong_parameters_are_named_with_what_was_given_and_what_is_allowed(case: Case) -> None:
    kind = type(case.make())
    assert kind._constraints
    for name, constraint in kind._constraints.items():
        for wrong in (Wrong(), [Wrong()], float("nan"), -7):
            if constraint.allows(wrong):
                continue
            model = case.make(**{name: wrong})
            with pytest.raises(ParameterError) as caught:
                model.fit(*case.fit)
            said = str(caught.value)
            assert said.startswith(f"{kind.__name__}: parameter {name!r} must be ")
            assert constraint.words() in said
            assert said.endswith(f"got {wrong!r}.")
            assert not model._is_fitted()


class Wrong:
    """Allowed nowhere."""


@every
def test_every_default_is_allowed(case: Case) -> None:
    type(case.make())()._check_parameters()


@every
def test_saved_and_loaded_it_says_the_same(case: Case, tmp_path: Path) -> None:
    model = case.make().fit(*case.fit)
    purport.save(model, tmp_path / "model")
    loaded = purport.load(tmp_path / "model")
    assert type(loaded) is type(model)
    assert repr(loaded) == repr(model)
    assert bits(loaded) == bits(model)
    assert answers(loaded, case) == answers(model, case)
    learnt = {name for name in vars(model) if name.endswith("_")}
    assert {name for name in vars(loaded) if name.endswith("_")} == learnt
    assert bits(loaded.fit(*case.fit)) == bits(model)


@every
def test_pickled_it_says_the_same(case: Case) -> None:
    for model in (case.make(), case.make().fit(*case.fit)):
        copied = pickle.loads(pickle.dumps(model))
        assert repr(copied) == repr(model)
        assert copied._is_fitted() == model._is_fitted()
    assert bits(copied) == bits(model)
    assert answers(copied, case) == answers(model, case)
    # Also after it has been used, when it may keep things that it can make anew.
    assert answers(pickle.loads(pickle.dumps(model)), case) == answers(model, case)
