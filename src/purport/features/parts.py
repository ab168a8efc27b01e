"""What a part of an encoder says of every step: strings or numbers, and at which steps it is seen.

Symbols: N sessions, P steps of all sessions together, E entries of all steps together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from purport.features.vocabulary import Vocabulary
from purport.records.columns import entries_of, offsets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.sessions import Sessions

WHOLE_TEXT = "text"
"""The name of the part that says the whole text of a step, as somebody sent it."""

HERE = (0, 0)
"""The window of what is seen at its own step alone."""


def stem(name: str, offset: int) -> str:
    """Return what stands before the "=" in the names of the columns of a part at one offset.

    Examples
    --------
    >>> stem("word", 0), stem("word", -1)
    ('word', 'word[-1]')
    """
    return f"{name}[{offset}]" if offset else name


def first_steps(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first step of each session that has one.

    Examples
    --------
    >>> first_steps(np.array([0, 2, 2, 3])).tolist()
    [0, 2]
    """
    return offsets[:-1][np.diff(offsets) > 0]


def column_name(stem: str, string: str) -> str:
    """Return the name of a column; that of a part without a name is the string itself.

    Examples
    --------
    >>> column_name("word[-1]", "rome"), column_name("", "bias")
    ('word[-1]=rome', 'bias')
    """
    return f"{stem}={string}" if stem else string


@dataclass(frozen=True)
class Part:
    """One family of features, as each step has them.

    Attributes
    ----------
    name : str
        What stands before the "=" in the names of its columns.
    window : (first, last)
        The offsets of the steps whose entries are features of a step.
    starts : (P + 1,) int64
        Where each step's entries start.
    codes : (E,) int32
        The number in `strings` of each entry.
    strings : sequence of str
        What entries say.
    numbers : (E,) float64 or None
        The value of each entry, if it is a number; the string then is the number's name.

    Examples
    --------
    >>> said = Part.single("said", np.array([1, -1, 0], np.int32), ["yes", "no"])
    >>> said.codes.tolist(), said.starts.tolist()
    ([1, 0], [0, 1, 1, 2])
    """

    name: str
    window: tuple[int, int]
    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    strings: Sequence[str]
    numbers: NDArray[np.float64] | None = None

    @classmethod
    def single(
        cls,
        name: str,
        codes: NDArray[np.int32],
        strings: Sequence[str],
        window: tuple[int, int] = HERE,
    ) -> Part:
        """Make a part that says one thing of every step, nothing where the code is below zero."""
        said = codes >= 0
        return cls(name, window, np.append(0, np.cumsum(said)), codes[said], strings)

    @classmethod
    def of_sets(
        cls, name: str, sets: NDArray[np.int32], table: RaggedCodes, window: tuple[int, int] = HERE
    ) -> Part:
        """Make a part that says of each step what a table has for its set, nothing below zero."""
        # What stands last in the table, a set of nothing, is what -1 finds.
        starts = np.append(table.starts, table.starts[-1])
        chosen = np.where(sets < 0, len(starts) - 2, sets)
        entries, offsets = entries_of(chosen.astype(np.int64), starts)
        return cls(name, window, offsets, table.codes[entries], table.strings)

    def offsets(self) -> range:
        """Return the offsets of the window."""
        first, last = self.window
        return range(first, last + 1)

    def compact(self) -> Part:
        """Return the part with only those strings that occur, in the order of their first entries.

        Examples
        --------
        >>> Part.single("said", np.array([2, 0], np.int32), ["a", "b", "c"]).compact().strings
        ['c', 'a']
        """
        size = len(self.codes)
        if not size:
            return replace(self, strings=[])
        first = np.full(len(self.strings), size, np.int64)
        first[self.codes[::-1]] = np.arange(size)[::-1]
        found = np.flatnonzero(first < size)
        order = found[np.argsort(first[found])]
        ranks = np.empty(len(self.strings), np.int32)
        ranks[order] = np.arange(len(order))
        strings = [self.strings[code] for code in order.tolist()]
        return replace(self, codes=ranks[self.codes], strings=strings)


@dataclass(frozen=True)
class RaggedCodes:
    """Several codes, or none, for each of some things.

    Attributes
    ----------
    starts : (things + 1,) int64
    codes : (entries,) int32
    strings : list of str
        What the codes number.

    Examples
    --------
    >>> table = RaggedCodes.of([["cheap", "flights"], [], ["flights"]])
    >>> table.codes.tolist(), table.starts.tolist(), table.strings
    ([0, 1, 1], [0, 2, 2, 3], ['cheap', 'flights'])
    """

    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    strings: list[str]

    @classmethod
    def of(cls, lists: Iterable[Sequence[str]]) -> RaggedCodes:
        """Give the strings of lists numbers, as they come."""
        vocabulary, given = Vocabulary(), list(lists)
        starts = offsets_of(list(map(len, given)))
        codes = vocabulary.learn(chain.from_iterable(given), int(starts[-1]))
        return cls(starts, codes, vocabulary.strings())


@dataclass(frozen=True)
class Steps:
    """The steps of sessions, and what the parts say of them.

    Attributes
    ----------
    offsets : (N + 1,) int64
        Where each session starts.
    parts : list of Part
        All parts; those of an encoder are always the same, in the same order.
    records : Sessions
        What they were made of.
    """

    offsets: NDArray[np.int64]
    parts: list[Part]
    records: Sessions

    def seen(self, part: Part, offset: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the entries that each step sees at an offset, and how many these are.

        Returns
        -------
        entries : (seen,) int64
            Numbers of entries of the part, step after step.
        counts : (P,) int64
            How many of them each step sees.
        """
        if offset == 0:
            return np.arange(len(part.codes)), part.starts[1:] - part.starts[:-1]
        positions = int(self.offsets[-1])
        counts = np.zeros(positions, np.int64)
        lengths = np.diff(self.offsets)
        source = np.arange(positions) + offset
        inside = (source >= np.repeat(self.offsets[:-1], lengths)) & (
            source < np.repeat(self.offsets[1:], lengths)
        )
        entries, starts = entries_of(source[inside], part.starts)
        counts[inside] = np.diff(starts)
        if isinstance(entries, slice):
            entries = np.arange(entries.start, entries.stop)
        return entries, counts
