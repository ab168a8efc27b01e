"""The words around every token of ragged sentences, with marks for the places beyond a sentence.

Symbols: N sentences, P tokens of all sentences together, V different words of the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from purport.errors import InputError
from purport.features.keys import NOTHING, UNSEEN
from purport.features.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray


@runtime_checkable
class Tokenized(Protocol):
    """Records of ragged tokens, as `Utterances` are."""

    @property
    def vocabulary(self) -> Sequence[str]:
        """The different words."""

    @property
    def token_codes(self) -> NDArray[np.int32]:
        """(P,) the number of each token's word in the vocabulary."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """(N + 1,) where each sentence starts in `token_codes`."""


class Surroundings:
    """Knows for every token the words at any offset from it.

    Parameters
    ----------
    records : Tokenized
        Records of sentences.

    Examples
    --------
    >>> from purport.records.utterances import Utterances
    >>> around = Surroundings(Utterances.from_lists([["san", "jose"], ["to"]]))
    >>> table = around.table(str, Vocabulary(["jose", "san"]))
    >>> around.codes(table, 0, marks=True).tolist()
    [1, 0, -1]
    >>> around.codes(table, -1, marks=True).tolist()
    [2, 1, 2]
    """

    def __init__(self, records: Tokenized) -> None:
        if not isinstance(records, Tokenized):
            raise InputError(
                f"Token windows are made from Utterances; got {type(records).__name__}. Make"
                " lists of tokens into Utterances with Utterances.from_lists(tokens)."
            )
        offsets = np.asarray(records.offsets, np.int64)
        self.offsets = offsets - offsets[0]
        self._codes = np.asarray(records.token_codes)[offsets[0] : offsets[-1]]
        self._vocabulary = records.vocabulary
        self._sentence_starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        self._sentence_stops = np.repeat(self.offsets[1:], np.diff(self.offsets))
        self._words_at: dict[int, NDArray[np.int32]] = {}

    @property
    def positions(self) -> int:
        """P, the number of tokens."""
        return len(self._codes)

    def starts(self) -> NDArray[np.int64]:
        """Return the first token of its sentence, for each token."""
        return self._sentence_starts

    def stops(self) -> NDArray[np.int64]:
        """Return the end of its sentence, for each token."""
        return self._sentence_stops

    def words_as_they_come(self) -> list[str]:
        """Return the different words in the order of their first tokens."""
        first = np.full(len(self._vocabulary), self.positions, np.int64)
        first[self._codes[::-1]] = np.arange(self.positions)[::-1]
        used = np.flatnonzero(first < self.positions)
        order = used[np.argsort(first[used])]
        return [self._vocabulary[code] for code in order.tolist()]

    def sentences(self) -> Iterator[list[str]]:
        """Yield the words of each sentence."""
        words = [self._vocabulary[code] for code in self._codes.tolist()]
        for start, stop in pairwise(self.offsets.tolist()):
            yield words[start:stop]

    def table(self, attribute: Callable[[str], str], values: Vocabulary) -> NDArray[np.int32]:
        """Return the number of each word's attribute among the values, and those of the two marks.

        Returns
        -------
        (V + 2,) int32
            UNSEEN for an attribute that is not among the values. The place before a sentence is one
            more value, the place after it another.
        """
        size = len(self._vocabulary)
        table = np.full(size + 2, UNSEEN, np.int32)
        used = np.flatnonzero(np.bincount(self._codes, minlength=size))
        words = (self._vocabulary[code] for code in used.tolist())
        table[used] = values.lookup(map(attribute, words), len(used))
        table[size:] = len(values), len(values) + 1
        return table

    def codes(self, table: NDArray[np.int32], offset: int, marks: bool) -> NDArray[np.int32]:
        """Return what `table` says of the word at an offset from each token.

        Beyond the sentence that is the value of a mark, or NOTHING when there are no marks.
        """
        words = self._words_at.get(offset)
        if words is None:
            words = self._words_at[offset] = self._shifted(offset)
        if not marks:
            table = table.copy()
            table[-2:] = NOTHING
        return table[words]

    def beside(self, codes: NDArray[np.int32], offset: int) -> NDArray[np.int32]:
        """Return the code of the token at an offset from each token, NOTHING beyond sentences."""
        place = np.arange(self.positions) + offset
        inside = (place >= self._sentence_starts) & (place < self._sentence_stops)
        found = np.full(self.positions, NOTHING, np.int32)
        found[inside] = codes[place[inside]]
        return found

    def _shifted(self, offset: int) -> NDArray[np.int32]:
        """Return the word at an offset from each token: V before the sentence, V + 1 after it."""
        if offset == 0:
            return self._codes
        place = np.arange(self.positions) + offset
        if offset < 0:
            inside, mark = place >= self._sentence_starts, len(self._vocabulary)
        else:
            inside, mark = place < self._sentence_stops, len(self._vocabulary) + 1
        shifted = np.full(self.positions, mark, np.int32)
        shifted[inside] = self._codes[place[inside]]
        return shifted
