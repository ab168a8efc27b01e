"""How well click models foretell the clicks of pages, and how sure that is.

All scores are sums over pages, so draws of queries are weighted sums of what each query brings.

Symbols: N pages, R ranks, B draws, G queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from purport.clicks.log import Log
from purport.clicks.model import ClickModel
from purport.clicks.scores import log_probabilities, page_log_likelihoods
from purport.measure.bootstrap import (
    Comparison,
    Interval,
    comparisons,
    intervals,
)
from purport.measure.resampling import CONFIDENCE, resampled
from purport.records.pages import Pages

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

MOST_GROUPS: Final = 20_000
"""Of more queries some are drawn together: intervals hardly change, and draws stay quick."""


@dataclass(frozen=True)
class ClickScores:
    """Log-likelihood and perplexities of a model, of the pages as they are and of draws of queries.

    Attributes
    ----------
    values : (3,) float64
        Log-likelihood, conditional and marginal perplexity.
    draws : (B, 3) float64
        The same of each draw.
    """

    values: NDArray[np.float64]
    draws: NDArray[np.float64]

    @classmethod
    def of(cls, model: ClickModel, pages: Pages, samples: int) -> ClickScores:
        """Score a model on pages; all models see the same draws of the same pages.

        Examples
        --------
        >>> from purport.clicks.models import RCTR
        >>> pages = Pages.from_lists([1, 2] * 9, [[1, 2]] * 18, [[1, 0], [0, 0], [0, 1]] * 6)
        >>> model = RCTR(prior=(0.5, 2.0)).fit(pages)
        >>> scores = ClickScores.of(model, pages, 10)
        >>> abs(scores.values[0] - model.log_likelihood(pages)) < 1e-12
        np.True_
        """
        log = log_of(model, pages)
        told = [probabilities(model, log, is_marginal) for is_marginal in (False, True)]
        sums = _sums_of_queries(pages, log, told)
        return cls(_scores(np.asarray(sums.sum(axis=0)))[0], _scores(resampled(sums, samples, 0)))

    def intervals(self) -> tuple[Interval, Interval, Interval]:
        """Return log-likelihood, conditional and marginal perplexity."""
        likelihood, given, blind = intervals(self.values, self.draws, CONFIDENCE)
        return likelihood, given, blind

    def gain(self, floor: ClickScores) -> Comparison:
        """Compare the log-likelihoods of two models."""
        values, draws = zip(
            *((one.values[:1], one.draws[:, :1]) for one in (self, floor)), strict=True
        )
        return comparisons(values, draws, CONFIDENCE)[0]


def log_of(model: ClickModel, pages: Pages) -> Log:
    """Return pages as a model takes them, new ids unknown to it."""
    return model._state.log_of(pages, grows=False)


def probabilities(model: ClickModel, log: Log, is_marginal: bool = False) -> NDArray[np.float64]:
    """Return how likely a click is at every result (results,)."""
    return model._state.probabilities(log, is_marginal)


def groups_of_queries(pages: Pages) -> NDArray[np.int64]:
    """Return the number of the query, or of some queries together, of each page (N,).

    Examples
    --------
    >>> groups_of_queries(Pages.from_lists(["b", "a", "b"], [[1]] * 3, [[0]] * 3)).tolist()
    [0, 1, 0]
    """
    _, numbers = np.unique(pages.queries.codes, return_inverse=True)
    found: NDArray[np.int64] = numbers.astype(np.int64) % MOST_GROUPS
    return found


def _sums_of_queries(pages: Pages, log: Log, told: Sequence[NDArray[np.float64]]) -> csr_matrix:
    """Return what each query brings (G, 2 + 3 R).

    Pages, their log-likelihoods, and by rank: results, and the logarithms to base 2 of how likely
    what was seen there was, given the clicks above and given none.
    """
    from scipy.sparse import csr_matrix

    groups, longest, ranks = groups_of_queries(pages), log.longest, log.ranks
    of_results = np.repeat(groups, np.diff(log.offsets))
    logs = [log_probabilities(each, log.clicks) / np.log(2.0) for each in told]
    columns = [
        np.zeros(len(log), np.int64),
        np.ones(len(log), np.int64),
        *(2 + number * longest + ranks for number in range(3)),
    ]
    values = [
        np.ones(len(log)),
        page_log_likelihoods(told[0], log),
        np.ones(len(ranks)),
        *logs,
    ]
    rows = [groups, groups, *[of_results] * 3]
    places = np.concatenate(rows), np.concatenate(columns)
    shape = int(groups.max()) + 1, 2 + 3 * longest
    return csr_matrix((np.concatenate(values), places), shape=shape)


def _scores(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log-likelihood, conditional and marginal perplexity of sums (B, 2 + 3 R): (B, 3)."""
    shown, given, blind = np.split(sums[:, 2:], 3, axis=1)
    found = [sums[:, 1] / sums[:, 0]]
    for logs in (given, blind):
        met = shown > 0.0  # a draw may have no page so long
        by_rank = np.exp2(-logs / np.where(met, shown, 1.0))
        found.append((by_rank * met).sum(axis=1) / met.sum(axis=1))
    return np.stack(found, axis=1)
