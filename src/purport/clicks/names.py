"""Ids as numbers: whole numbers stand for themselves, all other strings are numbered from -1 down.

The number 7 and the string "7" are one id; "07" is another one.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.features.vocabulary import Vocabulary
from purport.records.ids import is_whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

UNKNOWN = -(2**62)
"""The number of an id that nobody has met."""


class Names:
    """The strings that were met, numbered in the order in which they came.

    Parameters
    ----------
    known : list of str
        In the order of their numbers.
    places : list of int, optional
        How many strings had come before each, where some were forgotten since.
    count : int, optional
        How many strings have come in all.

    Examples
    --------
    >>> names = Names()
    >>> names.numbers(["home", "7", "07", "home"]).tolist()
    [-1, 7, -2, -1]
    >>> names.strings([-2, 7])
    ['07', '7']
    >>> names.numbers(["new"], grows=False).tolist() == [UNKNOWN]
    True
    """

    def __init__(
        self, known: Iterable[str] = (), places: Sequence[int] = (), count: int | None = None
    ) -> None:
        self.known = list(known)
        # Whole until some are forgotten: a place is then looked up by halving.
        self.places = array("q", places or range(len(self.known)))
        self.count = len(self.known) if count is None else count
        self._number_of = {
            name: -1 - place for place, name in zip(self.places, self.known, strict=True)
        }

    def numbers(self, ids: Iterable[str], grows: bool = True) -> NDArray[np.int64]:
        """Return the number of each id; `UNKNOWN` where it is new and may not be taken in."""
        found = []
        for name in ids:
            if is_whole_number(name):
                found.append(int(name))
                continue
            number = self._number_of.get(name, UNKNOWN)
            if number == UNKNOWN and grows:
                number = self._number_of[name] = -1 - self.count
                self.known.append(name)
                self.places.append(self.count)
                self.count += 1
            found.append(number)
        return np.array(found, np.int64)

    def strings(self, numbers: Iterable[int]) -> list[str]:
        """Return the ids of numbers."""
        return [
            str(number) if number >= 0 else self.known[bisect_left(self.places, -1 - number)]
            for number in numbers
        ]

    def copy(self) -> Names:
        """Return the same names, to be added to by themselves."""
        return Names(self.known, self.places, self.count)

    def knows(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which numbers are those of ids that were met; whole numbers always are.

        Examples
        --------
        >>> Names(["home"]).knows(np.array([7, -1, -2])).tolist()
        [True, True, False]
        """
        known: NDArray[np.bool_] = (numbers >= 0) | np.isin(
            -1 - numbers, np.array(self.places, np.int64)
        )
        return known

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that is known, the strings as UTF-8."""
        return {
            **Vocabulary(self.known).to_arrays(),
            "places": np.array(self.places, np.int64),
            "count": np.array([self.count]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Names:
        """Take back what `to_arrays` gave, or raise ValueError."""
        places, count = arrays["places"], int(arrays["count"][0])
        strings = Vocabulary.from_arrays(arrays).strings()
        grows = len(strings) == len(places) and np.all(
            np.diff(places, prepend=-1, append=count) > 0
        )
        if not grows:
            raise ValueError("the places of names are out of order")
        return cls(strings, places.tolist(), count)

    def keep(self, numbers: NDArray[np.int64]) -> None:
        """Forget all strings but those of some numbers, which stay as they are.

        Examples
        --------
        >>> names = Names(["home", "garden", "shed"])
        >>> names.keep(np.array([-2, 7]))
        >>> names.numbers(["home", "garden"]).tolist(), names.strings([-4, -2])
        ([-4, -2], ['home', 'garden'])
        """
        kept = np.isin(-1 - np.array(self.places, np.int64), numbers).tolist()
        self.known = list(compress(self.known, kept))
        self.places = array("q", compress(self.places, kept))
        self._number_of = {name: self._number_of[name] for name in self.known}
