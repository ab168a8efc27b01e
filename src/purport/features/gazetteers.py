"""Lists of phrases, found among the words of sentences: the longest at each place, from the left.

Phrases are a tree of words. All places of all sentences walk down the tree together, one word a
turn, so that no Python code runs for a token that begins no phrase.

Symbols: P tokens of all sentences together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from purport.features.keys import NOTHING
from purport.features.surroundings import Surroundings
from purport.features.vocabulary import UNSEEN, Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

BEGIN, INSIDE = 0, 1


class Gazetteer:
    """Phrases of one or more words, looked for without regard to capitals.

    Parameters
    ----------
    phrases : iterable of str
        Words of a phrase are parted by white space.

    Attributes
    ----------
    values : tuple of str
        What can be said of a token: it begins a phrase, or goes on with one.

    Examples
    --------
    >>> from purport.records.utterances import Utterances
    >>> cities = Gazetteer(["San Jose", "San Francisco Bay", "Boston"])
    >>> talk = Utterances.from_lists([["to", "san", "jose"], ["San", "Francisco"], ["Boston"]])
    >>> cities.codes(Surroundings(talk)).tolist()
    [-2, 0, 1, -2, -2, 0]
    >>> cities.spelled(["to", "san", "jose"])
    [None, 'B', 'I']
    """

    values: ClassVar[tuple[str, ...]] = ("B", "I")

    def __init__(self, phrases: Iterable[str]) -> None:
        self._phrases = {tuple(phrase.lower().split()) for phrase in phrases}
        self._words = Vocabulary(word for phrase in sorted(self._phrases) for word in phrase)
        nodes: dict[tuple[int, int], int] = {}
        ends: set[int] = set()
        for phrase in sorted(self._phrases):
            node = 0
            for word in self._words.lookup(phrase, len(phrase)).tolist():
                node = nodes.setdefault((node, word), len(nodes) + 1)
            ends.add(node)
        # One number for a node and the word that leads on from it; ascending, to be searched.
        steps = np.array([node * len(self._words) + word for node, word in nodes], np.int64)
        order = np.argsort(steps)
        self._steps = steps[order]
        self._next = np.array(list(nodes.values()), np.int64)[order]
        self._ends = np.zeros(len(nodes) + 1, np.bool_)
        self._ends[list(ends)] = True

    def codes(self, around: Surroundings) -> NDArray[np.int32]:
        """Return BEGIN, INSIDE or NOTHING for each token."""
        table = around.table(str.lower, self._words)
        table[-2:] = UNSEEN
        words = around.codes(table, 0, marks=False)
        longest = self._longest(words, around.stops())
        starts = np.flatnonzero(longest)
        found = np.full(len(words), NOTHING, np.int32)
        end = 0
        for start, length in zip(starts.tolist(), longest[starts].tolist(), strict=True):
            if start >= end:
                end = start + length
                found[start] = BEGIN
                if length > 1:
                    found[start + 1 : end] = INSIDE
        return found

    def _longest(self, words: NDArray[np.int32], stops: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many words the longest phrase has that begins at each token, 0 without one."""
        longest = np.zeros(len(words), np.int64)
        here = np.flatnonzero(words >= 0)
        nodes = np.zeros(len(here), np.int64)
        depth = 0
        while len(here) and len(self._steps):
            steps = nodes * len(self._words) + words[here + depth]
            place = np.minimum(np.searchsorted(self._steps, steps), len(self._steps) - 1)
            known = (self._steps[place] == steps) & (words[here + depth] >= 0)
            here, nodes = here[known], self._next[place[known]]
            depth += 1
            longest[here[self._ends[nodes]]] = depth
            going = here + depth < stops[here]
            here, nodes = here[going], nodes[going]
        return longest

    def spelled(self, words: Sequence[str]) -> list[str | None]:
        """Return what is said of each word of one sentence, None for nothing; slow."""
        small = [word.lower() for word in words]
        said: list[str | None] = [None] * len(small)
        start = 0
        while start < len(small):
            ends = range(len(small), start, -1)
            end = next((e for e in ends if tuple(small[start:e]) in self._phrases), None)
            if end is None:
                start += 1
                continue
            said[start:end] = ["B", *["I"] * (end - start - 1)]
            start = end
        return said
