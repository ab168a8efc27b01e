"""Logs for the speed tables: Zipf queries, twelve rankings each, clicks of a known model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from purport.clicks.kinds import KINDS
from purport.clicks.log import Log
from purport.clicks.pairs import COLUMNS, DEFINED, EXPECTED
from purport.clicks.state import ClickState, Priors
from purport.records.pages import Pages

RESULTS = 10
POOL = 20
"""Documents of a query."""
RANKINGS = 12
"""How many different lists of results a query has."""
ZIPF = 1.1
LOOKS = 1e9
"""As sure as the truth is of itself."""


@dataclass(frozen=True)
class Drawn:
    """A log whose truth is known.

    Attributes
    ----------
    log : Log
        As kernels take it.
    truth : str
        The model that drew the clicks.
    """

    log: Log
    truth: str

    @property
    def pages(self) -> Pages:
        """The log as records."""
        log = self.log
        return Pages.from_arrays(log.offsets, log.queries, log.docs, log.clicks)

    def __str__(self) -> str:
        pairs = len(np.unique(np.repeat(self.log.queries, RESULTS) * POOL + self.log.docs % POOL))
        return (
            f"{len(self.log)} pages of {RESULTS} results, {len(np.unique(self.log.queries))}"
            f" queries (Zipf {ZIPF}), {pairs} pairs, {self.log.clicks.mean():.3f} clicks a result,"
            f" drawn from {self.truth}"
        )


def drawn(truth: str, pages: int, queries: int, seed: int = 0) -> Drawn:
    """Draw a log from UBM or DBN."""
    chance = np.random.default_rng(seed)
    asked, docs = shown(pages, queries, chance)
    offsets = np.arange(0, pages * RESULTS + 1, RESULTS)
    log = Log(offsets, np.zeros(pages * RESULTS, np.bool_), asked, docs)
    state = ClickState(KINDS[truth], RESULTS, 1, Priors())
    state.find(log, grows=True)
    table = state.tables[0]
    kept = table.kept[: table.pairs]
    for parameter, shape in zip(range(state.width), ((1.0, 3.0), (2.0, 2.0)), strict=False):
        column = COLUMNS * parameter
        kept[:, column + EXPECTED] = LOOKS * chance.beta(*shape, table.pairs)
        kept[:, column + DEFINED] = LOOKS
    cells = np.full(state.cells, 0.85)
    if truth == "UBM":
        rank, before = np.divmod(np.arange(state.cells), RESULTS + 1)
        cells = 0.9 / (1.0 + 0.4 * np.maximum(rank - np.maximum(before - 1, -1), 0))
    state.sums[: state.cells] = LOOKS * np.stack([cells, np.ones(state.cells)], axis=1)
    state.refresh()
    clicks = state.draw(log, chance.random(len(docs)))
    return Drawn(Log(offsets, clicks, asked, docs), truth)


def shown(
    pages: int, queries: int, chance: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what is asked (pages,) and what is shown (pages * RESULTS,)."""
    often = 1.0 / np.arange(1, queries + 1) ** ZIPF
    asked = np.searchsorted(np.cumsum(often) / often.sum(), chance.random(pages))
    asked = np.minimum(asked, queries - 1).astype(np.int64)
    # Every ranking is a stretch of one long permutation, so that no table of all is needed.
    order = chance.permuted(np.tile(np.arange(POOL), (997, 1)), axis=1)[:, :RESULTS]
    ranking = (asked * RANKINGS + chance.integers(RANKINGS, size=pages)) % len(order)
    return asked, (asked[:, None] * POOL + order[ranking]).ravel()
