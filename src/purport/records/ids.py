"""Ids of documents, queries and sessions as a column: whole numbers, or strings as codes.

The number 7 and the string "7" are the same id; "07" is another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.errors import InputError
from purport.records.arrow import joined_at_once
from purport.records.columns import UNKNOWN, Coded, frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = np.iinfo(np.int64).max
EXACT = 1 << 53
"""Smaller whole numbers are told apart by float64."""
MANY = 1 << 12
"""So many names are joined by Arrow, fewer without loading it."""
_DIGITS = len(str(LARGEST))


@dataclass(frozen=True, eq=False)
class Ids:
    """A column of ids: whole numbers as they are, or different strings once and their numbers.

    Attributes
    ----------
    codes : (length,) int64 or int32
        Where `names` is None the ids themselves, whole numbers (int64); else the number of each in
        `names` (int32). -1 where there is none, which only columns have that need not be there.
    names : list of str or None
        The different ids; a part of a column keeps those of the whole.

    Examples
    --------
    >>> Ids.of([7, "7", 8]).codes.tolist(), Ids.of([7, "07"]).names
    ([7, 7, 8], ['7', '07'])
    """

    codes: NDArray[np.int64] | NDArray[np.int32]
    names: list[str] | None = None

    @classmethod
    def of(cls, values: Ids | Iterable[str | int | None] | NDArray[Any]) -> Ids:
        """Make a column of strings and whole numbers, None where there is none.

        Examples
        --------
        >>> Ids.of(np.array([3, 1])).strings()
        ['3', '1']
        """
        if isinstance(values, Ids):
            return values
        if isinstance(values, np.ndarray) and _are_numbers(values):
            # Copied: what is frozen must not be the caller's own array.
            return cls(frozen(values.astype(np.int64)))
        listed: Iterable[Any] = values.tolist() if isinstance(values, np.ndarray) else values
        return cls.of_coded(Coded.of(map(_as_text, listed)))

    @classmethod
    def of_coded(cls, column: Coded) -> Ids:
        """Make a column of strings, as whole numbers if all of them are.

        Examples
        --------
        >>> Ids.of_coded(Coded.of(["8", None])).codes.tolist()
        [8, -1]
        """
        if not all(map(is_whole_number, column.vocabulary)):
            return cls(column.codes, column.vocabulary)
        # Code -1 finds the -1 that stands last.
        return cls(
            frozen(np.array([*map(int, column.vocabulary), UNKNOWN], np.int64)[column.codes])
        )

    @classmethod
    def unknown(cls, length: int) -> Ids:
        """Make a column without a single id."""
        return cls(frozen(np.full(length, UNKNOWN, np.int64)))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which ids are there."""
        known: NDArray[np.bool_] = self.codes != UNKNOWN
        return known

    def values(self) -> list[Any]:
        """Return the ids as they are held, None where there is none: all numbers, or all strings.

        Examples
        --------
        >>> Ids.of([7, None]).values(), Ids.of(["a", 7]).values()
        ([7, None], ['a', '7'])
        """
        if self.names is not None:
            return list(map([*self.names, None].__getitem__, self.codes.tolist()))
        codes: list[Any] = self.codes.tolist()
        return codes if self.known.all() else [None if code == UNKNOWN else code for code in codes]

    def strings(self) -> list[str]:
        """Return the ids of a column that has one everywhere, as strings."""
        if self.names is None:
            return list(map(str, self.codes.tolist()))
        return list(map(self.names.__getitem__, self.codes.tolist()))

    def named(self) -> Coded:
        """Return the column as strings, in order of their first appearance.

        Examples
        --------
        >>> Ids.of([8, 7, 8]).named().vocabulary
        ['8', '7']
        """
        if self.names is not None:
            return Coded(self.codes.astype(np.int32, copy=False), self.names)
        known = self.known
        _, first, codes = np.unique(self.codes[known], return_index=True, return_inverse=True)
        order = np.argsort(first)
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        numbers = np.full(len(self), UNKNOWN, np.int32)
        numbers[known] = places[codes]
        different = self.codes[known][first[order]].tolist()
        return Coded(frozen(numbers), list(map(str, different)))

    def take(self, positions: slice | NDArray[np.int64]) -> Ids:
        """Return some positions; the names stay whole and shared."""
        return Ids(frozen(self.codes[positions]), self.names)

    @classmethod
    def joined(cls, parts: Sequence[Ids]) -> Ids:
        """Put columns one after the other; numbers that meet strings become strings.

        Examples
        --------
        >>> both = Ids.joined([Ids.of([7]), Ids.of(["a", "7"])])
        >>> both.names, both.codes.tolist()
        (['7', 'a'], [0, 1, 0])
        """
        held = [part for part in parts if len(part)]
        if len(held) < 2:
            return held[0] if held else cls.unknown(0)
        if all(part.names is None for part in held):
            return cls(frozen(np.concatenate([part.codes for part in held])))
        named = list(map(cls.named, held))
        if sum(len(column.vocabulary) for column in named) < MANY:
            joined = Coded.joined(named)
        else:
            joined = joined_at_once(named)
        return cls(joined.codes, joined.vocabulary)

    def same_as(self, other: Ids) -> bool:
        """Tell whether another column has the same ids in the same order.

        Examples
        --------
        >>> Ids.of([7]).same_as(Ids.of(["a", "7"]).take(slice(1, 2)))
        True
        """
        if len(self) != len(other):
            return False
        if self.names is None and other.names is None:
            return bool(np.array_equal(self.codes, other.codes))
        mine, theirs = self.named(), other.named()
        numbers = {name: number for number, name in enumerate(mine.vocabulary)}
        # A name that is not mine gets a number that none of mine has.
        translated = [numbers.get(name, -2) for name in theirs.vocabulary]
        return bool(np.array_equal(mine.codes, np.array([*translated, UNKNOWN])[theirs.codes]))


def is_whole_number(name: str) -> bool:
    """Tell whether a string is how a whole number is written that a column of numbers can hold.

    Examples
    --------
    >>> [is_whole_number(name) for name in ("7", "07", "-7", "7.0", "9" * 30)]
    [True, False, False, False, False]
    """
    if not (name.isascii() and name.isdigit()) or (name[0] == "0" and len(name) > 1):
        return False
    return len(name) < _DIGITS or (len(name) == _DIGITS and int(name) <= LARGEST)


def _are_numbers(values: NDArray[Any]) -> bool:
    if not np.issubdtype(values.dtype, np.integer):
        return False
    return not values.size or bool(values.min() >= 0 and values.max() <= LARGEST)


def _as_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"An id is a string or a whole number; got {type(value).__name__}.")
