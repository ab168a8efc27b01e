"""FeatureStrings against python-crfsuite, which says what a feature means, and plain Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from collections import Counter, OrderedDict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.errors import InputError, NotFittedError
from purport.estimator.base import State
from purport.features.rows import Rows
from purport.features.strings import FeatureStrings

names = st.text("abé:= 😀", max_size=3)
numbers = st.one_of(
    st.booleans(),
    st.integers(-5, 5),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([np.float32(0.5), np.int64(3), np.bool_(True), Fraction(1, 4), Decimal("1.5")]),
)
values = st.recursive(
    st.one_of(names, numbers, st.lists(names, max_size=3), st.sets(names, max_size=3)),
    lambda inner: st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
plain_values = st.one_of(names, numbers)
lists = st.lists(names, max_size=5)
dicts = st.dictionaries(names, values, max_size=4)
flat_dicts = st.dictionaries(names, plain_values, max_size=4)


def corpora(*positions: st.SearchStrategy[Any]) -> st.SearchStrategy[list[list[Any]]]:
    """Draw corpora with one kind of positions, or with all of them mixed."""
    return st.one_of(
        [st.lists(st.lists(p, max_size=5), max_size=5) for p in (*positions, st.one_of(*positions))]
    )


def spelled(encoder: FeatureStrings, rows: Rows) -> list[list[dict[str, float]]]:
    """Write rows back as a dict of features for each position; what repeats counts together."""
    features = encoder.feature_names()
    weights = np.ones(len(rows.columns)) if rows.values is None else rows.values
    unique: list[dict[str, float]] = []
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        row: Counter[str] = Counter()
        for column, weight in zip(rows.columns[start:stop], weights[start:stop], strict=True):
            row[features[column]] += float(weight)
        unique.append(dict(row))
    return [
        [unique[number] for number in rows.index[start:stop]]
        for start, stop in zip(rows.offsets[:-1], rows.offsets[1:], strict=True)
    ]


def same(left: Rows, right: Rows) -> bool:
    arrays = ("indptr", "columns", "values", "index", "offsets")
    equal = all(np.array_equal(getattr(left, a), getattr(right, a)) for a in arrays)  # type: ignore[arg-type]
    return equal and (left.width, left.unseen) == (right.width, right.unseen)


@given(corpora(dicts, flat_dicts, lists.map(lambda position: list(dict.fromkeys(position)))))
def test_features_mean_what_they_mean_to_python_crfsuite(X: list[list[Any]]) -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    encoder = FeatureStrings()
    ours = spelled(encoder, encoder.fit_transform(X))
    for sequence, theirs in zip(ours, (pycrfsuite.ItemSequence(s).items() for s in X), strict=True):
        for position, items in zip(sequence, theirs, strict=True):
            assert position.keys() == items.keys()
            # items() shows only the last of the weights of two features with one name.
            assert all(position[name] == items[name] or ":" in name for name in items)


@given(corpora(flat_dicts, lists), corpora(flat_dicts, lists))
def test_transform_knows_exactly_what_was_learnt(
    X: list[list[Any]], later: list[list[Any]]
) -> None:
    encoder = FeatureStrings()
    learnt = encoder.fit_transform(X)
    assert learnt.unseen == 0
    assert learnt.width == len(encoder.feature_names())
    assert same(encoder.transform(X), learnt)
    fresh = FeatureStrings()
    everything = spelled(fresh, fresh.fit_transform(later))
    known = set(encoder.feature_names())
    found = encoder.transform(later)
    assert spelled(encoder, found) == [
        [{name: v for name, v in position.items() if name in known} for position in sequence]
        for sequence in everything
    ]
    total = sum(np.diff(fresh.transform(later).indptr)[fresh.transform(later).index])
    assert found.unseen == total - sum(np.diff(found.indptr)[found.index])


@given(corpora(dicts, lists))
def test_what_is_learnt_survives_saving(X: list[list[Any]]) -> None:
    encoder = FeatureStrings()
    rows = encoder.fit_transform(X)
    state = encoder._to_state()
    settings = json.loads(json.dumps(state.settings))
    other = FeatureStrings()
    other._restore(State(state.arrays, settings))
    assert same(other.transform(X), rows)
    assert other.feature_names() == encoder.feature_names()


def test_the_three_ways_to_encode_agree() -> None:
    as_lists = [[["a:x", "b"], ["b"]], [], [["a:y", "b"]]]
    as_dicts = [[{"a": "x", "b": True}, {"b": 1}], [], [{"a": "y", "b": 1.0}]]
    mixed: Any = [[as_lists[0][0], {"b": np.True_}], [], [{"a": {"y"}, "b": True}]]
    first = FeatureStrings().fit_transform(as_lists)
    for other in (as_dicts, mixed):
        encoder = FeatureStrings()
        assert same(encoder.fit_transform(other), first)
        assert encoder.feature_names() == ["a:x", "b", "a:y"]


def test_kinds_of_positions_and_sequences() -> None:
    encoder = FeatureStrings()
    positions: Any = [
        ("a", "b"),
        {"b", "a"},
        frozenset(["a", "b"]),
        np.array(["a", "b"]),
        {"a": 1, "b": 1}.keys(),
        OrderedDict(a=1, b=1),
        types.MappingProxyType({"a": True, "b": True}),
    ]
    rows = encoder.fit_transform([positions, tuple(positions), iter(positions)])
    assert (rows.unique, rows.positions, len(rows)) == (1, 21, 3)
    assert encoder.feature_names() == ["a", "b"]
    assert encoder.fit(iter([positions])).transform([]).positions == 0


def test_a_feature_given_twice_counts_twice() -> None:
    rows = FeatureStrings().fit_transform([[["a", "b", "a"]]])
    assert rows.matrix().toarray().tolist() == [[2.0, 1.0]]


def test_a_string_that_shows_itself_otherwise_is_what_it_holds() -> None:
    class Shouted(str):
        def __str__(self) -> str:
            return self.upper()

    held = Shouted("x")
    encoder = FeatureStrings().fit([[[held], {"a": held}, {"b": [held]}, {held: {held: True}}]])
    assert encoder.feature_names() == ["x", "a:x", "b:x", "x:x"]


def test_several_values_in_a_tuple_are_several_features() -> None:
    encoder = FeatureStrings().fit([[{"tags": ("x", "y")}, {"tags": frozenset()}]])
    assert encoder.feature_names() == ["tags:x", "tags:y"]


def test_nothing_at_all() -> None:
    for empty in ([], [[]], [[], []], [[[]]], [[{}]]):
        rows = FeatureStrings().fit_transform(empty)  # type: ignore[arg-type]
        assert len(rows) == len(empty)
        assert (rows.width, rows.unseen, rows.values) == (0, 0, None)
        assert rows.matrix().shape == (rows.unique, 0)


def test_columns_of_sets_do_not_depend_on_the_process() -> None:
    program = (
        "from purport.features.strings import FeatureStrings\n"
        "print(FeatureStrings().fit([[{'s': set('abcdefgh')}, set('mnopq')]]).feature_names())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-X", "utf8", "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


WRONG_POSITIONS: list[tuple[Any, str]] = [
    ("secret", "a plain string"),
    (b"secret", "a plain string"),
    (7, "of type int"),
    (None, "of type NoneType"),
    (["ok", 7], "must be a string, and one is int"),
    (["ok", b"secret"], "must be a string, and one is bytes"),
    ([["secret"]], "must be a string, and one is list"),
    ([("secret", 1.0)], "must be a string, and one is tuple"),
    ({"secret": float("nan")}, "NaN or infinite"),
    ({"secret": float("inf")}, "NaN or infinite"),
    ({"secret": np.float32("-inf")}, "NaN or infinite"),
    ({"secret": 10**400}, "NaN or infinite"),
    ({"secret": Decimal("sNaN")}, "NaN or infinite"),
    ({"secret": {"inner": float("nan")}}, "NaN or infinite"),
    ({"secret": 1j}, "must be a real number, and one is complex"),
    ({"secret": None}, "and one is NoneType"),
    ({"secret": b"secret"}, "and one is bytes"),
    ({"secret": ["secret", 1]}, "must be a string, and one is int"),
    ({"secret": [["secret"]]}, "must be a string, and one is list"),
    ({7: "secret"}, "name of a feature must be a string, and one is int"),
    ({"a": {7: "secret"}}, "name of a feature must be a string, and one is int"),
]


@pytest.mark.parametrize(("wrong", "reason"), WRONG_POSITIONS, ids=repr)
@pytest.mark.parametrize("fine", [["a"], {"a": 1}], ids=["lists", "dicts"])
def test_a_bad_position_is_named_and_not_shown(wrong: Any, reason: str, fine: Any) -> None:
    X = [[fine, fine], [], [fine, fine, wrong, fine]]
    encoder = FeatureStrings().fit([[fine]])
    for attempt in (FeatureStrings().fit, encoder.transform):
        with pytest.raises(InputError, match=reason) as caught:
            attempt(X)
        assert "sequence 2, position 2" in str(caught.value)
        assert "secret" not in str(caught.value)
    assert encoder.feature_names() == ["a"]


@pytest.mark.parametrize("wrong", ["secret", {"secret": 1}, 7, None, b"secret"], ids=repr)
def test_what_is_no_corpus_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="X must be a list of sequences"):
        FeatureStrings().fit(wrong)
    with pytest.raises(InputError, match=r"X\[1\] \(sequence 1\) must be a list") as caught:
        FeatureStrings().fit([[], wrong])
    assert "secret" not in str(caught.value)


def test_nothing_before_fit() -> None:
    for ask in (FeatureStrings().feature_names, FeatureStrings()._to_state):
        with pytest.raises(NotFittedError):
            ask()
    with pytest.raises(NotFittedError):
        FeatureStrings().transform([])


def test_a_failed_fit_leaves_what_was_learnt() -> None:
    encoder = FeatureStrings().fit([[["a"]]])
    with pytest.raises(InputError):
        encoder.fit([[["b"], "c"]])
    assert encoder.feature_names() == ["a"]


def test_batches_teach_what_all_sequences_teach_at_once() -> None:
    sequences: list[list[Any]] = [[["a"], {"b": 2}], [], [["c", "a"]], [{"d": "e"}, ["b"]]]
    whole = FeatureStrings().fit(sequences)
    batches = (sequences[start : start + 2] for start in (0, 2))
    assert FeatureStrings().learn(batches).feature_names() == whole.feature_names()
