"""Rows that repeat are stored once: a hash table over ragged rows, exact when hashes collide.

Symbols: P positions, U unique rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purport.features.rows import Rows
from purport.fold.kernel import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


def unique_rows(
    columns: NDArray[np.int32],
    starts: NDArray[np.int64],
    values: NDArray[np.float64] | None,
    width: int,
    offsets: NDArray[np.int64],
    unseen: int = 0,
) -> Rows:
    """Store every different row of ragged rows once, in the order in which they are first seen.

    Rows are equal when the same columns, in any order, have the same values. Columns below zero
    stand for nothing and are left out.

    Parameters
    ----------
    columns : (entries,) int32
        The columns of all positions, one position after the other.
    starts : (P + 1,) int64
        Where each position starts in `columns`.
    values : (entries,) float64 or None
        None when every value is 1.
    width, offsets, unseen
        As in `Rows`.

    Examples
    --------
    >>> rows = unique_rows(
    ...     np.array([0, 2, 1, 2, 0], np.int32), np.array([0, 2, 3, 5]), None, 3, np.array([0, 3])
    ... )
    >>> rows.index.tolist(), rows.columns.tolist(), rows.indptr.tolist()
    ([0, 1, 0], [0, 2, 1], [0, 2, 3])
    """
    columns = np.array(columns, np.int32)
    starts = np.array(starts, np.int64)
    if values is not None and not np.any(values != 1.0):
        values = None
    kept = columns >= 0
    if not kept.all():
        starts = np.append(0, np.cumsum(kept))[starts]
        columns = columns[kept]
        values = None if values is None else values[kept]
    # Adding 0 makes one zero of -0.0 and 0.0; the bits then tell whether two values are equal.
    bits = np.empty(0, np.int64) if values is None else (values + 0.0).view(np.int64)
    sort_rows(columns, bits, starts)
    index, first = _number(columns, bits, starts)
    lengths = starts[first + 1] - starts[first]
    indptr = np.append(0, np.cumsum(lengths))
    source = np.repeat(starts[first] - indptr[:-1], lengths) + np.arange(indptr[-1])
    return Rows(
        indptr=indptr,
        columns=columns[source],
        values=None if values is None else bits[source].view(np.float64),
        width=width,
        index=index,
        offsets=np.ascontiguousarray(offsets, np.int64),
        unseen=unseen,
    )


def number_ragged(
    columns: NDArray[np.int32], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give different runs of `columns`, whose order counts, numbers as they come.

    Returns the number of each run, and the run that shows each number first.

    Examples
    --------
    >>> number, first = number_ragged(np.array([5, 6, 6, 5, 6], np.int32), np.array([0, 2, 3, 5]))
    >>> number.tolist(), first.tolist()
    ([0, 1, 0], [0, 1])
    """
    return _number(columns, np.empty(0, np.int64), starts)


def _number(
    columns: NDArray[np.int32], bits: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the unique row of each position, and the position that shows each unique row first."""
    positions = len(starts) - 1
    slots = np.full(1 << (2 * positions + 1).bit_length(), -1, np.int32)
    index = np.empty(positions, np.int32)
    first = np.empty(positions, np.int64)
    count = number_rows(columns, bits, starts, slots, index, first)
    return index, first[:count]


@kernel("void(int32[::1], int64[::1], int64[::1])")
def sort_rows(
    columns: NDArray[np.int32], bits: NDArray[np.int64], starts: NDArray[np.int64]
) -> None:
    """Sort the columns of every row in place, equal ones by the bits of their values (Shell).

    columns: (entries,); bits: (entries,) or (0,) when every value is 1; starts: (P + 1,).
    """
    weighted = len(bits) > 0
    for position in range(len(starts) - 1):
        start, stop = starts[position], starts[position + 1]
        gap = 1
        while 3 * gap < stop - start:
            gap = 3 * gap + 1
        while gap > 0:
            for last in range(start + gap, stop):
                column = columns[last]
                value = bits[last] if weighted else 0
                place = last
                while place >= start + gap:
                    other = columns[place - gap]
                    if other < column:
                        break
                    if other == column and (not weighted or bits[place - gap] <= value):
                        break
                    columns[place] = other
                    if weighted:
                        bits[place] = bits[place - gap]
                    place -= gap
                columns[place] = column
                if weighted:
                    bits[place] = value
            gap //= 3


@kernel("int64(int32[::1], int64[::1], int64[::1], int32[::1], int32[::1], int64[::1])")
def number_rows(
    columns: NDArray[np.int32],
    bits: NDArray[np.int64],
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    index: NDArray[np.int32],
    first: NDArray[np.int64],
) -> int:
    """Give different rows numbers as they come, and return how many there are.

    columns, bits, starts: as in `sort_rows`, sorted; slots: a power of two above 2 P, all -1;
    index: (P,) and first: (P,) are filled: the number of each position's row, the first position of
    each number.
    """
    count = 0
    mask = len(slots) - 1
    for position in range(len(starts) - 1):
        slot = np.int64(hash_row(columns, bits, starts[position], starts[position + 1])) & mask
        while slots[slot] >= 0:
            other = first[slots[slot]]
            if same_row(columns, bits, starts, position, other):
                break
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = count
            first[count] = position
            count += 1
        index[position] = slots[slot]
    return count


def fingerprints(
    columns: NDArray[np.int32], values: NDArray[np.float64], starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return a number of 64 bits for each row, the same wherever and whenever the row is met.

    Examples
    --------
    >>> columns, values = np.array([0, 2, 0, 2, 1], np.int32), np.ones(5)
    >>> first, second, third = fingerprints(columns, values, np.array([0, 2, 4, 5]))
    >>> bool(first == second), bool(first == third)
    (True, False)
    """
    found = np.empty(len(starts) - 1, np.int64)
    hash_rows(columns, (values + 0.0).view(np.int64), starts, found)
    return found


@kernel("void(int32[::1], int64[::1], int64[::1], int64[::1])")
def hash_rows(
    columns: NDArray[np.int32],
    bits: NDArray[np.int64],
    starts: NDArray[np.int64],
    found: NDArray[np.int64],
) -> None:
    """Hash all rows: columns, bits, starts as in `sort_rows`; found: (P,) is filled."""
    for position in range(len(found)):
        found[position] = np.int64(hash_row(columns, bits, starts[position], starts[position + 1]))


@kernel()
def hash_row(
    columns: NDArray[np.int32], bits: NDArray[np.int64], start: int, stop: int
) -> np.uint64:
    """Mix the entries from `start` to `stop` into 64 bits: multiply, fold the upper half down."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for entry in range(start, stop):
        mixed = (mixed ^ np.uint64(columns[entry])) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(32)
        if len(bits) > 0:
            mixed = (mixed ^ np.uint64(bits[entry])) * np.uint64(0xC4CEB9FE1A85EC53)
            mixed ^= mixed >> np.uint64(32)
    return mixed


@kernel()
def same_row(
    columns: NDArray[np.int32],
    bits: NDArray[np.int64],
    starts: NDArray[np.int64],
    left: int,
    right: int,
) -> bool:
    """Tell whether two positions have equal rows."""
    length = starts[left + 1] - starts[left]
    if starts[right + 1] - starts[right] != length:
        return False
    for step in range(length):
        if columns[starts[left] + step] != columns[starts[right] + step]:
            return False
        if len(bits) > 0 and bits[starts[left] + step] != bits[starts[right] + step]:
            return False
    return True
