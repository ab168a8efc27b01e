"""The texts of steps: their words and characters, and what changes from one step to the next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from purport.features.keys import NOTHING
from purport.features.parts import RaggedCodes, first_steps
from purport.features.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.sessions import Sessions

CHANGES = ["same", "wider", "narrower", "other", "new"]
"""How the words of a step can differ from those of the one before."""

SAME, WIDER, NARROWER, OTHER, NEW = range(5)

_WORD = re.compile(r"\w+(?:'\w+)*|[^\w\s]")

Sets = tuple["NDArray[np.int32]", RaggedCodes]
"""The set of each step, NOTHING without one, and what the sets hold."""


def words_of(text: str) -> list[str]:
    """Return the words of a text; a mark that is no letter is a word by itself.

    Examples
    --------
    >>> words_of("what's on, tonight?")
    ["what's", 'on', ',', 'tonight', '?']
    """
    return _WORD.findall(text)


def grams_of(text: str, least: int, most: int) -> list[str]:
    """Return each run of `least` to `most` words once.

    Examples
    --------
    >>> grams_of("to be or to be", 1, 2)
    ['to', 'be', 'or', 'to be', 'be or', 'or to']
    """
    words = words_of(text)
    found = (
        " ".join(words[start : start + length])
        for length in range(least, most + 1)
        for start in range(len(words) - length + 1)
    )
    return list(dict.fromkeys(found))


def characters_of(text: str, least: int, most: int) -> list[str]:
    """Return each run of `least` to `most` characters once, a space put at both ends of the text.

    Examples
    --------
    >>> characters_of("haha", 3, 3)
    [' ha', 'hah', 'aha', 'ha ']
    """
    spaced = f" {text} "
    found = (
        spaced[start : start + length]
        for length in range(least, most + 1)
        for start in range(len(spaced) - length + 1)
    )
    return list(dict.fromkeys(found))


class Texts:
    """The different texts of records, and which one each step has.

    Parameters
    ----------
    records : Sessions
        Whose steps have texts; steps without are well.
    lowercase : bool
        Whether capitals are taken for small letters.

    Attributes
    ----------
    strings : list of str
        The texts.
    codes : (P,) int32
        The text of each step, NOTHING without one.

    Examples
    --------
    >>> from purport.records.sessions import Sessions
    >>> texts = Texts(Sessions.from_lists([["Jazz", "jazz bar"], ["jazz"]]), lowercase=True)
    >>> texts.strings, texts.codes.tolist()
    (['jazz', 'jazz bar'], [0, 1, 0])
    >>> kind, (sets, added), kept, dropped = texts.changes()
    >>> kind.tolist(), sets.tolist(), added.strings
    ([-2, 2, -2], [-2, 0, -2], ['bar'])
    """

    def __init__(self, records: Sessions, lowercase: bool) -> None:
        self._offsets = records.offsets
        given = records.obs_codes
        if given is None:
            given = np.full(int(records.offsets[-1]), -1, np.int32)
        used = np.unique(given[given >= 0])
        texts = [records.obs_vocabulary[code] for code in used.tolist()]
        vocabulary = Vocabulary()
        table = np.full(len(records.obs_vocabulary) + 1, NOTHING, np.int32)
        table[used] = vocabulary.learn(map(str.lower, texts) if lowercase else texts)
        self.strings = vocabulary.strings()
        self.codes = table[given]

    def changes(self) -> tuple[NDArray[np.int32], Sets, Sets, Sets]:
        """Return how each step differs from the one before it, and the words that tell.

        Returns
        -------
        kind : (P,) int32
            Numbers of `CHANGES`; NOTHING where one of the two steps has no text.
        added, kept, dropped : Sets
            The words.
        """
        before = np.append(NOTHING, self.codes[:-1])[: len(self.codes)]
        before[first_steps(self._offsets)] = NOTHING
        both = (before >= 0) & (self.codes >= 0)
        size = len(self.strings)
        pairs, own = np.unique(
            before[both].astype(np.int64) * size + self.codes[both], return_inverse=True
        )
        words = [dict.fromkeys(words_of(text)) for text in self.strings]
        kinds: list[int] = []
        told: tuple[list[list[str]], ...] = ([], [], [])
        for number in pairs.tolist():
            left, right = words[number // size], words[number % size]
            lists = (
                [word for word in right if word not in left],
                [word for word in right if word in left],
                [word for word in left if word not in right],
            )
            kinds.append(_kind(*lists))
            for all_lists, found in zip(told, lists, strict=True):
                all_lists.append(found)
        sets = np.full(len(self.codes), NOTHING, np.int32)
        sets[both] = own
        kind = np.append(np.array(kinds, np.int32), np.int32(NOTHING))
        kind = kind[np.where(sets < 0, len(kinds), sets)]
        added, kept, dropped = ((sets, RaggedCodes.of(lists)) for lists in told)
        return kind, added, kept, dropped


def _kind(added: list[str], kept: list[str], dropped: list[str]) -> int:
    if not added and not dropped:
        return SAME
    if not kept:
        return NEW
    if not added:
        return WIDER
    return OTHER if dropped else NARROWER
