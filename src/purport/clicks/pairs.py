"""The table of pairs: finds the row of a query and a document, and grows as new pairs come.

Queries and documents are numbers here (see `purport.clicks.names`). A query is numbered in the
order of first appearance, so is a pair; their rows never move but when pairs are evicted. Both are
found by open addressing: a slot holds half of the hash beside the row, so that the keys are looked
at only where the halves agree.

Symbols: Q queries, P pairs, R ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from purport.fold.kernel import Floats, Int32s, Int64s, kernel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

EXPECTED, DEFINED, DOUBT, PRIOR = range(4)
"""Columns of what is kept of a parameter: the sums of Eq. 3, how much is left open, the prior.

What is left open is the sum of x (1 - x) over all expected values x: the share of the evidence that
nobody has seen, without which intervals would be too narrow. The prior of a pair that is made while
pages stream is minus what its rank lets expect, until its first page is taken in: what it becomes
depends on what others of its query did up to then.
"""
COLUMNS = 4
FEWEST = 1024
AT_ONCE = 8192
"""Most pages that are looked up before more room is made."""
LEAST, MOST = 1e-6, 1.0 - 1e-6
"""No parameter is nearer to 0 or 1."""


@kernel()
def mixed(number: int) -> Any:
    """Return a hash of a number: every bit of it depends on every bit of the number."""
    x = np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel()
def slot_of(
    slots: Int64s,  # (a power of two,) 0 where empty, else half of the hash, and 1 + the row
    keys: Int64s,  # (rows, 2)
    first: int,
    second: int,
) -> Any:
    """Return the slot of a key, and its row; -1 where it is not there."""
    hashed = mixed(first * 0x2545F4914F6CDD1D + second)
    mask = len(slots) - 1
    slot = np.int64(hashed & np.uint64(mask))
    half = np.int64(hashed >> np.uint64(33))
    while True:
        held = slots[slot]
        if held == 0:
            return slot, -1
        if held >> 32 == half:
            row = (held & 0xFFFFFFFF) - 1
            if keys[row, 0] == first and keys[row, 1] == second:
                return slot, row
        slot = (slot + 1) & mask


@kernel()
def held(first: int, second: int, row: int) -> Any:
    """Return what the slot of a key holds."""
    hashed = mixed(first * 0x2545F4914F6CDD1D + second)
    return (np.int64(hashed >> np.uint64(33)) << 32) | (row + 1)


@kernel("void(int64[:, ::1], int64, int64[::1])")
def fill_slots(
    keys: Int64s,  # (rows, 2)
    rows: int,
    slots: Int64s,  # (a power of two,) all 0
) -> None:
    """Put the keys of the first rows into empty slots."""
    for row in range(rows):
        slot, _ = slot_of(slots, keys[:row], keys[row, 0], keys[row, 1])
        slots[slot] = held(keys[row, 0], keys[row, 1], row)


@kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], boolean, float64[::1], float64,"
    " int64[::1], int64[:, ::1], float64[:, ::1], int64[::1], int64[:, ::1],"
    " float64[:, ::1], int64[::1], int32[::1], int32[::1])"
)
def find_pairs(
    chosen: Int64s,  # (pages,) in the order of the log
    offsets: Int64s,  # (N + 1,)
    queries: Int64s,  # (N,) numbers
    docs: Int64s,  # (results,) numbers
    grows: bool,
    rates: Floats,  # (R,) what is expected of a pair at each rank
    satisfied: float,
    query_slots: Int64s,
    query_keys: Int64s,  # (room, 2) number, 0
    query_sums: Floats,  # (room, 2) expected attraction, and what ranks let expect
    pair_slots: Int64s,
    pair_keys: Int64s,  # (room, 2) row of the query, number of the document
    kept: Floats,  # (room, 4 or 8)
    sizes: Int64s,  # (2,) Q and P, in and out
    query_rows: Int32s,  # (N,) out, -1 where it is not there
    pair_rows: Int32s,  # (results,) out, -1 where it is not there
) -> None:
    """Find the rows of queries and pairs of some pages, and make those that are new."""
    for page in chosen:
        slot, query = slot_of(query_slots, query_keys, queries[page], 0)
        if query < 0 and grows:
            query = sizes[0]
            sizes[0] += 1
            query_keys[query, 0], query_keys[query, 1] = queries[page], 0
            query_sums[query] = 0.0
            query_slots[slot] = held(queries[page], 0, query)
        query_rows[page] = query
        for place in range(offsets[page], offsets[page + 1]):
            pair_rows[place] = -1
            if query < 0:
                continue
            slot, pair = slot_of(pair_slots, pair_keys, query, docs[place])
            if pair < 0 and grows:
                pair = sizes[1]
                sizes[1] += 1
                pair_keys[pair, 0], pair_keys[pair, 1] = query, docs[place]
                pair_slots[slot] = held(query, docs[place], pair)
                rank = min(place - offsets[page], len(rates) - 1)
                row = kept[pair]
                row[:] = 0.0
                row[PRIOR] = -rates[rank]
                if len(row) > COLUMNS:
                    row[COLUMNS + PRIOR] = satisfied
            pair_rows[place] = pair


@kernel()
def prior_of(
    rate: float,
    sums: Floats,  # (2,) of the query
    strength: float,
) -> Any:
    """Return what is expected of a pair, from its rank and from what others of its query did."""
    expected = rate * (sums[EXPECTED] + strength) / (sums[DEFINED] + strength)
    return min(max(expected, LEAST), MOST)


@kernel("void(int64[::1], int64, int64[::1])")
def fill_shards(
    numbers: Int64s,  # (N,)
    shards: int,
    out: Int64s,  # (N,) out
) -> None:
    """Fill in a number below `shards`, by a hash."""
    for place in range(len(numbers)):
        out[place] = np.int64(mixed(numbers[place]) >> np.uint64(33)) % shards


def mixed_numbers(numbers: NDArray[np.int64], shards: int) -> NDArray[np.int64]:
    """Return the shard of each number, as good as drawn by lot.

    Examples
    --------
    >>> mixed_numbers(np.array([7, 8, 7]), 4).tolist()
    [3, 1, 3]
    """
    found = np.empty(len(numbers), np.int64)
    fill_shards(numbers, shards, found)
    return found


class PairTable:
    """Queries, and pairs of a query and a document, with what is kept of each.

    Parameters
    ----------
    parameters : int
        How many parameters a pair has: 0, 1 or 2.
    """

    def __init__(self, parameters: int) -> None:
        self.parameters = parameters
        self.sizes = np.zeros(2, np.int64)
        self.query_slots = np.zeros(2 * FEWEST, np.int64)
        self.query_keys = np.zeros((FEWEST, 2), np.int64)
        self.query_sums = np.zeros((FEWEST, 2))
        self.pair_slots = np.zeros(2 * FEWEST, np.int64)
        self.pair_keys = np.zeros((FEWEST, 2), np.int64)
        self.kept = np.zeros((FEWEST, COLUMNS * max(1, parameters)))
        self.days = np.zeros(FEWEST, np.int64)

    @property
    def queries(self) -> int:
        """Q."""
        return int(self.sizes[0])

    @property
    def pairs(self) -> int:
        """P."""
        return int(self.sizes[1])

    def reserve(self, queries: int, pairs: int) -> None:
        """Make room for so many more."""
        room = _room(self.queries + queries, len(self.query_keys))
        if room > len(self.query_keys):
            self.query_keys = _longer(self.query_keys, room)
            self.query_sums = _longer(self.query_sums, room)
            self.query_slots = np.zeros(2 * room, np.int64)
            fill_slots(self.query_keys, self.queries, self.query_slots)
        room = _room(self.pairs + pairs, len(self.pair_keys))
        if room > len(self.pair_keys):
            self.pair_keys = _longer(self.pair_keys, room)
            self.kept = _longer(self.kept, room)
            self.days = _longer(self.days, room)
            self.pair_slots = np.zeros(2 * room, np.int64)
            fill_slots(self.pair_keys, self.pairs, self.pair_slots)

    def find(
        self,
        chosen: NDArray[np.int64],
        offsets: NDArray[np.int64],
        queries: NDArray[np.int64],
        docs: NDArray[np.int64],
        query_rows: NDArray[np.int32],
        pair_rows: NDArray[np.int32],
        rates: NDArray[np.float64] | None = None,
        satisfied: float = 0.5,
    ) -> None:
        """Fill in the rows of the queries and the pairs of some pages.

        Parameters
        ----------
        chosen : (pages,) int64
            The numbers of the pages.
        offsets : (N + 1,) int64
            Where the results of each page begin.
        queries, docs : (N,), (results,) int64
            Numbers of all pages.
        query_rows, pair_rows : (N,), (results,) int32
            Written to; -1 where one is not there.
        rates : (R,) float64, optional
            What to expect of a new pair at each rank. Without it none is made.
        satisfied : float
            What satisfaction to expect of it.
        """
        grows = rates is not None
        # A few pages at a time: room is made for as many new pairs as there could be.
        for start in range(0, len(chosen), AT_ONCE):
            some = chosen[start : start + AT_ONCE]
            if grows:
                self.reserve(len(some), int((offsets[some + 1] - offsets[some]).sum()))
            find_pairs(
                some, offsets, queries, docs, grows, np.empty(0) if rates is None else rates,
                satisfied, self.query_slots, self.query_keys, self.query_sums,
                self.pair_slots, self.pair_keys, self.kept, self.sizes, query_rows, pair_rows,
            )  # fmt: skip

    def evict(self, most: int, evidence: NDArray[np.float64]) -> bool:
        """Make room where more pairs than `most` are held: drop until a tenth of that is free.

        Those with the least evidence go, of these the oldest; queries that have no pair left go,
        too. Rows are numbered anew, in the same order.

        Parameters
        ----------
        most : int
            So many pairs may stay.
        evidence : (P,) float64
            Of each pair.

        Returns
        -------
        bool
            Whether any has gone.
        """
        if self.pairs <= most:
            return False
        leaving = self.pairs - most * 9 // 10
        stays = np.ones(self.pairs, np.bool_)
        stays[np.argsort(evidence, kind="stable")[:leaving]] = False
        owners, rows = np.unique(self.pair_keys[: self.pairs][stays, 0], return_inverse=True)
        held = self.to_arrays()
        pair_keys = held["pair_keys"][stays]
        pair_keys[:, 0] = rows
        fresh = PairTable.from_arrays(
            self.parameters,
            {
                "query_keys": held["query_keys"][owners],
                "query_sums": held["query_sums"][owners],
                "pair_keys": pair_keys,
                "kept": held["kept"][stays],
                "days": held["days"][stays],
            },
        )
        vars(self).update(vars(fresh))
        return True

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that the table holds."""
        queries, pairs = self.queries, self.pairs
        return {
            "query_keys": self.query_keys[:queries, 0].copy(),
            "query_sums": self.query_sums[:queries].copy(),
            "pair_keys": self.pair_keys[:pairs].copy(),
            "kept": self.kept[:pairs].copy(),
            "days": self.days[:pairs].copy(),
        }

    @classmethod
    def from_arrays(cls, parameters: int, arrays: Mapping[str, NDArray[Any]]) -> PairTable:
        """Make a table from what `to_arrays` gave, or raise ValueError."""
        table = cls(parameters)
        queries, pairs = len(arrays["query_keys"]), len(arrays["pair_keys"])
        shapes = {
            "query_keys": ((queries,), np.int64),
            "query_sums": ((queries, 2), np.float64),
            "pair_keys": ((pairs, 2), np.int64),
            "kept": ((pairs, table.kept.shape[1]), np.float64),
            "days": ((pairs,), np.int64),
        }
        for name, (shape, kind) in shapes.items():
            if arrays[name].shape != shape or arrays[name].dtype != kind:
                raise ValueError(f"the shape or the type of {name} is wrong")
        owners = arrays["pair_keys"][:, 0]
        if pairs and not (owners.min() >= 0 and owners.max() < queries):
            raise ValueError("a pair has a query that is not there")
        table.reserve(queries, pairs)
        table.sizes[:] = queries, pairs
        table.query_keys[:queries, 0] = arrays["query_keys"]
        table.query_sums[:queries] = arrays["query_sums"]
        table.pair_keys[:pairs] = arrays["pair_keys"]
        table.kept[:pairs] = arrays["kept"]
        table.days[:pairs] = arrays["days"]
        fill_slots(table.query_keys, queries, table.query_slots)
        fill_slots(table.pair_keys, pairs, table.pair_slots)
        return table


def _room(needed: int, present: int) -> int:
    """Return a power of two that has room, and what is there already if that has."""
    while present < needed:
        present *= 2
    return present


def _longer(array: NDArray[Any], room: int) -> NDArray[Any]:
    longer = np.zeros((room, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
