"""What position hides: documents that are clicked more than others of their query but attract less.

Symbols: P pairs of a query and a document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from purport.clicks.model import ClickModel
from purport.measure.bootstrap import Comparison, comparisons_of
from purport.measure.correlation import rank_correlation
from purport.records.pages import Pages
from purport.report.click_findings import DocumentShown, Reversed
from purport.study.click_evaluation import CONFIDENCE
from purport.study.stages import Attractiveness

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_SHOWN: Final = 20
"""The click rate of a document that was shown less often tells too little."""
MOST_DOCS: Final = 50
"""Of a query: those that were shown most often."""
MOST_DRAWS: Final = 200
"""Of rank correlations, each of which is made anew."""
SHOWN: Final = 3


@dataclass(frozen=True)
class ShownDocuments:
    """The documents of queries that were shown often enough, in order of their queries.

    Attributes
    ----------
    queries, docs : list of P str
        What they are.
    group : (P,) int64
        The number of the query.
    shown : (P,) int64
        How often.
    rank, click_rate, learnt : (P,) float64
        The mean rank, from 1; the share of times it was clicked; how attractive it is to a model.
    true : (P,) float64 or None
        How attractive it truly is, NaN where not known.
    """

    queries: list[str]
    docs: list[str]
    group: NDArray[np.int64]
    shown: NDArray[np.int64]
    rank: NDArray[np.float64]
    click_rate: NDArray[np.float64]
    learnt: NDArray[np.float64]
    true: NDArray[np.float64] | None

    @classmethod
    def of(
        cls, model: ClickModel, pages: Pages, truth: Attractiveness | None = None
    ) -> ShownDocuments:
        """Look at what was shown, and ask a model.

        Examples
        --------
        >>> from purport.clicks.models import PBM
        >>> pages = Pages.from_lists(["q"] * 20, [["a", "b"]] * 20, [[1, 0], [0, 0]] * 10)
        >>> told = ShownDocuments.of(PBM(prior=(0.5, 2.0)).fit(pages), pages)
        >>> told.docs, told.rank.tolist(), told.click_rate.tolist()
        (['a', 'b'], [1.0, 2.0], [0.5, 0.0])
        """
        log = model._log(pages, "study")
        # One number a pair: rows of two are slow to sort.
        _, asked = np.unique(pages.queries.codes, return_inverse=True)
        different, placed = np.unique(pages.docs.codes, return_inverse=True)
        both = np.repeat(asked, np.diff(pages.offsets)) * len(different) + placed
        _, first, pair = np.unique(both, return_index=True, return_inverse=True)
        counts = np.bincount(pair)
        often = np.flatnonzero(counts >= LEAST_SHOWN)
        places, shown = first[often], counts[often]
        of_page = np.searchsorted(pages.offsets, places, side="right") - 1
        queries = pages.queries.take(of_page).strings()
        docs = pages.docs.take(places).strings()
        return cls(
            queries,
            docs,
            np.unique(asked[of_page], return_inverse=True)[1].astype(np.int64),
            shown,
            np.bincount(pair, log.ranks + 1.0)[often] / shown,
            np.bincount(pair, pages.clicks)[often] / shown,
            model._state.parameters_of(log)[0][places],
            None if truth is None else truth.of(queries, docs),
        )


def find_reversed(
    name: str, told: ShownDocuments, *, shows: bool = False
) -> tuple[Reversed, tuple[tuple[DocumentShown, DocumentShown], ...]]:
    """Count the pairs of documents whose click rates mislead, and choose some to show.

    Parameters
    ----------
    name : str
        Of the model.
    told : ShownDocuments
        What was shown.
    shows : bool
        Whether documents may be shown: those, of different queries, where the model says that the
        lower one attracts most beyond the upper one.

    Examples
    --------
    >>> from purport.clicks.models import PBM
    >>> pages = Pages.from_lists(["q"] * 20, [["a", "b"]] * 20, [[1, 0], [0, 0]] * 10)
    >>> told = ShownDocuments.of(PBM(prior=(0.5, 2.0)).fit(pages), pages)
    >>> found, chosen = find_reversed("PBM", told)
    >>> found.pairs, found.reversed, chosen
    (1, 0, ())
    """
    pairs = turned = right = 0
    best: list[tuple[float, int, int]] = []
    borders = np.flatnonzero(np.diff(told.group, prepend=-1, append=-1))
    for start, end in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        here = start + np.argsort(-told.shown[start:end], kind="stable")[:MOST_DOCS]
        # One of each two, the one with the higher click rate first.
        upper, lower = (here[side] for side in np.triu_indices(len(here), 1))
        swaps = told.click_rate[upper] < told.click_rate[lower]
        upper, lower = np.where(swaps, lower, upper), np.where(swaps, upper, lower)
        ahead = told.learnt[lower] - told.learnt[upper]
        is_turned = (ahead > 0.0) & (told.click_rate[upper] > told.click_rate[lower])
        pairs, turned = pairs + len(upper), turned + int(is_turned.sum())
        if told.true is not None:
            right += int((told.true[lower] > told.true[upper])[is_turned].sum())
        hidden = is_turned & (told.rank[lower] > told.rank[upper])
        if hidden.any():
            place = int(np.argmax(np.where(hidden, ahead, -1.0)))
            best.append((float(ahead[place]), int(upper[place]), int(lower[place])))
    found = Reversed(
        name, LEAST_SHOWN, len(told.docs), pairs, turned, None if told.true is None else right
    )
    chosen = sorted(best, reverse=True)[:SHOWN] if shows else []
    return found, tuple((_shown(told, upper), _shown(told, lower)) for _, upper, lower in chosen)


def agreement(told: ShownDocuments, samples: int) -> Comparison | None:
    """Compare how what was learnt, and how plain click rates, order documents beside the truth.

    Returns
    -------
    Comparison or None
        Of rank correlations; draws take whole queries. None where the truth is not known, or
        documents are too few.

    Examples
    --------
    >>> from purport.clicks.models import PBM
    >>> pages = Pages.from_lists(["q"] * 20, [["a", "b"]] * 20, [[1, 0], [0, 0]] * 10)
    >>> truth = Attractiveness(["q", "q"], ["a", "b"], np.array([0.9, 0.1]))
    >>> told = ShownDocuments.of(PBM(prior=(0.5, 2.0)).fit(pages), pages, truth)
    >>> agreement(told, 10).a
    1.0
    """
    if told.true is None or np.isnan(told.true).all():
        return None
    known = np.flatnonzero(~np.isnan(told.true))
    members = np.split(known, np.flatnonzero(np.diff(told.group[known])) + 1)
    chance = np.random.default_rng(0)
    draws = [
        np.concatenate(
            [members[number] for number in chance.integers(len(members), size=len(members))]
        )
        for _ in range(min(samples, MOST_DRAWS))
    ]

    true = told.true

    def correlations(said: NDArray[np.float64]) -> NDArray[np.float64]:
        found = [rank_correlation(said[chosen], true[chosen]) for chosen in (known, *draws)]
        return np.array(found)[:, None]

    a, b = correlations(told.learnt), correlations(told.click_rate)
    if np.isnan([a, b]).any():  # too few documents to have an order
        return None
    return comparisons_of([a[0], b[0]], [a[1:], b[1:]], CONFIDENCE)[0]


def _shown(told: ShownDocuments, place: int) -> DocumentShown:
    return DocumentShown(
        told.queries[place],
        told.docs[place],
        int(told.shown[place]),
        float(told.rank[place]),
        float(told.click_rate[place]),
        float(told.learnt[place]),
        None if told.true is None else float(told.true[place]),
    )
