"""Vocabulary: any string goes to a number, to bytes, and back."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from purport.features.vocabulary import Vocabulary

# Every code point, lone surrogates and NUL included.
any_text = st.text(st.characters(codec=None, categories=None), max_size=5)


@given(st.lists(any_text, max_size=30))
@example(["\ud800", "\udc00", "\ud800\udc00", "", "\x00", "😀", "é"])
def test_any_strings_survive_the_arrays(strings: list[str]) -> None:
    vocabulary = Vocabulary(strings)
    arrays = vocabulary.to_arrays()
    assert arrays["text"].dtype == np.uint8
    assert arrays["offsets"].dtype == np.int64
    back = Vocabulary.from_arrays(arrays)
    assert back.strings() == vocabulary.strings() == list(dict.fromkeys(strings))
    assert back.lookup(strings).tolist() == vocabulary.lookup(strings).tolist()
    pieces = [
        bytes(arrays["text"][start:stop]).decode("utf-8", "surrogatepass")
        for start, stop in zip(arrays["offsets"][:-1], arrays["offsets"][1:], strict=True)
    ]
    assert pieces == vocabulary.strings()


@given(st.lists(st.sampled_from("abcdef")), st.lists(st.sampled_from("abcdefgh")))
def test_numbers_come_in_first_seen_order_and_then_stay(first: list[str], later: list[str]) -> None:
    vocabulary = Vocabulary()
    order = list(dict.fromkeys(first))
    assert vocabulary.learn(first, len(first)).tolist() == [order.index(s) for s in first]
    found = vocabulary.lookup(iter(later))
    assert found.tolist() == [order.index(s) if s in order else -1 for s in later]
    assert len(vocabulary) == len(order)
    assert list(vocabulary) == order
    assert ("a" in vocabulary) == ("a" in order)


def test_what_is_no_string_is_refused_and_changes_nothing() -> None:
    vocabulary = Vocabulary(["1"])
    for wrong in (1, None, b"1", ("1",)):
        with pytest.raises(TypeError):
            vocabulary.learn([wrong])  # type: ignore[list-item]
        with pytest.raises(TypeError):
            vocabulary.lookup([wrong])  # type: ignore[list-item]
    assert vocabulary.strings() == ["1"]
    assert vocabulary.lookup(["2"]).tolist() == [-1]


def test_kinds_of_strings_are_kept_as_plain_ones() -> None:
    class Shouted(str):
        def __str__(self) -> str:
            return self.upper()

    vocabulary = Vocabulary([np.str_("a"), Shouted("red")])
    assert vocabulary.strings() == ["a", "red"]
    assert {type(string) for string in vocabulary} == {str}


def test_a_copy_lives_on_its_own() -> None:
    vocabulary = Vocabulary(["a"])
    other = copy.deepcopy(vocabulary)
    other.learn(["b"])
    assert (len(vocabulary), len(other)) == (1, 2)
    assert repr(other) == "Vocabulary of 2 strings"


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        (b"aabc", [0, 1, 2, 4]),  # "a" twice
        (b"abc", [0, 2, 1, 3]),
        (b"abc", [1, 3]),
        (b"abc", [0, 2]),
        (b"abc", []),
    ],
)
def test_arrays_that_do_not_fit_are_refused(text: bytes, offsets: list[int]) -> None:
    arrays = {"text": np.frombuffer(text, np.uint8), "offsets": np.array(offsets, np.int64)}
    with pytest.raises(ValueError, match=r"order|twice"):
        Vocabulary.from_arrays(arrays)
