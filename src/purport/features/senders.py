"""How many different people sent a text: as many are counted as it takes to show it to others.

Symbols: V different texts, E entries (one text of one step each).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purport.features.hashing import hashed
from purport.records.people import MIN_PEOPLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.sessions import Sessions


def senders_of(records: Sessions) -> NDArray[np.int64]:
    """Return who did each step (P,): a person as a number, below zero the session if nobody knows.

    Examples
    --------
    >>> from purport.records.sessions import Sessions
    >>> log = Sessions.from_lists([["a"], ["b", "c"]], who=[["ann"], [None, "ann"]])
    >>> told = senders_of(log)
    >>> bool(told[0] == told[2] >= 0), told[1].tolist()
    (True, -2)
    """
    senders = -1 - np.repeat(np.arange(len(records)), np.diff(records.offsets))
    if records.who_codes is not None:
        used, index = np.unique(records.who_codes, return_inverse=True)
        names = [records.who_vocabulary[code] for code in used.tolist() if code >= 0]
        people = (hashed(names) >> np.uint64(1)).astype(np.int64)
        known = used[index] >= 0
        senders[known] = people[index[known] - int(used[0] < 0)]
    return senders


class Senders:
    """The first few different people who sent each text, while batches of sessions come.

    Examples
    --------
    >>> senders = Senders()
    >>> for _ in range(3):  # three batches of two sessions, of which nobody knows who
    ...     senders.add(np.array([0, 1, 0]), np.array([-1, -1, -2]), texts=2, sessions=2)
    >>> senders.enough(2).tolist()
    [True, False]
    """

    def __init__(self) -> None:
        self._people = np.zeros((0, MIN_PEOPLE), np.int64)
        self._counts = np.zeros(0, np.int64)
        self._sessions = 0

    def add(
        self, codes: NDArray[np.int32], senders: NDArray[np.int64], *, texts: int, sessions: int
    ) -> None:
        """Take in a batch of so many sessions: which text entries are, and who sent each.

        Parameters
        ----------
        codes : (E,) int32
            Numbers of texts, below `texts`; the same in all batches.
        senders : (E,) int64
            As `senders_of` tells.
        """
        self._grow(texts)
        senders = np.where(senders < 0, senders - self._sessions, senders)
        self._sessions += sessions
        order = np.lexsort((senders, codes))
        codes, senders = codes[order], senders[order]
        new = self._counts[codes] < MIN_PEOPLE
        new[1:] &= (codes[1:] != codes[:-1]) | (senders[1:] != senders[:-1])
        met = np.arange(MIN_PEOPLE) < self._counts[codes, None]
        new &= ~np.any(met & (self._people[codes] == senders[:, None]), axis=1)
        codes, senders = codes[new], senders[new]
        place = np.arange(len(codes)) - np.searchsorted(codes, codes) + self._counts[codes]
        free = place < MIN_PEOPLE
        self._people[codes[free], place[free]] = senders[free]
        self._counts += np.bincount(codes[free], minlength=texts)

    def _grow(self, texts: int) -> None:
        more = texts - len(self._counts)
        self._people = np.concatenate([self._people, np.zeros((more, MIN_PEOPLE), np.int64)])
        self._counts = np.append(self._counts, np.zeros(more, np.int64))

    def enough(self, texts: int) -> NDArray[np.bool_]:
        """Return which of so many texts enough people sent."""
        self._grow(texts)
        found: NDArray[np.bool_] = self._counts >= MIN_PEOPLE
        return found
