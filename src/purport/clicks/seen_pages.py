"""The ids of the pages that came last, by which a page that comes twice is dropped.

Only ids that a log gives count (column `id`). Those that are made of the session, the query and the
number of the page among its like begin anew with every batch of a log, so that two pages of a log
that is read in batches may have the same one.

An id is kept as a hash of 64 bits, from which it cannot be computed back. Of a million ids two have
the same hash with a chance of one in 37 millions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.clicks.pairs import mixed
from purport.features.hashing import hashed
from purport.fold.kernel import Booleans, Int64s, kernel
from purport.records.ids import Ids, is_whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.pages import Pages


class SeenPages:
    """The last ids, the oldest of which goes when another one comes.

    Parameters
    ----------
    window : int
        How many are kept; 0 lets every page through.

    Examples
    --------
    >>> from purport.records.pages import Pages
    >>> seen = SeenPages(2)
    >>> four = Pages.from_lists([7] * 4, [[1]] * 4, [[0]] * 4, ids=["a", "b", "a", None])
    >>> seen.fresh(four).tolist()
    [True, True, False, True]
    >>> seen.fresh(Pages.from_lists([7] * 2, [[1]] * 2, [[0]] * 2, ids=["c", "a"])).tolist()
    [True, True]
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self._counts = np.zeros(2, np.int64)
        # Made when the first id comes: many logs have none.
        self._ring = np.empty(0, np.int64)
        self._slots = np.empty((0, 2), np.int64)

    def fresh(self, pages: Pages) -> NDArray[np.bool_]:
        """Return which pages have an id that was not among the last ones, or none; keep theirs."""
        ids = pages._given_ids
        found = np.ones(len(pages), np.bool_)
        if not self.window or ids is None or not ids.known.any():
            return found
        if not len(self._ring):
            self._make_room()
        mark_fresh(
            hashes_of(ids), np.array(ids.known), self._ring, self._slots, self._counts, found
        )
        return found

    def _make_room(self) -> None:
        self._ring = np.zeros(self.window, np.int64)
        self._slots = np.zeros((1 << (4 * self.window - 1).bit_length(), 2), np.int64)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what must be kept to go on to the same bits: the hashes, the oldest first."""
        count = int(self._counts[0])
        last = np.arange(max(0, count - len(self._ring)), count)
        return {"hashes": self._ring[last % max(1, len(self._ring))]}

    @classmethod
    def from_arrays(cls, window: int, arrays: Mapping[str, NDArray[Any]]) -> SeenPages:
        """Take back what `to_arrays` gave, perhaps with another window, or raise ValueError."""
        hashes = arrays["hashes"]
        if hashes.ndim != 1 or hashes.dtype != np.int64:
            raise ValueError("the shape or the type of hashes is wrong")
        seen = cls(window)
        kept = np.array(hashes[len(hashes) - min(len(hashes), window) :])
        if len(kept):
            seen._make_room()
            everywhere = np.ones(len(kept), np.bool_)
            mark_fresh(
                kept, everywhere, seen._ring, seen._slots, seen._counts, np.empty_like(everywhere)
            )
        return seen


def hashes_of(ids: Ids) -> NDArray[np.int64]:
    """Return a hash of each id, the same whether it is held as a number or as a string.

    Examples
    --------
    >>> numbers = hashes_of(Ids.of([7, 2**63 - 1]))
    >>> strings = hashes_of(Ids.of([str(2**63 - 1), "7", "07", str(2**63)]))
    >>> [hashed in numbers for hashed in strings]
    [True, True, False, False]
    """
    found = np.empty(len(ids), np.int64)
    if ids.names is None:
        hash_numbers(np.array(ids.codes, np.int64), found)
        return found
    # A part of a column shares the names of the whole: only its own are looked at.
    names = [ids.names[code] for code in ids.codes[ids.known].tolist()]
    hashes = hashed(names).view(np.int64)
    numbers = [place for place, name in enumerate(names) if is_whole_number(name)]
    if numbers:
        hashes[numbers] = hashes_of(Ids(np.array([int(names[place]) for place in numbers])))
    found[ids.known] = hashes
    return found


@kernel("void(int64[::1], int64[::1])")
def hash_numbers(
    numbers: Int64s,  # (length,)
    out: Int64s,  # (length,) out
) -> None:
    """Fill in the hash of each number."""
    for place in range(len(numbers)):
        out[place] = np.int64(mixed(numbers[place]))


@kernel("void(int64[::1], boolean[::1], int64[::1], int64[:, ::1], int64[::1], boolean[::1])")
def mark_fresh(
    hashes: Int64s,  # (N,)
    known: Booleans,  # (N,) whether there is an id
    ring: Int64s,  # (window,) in and out
    slots: Int64s,  # (a power of two, 2) in and out: a hash, and 1 + when it came; 0 where empty
    counts: Int64s,  # (2,) in and out: how many ids were kept so far, and how many slots are taken
    out: Booleans,  # (N,) out
) -> None:
    """Tell which hashes are not among the last ones, and keep them."""
    window, mask = len(ring), len(slots) - 1
    for page in range(len(hashes)):
        out[page] = True
        if not known[page]:
            continue
        slot = slot_of_hash(hashes[page], slots, mask)
        came = slots[slot, 1] - 1
        if came >= 0 and counts[0] - came <= window:
            out[page] = False
            continue
        counts[1] += came < 0
        slots[slot, 0], slots[slot, 1] = hashes[page], counts[0] + 1
        ring[counts[0] % window] = hashes[page]
        counts[0] += 1
        if 2 * counts[1] > len(slots):
            # Most of it are ids that have gone.
            slots[:] = 0
            counts[1] = window
            for came in range(counts[0] - window, counts[0]):
                slot = slot_of_hash(ring[came % window], slots, mask)
                slots[slot, 0], slots[slot, 1] = ring[came % window], came + 1


@kernel()
def slot_of_hash(
    hashed: int,
    slots: Int64s,  # (a power of two, 2)
    mask: int,
) -> Any:
    """Return the slot of a hash, or the one where it belongs."""
    slot = hashed & mask
    while slots[slot, 1] != 0 and slots[slot, 0] != hashed:
        slot = (slot + 1) & mask
    return slot
