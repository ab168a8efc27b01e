"""Columns of records: strings as codes, ragged values as offsets, and how both are taken apart.

Symbols: N records, P positions of all records together.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count, pairwise, repeat
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from purport.errors import InputError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Value = TypeVar("Value")
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of strings: every different string is stored once.

    Attributes
    ----------
    codes : (length,) int32
        Number of each string in `vocabulary`; -1 where there is none.
    vocabulary : list of str
        The different strings, in order of their first appearance.

    Examples
    --------
    >>> column = Coded.of(["to", "from", None, "to"])
    >>> column.codes.tolist(), column.vocabulary
    ([0, 1, -1, 0], ['to', 'from'])
    """

    codes: NDArray[np.int32]
    vocabulary: list[str]

    @classmethod
    def of(cls, values: Iterable[str | None]) -> Coded:
        """Make a column of strings, None where there is none."""
        coder = Coder()
        coder.extend(values)
        return coder.finish()

    def take(self, positions: slice | NDArray[np.int64]) -> Coded:
        """Return some positions; the vocabulary stays whole and shared."""
        return Coded(frozen(self.codes[positions]), self.vocabulary)

    def known(self) -> list[str]:
        """Return the strings of a column that has one everywhere."""
        return list(map(self.vocabulary.__getitem__, self.codes.tolist()))

    def strings(self) -> list[str | None]:
        """Return the strings, None where there is none."""
        # Code -1 finds the None that stands last.
        return list(map([*self.vocabulary, None].__getitem__, self.codes.tolist()))

    @classmethod
    def joined(cls, parts: Sequence[Coded]) -> Coded:
        """Put columns one after the other, with one vocabulary for all.

        Examples
        --------
        >>> both = Coded.joined([Coded.of(["to", "from"]), Coded.of([None, "from"])])
        >>> both.strings(), both.vocabulary
        (['to', 'from', None, 'from'], ['to', 'from'])
        """
        if len(parts) == 1:
            return parts[0]
        codes, vocabulary = joined_codes([(part.codes, part.vocabulary) for part in parts])
        return cls(codes, vocabulary)

    @classmethod
    def unknown(cls, length: int) -> Coded:
        """Make a column without a single string."""
        return cls(frozen(np.full(length, UNKNOWN, np.int32)), [])


def joined_coded(columns: Sequence[Coded | None], sizes: Sequence[int]) -> Coded | None:
    """Put columns that need not be there one after the other; None when not one is there."""
    if all(column is None for column in columns):
        return None
    return Coded.joined(
        [
            Coded.unknown(size) if column is None else column
            for column, size in zip(columns, sizes, strict=True)
        ]
    )


def joined_lists(columns: Sequence[list[Any] | None], sizes: Sequence[int]) -> list[Any] | None:
    """Put lists that need not be there one after the other; None when not one is there."""
    if all(column is None for column in columns):
        return None
    return [
        value
        for column, size in zip(columns, sizes, strict=True)
        for value in (repeat(None, size) if column is None else column)
    ]


def known_or_none(values: list[Any]) -> list[Any] | None:
    """Return the values, None when not one is known."""
    return None if all_unknown(values) else values


def all_unknown(values: Iterable[object]) -> bool:
    """Tell whether every value is None."""
    return all(value is None for value in values)


def each_or_none(column: Iterable[Any] | None) -> Iterable[Any]:
    """Return the values of a column, None without end where there is no column."""
    return repeat(None) if column is None else column


Key = TypeVar("Key", bound=Hashable)


def joined_codes(
    parts: Iterable[tuple[NDArray[np.int32], Sequence[Key]]],
) -> tuple[NDArray[np.int32], list[Key]]:
    """Return codes one after the other, and the vocabulary that all of them number."""
    numbers: dict[Key, int] = {}
    found = []
    for codes, vocabulary in parts:
        own = [numbers.setdefault(key, len(numbers)) for key in vocabulary]
        # Code -1 finds the -1 that stands last.
        found.append(np.array([*own, UNKNOWN], np.int32)[codes])
    return frozen(np.concatenate([np.empty(0, np.int32), *found])), list(numbers)


@dataclass(frozen=True, eq=False)
class RaggedStrings:
    """Several strings, or none, at every position.

    Attributes
    ----------
    offsets : (P + 1,) int64
        Where each position's strings start.
    strings : Coded
        The strings of all positions.

    Examples
    --------
    >>> clicked = RaggedStrings(offsets_of([2, 0]), Coded.of(["a", "b"]))
    >>> clicked.take(np.array([1, 0])).lists()
    [[], ['a', 'b']]
    """

    offsets: NDArray[np.int64]
    strings: Coded

    @property
    def codes(self) -> NDArray[np.int32]:
        """The number in `vocabulary` of each string."""
        return self.strings.codes

    @property
    def vocabulary(self) -> list[str]:
        """The different strings."""
        return self.strings.vocabulary

    def take(self, positions: slice | NDArray[np.int64]) -> RaggedStrings:
        """Return some positions."""
        entries, offsets = entries_of(positions, self.offsets)
        return RaggedStrings(frozen(offsets), self.strings.take(entries))

    def lists(self) -> list[list[str]]:
        """Return the strings of each position."""
        return ragged(self.strings.known(), self.offsets)

    @classmethod
    def joined(cls, parts: Sequence[RaggedStrings]) -> RaggedStrings:
        """Put columns one after the other."""
        offsets = joined_offsets([part.offsets for part in parts])
        return cls(offsets, Coded.joined([part.strings for part in parts]))

    @classmethod
    def empty(cls, length: int) -> RaggedStrings:
        """Make a column without a single string."""
        return cls(frozen(np.zeros(length + 1, np.int64)), Coded.unknown(0))


def joined_offsets(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the offsets of ragged columns that are put one after the other.

    Examples
    --------
    >>> joined_offsets([offsets_of([2, 1]), offsets_of([3])]).tolist()
    [0, 2, 3, 6]
    """
    return frozen(offsets_of(np.concatenate([np.empty(0, np.int64), *map(np.diff, parts)])))


def entries_of(
    positions: slice | NDArray[np.int64], offsets: NDArray[np.int64]
) -> tuple[slice | NDArray[np.int64], NDArray[np.int64]]:
    """Return the entries that some positions own; positions may be a slice, see `positions_of`."""
    if isinstance(positions, slice):
        positions = np.arange(positions.start, positions.stop, dtype=np.int64)
    return positions_of(positions, offsets)


class Coder:
    """Makes a `Coded` column out of strings that arrive bit by bit.

    Examples
    --------
    >>> coder = Coder()
    >>> coder.append("to")
    >>> coder.extend(["from", "to"])
    >>> coder.finish().codes.tolist()
    [0, 1, 0]
    """

    def __init__(self) -> None:
        self._codes = array("i")
        # A new string gets the next number, without a line of Python run for it.
        self._numbers: defaultdict[str | None, int] = defaultdict(count().__next__)
        self._numbers[None] = UNKNOWN

    @property
    def empty(self) -> bool:
        """Whether no string has come yet (None is no string)."""
        return len(self._numbers) == 1

    def extend(self, values: Iterable[str | None]) -> None:
        """Add strings at the end."""
        self._codes.extend(map(self._numbers.__getitem__, values))

    def append(self, value: str | None) -> None:
        """Add one string at the end."""
        self._codes.append(self._numbers[value])

    def finish_known(self) -> Coded | None:
        """Return the column, None when no string has come."""
        return None if self.empty else self.finish()

    def finish(self) -> Coded:
        """Return the column."""
        vocabulary = [string for string in self._numbers if string is not None]
        return Coded(frozen(np.array(self._codes, dtype=np.int32)), vocabulary)


def offsets_of(lengths: Sequence[int] | array[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each record starts, and the end: (N + 1,) int64.

    Examples
    --------
    >>> offsets_of([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(np.asarray(lengths, dtype=np.int64), out=offsets[1:])
    return offsets


def ragged(flat: list[Value], offsets: NDArray[np.int64]) -> list[list[Value]]:
    """Cut a flat list into one list a record.

    Examples
    --------
    >>> ragged(["a", "b", "c"], offsets_of([2, 0, 1]))
    [['a', 'b'], [], ['c']]
    """
    return [flat[start:end] for start, end in pairwise(offsets.tolist())]


def records_of(key: object, length: int) -> NDArray[np.int64]:
    """Return the numbers of the records that an index means.

    Parameters
    ----------
    key : int, slice, integers or booleans
        What stood between the brackets.
    length : int
        N, the number of records.

    Examples
    --------
    >>> records_of([0, -1], 5).tolist(), records_of(slice(3, None), 5).tolist()
    ([0, 4], [3, 4])
    """
    if isinstance(key, tuple) and len(key) == 2 and key[1] is ...:
        key = key[0]  # what scikit-learn writes between the brackets of anything with a shape
    if isinstance(key, slice):
        return np.arange(length, dtype=np.int64)[key]
    try:
        chosen = np.asarray(key)
    except ValueError:  # lists of lists of different lengths
        chosen = np.empty(0, dtype=object)
    if chosen.size == 0 and chosen.dtype == np.float64:  # an empty list
        chosen = chosen.astype(np.int64)
    if chosen.dtype == np.bool_ and chosen.ndim == 1:
        if len(chosen) != length:
            raise ShapeError.lengths(
                "The index of booleans", len(chosen), "the list of records", length
            )
        return np.flatnonzero(chosen).astype(np.int64)
    if not np.issubdtype(chosen.dtype, np.integer) or chosen.ndim > 1:
        raise InputError(
            f"Records are chosen by an integer, a slice, integers or booleans; got"
            f" {type(key).__name__} ({chosen.dtype}, {chosen.ndim} dimensions)."
        )
    numbers = np.atleast_1d(chosen).astype(np.int64)
    outside = (numbers < -length) | (numbers >= length)
    if outside.any():
        # IndexError, not an InputError: Python's own loops over [0], [1], ... end with it.
        raise IndexError(f"There are {length} records, none at {int(numbers[outside][0])}.")
    return np.where(numbers < 0, numbers + length, numbers)


def positions_of(
    records: NDArray[np.int64], offsets: NDArray[np.int64]
) -> tuple[slice | NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions that some records own, and the offsets among these.

    Records in a row give a slice, so that taking them copies nothing.

    Examples
    --------
    >>> positions, offsets = positions_of(np.array([2, 0]), offsets_of([2, 0, 1]))
    >>> positions.tolist(), offsets.tolist()
    ([2, 0, 1], [0, 1, 3])
    """
    # Differences written out: np.diff takes longer than all else where records are few.
    fresh = offsets_of(offsets[records + 1] - offsets[records])
    if len(records) and bool((records[1:] - records[:-1] == 1).all()):
        return slice(int(offsets[records[0]]), int(offsets[records[-1] + 1])), fresh
    shifts = np.repeat(offsets[records] - fresh[:-1], fresh[1:] - fresh[:-1])
    return np.arange(fresh[-1], dtype=np.int64) + shifts, fresh


def frozen(values: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only, so that slices can share it."""
    values.flags.writeable = False
    return values
