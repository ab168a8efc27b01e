"""The linear scorer: rows of features times weights give emissions, and take back their posteriors.

A weight exists for every (column, state) pair that the layout lists, as a rule those seen in the
training data. Columns seen with many states are added to a row as whole vectors of length S; of the
others each listed pair is an entry of the row. Both lists are laid out once for rows that are
scored again and again.

Symbols: F columns, S states, U unique rows, W listed pairs, D dense columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from purport.features.rows import Rows
from purport.fold.kernel import Floats, Int32s, Int64s, UInt32s, kernel
from purport.fold.scratch import Scratch
from purport.lattice.exponential import exponentiate_row
from purport.lattice.lane_steps import add_four
from purport.lattice.potentials import WIDEST, Emissions
from purport.records.columns import positions_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

DENSE_SHARE = 1 / 8
DENSE_LEAST = 4
"""A column is dense from this share of all states, and this many, on."""

KEEP_LOGARITHMS = -1.0
"""No row is narrower than this: all keep their log scores."""

_scratch = Scratch()
_ONES = np.empty(0)


@dataclass(frozen=True)
class Layout:
    """Which (column, state) pairs have a weight.

    Attributes
    ----------
    states : int
        S.
    pointers : (F + 1,) int64
        Where each column's states begin in `targets`.
    targets : (W,) int32
        States, ascending within a column.
    dense_number : (F,) int32
        Number of each dense column, -1 for the others.
    dense_slots : (weights of dense columns, 2) int64
        For each weight of a dense column its place in the vector of weights and in the dense
        matrix, flat.
    """

    states: int
    pointers: NDArray[np.int64]
    targets: NDArray[np.int32]
    dense_number: NDArray[np.int32]
    dense_slots: NDArray[np.int64]

    @classmethod
    def of(cls, states: int, pointers: NDArray[np.int64], targets: NDArray[np.int32]) -> Layout:
        """Decide which columns are dense."""
        counts = np.diff(pointers)
        is_dense = counts >= max(DENSE_LEAST, DENSE_SHARE * states)
        number = np.where(is_dense, np.cumsum(is_dense) - 1, -1).astype(np.int32)
        column = np.repeat(np.arange(len(counts)), counts)
        of_weight = number[column]
        place = np.flatnonzero(of_weight >= 0)
        flat = of_weight[place].astype(np.int64) * states + targets[place]
        return cls(states, pointers, targets, number, np.stack([place, flat], axis=1))

    @classmethod
    def observed(
        cls,
        rows: Rows,
        states_of: NDArray[np.int32],
        states: int,
        index: NDArray[np.int32] | None = None,
    ) -> Layout:
        """List the pairs seen in the data.

        `index` names the rows that were seen, with the states `states_of`, -1 for none; left out,
        they are those of all positions.
        """
        index = rows.index if index is None else index
        known = states_of >= 0
        pairs = np.unique(index[known].astype(np.int64) * states + states_of[known])
        used, labels = pairs // states, pairs % states
        entries, starts = positions_of(used, rows.indptr)
        labels_of_entries = np.repeat(labels, np.diff(starts))
        listed = np.unique(rows.columns[entries].astype(np.int64) * states + labels_of_entries)
        columns, targets = listed // states, listed % states
        pointers = np.searchsorted(columns, np.arange(rows.width + 1)).astype(np.int64)
        return cls.of(states, pointers, targets.astype(np.int32))

    @classmethod
    def complete(cls, width: int, states: int) -> Layout:
        """List every pair."""
        pointers = np.arange(width + 1, dtype=np.int64) * states
        return cls.of(states, pointers, np.tile(np.arange(states, dtype=np.int32), width))

    def __len__(self) -> int:
        return len(self.targets)

    def check(self) -> None:
        """Raise ValueError unless the arrays fit each other, as those read from a file may not."""
        ascending = bool(np.all(np.diff(self.pointers) >= 0))
        if not ascending or self.pointers[0] != 0 or self.pointers[-1] != len(self.targets):
            raise ValueError("the pointers of the layout are out of order")
        if len(self) and not (self.targets.min() >= 0 and self.targets.max() < self.states):
            raise ValueError("a state of the layout does not exist")

    @property
    def width(self) -> int:
        """F, the number of columns."""
        return len(self.pointers) - 1

    @property
    def dense_count(self) -> int:
        """D, the number of dense columns."""
        return int(self.dense_number.max(initial=-1)) + 1

    @cached_property
    def is_matrix(self) -> bool:
        """Whether all weights stand in the vector as they do in the dense matrix."""
        return self.dense_count == self.width and len(self) == self.width * self.states

    def keep(self, chosen: NDArray[np.bool_]) -> Layout:
        """Return the layout of some of the pairs."""
        pointers = np.concatenate([[0], np.cumsum(chosen)])[self.pointers]
        return self.of(self.states, pointers, self.targets[chosen])

    def count(
        self,
        rows: Rows,
        states_of: NDArray[np.int32],
        weights: NDArray[np.float64] | None = None,
        index: NDArray[np.int32] | None = None,
    ) -> NDArray[np.float64]:
        """Sum up the feature values of every listed pair where the state is known (not -1).

        `weights` says how often each counts, None is once; `index` and `states_of` are as for
        `observed`.
        """
        counts = np.zeros(len(self))
        values = _ONES if rows.values is None else rows.values
        index = rows.index if index is None else index
        weights = np.ones(len(index)) if weights is None else weights
        count_observed(
            rows.indptr, rows.columns, values, index, states_of, weights, self.pointers,
            self.targets, counts,
        )  # fmt: skip
        return counts


class LaidOut:
    """Rows laid out for a layout: what to add to each row, in the order of memory.

    Parameters
    ----------
    layout : Layout
        Which pairs have a weight.
    rows : Rows
        The rows.
    """

    def __init__(self, layout: Layout, rows: Rows) -> None:
        dense, lists = np.zeros((2, rows.unique + 1), np.int64)
        measure_rows(
            rows.indptr, rows.columns, layout.dense_number, layout.pointers, dense, lists
        )  # fmt: skip
        self.unique = rows.unique
        self.dense_starts, self.list_starts = np.cumsum(dense), np.cumsum(lists)
        # What is missing to a group of four is the column of zeros, the last one.
        self.dense = np.full(4 * int(self.dense_starts[-1]), layout.dense_count, np.uint32)
        self.dense_values = np.zeros(len(self.dense))
        # Unsigned: an index that cannot be negative is used as it is.
        self.weights = np.empty(int(self.list_starts[-1]), np.uint32)
        self.states = np.empty(len(self.weights), np.uint32)
        values = _ONES if rows.values is None else rows.values
        self.values = np.empty(len(self.weights) if len(values) else 0)
        lay_out_rows(
            rows.indptr, rows.columns, values, layout.dense_number, layout.pointers, layout.targets,
            self.dense_starts, self.dense, self.dense_values,
            self.list_starts, self.weights, self.states, self.values,
        )  # fmt: skip


class Weights:
    """State weights made ready for one evaluation: a dense matrix beside the list of all.

    Parameters
    ----------
    layout : Layout
        Which pairs have a weight.
    values : (W,) float64
        The weights.
    """

    def __init__(self, layout: Layout, values: NDArray[np.float64]) -> None:
        self.layout = layout
        self.values = values
        dense = np.zeros((layout.dense_count + 1) * layout.states)
        if layout.is_matrix:
            dense[: len(values)] = values
        else:
            dense[layout.dense_slots[:, 1]] = values[layout.dense_slots[:, 0]]
        self.dense = dense.reshape(layout.dense_count + 1, layout.states)

    def scores(self, rows: LaidOut, out: NDArray[np.float64]) -> NDArray[np.float64]:
        """Fill out (U, S) with rows times weights: log emissions."""
        return self._score(rows, out, KEEP_LOGARITHMS).rows

    def emissions(self, rows: LaidOut, out: NDArray[np.float64]) -> Emissions:
        """Fill out (U, S) with rows times weights, exponentiated while they are in the cache."""
        return self._score(rows, out, WIDEST)

    def _score(self, rows: LaidOut, out: NDArray[np.float64], widest: float) -> Emissions:
        highest, spread = np.empty((2, rows.unique))
        score_rows(
            rows.dense_starts, rows.dense, rows.dense_values, self.dense,
            rows.list_starts, rows.weights, rows.states, rows.values, self.values,
            widest, out, highest, spread,
        )  # fmt: skip
        return Emissions(out, highest, spread)

    def take_back(
        self, rows: LaidOut, posteriors: NDArray[np.float64], out: NDArray[np.float64]
    ) -> None:
        """Add rows transposed times posteriors (U, S) to out (W,), for the listed pairs."""
        # The column of zeros, with which groups are filled up, is never added to.
        in_place = self.layout.is_matrix
        if in_place:
            dense = out.reshape(self.layout.width, self.layout.states)
        else:
            dense = _scratch.array("dense gradient", *self.dense.shape)
            dense[:] = 0.0
        collect_rows(
            rows.dense_starts, rows.dense, rows.dense_values, dense,
            rows.list_starts, rows.weights, rows.states, rows.values, posteriors, out,
        )  # fmt: skip
        if not in_place:
            slots = self.layout.dense_slots
            out[slots[:, 0]] += dense.reshape(-1)[slots[:, 1]]


@kernel(distinct=True)
def add_product(
    out: Floats,  # (S,) added to
    row: Floats,  # (S,)
    value: float,
) -> None:
    """Add a row times a number."""
    for s in range(len(out)):
        out[s] += value * row[s]


@kernel(
    "void(int64[::1], int32[::1], float64[::1], int32[::1], int32[::1], float64[::1], int64[::1],"
    " int32[::1], float64[::1])"
)
def count_observed(
    indptr: Int64s,  # (U + 1,)
    columns: Int32s,  # (nonzeros,)
    values: Floats,  # (nonzeros,), or empty when all are 1
    index: Int32s,  # (P,)
    states_of: Int32s,  # (P,)
    weights: Floats,  # (P,)
    pointers: Int64s,  # (F + 1,)
    targets: Int32s,  # (W,)
    counts: Floats,  # (W,) added to
) -> None:
    """Add the values of features to the counts (W,) of their pairs; unlisted pairs are left out."""
    for p in range(len(index)):
        state = states_of[p]
        if state < 0:
            continue
        for k in range(indptr[index[p]], indptr[index[p] + 1]):
            low = pointers[columns[k]]
            high = pointers[columns[k] + 1]
            end = high
            while low < high:
                middle = (low + high) // 2
                if targets[middle] < state:
                    low = middle + 1
                else:
                    high = middle
            if low < end and targets[low] == state:
                counts[low] += weights[p] * (values[k] if len(values) else 1.0)


@kernel("void(int64[::1], int32[::1], int32[::1], int64[::1], int64[::1], int64[::1])")
def measure_rows(
    indptr: Int64s,  # (U + 1,)
    columns: Int32s,  # (nonzeros,)
    dense_number: Int32s,  # (F,)
    pointers: Int64s,  # (F + 1,)
    dense: Int64s,  # (U + 1,) out
    lists: Int64s,  # (U + 1,) out
) -> None:
    """Count each row's groups of four dense columns, and its entries, at the row's number + 1."""
    for u in range(len(indptr) - 1):
        found = 0
        for k in range(indptr[u], indptr[u + 1]):
            column = columns[k]
            if dense_number[column] >= 0:
                found += 1
            else:
                lists[u + 1] += pointers[column + 1] - pointers[column]
        dense[u + 1] = (found + 3) // 4


@kernel(
    "void(int64[::1], int32[::1], float64[::1], int32[::1], int64[::1], int32[::1],"
    " int64[::1], uint32[::1], float64[::1], int64[::1], uint32[::1], uint32[::1], float64[::1])"
)
def lay_out_rows(
    indptr: Int64s,  # (U + 1,)
    columns: Int32s,  # (nonzeros,)
    values: Floats,  # (nonzeros,), or empty when all are 1
    dense_number: Int32s,  # (F,)
    pointers: Int64s,  # (F + 1,)
    targets: Int32s,  # (W,)
    dense_starts: Int64s,  # (U + 1,)
    dense: UInt32s,  # (groups * 4,) out
    dense_values: Floats,  # (groups * 4,) out
    list_starts: Int64s,  # (U + 1,)
    list_weights: UInt32s,  # (entries,) out
    list_states: UInt32s,  # (entries,) out
    list_values: Floats,  # (entries,) or empty, out
) -> None:
    """Write down each row's dense columns, in groups of four, and its entries."""
    for u in range(len(indptr) - 1):
        slot = 4 * dense_starts[u]
        entry = list_starts[u]
        for k in range(indptr[u], indptr[u + 1]):
            column = columns[k]
            value = values[k] if len(values) else 1.0
            if dense_number[column] >= 0:
                dense[slot] = dense_number[column]
                dense_values[slot] = value
                slot += 1
                continue
            for w in range(pointers[column], pointers[column + 1]):
                list_weights[entry] = w
                list_states[entry] = targets[w]
                if len(values):
                    list_values[entry] = value
                entry += 1


@kernel(
    "void(int64[::1], uint32[::1], float64[::1], float64[:, ::1],"
    " int64[::1], uint32[::1], uint32[::1], float64[::1], float64[::1],"
    " float64, float64[:, ::1], float64[::1], float64[::1])",
    reassociate=True,
)
def score_rows(
    dense_starts: Int64s,  # (U + 1,)
    dense_of_row: UInt32s,  # (groups * 4,)
    dense_values: Floats,  # (groups * 4,)
    dense: Floats,  # (D + 1, S)
    list_starts: Int64s,  # (U + 1,)
    list_weights: UInt32s,  # (entries,)
    list_states: UInt32s,  # (entries,)
    list_values: Floats,  # (entries,) or empty
    weights: Floats,  # (W,)
    widest: float,
    out: Floats,  # (U, S)
    highest: Floats,  # (U,) out
    spread: Floats,  # (U,) out
) -> None:
    """Fill out with sums of weights, exponentiated where a row is not wider than `widest`."""
    rows, states = out.shape
    for u in range(rows):
        row = out[u]
        if dense_starts[u] == dense_starts[u + 1]:
            for s in range(states):
                row[s] = 0.0
        for group in range(dense_starts[u], dense_starts[u + 1]):
            k = 4 * group
            c0, c1 = dense[dense_of_row[k]], dense[dense_of_row[k + 1]]
            c2, c3 = dense[dense_of_row[k + 2]], dense[dense_of_row[k + 3]]
            v0, v1 = dense_values[k], dense_values[k + 1]
            v2, v3 = dense_values[k + 2], dense_values[k + 3]
            if group == dense_starts[u]:
                add_four(row, True, c0, c1, c2, c3, v0, v1, v2, v3)
            else:
                add_four(row, False, c0, c1, c2, c3, v0, v1, v2, v3)
        if len(list_values):
            for entry in range(list_starts[u], list_starts[u + 1]):
                row[list_states[entry]] += list_values[entry] * weights[list_weights[entry]]
        else:
            for entry in range(list_starts[u], list_starts[u + 1]):
                row[list_states[entry]] += weights[list_weights[entry]]
        if widest >= 0.0:
            highest[u], spread[u] = exponentiate_row(row, widest)


@kernel(
    "void(int64[::1], uint32[::1], float64[::1], float64[:, ::1],"
    " int64[::1], uint32[::1], uint32[::1], float64[::1], float64[:, ::1], float64[::1])"
)
def collect_rows(
    dense_starts: Int64s,  # (U + 1,)
    dense_of_row: UInt32s,  # (groups * 4,)
    dense_values: Floats,  # (groups * 4,)
    dense: Floats,  # (D + 1, S) added to
    list_starts: Int64s,  # (U + 1,)
    list_weights: UInt32s,  # (entries,)
    list_states: UInt32s,  # (entries,)
    list_values: Floats,  # (entries,) or empty
    posteriors: Floats,  # (U, S)
    out: Floats,  # (W,) added to
) -> None:
    """Add posteriors to the pairs of their rows: dense columns to `dense`, entries to `out`."""
    for u in range(len(posteriors)):
        row = posteriors[u]
        for k in range(4 * dense_starts[u], 4 * dense_starts[u + 1]):
            value = dense_values[k]
            if value != 0.0:
                add_product(dense[dense_of_row[k]], row, value)
        if len(list_values):
            for entry in range(list_starts[u], list_starts[u + 1]):
                out[list_weights[entry]] += list_values[entry] * row[list_states[entry]]
        else:
            for entry in range(list_starts[u], list_starts[u + 1]):
                out[list_weights[entry]] += row[list_states[entry]]
