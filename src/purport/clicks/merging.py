"""Two models of two logs made one: sums are added, pairs matched by their ids.

Sums hold no prior, so nothing is counted twice. A query or a document that is no whole number has a
number of its own in each model: its id says which it is in the other.

Symbols: P pairs, Q queries, M cells, R ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purport.clicks.pairs import COLUMNS, PRIOR, PairTable, mixed_numbers
from purport.clicks.state import ClickState

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.clicks.names import Names


def add_state(state: ClickState, other: ClickState) -> None:
    """Add what another state knows of the same kind, which is left alone.

    A pair that is new here brings its prior along.
    """
    for table in other.tables:
        known = _translated(
            table.query_keys[: table.queries, 0], state.query_names, other.query_names
        )
        owners = table.pair_keys[: table.pairs, 0]
        shown = _translated(table.pair_keys[: table.pairs, 1], state.doc_names, other.doc_names)
        shards = mixed_numbers(known, len(state.tables))
        for shard, into in enumerate(state.tables):
            here = shards == shard
            _add_table(
                into, table, np.flatnonzero(here), np.flatnonzero(here[owners]), known, shown,
                state.rates,
            )  # fmt: skip
    state.sums += other.sums
    state.refresh()


def _add_table(
    into: PairTable,
    table: PairTable,
    queries: NDArray[np.int64],
    pairs: NDArray[np.int64],
    known: NDArray[np.int64],
    shown: NDArray[np.int64],
    rates: NDArray[np.float64],
) -> None:
    """Add the queries and pairs of some rows of a table.

    Parameters
    ----------
    into, table : PairTable
        The one that is changed, the one that is added.
    queries, pairs : (rows,) int64
        Rows of the second table.
    known, shown : (Q,), (P,) int64
        The number of each query of the second table, and of each pair's document, in the first.
    rates : (R,) float64
        Something positive: what is expected of pairs is set below.
    """
    rows = np.empty(len(known), np.int32)
    nothing = np.empty(0, np.int32)
    # As a page without results each query comes in the order it has there, then each pair.
    into.find(
        queries, np.zeros(len(known) + 1, np.int64), known, np.empty(0, np.int64), rows, nothing,
        rates,
    )  # fmt: skip
    into.query_sums[rows[queries]] += table.query_sums[queries]
    before = into.pairs
    owners = np.empty(len(shown), np.int32)
    found = np.empty(len(shown), np.int32)
    into.find(
        pairs, np.arange(len(shown) + 1), known[table.pair_keys[: table.pairs, 0]], shown, owners,
        found, rates,
    )  # fmt: skip
    to = found[pairs]
    is_new = to >= before
    for parameter in range(into.parameters):
        of = COLUMNS * parameter
        into.kept[to, of : of + PRIOR] += table.kept[pairs, of : of + PRIOR]
        into.kept[to[is_new], of + PRIOR] = table.kept[pairs[is_new], of + PRIOR]


def _translated(numbers: NDArray[np.int64], names: Names, others: Names) -> NDArray[np.int64]:
    """Return numbers of the other names as they are here; whole numbers are the same in both."""
    found = numbers.copy()
    strings = np.flatnonzero(numbers < 0)
    different, back = np.unique(-numbers[strings], return_inverse=True)
    # In the order in which they came there.
    found[strings] = names.numbers(others.strings((-different).tolist()))[back]
    return found
