"""What places in a sentence show beyond their word: its class, and the preposition before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from purport.features.keys import NOTHING
from purport.features.surroundings import Surroundings
from purport.features.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

PREPOSITIONS = (
    *("about", "after", "around", "at", "before", "between", "by", "during", "for", "from", "in"),
    *("into", "near", "of", "on", "over", "since", "through", "to", "under", "until", "via"),
    *("with", "within", "without"),
)
"""Short words of English that say what the words behind them are to the rest."""


class Clue(Protocol):
    """Something that says one of a few values of some tokens.

    Symbols: P tokens of all sentences together.
    """

    @property
    def values(self) -> Sequence[str]:
        """What it can say."""

    def codes(self, around: Surroundings) -> NDArray[np.int32]:
        """Return the number of the value of each token, NOTHING without one: (P,) int32."""

    def spelled(self, words: Sequence[str]) -> list[str | None]:
        """Return the value of each word of one sentence, None without one; slow."""


class TokenClass:
    """Tokens that a regular expression describes as a whole.

    Parameters
    ----------
    pattern : str
        The expression.

    Examples
    --------
    >>> TokenClass(r"[0-9]+:[0-9]{2}").spelled(["at", "10:30"])
    [None, 'yes']
    """

    values = ("yes",)

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def codes(self, around: Surroundings) -> NDArray[np.int32]:
        """Return 0 for the tokens of the class, NOTHING for others; each word is asked once."""
        table = around.table(self._said, Vocabulary(self.values))
        found = around.codes(table, 0, marks=False)
        return np.where(found < 0, NOTHING, found).astype(np.int32)

    def spelled(self, words: Sequence[str]) -> list[str | None]:
        """Return "yes" for the words of the class."""
        return [self._said(word) or None for word in words]

    def _said(self, word: str) -> str:
        return "yes" if self._pattern.fullmatch(word) else ""


class NearestBefore:
    """The nearest of some words before the token, in its sentence, without regard to capitals.

    Parameters
    ----------
    words : sequence of str
        The words.

    Examples
    --------
    >>> NearestBefore(["from", "to"]).spelled(["from", "new", "york", "to", "rome"])
    [None, 'from', 'from', 'from', 'to']
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._vocabulary = Vocabulary(map(str.lower, words))
        self.values = self._vocabulary.strings()

    def codes(self, around: Surroundings) -> NDArray[np.int32]:
        """Return the number of each token's nearest word, NOTHING without one."""
        found = around.codes(around.table(str.lower, self._vocabulary), 0, marks=False)
        if not len(found):
            return found
        place = np.maximum.accumulate(np.where(found >= 0, np.arange(len(found)), -1))
        before = np.append(-1, place[:-1])
        inside = before >= around.starts()
        return np.where(inside, found[before], NOTHING).astype(np.int32)

    def spelled(self, words: Sequence[str]) -> list[str | None]:
        """Return the nearest word before each word."""
        said: list[str | None] = []
        nearest = None
        for word in words:
            said.append(nearest)
            nearest = word.lower() if word.lower() in self._vocabulary else nearest
        return said
