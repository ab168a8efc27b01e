"""Ids as numbers: whole numbers stand for themselves, all other strings are numbered from -1 down.

The number 7 and the string "7" are one id; "07" is another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purport.records.ids import is_whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

UNKNOWN = -(2**62)
"""The number of an id that nobody has met."""


class Names:
    """The strings that were met, numbered in the order in which they came.

    Parameters
    ----------
    known : list of str
        In the order of their numbers.

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

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._number_of = {name: -1 - place for place, name in enumerate(known)}
        self.known = list(self._number_of)

    def numbers(self, ids: Iterable[str], grows: bool = True) -> NDArray[np.int64]:
        """Return the number of each id; `UNKNOWN` where it is new and may not be taken in."""
        found = []
        for name in ids:
            if is_whole_number(name):
                found.append(int(name))
                continue
            number = self._number_of.get(name, UNKNOWN)
            if number == UNKNOWN and grows:
                number = self._number_of[name] = -1 - len(self.known)
                self.known.append(name)
            found.append(number)
        return np.array(found, np.int64)

    def strings(self, numbers: Iterable[int]) -> list[str]:
        """Return the ids of numbers."""
        return [str(number) if number >= 0 else self.known[-1 - number] for number in numbers]
