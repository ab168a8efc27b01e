"""What a dictionary says of labels: phrases that can only mean a few things."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise

from purport.errors import InputError
from purport.features.gazetteers import BEGIN, INSIDE, Gazetteer
from purport.features.surroundings import Surroundings
from purport.records.sessions import Sessions
from purport.records.utterances import Utterances

Meanings = Mapping[str, str | Collection[str]]
"""What each phrase may mean: a slot or label, or several."""

Possible = list[list[set[str] | None]]

OUTSIDE = "O"


def dictionary_labels(records: Utterances | Sessions, dictionary: Meanings) -> Possible:
    """Return the labels that a dictionary leaves possible, None where it says nothing.

    Fit to be `y` of ``CRF.fit``, where it teaches, or `allowed` of ``CRF.predict``, where it binds.

    Parameters
    ----------
    records : Utterances or Sessions
        Phrases are found among the words of an utterance, the longest first, from the left, and
        without regard to capitals; in sessions a phrase is the whole text of a step.
    dictionary : dict
        For utterances what slots a phrase may fill (``"city"`` becomes ``B-city`` and ``I-city``;
        ``"O"`` lets it be no slot as well); for sessions the labels of the step.

    Examples
    --------
    >>> talk = Utterances.from_lists([["to", "New", "York"], ["may"]])
    >>> found = dictionary_labels(talk, {"new york": "city", "may": ["month", "O"]})
    >>> found[0]
    [None, {'B-city'}, {'I-city'}]
    >>> sorted(found[1][0])
    ['B-month', 'O']
    """
    if not isinstance(dictionary, Mapping):
        raise _no_dictionary()
    checked = {phrase: _checked(phrase, means) for phrase, means in dictionary.items()}
    meanings = {_key(phrase): means for phrase, means in checked.items()}
    if isinstance(records, Utterances):
        return _of_words(records, meanings)
    if isinstance(records, Sessions):
        texts = records.texts or [[None] * length for length in _lengths(records)]
        return [
            [None if text is None else meanings.get(_key(text)) for text in steps]
            for steps in texts
        ]
    raise InputError(
        f"dictionary_labels takes Utterances or Sessions; got {type(records).__name__}."
    )


def _lengths(records: Sessions) -> list[int]:
    return [last - first for first, last in pairwise(records.offsets.tolist())]


def _key(phrase: str) -> tuple[str, ...]:
    return tuple(phrase.lower().split())


def _checked(phrase: object, means: object) -> set[str]:
    listed = {means} if isinstance(means, str) else means
    if (
        not isinstance(phrase, str)
        or not phrase.split()
        or not isinstance(listed, Collection)
        or not listed
        or not all(isinstance(slot, str) for slot in listed)
    ):
        raise _no_dictionary()
    return set(listed)


def _no_dictionary() -> InputError:
    return InputError(
        "A dictionary gives each phrase of at least one word a label, or a list of labels."
    )


def _of_words(records: Utterances, meanings: Mapping[tuple[str, ...], set[str]]) -> Possible:
    found = Gazetteer(" ".join(phrase) for phrase in meanings).codes(Surroundings(records)).tolist()
    possible: Possible = []
    for words, (first, last) in zip(
        records.tokens, pairwise(records.offsets.tolist()), strict=True
    ):
        codes = found[first:last]
        said: list[set[str] | None] = [None] * len(words)
        for start in range(len(words)):
            if codes[start] != BEGIN:
                continue
            end = start + 1
            while end < len(words) and codes[end] == INSIDE:
                end += 1
            slots = meanings[tuple(word.lower() for word in words[start:end])]
            for place in range(start, end):
                prefix = "B-" if place == start else "I-"
                said[place] = {slot if slot == OUTSIDE else prefix + slot for slot in slots}
        possible.append(said)
    return possible
