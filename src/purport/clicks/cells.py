"""Logs of UBM and PBM as counts: how often each pair was skipped, and clicked, in each cell.

What a page says depends on nothing else, so an iteration of EM visits every different (pair, cell,
click or skip) once, however often it occurred.

Symbols: P pairs, M cells, C different (pair, cell, click or skip), R ranks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.clicks.browsing import cell_of, expect_skip
from purport.clicks.kinds import UBM
from purport.fold.kernel import Booleans, Floats, Int32s, Int64s, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Cells:
    """What happened to each pair.

    Attributes
    ----------
    starts : (P + 1,) int64
        Where what happened to each pair begins.
    keys : (C,) int32
        The cell of a skip, M more for a click; ascending for each pair.
    counts : (C,) float64
        How often.
    """

    starts: NDArray[np.int64]
    keys: NDArray[np.int32]
    counts: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        kind: int,
        chosen: NDArray[np.int64],
        offsets: NDArray[np.int64],
        clicks: NDArray[np.bool_],
        pair_rows: NDArray[np.int32],
        pairs: int,
        ranks: int,
        cells: int,
    ) -> Cells:
        """Count some pages of a log."""
        starts = np.zeros(pairs + 1, np.int64)
        count_shown(chosen, offsets, pair_rows, starts)
        np.cumsum(starts, out=starts)
        keys = np.empty(starts[-1], np.int32)
        sort_keys(kind, chosen, offsets, clicks, pair_rows, ranks, cells, starts, keys)
        counts = np.empty(len(keys))
        squeeze_keys(2 * cells, starts, keys, counts)
        return cls(starts, keys[: starts[-1]].copy(), counts[: starts[-1]].copy())


@kernel("void(int64[::1], int64[::1], int32[::1], int64[::1])")
def count_shown(
    chosen: Int64s,  # (pages,)
    offsets: Int64s,  # (N + 1,)
    pairs: Int32s,  # (results,)
    out: Int64s,  # (P + 1,) added to, one place further
) -> None:
    """Count how often each pair is shown."""
    for page in chosen:
        for place in range(offsets[page], offsets[page + 1]):
            out[pairs[place] + 1] += 1


@kernel(
    "void(int64, int64[::1], int64[::1], boolean[::1], int32[::1], int64, int64, int64[::1],"
    " int32[::1])"
)
def sort_keys(
    kind: int,
    chosen: Int64s,  # (pages,)
    offsets: Int64s,  # (N + 1,)
    clicks: Booleans,  # (results,)
    pairs: Int32s,  # (results,)
    ranks: int,
    cells: int,
    starts: Int64s,  # (P + 1,)
    keys: Int32s,  # (results of these pages,) out
) -> None:
    """Put what happened in order of pairs."""
    free = starts.copy()
    for page in chosen:
        first, last = offsets[page], -1
        for r in range(offsets[page + 1] - first):
            key = cell_of(kind, r, last, ranks)
            if clicks[first + r]:
                key += cells
                last = r
            pair = pairs[first + r]
            keys[free[pair]] = key
            free[pair] += 1


@kernel("void(int64, int64[::1], int32[::1], float64[::1])")
def squeeze_keys(
    size: int,
    starts: Int64s,  # (P + 1,) in and out
    keys: Int32s,  # (results,) in and out
    counts: Floats,  # (results,) out
) -> None:
    """Keep each key of a pair once, with its count."""
    often = np.zeros(size, np.int64)
    end = 0
    for pair in range(len(starts) - 1):
        first, last = starts[pair], starts[pair + 1]
        starts[pair] = end
        begin = end
        for place in range(first, last):
            key = keys[place]
            if often[key] == 0:
                # Kept in order by insertion: few keys are different, most come in order.
                to = end
                while to > begin and keys[to - 1] > key:
                    keys[to] = keys[to - 1]
                    to -= 1
                keys[to] = key
                end += 1
            often[key] += 1
        for place in range(begin, end):
            counts[place] = often[keys[place]]
            often[keys[place]] = 0
    starts[-1] = end


@kernel(
    "void(int64, int64[::1], int32[::1], float64[::1], int64, int64, float64[::1], float64[::1],"
    " float64[::1], float64[:, ::1], float64[:, ::1])"
)
def sum_cells(
    kind: int,
    starts: Int64s,  # (P + 1,)
    keys: Int32s,  # (C,)
    counts: Floats,  # (C,)
    ranks: int,
    cells: int,
    attract: Floats,  # (P,)
    shared: Floats,  # (M or more,)
    rates: Floats,  # (R,), or empty where ranks are not asked for
    of_pairs: Floats,  # (P, 4) added to: expected, how often defined, doubt; by ranks expected
    of_cells: Floats,  # (M + R, 2) added to
) -> None:
    """Add up what is expected of pairs and cells, all parameters being held."""
    for pair in range(len(starts) - 1):
        a = attract[pair]
        expected, defined, doubt, usual = 0.0, 0.0, 0.0, 0.0
        for place in range(starts[pair], starts[pair + 1]):
            often = counts[place]
            key = np.uint32(keys[place])
            attracted, examined = 1.0, 1.0
            if key < cells:
                attracted, examined = expect_skip(a, shared[key])
                doubt += often * attracted * (1.0 - attracted)
            else:
                key -= np.uint32(cells)
            expected += often * attracted
            defined += often
            of_cells[key, 0] += often * examined
            of_cells[key, 1] += often
            if len(rates):
                rank = key // (ranks + 1) if kind == UBM else np.int64(key)
                usual += often * rates[rank]
                of_cells[cells + rank, 0] += often * attracted
                of_cells[cells + rank, 1] += often
        of_pairs[pair, 0] += expected
        of_pairs[pair, 1] += defined
        of_pairs[pair, 2] += doubt
        if len(rates):
            of_pairs[pair, 3] += usual


@kernel(
    "float64(int64[::1], int32[::1], float64[::1], int64, float64[::1], float64[::1])",
    reassociate=True,
)
def likelihood_of_cells(
    starts: Int64s,  # (P + 1,)
    keys: Int32s,  # (C,)
    counts: Floats,  # (C,)
    cells: int,
    attract: Floats,  # (P,)
    shared: Floats,  # (M or more,)
) -> float:
    """Return the log likelihood of all clicks and skips."""
    total = 0.0
    for pair in range(len(starts) - 1):
        for place in range(starts[pair], starts[pair + 1]):
            key = keys[place]
            if key < cells:
                total += counts[place] * math.log1p(-attract[pair] * shared[key])
            else:
                total += counts[place] * math.log(attract[pair] * shared[key - cells])
    return total
