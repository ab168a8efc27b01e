"""Shelves: the result pages that a world of clicks can show, and how attractive each result is.

A shelf is invented, or taken from pages of a real log: then each of its queries is as frequent, and
its pages are those, and what is true of them is drawn from what a model learns of them.

Symbols: B pages on the shelf, R ranks, P pairs of a query and a document, M cells of a kind.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from purport.clicks import models
from purport.clicks.kinds import CCM, DBN, PBM, UBM, Kind
from purport.clicks.pairs import COLUMNS, DEFINED, EXPECTED, LEAST, MOST, PRIOR
from purport.errors import ConvergenceWarning
from purport.records.ids import Ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.pages import Pages

LENGTH = 10
"""Results of an invented page."""
RANKINGS = 3
"""How many pages an invented query has: the documents in its own order, each time with noise."""
ZIPF = 1.1
LOGITS = (-0.8, 1.2)
"""Mean and deviation of the invented attractiveness."""
NOISE = 0.8
"""Of rankings, beside the deviation of what is attractive, unless the user says."""
SATISFIED = (0.0, 1.0)
"""Mean and deviation of the logits of the invented satisfaction."""


@dataclass(frozen=True)
class Shelf:
    """See the top of this file.

    Attributes
    ----------
    kind : Kind
        Of the model that makes the clicks.
    ranks : int
        R.
    offsets : (B + 1,) int64
        Where each page begins.
    weights : (B,) float64
        How often each is shown; they sum to 1.
    slots : (results,) int64
        The pair of each result.
    queries, docs : Ids
        Of each pair (P,).
    attracts, satisfies : (P,) float64
        Of each pair; satisfaction is empty where the model has none.
    shared : (M,) float64
        The cells.
    """

    kind: Kind
    ranks: int
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    slots: NDArray[np.int64]
    queries: Ids
    docs: Ids
    attracts: NDArray[np.float64]
    satisfies: NDArray[np.float64]
    shared: NDArray[np.float64]

    @classmethod
    def invented(
        cls,
        kind: Kind,
        queries: int,
        docs: int,
        has_names: bool,
        chance: np.random.Generator,
        noise: float = NOISE,
    ) -> Shelf:
        """Invent queries, most of them rare, with documents of their own."""
        length = min(LENGTH, docs)
        logits = chance.normal(*LOGITS, (queries, docs))
        noisy = logits[:, None] + noise * chance.normal(size=(queries, RANKINGS, docs))
        order = np.argsort(-noisy, axis=2)[:, :, :length]
        slots = (order + docs * np.arange(queries)[:, None, None]).ravel()
        popular = np.arange(1.0, queries + 1.0) ** -ZIPF
        asked, shown = np.repeat(np.arange(queries), docs), np.arange(queries * docs)
        return cls(
            kind,
            length,
            np.arange(0, len(slots) + 1, length),
            np.repeat(popular / popular.sum() / RANKINGS, RANKINGS),
            slots,
            Ids.of([f"q{query}" for query in asked.tolist()] if has_names else asked),
            Ids.of([f"d{doc}" for doc in shown.tolist()] if has_names else shown),
            _clipped(_shares(logits.ravel())),
            _shares(chance.normal(*SATISFIED, queries * docs)) if kind.satisfies else np.empty(0),
            _cells(kind, length),
        )

    @classmethod
    def of(cls, pages: Pages, kind: str, chance: np.random.Generator) -> Shelf:
        """Put the pages of a log on a shelf.

        Each parameter of a pair is drawn from what is believed of it after a model of the kind has
        learnt from the pages: the mean of the belief would be the same for nearly all that were
        seen once.
        """
        model = getattr(models, kind)(n_threads=1)
        with warnings.catch_warnings():
            # A truth need not be the best there is.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(pages, tol=1e-3)
        state = model._state
        log = state.log_of(pages, grows=False)
        table_of, _, rows = state.find(log, grows=False)
        lengths = np.diff(log.offsets)
        # A pair is known by its table and its row there.
        keys = np.repeat(table_of, lengths) * len(log.docs) + rows
        _, first, slots = np.unique(keys, return_index=True, return_inverse=True)
        drawn = []
        for parameter in range(state.width):
            found = np.empty(len(first))
            for number, table in enumerate(state.tables):
                here = np.repeat(table_of, lengths)[first] == number
                kept = table.kept[rows[first][here], COLUMNS * parameter :][:, :COLUMNS]
                prior = state.priors.strengths[parameter]
                yes = kept[:, EXPECTED] + prior * kept[:, PRIOR]
                no = kept[:, DEFINED] - kept[:, EXPECTED] + prior * (1.0 - kept[:, PRIOR])
                found[here] = chance.beta(np.maximum(yes, LEAST), np.maximum(no, LEAST))
            drawn.append(_clipped(found))
        of_page = np.repeat(np.arange(len(log)), lengths)[first]
        return cls(
            state.kind,
            state.ranks,
            log.offsets,
            np.full(len(log), 1.0 / len(log)),
            slots.astype(np.int64).ravel(),
            pages.queries.take(of_page),
            pages.docs.take(first),
            drawn[0] if drawn else np.full(len(first), 0.5),
            drawn[1] if len(drawn) > 1 else np.empty(0),
            state.parameters[: state.cells].copy(),
        )

    def biased(self, position_bias: float) -> NDArray[np.float64]:
        """Return the cells (M,) when ranks tell so much less of whether a result is examined.

        Of models that browse, examination is drawn towards its mean; of those that read down,
        going on becomes more certain. At 0 all ranks are alike, but for who stops since satisfied.
        """
        if self.kind.number in (UBM, PBM):
            middle = float(np.exp(np.log(self.shared).mean()))
            return _clipped(middle * (self.shared / middle) ** position_bias)
        return _clipped(self.shared**position_bias)


def _cells(kind: Kind, ranks: int) -> NDArray[np.float64]:
    """Return invented cells: people skim, the more so the further down from their last click."""
    if kind.number == UBM:
        rank, last = np.mgrid[:ranks, : ranks + 1]
        return _skimmed(np.maximum(rank - last, 0).ravel())
    if kind.number == PBM:
        return _skimmed(np.arange(ranks))
    if kind.number in (DBN, CCM):
        return np.array([0.85] if kind.number == DBN else [0.9, 0.7, 0.4])
    return np.full(kind.cells(ranks), 0.6)


def _skimmed(distance: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(0.95 / (1.0 + 0.3 * distance), np.float64)


def _shares(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-logits))
    return shares


def _clipped(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    clipped: NDArray[np.float64] = np.clip(shares, LEAST, MOST)
    return clipped
