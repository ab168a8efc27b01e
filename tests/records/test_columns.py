"""Taking utterances apart: every index gives what lists would give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purport.errors import InputError, ShapeError
from purport.records.utterances import Utterances


def sample(length: int) -> Utterances:
    tokens = [
        [f"w{(number + place) % 5}" for place in range(number % 4)] for number in range(length)
    ]
    return Utterances.from_lists(
        tokens,
        slots=[["O", None, "B-x"][: len(words)] for words in tokens],
        intents=[None if number % 3 else "i" for number in range(length)],
        ids=[str(number) for number in range(length)],
    ).with_labels([["O"] * len(words) for words in tokens], [0.5] * length)


@given(data=st.data(), length=st.integers(0, 9))
def test_index_gives_what_lists_give(data: st.DataObject, length: int) -> None:
    talk = sample(length)
    rows = list(talk.rows())
    part = data.draw(st.slices(length))
    assert list(talk[part].rows()) == rows[part]
    keep = data.draw(st.lists(st.booleans(), min_size=length, max_size=length))
    kept = [fields for fields, wanted in zip(rows, keep, strict=True) if wanted]
    assert list(talk[np.array(keep, dtype=bool)].rows()) == kept
    if length:
        assert list(talk[keep].rows()) == kept
        numbers = data.draw(st.lists(st.integers(-length, length - 1), max_size=12))
        chosen = talk[numbers]
        assert list(chosen.rows()) == [rows[number] for number in numbers]
        assert chosen.tokens == [talk.tokens[number] for number in numbers]
        assert chosen == talk[np.array(numbers, dtype=np.int8)]
        # A part of a part, with offsets that no longer follow the whole.
        assert list(chosen[::-1].rows()) == [rows[number] for number in numbers][::-1]


def test_one_record_and_loops() -> None:
    talk = sample(5)
    assert talk[3].tokens == [talk.tokens[3]]
    assert talk[-1] == talk[4] == talk[np.int64(4)]
    assert [one.tokens[0] for one in talk] == talk.tokens
    assert talk[:3] != talk
    assert talk != "talk"
    assert "w1" not in repr(talk)


@pytest.mark.parametrize("key", [5, -6, [0, 5], np.array([-6])])
def test_no_such_record(key: Any) -> None:
    with pytest.raises(IndexError, match="There are 5 records"):
        sample(5)[key]


@pytest.mark.parametrize(
    "key",
    [
        "id",
        1.5,
        [0.5],
        None,
        True,
        [[0, 1]],
        [[0], [0, 1]],
        ("a", 1),
        ("id", ...),
        np.zeros((0, 2)),
    ],
)
def test_no_index(key: Any) -> None:
    with pytest.raises(InputError, match="chosen by"):
        sample(5)[key]


def test_booleans_of_another_length() -> None:
    with pytest.raises(ShapeError, match="length 2"):
        sample(5)[[True, False]]


def test_slices_share_memory() -> None:
    talk = sample(9)
    assert np.shares_memory(talk[2:5].token_codes, talk.token_codes)
    assert talk[2:5].vocabulary is talk.vocabulary


def test_unknown_everywhere_is_none() -> None:
    talk = Utterances.from_lists([["a"], []], slots=[[None], []], intents=[None, None])
    assert (talk.slots, talk.slot_codes, talk.intents) == (None, None, None)
    assert talk.slot_vocabulary == []


def test_scikit_learn_can_split() -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    indexing = pytest.importorskip("sklearn.utils")
    talk = sample(6)
    for train, test in selection.KFold(3).split(talk):
        part = indexing._safe_indexing(talk, train)
        assert isinstance(part, Utterances)
        assert len(part) + len(talk[test]) == 6
    left, right = selection.train_test_split(talk, test_size=2, random_state=0)
    assert sorted([*left.ids, *right.ids]) == sorted(talk.ids or [])
