"""Dictionaries as evidence: what they say, how they teach, how they bind."""

from __future__ import annotations

import pytest

from purport import CRF, Sessions, Utterances, dictionary_labels
from purport.errors import InputError

TALK = Utterances.from_lists(
    [["fly", "to", "New", "York", "City"], [], ["new", "york"], ["may", "I"], ["york"]]
)


def test_the_longest_phrase_wins_whatever_the_capitals():
    found = dictionary_labels(
        TALK, {"new york": "city", "NEW YORK city": ["city", "O"], "may": ("month", "O")}
    )
    assert found == [
        [None, None, {"B-city", "O"}, {"I-city", "O"}, {"I-city", "O"}],
        [],
        [{"B-city"}, {"I-city"}],
        [{"B-month", "O"}, None],
        [None],
    ]
    assert dictionary_labels(TALK, {}) == [[None] * len(words) for words in TALK.tokens]


def test_it_binds_what_is_predicted():
    train = Utterances.from_lists(
        [["to", "boston"], ["to", "rome"], ["say", "hi"]] * 5,
        slots=[["O", "B-city"], ["O", "B-city"], ["O", "O"]] * 5,
    )
    crf = CRF(l2=0.1).fit(train)
    new = Utterances.from_lists([["say", "oslo"]])
    assert crf.predict(new) == [["O", "O"]]
    bound = dictionary_labels(new, {"oslo": "city"})
    assert crf.predict(new, allowed=bound) == [["O", "B-city"]]
    assert crf.label(new, allowed=bound).labels == [["O", "B-city"]]


def test_it_teaches_without_any_label_by_hand():
    words = [["fly", "to", town] for town in ("rome", "oslo", "bonn")] * 4
    talk = Utterances.from_lists(words)
    said = dictionary_labels(talk, {"rome": "city", "oslo": "city", "fly": "O", "to": "O"})
    crf = CRF(l2=0.01).fit(talk, said)
    assert crf.predict(Utterances.from_lists([["fly", "to", "bonn"]])) == [["O", "O", "B-city"]]


def test_steps_of_sessions_are_whole_phrases():
    log = Sessions.from_lists([["Cheap  flights", "hotel", None], [{"tabs": 1}]])
    found = dictionary_labels(log, {"cheap flights": "buy", "hot": "x"})
    assert found == [[{"buy"}, None, None], [None]]
    assert dictionary_labels(Sessions.from_lists([[{"tabs": 1}]]), {"a": "b"}) == [[None]]


@pytest.mark.parametrize(
    "wrong", [{"": "city"}, {"a": []}, {"a": [1]}, {3: "city"}, {"a": 3}, {" ": "x"}]
)
def test_what_is_no_dictionary(wrong):
    with pytest.raises(InputError, match="gives each phrase of at least one word"):
        dictionary_labels(TALK, wrong)
    with pytest.raises(InputError, match="gives each phrase of at least one word"):
        dictionary_labels(TALK, ["city"])
    with pytest.raises(InputError, match="takes Utterances or Sessions; got list"):
        dictionary_labels([["a"]], {"a": "b"})
