"""What a click model knows: a table of pairs for each shard of queries, and the cells all share.

Symbols: M cells, R ranks, P pairs, Q queries, w parameters of a pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.clicks.kinds import Kind
from purport.clicks.log import Log
from purport.clicks.names import Names
from purport.clicks.pages import NO_UNIFORMS, click_probabilities
from purport.clicks.pairs import (
    COLUMNS,
    DEFINED,
    EXPECTED,
    LEAST,
    MOST,
    PRIOR,
    PairTable,
    mixed_numbers,
)
from purport.clicks.stream import fill_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.pages import Pages

HIGHEST = 0.95
"""More is never expected of a pair that nobody has met."""


FIRM = 1e30
"""A strength that nothing moves, not by a bit."""


@dataclass(frozen=True)
class Priors:
    """What is believed before a pair is met, and how firmly.

    A pair is expected to be as attractive as `level`, times how attractive pairs are at its rank
    beside others, times how attractive others of its query are beside what their ranks let expect.

    Attributes
    ----------
    level : float
        What is expected of a pair.
    by_rank : float
        The power of how attractive pairs are at a rank, beside all; 0 leaves it out.
    satisfied : float
        What satisfaction is expected of a pair.
    strengths : tuple of 2 float
        How many results the priors of attraction and of satisfaction count as.
    of_query : float
        How many results what ranks let expect counts as, beside the other pairs of a query.
    cells : tuple of 2 float
        Added to the sums of every cell.
    """

    level: float = 0.5
    by_rank: float = 0.0
    satisfied: float = 0.5
    strengths: tuple[float, float] = (2.0, 2.0)
    of_query: float = FIRM
    cells: tuple[float, float] = (1.0, 2.0)

    @classmethod
    def held(cls, mean: float, strength: float) -> Priors:
        """Expect the same of all pairs and of all cells."""
        return cls(mean, 0.0, mean, (strength, strength), FIRM, (mean * strength, strength))


class ClickState:
    """See the top of this file.

    Parameters
    ----------
    kind : Kind
        Of the model.
    ranks : int
        R.
    shards : int
        How many tables of pairs.
    priors : Priors
        What stands beside the sums.

    Attributes
    ----------
    query_names, doc_names : Names
        Ids that are no whole numbers.
    tables : list of PairTable
        One a shard.
    sums : (M + R, 2) float64
        Of cells, then of ranks: what is expected of all pairs shown there.
    parameters : (M + R,) float64
        What follows from them.
    """

    def __init__(self, kind: Kind, ranks: int, shards: int, priors: Priors) -> None:
        self.kind, self.ranks, self.priors = kind, ranks, priors
        self.width = (2 if kind.satisfies else 1) if kind.has_pairs else 0
        self.query_names, self.doc_names = Names(), Names()
        self.tables = [PairTable(self.width) for _ in range(shards)]
        self.cells = kind.cells(ranks)
        self.sums = np.zeros((self.cells + ranks, 2))
        self.refresh()

    @property
    def cell_priors(self) -> NDArray[np.float64]:
        """What stands beside the sums (M + R, 2)."""
        return np.tile(self.priors.cells, (len(self.sums), 1))

    def refresh(self) -> None:
        """Let the parameters follow from the sums."""
        self.parameters = parameters_of_sums(self.sums, self)

    @property
    def rates(self) -> NDArray[np.float64]:
        """What is expected of a pair at each rank (R,)."""
        return self.parameters[self.cells :]

    def log_of(self, pages: Pages, grows: bool) -> Log:
        """Return pages as kernels take them; new ids are taken in or left unknown."""
        return Log.of(pages, self.query_names, self.doc_names, grows)

    def shards_of(self, log: Log) -> NDArray[np.int64]:
        """Return the shard of each page (N,)."""
        return mixed_numbers(log.queries, len(self.tables))

    def find(
        self, log: Log, grows: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Return the shard (N,), the query's row (N,) and the pairs' rows (results,) of pages."""
        shards = self.shards_of(log)
        queries = np.full(len(log), -1, np.int32)
        pairs = np.full(len(log.docs), -1, np.int32)
        for number, table in enumerate(self.tables if self.width else ()):
            chosen = np.flatnonzero(shards == number)
            table.find(
                chosen, log.offsets, log.queries, log.docs, queries, pairs,
                self.rates if grows else None, self.priors.satisfied,
            )  # fmt: skip
            if grows:
                # Nothing is known of others of a query: batch EM learns the priors it asks for.
                np.abs(table.kept[:, PRIOR], out=table.kept[:, PRIOR])
        return shards, queries, pairs

    def evict(self, most: int, day: int = 0, half_life: float | None = None) -> None:
        """Keep the tables to so many pairs in all, and forget the names of what has gone.

        Each shard has an equal share. No log may be in use whose ids are still to be met.

        Parameters
        ----------
        most : int
            So many pairs may stay in all, but at least one a shard.
        day, half_life : int, float
            Up to which day evidence grows old, and how fast; not at all without a half-life.
        """
        share, gone = max(1, most // len(self.tables)), False
        for table in self.tables:
            evidence = table.kept[: table.pairs, DEFINED]
            if half_life is not None:
                evidence = evidence * 2.0 ** ((table.days[: table.pairs] - day) / half_life)
            gone = table.evict(share, evidence) or gone
        if gone or not self.width:
            tables = self.tables
            self.query_names.keep(np.concatenate([t.query_keys[: t.queries, 0] for t in tables]))
            self.doc_names.keep(np.concatenate([t.pair_keys[: t.pairs, 1] for t in tables]))

    def pair_parameters(self, table: PairTable, parameter: int) -> NDArray[np.float64]:
        """Return attraction (0) or satisfaction (1) of all pairs of a table (P,)."""
        kept = table.kept[: table.pairs, COLUMNS * parameter : COLUMNS * (parameter + 1)]
        strength = self.priors.strengths[parameter]
        found = (kept[:, EXPECTED] + strength * kept[:, PRIOR]) / (kept[:, DEFINED] + strength)
        return np.clip(found, LEAST, MOST)

    def probabilities(self, log: Log, is_marginal: bool = False) -> NDArray[np.float64]:
        """Return how likely a click is at every result (results,).

        Given the clicks above it on its page, or with `is_marginal` not knowing any.
        """
        return self._answers(log, is_marginal, NO_UNIFORMS, log.clicks)

    def draw(self, log: Log, uniforms: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return clicks (results,) that a number from [0, 1) each decides."""
        clicks = np.zeros(len(log.docs), np.bool_)
        self._answers(log, False, uniforms, clicks)
        return clicks

    def _answers(
        self,
        log: Log,
        is_marginal: bool,
        uniforms: NDArray[np.float64],
        clicks: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        found, nothing = np.empty(len(log.docs)), np.empty(0)
        attracts, satisfies = [*self.parameters_of(log), nothing, nothing][:2]
        click_probabilities(
            self.kind.number, is_marginal, log.offsets, clicks, self.ranks,
            attracts if len(attracts) else found, satisfies, self.parameters, uniforms, found,
        )  # fmt: skip
        return found

    def parameters_of(self, log: Log) -> list[NDArray[np.float64]]:
        """Return the parameters of the pairs at every result (results,), w of them.

        A pair that was never met has what is expected at its rank and of its query.
        """
        if not self.width:
            return []
        shards, queries, pairs = self.find(log, grows=False)
        of_result = np.repeat(shards, np.diff(log.offsets))
        rows = np.repeat(queries, np.diff(log.offsets))
        rank = np.minimum(log.ranks, self.ranks - 1)
        found = [self.rates[rank], np.full(len(rank), self.priors.satisfied)][: self.width]
        for number, table in enumerate(self.tables):
            here = of_result == number
            known = np.flatnonzero(here & (rows >= 0))
            sums = table.query_sums[rows[known]]
            found[0][known] *= (sums[:, EXPECTED] + self.priors.of_query) / (
                sums[:, DEFINED] + self.priors.of_query
            )
            met = np.flatnonzero(here & (pairs >= 0))
            for parameter in range(self.width):
                found[parameter][met] = self.pair_parameters(table, parameter)[pairs[met]]
        return [np.clip(each, LEAST, MOST) for each in found]


def parameters_of_sums(sums: NDArray[np.float64], state: ClickState) -> NDArray[np.float64]:
    """Return the parameters of the cells, and what is expected of a pair at each rank (M + R,)."""
    found = np.empty(len(sums))
    fill_parameters(sums, state.cell_priors, found)
    priors, shown = state.priors, sums[state.cells :, DEFINED]
    beside = np.ones(state.ranks)
    if shown.sum() > 0.0:
        rates = found[state.cells :]
        beside = rates / float(rates @ shown / shown.sum())
    # Ranks that nobody has seen are like all others.
    beside[shown == 0.0] = 1.0
    found[state.cells :] = np.clip(
        priors.level * beside**priors.by_rank, LEAST, max(priors.level, HIGHEST)
    )
    return found
