"""How well a click model foretells the clicks of pages, beside the click rates of their ranks.

Intervals and comparisons come from a bootstrap over queries: pages of one query are drawn together.

Symbols: Q queries, R ranks, B draws.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.clicks.log import Log
from purport.clicks.model import ClickModel
from purport.clicks.scores import log_probabilities
from purport.errors import InputError
from purport.estimator.chance import generator_of
from purport.measure.bootstrap import Comparison, Interval, comparisons_of, intervals_of
from purport.measure.resampling import resampled
from purport.records.pages import Pages

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONFIDENCE = 0.95
SAMPLES = 1000
MOST_SUMS = 1 << 22
"""So many sums of draws are held at once."""
MOST_OWNERS = 20_000
"""Of more queries a study draws some together: intervals hardly change, and draws stay quick."""
MOST_RANKS = 20
"""So many ranks are shown to people; programs get all."""
LIKELIHOOD = "log-likelihood"
CONDITIONAL = "conditional perplexity"
MARGINAL = "marginal perplexity"
MEASURES = (LIKELIHOOD, CONDITIONAL, MARGINAL)
"""The first is the better the higher it is, the others the lower."""


@dataclass(frozen=True)
class Rank:
    """What was foretold at one rank.

    Attributes
    ----------
    rank : int
        From 1.
    shown : int
        How many pages have it.
    clicked : float
        The share of them on which it was clicked.
    conditional, marginal, floor : float
        Perplexity: knowing the clicks above; not knowing them; of the click rate of the rank.

    Examples
    --------
    >>> Rank(1, 10, 0.5, 1.8, 1.9, 2.0).shown
    10
    """

    rank: int
    shown: int
    clicked: float
    conditional: float
    marginal: float
    floor: float


@dataclass(frozen=True)
class ClickEvaluation:
    """How well a click model foretells clicks.

    Attributes
    ----------
    model : str
        Its class.
    pages, results, queries : int
        What it was tested on.
    met : float
        The share of results whose pair of query and document the model had met.
    scores : dict of Interval
        Log-likelihood and perplexities.
    beside_floor : dict of Comparison
        The same beside the click rates of the ranks of these very pages.
    beside_other : dict of Comparison
        The same beside another model; empty if there is none.
    ranks : list of Rank
        From the first on.

    Examples
    --------
    >>> from purport.clicks import GCTR
    >>> pages = Pages.from_lists([1, 2, 3], [[1, 2]] * 3, [[1, 0], [1, 0], [0, 1]])
    >>> found = evaluate_clicks(GCTR(prior=(0.5, 2.0)).fit(pages), pages)
    >>> round(found.scores["log-likelihood"].value, 4), found.queries
    (-0.6931, 3)
    """

    model: str
    pages: int
    results: int
    queries: int
    met: float
    scores: dict[str, Interval]
    beside_floor: dict[str, Comparison]
    beside_other: dict[str, Comparison]
    ranks: list[Rank]

    def numbers(self) -> dict[str, Any]:
        """Return everything, as JSON can hold it."""
        return asdict(self)

    def text(self) -> str:
        """Return everything as lines to read."""
        lines = [
            f"{self.model} on {self.pages:,} pages with {self.results:,} results of"
            f" {self.queries:,} queries; {self.met:.1%} of the results met before",
            "",
            f"{'':<24}{'':>9}  {'95 % interval':<18}  {'floor':>8}  difference",
        ]
        for name, sure in self.scores.items():
            beside = self.beside_floor[name]
            lines.append(
                f"{name:<24}{sure.value:>9.4f}  {_bounds(sure):<18}  {beside.b:>8.4f}"
                f"  {beside.difference:+.4f} ({_bounds(beside)})"
            )
        lines += ["", "floor: the click rate of each rank of these pages; a higher log-likelihood"]
        lines += ["and a lower perplexity are better; intervals draw queries"]
        if self.beside_other:
            lines += ["", "beside the other model"]
        for name, beside in self.beside_other.items():
            lines.append(
                f"{name:<24}{beside.a:>9.4f}  {beside.b:>8.4f}  {beside.difference:+.4f}"
                f" ({_bounds(beside)}), p = {beside.p_value:.3f}"
            )
        lines += ["", "rank      pages  clicked  conditional  marginal   floor"]
        lines += [
            f"{rank.rank:>4} {rank.shown:>10,}  {rank.clicked:>7.4f}  {rank.conditional:>11.4f}"
            f"  {rank.marginal:>8.4f}  {rank.floor:>6.4f}"
            for rank in self.ranks[:MOST_RANKS]
        ]
        if len(self.ranks) > MOST_RANKS:
            lines.append(f"  and {len(self.ranks) - MOST_RANKS:,} more")
        return "\n".join(lines)


def evaluate_clicks(
    model: ClickModel,
    pages: Pages,
    other: ClickModel | None = None,
    samples: int = SAMPLES,
    random_state: int = 0,
) -> ClickEvaluation:
    """Compare the clicks of pages with what a model foretells.

    Parameters
    ----------
    model : ClickModel
        Fitted.
    pages : Pages
        With clicks that it has not learnt from.
    other : ClickModel, optional
        Another one, to compare with on the same pages.
    samples : int
        B, the draws of the bootstrap.
    random_state : int
        Where they come from.

    Examples
    --------
    >>> from purport.clicks import DCTR
    >>> pages = Pages.from_lists([1, 2, 3], [[1, 2], [3, 4], [5]], [[0, 1], [0, 1], [1]])
    >>> found = evaluate_clicks(DCTR().fit(pages), pages, samples=50)
    >>> [rank.shown for rank in found.ranks], found.met
    ([3, 2], 1.0)
    """
    if not len(pages):
        raise InputError("There is not one page to test on. Give some.")
    log = model._log(pages, "evaluate")
    owners = np.unique(pages.queries.codes, return_inverse=True)[1]
    sums = QuerySums(log, owners)
    shown = np.bincount(log.ranks)
    rates = np.bincount(log.ranks, log.clicks) / shown
    systems = [sums.of(model, pages), sums.of_rates(rates)]
    if other is not None:
        systems.append(sums.of(other, pages))
    values = [sums.measured(system.sum(axis=0)[None]) for system in systems]
    draws = sums.draws(systems, samples, random_state)
    scores = {
        name: intervals_of(values[0][at], draws[0][:, at], CONFIDENCE)[0]
        for at, name in enumerate(MEASURES)
    }
    compared = [
        {
            name: comparisons_of(
                [values[0][at], values[place][at]], [draws[0][:, at], draws[place][:, at]],
                CONFIDENCE,
            )[0]
            for at, name in enumerate(MEASURES)
        }
        for place in range(1, len(systems))
    ]  # fmt: skip
    by_rank = [
        model.perplexity_at_rank(pages),
        model.perplexity_at_rank(pages, "marginal"),
        np.exp2(-(rates * _log2(rates) + (1.0 - rates) * _log2(1.0 - rates))),
    ]
    return ClickEvaluation(
        type(model).__name__,
        len(pages),
        len(log.docs),
        int(owners.max()) + 1,
        float(np.mean(model._state.find(log, grows=False)[2] >= 0)),
        scores,
        compared[0],
        compared[1] if other is not None else {},
        [
            Rank(rank, int(count), float(rate), *map(float, found))
            for rank, (count, rate, *found) in enumerate(
                zip(shown, rates, *by_rank, strict=True), start=1
            )
        ],
    )


def owners_of(pages: Pages) -> NDArray[np.int64]:
    """Return the number of the query, or of some queries together, of each page.

    Examples
    --------
    >>> owners_of(Pages.from_lists(["b", "a", "b"], [[1]] * 3, [[0]] * 3)).tolist()
    [0, 1, 0]
    """
    _, numbers = np.unique(pages.queries.codes, return_inverse=True)
    found: NDArray[np.int64] = numbers.astype(np.int64) % MOST_OWNERS
    return found


class QuerySums:
    """What all measures of some pages are made of, summed up by query.

    Columns: pages, their log-likelihoods; for each rank the results there, and the logarithms of
    conditional and of marginal probabilities.

    Parameters
    ----------
    log : Log
        The pages.
    owners : (N,) int64
        The number of the query of each page, or of some queries that are drawn together.
    """

    def __init__(self, log: Log, owners: NDArray[np.int64]) -> None:
        self._log, self._owners = log, owners
        self._pages_of = np.repeat(np.arange(len(log)), np.diff(log.offsets))
        self._longest = log.longest

    def of(self, model: ClickModel, pages: Pages) -> Any:
        """Return the sums of a model (Q, 2 + 3R), sparse."""
        log = model._log(pages, "evaluate")
        return self._summed(
            model._state.probabilities(log), model._state.probabilities(log, is_marginal=True)
        )

    def of_rates(self, rates: NDArray[np.float64]) -> Any:
        """Return the sums of the click rates of ranks."""
        told = rates[self._log.ranks]
        return self._summed(told, told)

    def _summed(self, conditional: NDArray[np.float64], marginal: NDArray[np.float64]) -> Any:
        from scipy.sparse import coo_array

        log, lengths = self._log, np.diff(self._log.offsets)
        logs = [log_probabilities(told, log.clicks) for told in (conditional, marginal)]
        by_page = np.bincount(self._pages_of, logs[0], len(log)) / lengths
        of_results = self._owners[self._pages_of]
        columns = 2 + log.ranks
        parts = [
            (np.ones(len(log)), self._owners, np.zeros(len(log), np.int64)),
            (by_page, self._owners, np.ones(len(log), np.int64)),
            (np.ones(len(columns)), of_results, columns),
            (logs[0], of_results, columns + self._longest),
            (logs[1], of_results, columns + 2 * self._longest),
        ]
        values, rows, places = (np.concatenate(each) for each in zip(*parts, strict=True))
        shape = (int(self._owners.max()) + 1, 2 + 3 * self._longest)
        return coo_array((values, (rows, places)), shape).tocsr()

    def measured(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log-likelihood and perplexities of sums (B, 2 + 3R), as (3, B)."""
        shown, *logs = np.split(sums[:, 2:], 3, axis=1)
        # A draw may have no page that is as long as the longest.
        counts = np.where(shown > 0.0, shown, np.nan)
        perplexities = [np.nanmean(np.exp(-each / counts), axis=1) for each in logs]
        return np.array([sums[:, 1] / sums[:, 0], *perplexities])

    def draws(
        self, systems: list[Any], samples: int, random_state: int
    ) -> list[NDArray[np.float64]]:
        """Return the measures of each system (B, 3) over the same draws of queries."""
        from scipy.sparse import hstack

        rows = hstack(systems, format="csr")
        chance = generator_of("evaluate_clicks", random_state)
        at_once = max(1, MOST_SUMS // rows.shape[1])
        found: list[list[NDArray[np.float64]]] = [[] for _ in systems]
        for start in range(0, samples, at_once):
            sums = resampled(rows, min(at_once, samples - start), chance)
            for each, part in zip(found, np.split(sums, len(systems), axis=1), strict=True):
                each.append(self.measured(part).T)
        return [np.concatenate(each) for each in found]


def _log2(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms of shares, 0 where nothing has the share."""
    found: NDArray[np.float64] = np.log2(np.where(shares > 0.0, shares, 1.0))
    return found


def _bounds(sure: Interval | Comparison) -> str:
    return f"{sure.low:.4f} to {sure.high:.4f}"
