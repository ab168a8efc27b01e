"""Strings to numbers and back: many at once, in the order first seen, saved as two arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNSEEN = -1
"""The number of a string that the vocabulary does not hold."""


class Vocabulary:
    """Different strings, numbered from 0 in the order in which they were first seen.

    Parameters
    ----------
    strings : iterable of str
        What it holds at first; repetitions are numbered once.

    Examples
    --------
    >>> words = Vocabulary()
    >>> words.learn(["to", "san", "jose", "to"]).tolist()
    [0, 1, 2, 0]
    >>> words.lookup(["jose", "boston"]).tolist()
    [2, -1]
    >>> words.strings()
    ['to', 'san', 'jose']
    """

    def __init__(self, strings: Iterable[str] = ()) -> None:
        self._numbers = _Numbers()
        self.learn(strings)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __contains__(self, string: object) -> bool:
        return string in self._numbers

    def __repr__(self) -> str:
        return f"Vocabulary of {len(self)} strings"

    def learn(self, strings: Iterable[str], count: int = -1) -> NDArray[np.int32]:
        """Return the number of each string, giving the next number to each one that is new.

        Parameters
        ----------
        strings : iterable of str
            Anything else in it raises `TypeError`.
        count : int
            How many there are, if that is known; saves time.

        Examples
        --------
        >>> Vocabulary(["a"]).learn(["b", "a"]).tolist()
        [1, 0]
        """
        self._numbers.growing = True
        try:
            return self.lookup(strings, count)
        finally:
            self._numbers.growing = False

    def lookup(self, strings: Iterable[str], count: int = -1) -> NDArray[np.int32]:
        """Return the number of each string, -1 for each one that is unknown.

        Takes what `learn` takes.

        Examples
        --------
        >>> Vocabulary(["a"]).lookup(["b", "a"]).tolist()
        [-1, 0]
        """
        return np.fromiter(map(self._numbers.__getitem__, strings), np.int32, count)

    def strings(self) -> list[str]:
        """Return the strings, each in the place of its number.

        Examples
        --------
        >>> Vocabulary("abba").strings()
        ['a', 'b']
        """
        return list(self._numbers)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the strings as UTF-8: `text` (uint8), and `offsets` (int64) where each starts.

        Lone surrogates, which UTF-8 does not have, are kept.

        Examples
        --------
        >>> Vocabulary(["a", "né"]).to_arrays()["offsets"].tolist()
        [0, 1, 4]
        """
        text = "".join(self._numbers).encode("utf-8", "surrogatepass")
        data = np.frombuffer(text, np.uint8)
        ends = np.cumsum(np.fromiter(map(len, self._numbers), np.int64, len(self)))
        starts = np.append(_character_starts(data), len(data))
        return {"text": data, "offsets": starts[np.append(0, ends)]}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the vocabulary that `to_arrays` turned into arrays.

        Examples
        --------
        >>> Vocabulary.from_arrays(Vocabulary(["a", "né"]).to_arrays()).strings()
        ['a', 'né']
        """
        data = np.ascontiguousarray(arrays["text"], np.uint8)
        offsets = np.asarray(arrays["offsets"], np.int64)
        whole = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(data)
        if not whole or np.any(np.diff(offsets) < 0):
            raise ValueError("the offsets of the strings are out of order")
        text = data.tobytes().decode("utf-8", "surrogatepass")
        # One decoding of the whole, then cuts: much faster than a decoding for each string.
        cuts = np.searchsorted(_character_starts(data), offsets).tolist()
        vocabulary = cls()
        pieces = map(text.__getitem__, map(slice, cuts[:-1], cuts[1:]))
        vocabulary._numbers.update(zip(pieces, range(len(cuts) - 1), strict=True))
        if len(vocabulary) != len(cuts) - 1:
            # Its numbers would reach beyond what is counted, and kernels trust them.
            raise ValueError("a string stands twice in a vocabulary")
        return vocabulary


class _Numbers(dict[str, int]):
    """The numbers of strings. Only a miss runs Python code, which makes look-ups fast."""

    def __init__(self) -> None:
        super().__init__()
        self.growing = False

    def __missing__(self, string: object) -> int:
        if not isinstance(string, str):
            raise TypeError(f"expected a string, got {type(string).__name__}")
        if not self.growing:
            return UNSEEN
        number = len(self)
        self[str.__str__(string)] = (
            number  # a plain str: numpy's and Enum's are kept as what they say
        )
        return number


def _character_starts(data: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return where characters start: at every byte of UTF-8 that does not go on with one."""
    return np.flatnonzero((data & 0xC0) != 0x80)
