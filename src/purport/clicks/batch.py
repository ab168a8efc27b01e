"""Batch EM: what is expected of all pages under held parameters is a fold, then they are set anew.

The log is cut by shards of queries, so that no two partitions have a pair in common: sums of pairs
stay apart, those of cells are added up.

    parameter = (expected + strength * prior) / (defined + strength)

is the maximum of the likelihood times a Beta prior for each parameter, so this objective never
falls while priors are held. Priors themselves are learnt in the first rounds: how attractive pairs
are at each rank, times how attractive those of the query are beside it; a pair's own clicks are
left out of what is expected of it.

Symbols: P pairs, M cells, R ranks, w parameters of a pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from purport.clicks.cascade import sum_descending
from purport.clicks.cells import Cells, likelihood_of_cells, sum_cells
from purport.clicks.kinds import CCM, DBN
from purport.clicks.log import Log
from purport.clicks.pages import NO_UNIFORMS, click_probabilities, sum_pages
from purport.clicks.pairs import COLUMNS, DEFINED, DOUBT, EXPECTED, LEAST, MOST, PRIOR, PairTable
from purport.clicks.scores import log_probabilities
from purport.clicks.state import ClickState
from purport.fold.engine import Engine
from purport.fold.statistic import Statistic
from purport.records.columns import positions_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRIOR_ROUNDS = 5
"""After so many the priors hardly move."""

_COLUMNS = (0, 4, 7)
"""Of the sums of a pair, by how many parameters it has."""


@dataclass(frozen=True)
class ClickParameters:
    """What one round of EM holds.

    Attributes
    ----------
    attract, satisfy : list of (P,) float64
        Of the pairs of each shard.
    shared : (M + R,) float64
        Of the cells.
    rates : (R,) float64, or empty
        What ranks let expect, while priors are learnt.
    """

    attract: list[NDArray[np.float64]]
    satisfy: list[NDArray[np.float64]]
    shared: NDArray[np.float64]
    rates: NDArray[np.float64]


@dataclass(frozen=True)
class PagePart:
    """The pages of one shard, those of a query one after the other.

    Attributes
    ----------
    certain : (P, columns) float64
        What every round finds alike: how often pairs were shown and clicked. Empty where a round
        counts it anew.
    """

    shard: int
    kind: int
    ranks: int
    offsets: NDArray[np.int64]
    clicks: NDArray[np.bool_]
    pairs: NDArray[np.int32]
    certain: NDArray[np.float64]

    @classmethod
    def of(cls, shard: int, state: ClickState, log: Log, pairs: NDArray[np.int32]) -> PagePart:
        """Lay out pages whose pairs are known."""
        kind, size = state.kind.number, state.tables[shard].pairs
        certain = np.zeros((0, 0))
        if kind in (DBN, CCM):
            certain = np.zeros((size, _COLUMNS[state.width]))
            clicked = np.bincount(pairs[log.clicks], minlength=size)
            certain[:, EXPECTED] = clicked
            certain[:, DEFINED] = np.bincount(pairs, minlength=size)
            if kind == DBN:
                certain[:, COLUMNS + DEFINED] = clicked
            else:
                certain[:, DEFINED] += clicked
        return cls(shard, kind, state.ranks, log.offsets, log.clicks, pairs, certain)

    def add_to(
        self,
        held: ClickParameters,
        of_pairs: NDArray[np.float64],
        of_cells: NDArray[np.float64],
    ) -> None:
        """Add what the pages say."""
        attract, satisfy = held.attract[self.shard], held.satisfy[self.shard]
        if len(self.certain) and not len(held.rates):
            # Apart from the other columns: so much less memory is touched at random.
            attracted, satisfied = np.zeros((2, len(attract))), np.zeros((2, len(satisfy)))
            sum_descending(
                self.kind, self.offsets, self.clicks, self.pairs, attract, satisfy, held.shared,
                attracted, satisfied, of_cells,
            )  # fmt: skip
            of_pairs += self.certain
            of_pairs[:, EXPECTED] += attracted[0]
            of_pairs[:, DOUBT] += attracted[1]
            if len(satisfy):
                of_pairs[:, COLUMNS + EXPECTED] += satisfied[0]
                of_pairs[:, COLUMNS + DOUBT] += satisfied[1]
            return
        sum_pages(
            self.kind, self.offsets, self.clicks, self.pairs, self.ranks, attract, satisfy,
            held.shared, held.rates, of_pairs, of_cells,
        )  # fmt: skip

    def log_likelihood(self, held: ClickParameters) -> float:
        """Return the sum over all results."""
        attract = held.attract[self.shard]
        satisfy = held.satisfy[self.shard]
        found = np.empty(len(self.clicks))
        click_probabilities(
            self.kind, False, self.offsets, self.clicks, self.ranks,
            attract[self.pairs] if len(attract) else attract,
            satisfy[self.pairs] if len(satisfy) else satisfy,
            held.shared, NO_UNIFORMS, found,
        )  # fmt: skip
        return float(log_probabilities(found, self.clicks).sum())


@dataclass(frozen=True)
class CellPart:
    """The pages of one shard as counts."""

    shard: int
    kind: int
    ranks: int
    cells_in_all: int
    counts: Cells

    def add_to(
        self,
        held: ClickParameters,
        of_pairs: NDArray[np.float64],
        of_cells: NDArray[np.float64],
    ) -> None:
        """Add what the pages say."""
        counts = self.counts
        sum_cells(
            self.kind, counts.starts, counts.keys, counts.counts, self.ranks, self.cells_in_all,
            held.attract[self.shard], held.shared, held.rates, of_pairs, of_cells,
        )  # fmt: skip

    def log_likelihood(self, held: ClickParameters) -> float:
        """Return the sum over all results."""
        counts = self.counts
        return likelihood_of_cells(
            counts.starts, counts.keys, counts.counts, self.cells_in_all,
            held.attract[self.shard], held.shared,
        )  # fmt: skip


Part = PagePart | CellPart


class ClickSums(Statistic[Part, ClickParameters]):
    """What is expected of pairs and cells.

    Attributes
    ----------
    of_cells : (M + R, 2) float64
        Expected, and how often it was defined; behind the cells those of ranks.
    of_pairs : dict of (P, columns) float64
        By shard: for each parameter of a pair the same and how much that leaves open; between the
        two what ranks let expect of attraction.
    """

    kind: ClassVar[Literal["exact", "floating", "sketch"]] = "floating"

    def __init__(self, cells: int, pairs: Sequence[int], width: int) -> None:
        self.of_cells = np.zeros((cells, 2))
        self.of_pairs: dict[int, NDArray[np.float64]] = {}
        self._pairs, self._width = tuple(pairs), width

    def zero(self) -> Self:
        return type(self)(len(self.of_cells), self._pairs, self._width)

    def add(self, batch: Part, parameters: ClickParameters) -> Self:
        if batch.shard not in self.of_pairs:
            self.of_pairs[batch.shard] = np.zeros((self._pairs[batch.shard], self._width))
        batch.add_to(parameters, self.of_pairs[batch.shard], self.of_cells)
        return self

    def merge(self, other: Self) -> Self:
        self.of_cells += other.of_cells
        for shard, sums in other.of_pairs.items():
            if shard in self.of_pairs:
                self.of_pairs[shard] = self.of_pairs[shard] + sums
            else:
                self.of_pairs[shard] = sums.copy()
        return self

    def scale(self, factor: float) -> Self:
        self.of_cells *= factor
        # Scaled by 0 it is what `zero` gives, which knows of no shard.
        kept = self.of_pairs.items() if factor else ()
        self.of_pairs = {shard: sums * factor for shard, sums in kept}
        return self

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "of_cells": self.of_cells,
            "pairs": np.array(self._pairs, np.int64),
            "width": np.array([self._width]),
            **{f"shard {shard}": sums for shard, sums in sorted(self.of_pairs.items())},
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        restored = cls(0, arrays["pairs"].tolist(), int(arrays["width"][0]))
        restored.of_cells = np.array(arrays["of_cells"], np.float64)
        restored.of_pairs = {
            int(name.removeprefix("shard ")): np.array(sums, np.float64)
            for name, sums in arrays.items()
            if name.startswith("shard ")
        }
        return restored


def parts_of(
    state: ClickState,
    log: Log,
    shards: NDArray[np.int64],
    queries: NDArray[np.int32],
    pairs: NDArray[np.int32],
    as_pages: bool = False,
) -> list[Part]:
    """Cut a log whose pairs were found; see `ClickState.find`."""
    kind, parts = state.kind, list[Part]()
    for shard, table in enumerate(state.tables):
        chosen = np.flatnonzero(shards == shard)
        if not len(chosen):
            continue
        if kind.by_cell and not as_pages:
            counts = Cells.of(
                kind.number, chosen, log.offsets, log.clicks, pairs, table.pairs, state.ranks,
                state.cells,
            )  # fmt: skip
            parts.append(CellPart(shard, kind.number, state.ranks, state.cells, counts))
            continue
        if not as_pages:
            # Pairs of a query lie side by side in the table: so shall its pages in the log.
            chosen = chosen[np.argsort(queries[chosen], kind="stable")]
        places, _ = positions_of(chosen, log.offsets)
        parts.append(PagePart.of(shard, state, log.take(chosen), pairs[places]))
    return parts


def held_by(state: ClickState, learns_priors: bool = False) -> ClickParameters:
    """Return the parameters of the moment."""
    nothing = np.empty(0)
    attract, satisfy = (
        [
            state.pair_parameters(table, parameter) if parameter < state.width else nothing
            for table in state.tables
        ]
        for parameter in (0, 1)
    )
    rates = state.rates if learns_priors else nothing
    return ClickParameters(attract, satisfy, state.parameters, rates)


class BatchEM:
    """Rounds of EM over a log.

    Parameters
    ----------
    state : ClickState
        Whose parameters are set; the pairs of the log are taken in.
    log : Log
        The pages.
    engine : Engine
        Folds them.
    as_pages : bool
        Whether each round goes through the pages in the order of the log, as plain EM does; it
        takes longer and tells the same.
    """

    def __init__(self, state: ClickState, log: Log, engine: Engine, as_pages: bool = False) -> None:
        self.state, self._engine = state, engine
        parts = parts_of(state, log, *state.find(log, grows=True), as_pages)
        self._placed = engine.place(parts)
        self._results = int(log.offsets[-1])

    def close(self) -> None:
        """Let the engine go."""
        self._engine.close()

    def log_likelihood(self) -> float:
        """Return the mean over all results under the parameters of the moment."""
        held = held_by(self.state)
        found = self._engine.map(self._placed, likelihood_of, held)
        return sum(found) / max(self._results, 1)

    def round(self, learns_priors: bool = False) -> float:
        """Do one round; return by how much shared parameters moved, the mean over their uses."""
        state = self.state
        learns_priors = learns_priors and state.width > 0
        zero = ClickSums(
            len(state.sums), [table.pairs for table in state.tables], _COLUMNS[state.width]
        )
        sums = self._engine.fold(self._placed, zero, held_by(state, learns_priors))
        before = state.parameters[: state.cells].copy()
        of_ranks = state.sums[state.cells :].copy()
        state.sums[:] = sums.of_cells
        if not learns_priors:
            # Nobody asked for those of ranks.
            state.sums[state.cells :] = of_ranks
        state.refresh()
        for shard, found in sums.of_pairs.items():
            table = state.tables[shard]
            kept = table.kept[: table.pairs]
            for parameter in range(state.width):
                of = COLUMNS * parameter
                kept[:, of : of + PRIOR] = found[:, of : of + PRIOR]
            if learns_priors:
                _set_priors(state, table, found)
        moved = np.abs(state.parameters[: state.cells] - before)
        often = state.sums[: state.cells, DEFINED]
        return float(moved @ often / often.sum()) if often.sum() > 0.0 else 0.0


def _set_priors(state: ClickState, table: PairTable, found: NDArray[np.float64]) -> None:
    """Let what is expected of pairs follow from their ranks and from others of their query."""
    expected, defined, usual = found[:, 0], found[:, 1], found[:, 3]
    queries, owner = table.query_sums[: table.queries], table.pair_keys[: table.pairs, 0]
    queries[:, EXPECTED] = np.bincount(owner, expected, len(queries))
    queries[:, DEFINED] = np.bincount(owner, usual, len(queries))
    others = queries[owner] - found[:, [0, 3]] + state.priors.of_query
    by_rank = np.divide(usual, defined, out=np.full(len(found), state.priors.level),
                        where=defined > 0.0)  # fmt: skip
    table.kept[: table.pairs, PRIOR] = np.clip(by_rank * others[:, 0] / others[:, 1], LEAST, MOST)


def likelihood_of(part: Part, held: ClickParameters) -> float:
    """Return the sum over all results of a part."""
    return part.log_likelihood(held)
