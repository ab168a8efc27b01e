"""Whether a click model must be kept up to date: each day is foretold, then taken in, in each way.

The protocol of "Online Expectation-Maximization for Click Models": a model learns from a history;
then each day is first foretold and after that taken in. The ways differ in what taking in means:
nothing, one pass of online EM, or learning anew from all days or the latest ones. Priors stay those
that the history chose, whatever the way.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from purport.clicks import scores
from purport.clicks.batch import PRIOR_ROUNDS, BatchEM
from purport.clicks.log import SECONDS_A_DAY, days_of
from purport.clicks.model import ClickModel
from purport.clicks.state import ClickState
from purport.errors import InputError
from purport.estimator.chance import RandomState
from purport.estimator.constraints import Whole, check_parameters
from purport.fold.engine import Engine
from purport.fold.thread_engine import threads
from purport.measure.bootstrap import Comparison
from purport.measure.means import paired_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from purport.records.pages import Pages

STATIC, ONLINE, AUTO, RETRAINED = "static", "online", "auto", "retrained"


@dataclass(frozen=True)
class Way:
    """How a day is taken in.

    Attributes
    ----------
    update : dict or None
        What `update` is given; None if the model is not updated.
    latest : int or None
        From how many of the latest days it learns anew, 0 for all; None if it does not.

    Examples
    --------
    >>> Way(update={"forget": 0.01}), Way(latest=7)
    (Way(update={'forget': 0.01}, latest=None), Way(update=None, latest=7))
    """

    update: Mapping[str, Any] | None = None
    latest: int | None = None


def ways(window_days: int = 7) -> dict[str, Way]:
    """Return the ways that a report compares, by name.

    Examples
    --------
    >>> list(ways(window_days=7))
    ['static', 'online', 'auto', 'retrained', 'retrained on 7 days']
    """
    return {
        STATIC: Way(),
        ONLINE: Way(update={}),
        AUTO: Way(update={"forget": "auto"}),
        RETRAINED: Way(latest=0),
        f"{RETRAINED} on {window_days} days": Way(latest=window_days),
    }


@dataclass(frozen=True)
class DriftReport:
    """How well each way foretold each day; see `drift_report`.

    Symbols: D days that were foretold, W ways, N pages of these days.

    Attributes
    ----------
    ways : tuple of W str
        Their names.
    days : tuple of D str
        In UTC, as 2026-01-31.
    log_likelihoods, perplexities : (D, W) float64
        Perplexity is that of the likelihood, the clicks above on a page being known.
    seconds : (W,) float64
        CPU time of all updates of each way.
    rates : tuple of D float
        With how much forgetting "auto" foretold each day; NaN before it knew.
    of_pages : (N, W) float64
        The log-likelihood of each page.
    queries : list of N
        The query of each page.

    Examples
    --------
    >>> told = DriftReport(
    ...     ("static", "online"), ("2026-01-31",), np.array([[-0.4, -0.3]]),
    ...     np.array([[1.6, 1.5]]), np.zeros(2), (), np.array([[-0.4, -0.3]] * 2), ["cats", "dogs"],
    ... )
    >>> round(told.compare("online", "static").difference, 9)
    0.1
    """

    ways: tuple[str, ...]
    days: tuple[str, ...]
    log_likelihoods: NDArray[np.float64]
    perplexities: NDArray[np.float64]
    seconds: NDArray[np.float64]
    rates: tuple[float, ...]
    of_pages: NDArray[np.float64] = field(repr=False)
    queries: list[Any] = field(repr=False)

    def compare(
        self, a: str, b: str, samples: int = 2000, random_state: RandomState = 0
    ) -> Comparison:
        """Compare the log-likelihoods of two ways by a paired bootstrap over queries.

        Parameters
        ----------
        a, b : str
            Names of ways.
        samples : int
            The number of draws.
        random_state : int, Generator or None
            Where chance comes from.
        """
        ours, theirs = (self.of_pages[:, self._column(way)] for way in (a, b))
        return paired_means(ours, theirs, samples, random_state, groups=self.queries)

    def compare_perplexity(
        self, a: str, b: str, samples: int = 2000, random_state: RandomState = 0
    ) -> Comparison:
        """Compare the mean perplexities of two ways by a paired bootstrap over days."""
        ours, theirs = (self.perplexities[:, self._column(way)] for way in (a, b))
        return paired_means(ours, theirs, samples, random_state)

    def _column(self, way: str) -> int:
        if way not in self.ways:
            raise InputError(f"There is no way {way!r}. There are: {', '.join(self.ways)}.")
        return self.ways.index(way)

    def __str__(self) -> str:
        widest = max(map(len, self.ways))
        lines = [f"{'':{widest}}  log-likelihood  perplexity  over {self.ways[0]} (95 %)"]
        for number, way in enumerate(self.ways):
            told = self.compare(way, self.ways[0])
            mean, perplexity = self.of_pages[:, number].mean(), self.perplexities[:, number].mean()
            over = f"{told.difference:+.5f} ({told.low:+.5f} to {told.high:+.5f})"
            lines.append(f"{way:{widest}}  {mean:14.5f}  {perplexity:10.5f}  {over}")
        return "\n".join(lines)


def drift_report(
    model: ClickModel | type[ClickModel],
    pages: Pages,
    history_days: int = 14,
    window_days: int = 7,
    *,
    compared: dict[str, Way] | None = None,
    fit: Mapping[str, Any] | None = None,
) -> DriftReport:
    """Foretell day after day of a log with models that are kept up to date in several ways.

    Parameters
    ----------
    model : ClickModel, or a class of them
        Its parameters are used; what it has learnt is not.
    pages : Pages
        With times, in the order of time.
    history_days : int
        So many days are learnt from before the first is foretold.
    window_days : int
        What is retrained on the latest days sees so many.
    compared : dict of Way, optional
        The ways by name; those of `ways` unless given.
    fit : dict, optional
        What `fit` is given.

    Returns
    -------
    DriftReport
        What each way foretold.

    Examples
    --------
    >>> import purport
    >>> from purport.clicks.models import UBM
    >>> days = [day for day in range(6) for _ in range(20)]
    >>> clicks = [[1, 0] if day < 3 else [0, 1] for day in days]
    >>> times = [86_400 * day for day in days]
    >>> log = purport.Pages.from_lists([1] * 120, [[7, 8]] * 120, clicks, times)
    >>> told = drift_report(UBM, log, history_days=3, window_days=1, fit={"tol": 0.1})
    >>> told.days
    ('1970-01-04', '1970-01-05', '1970-01-06')
    >>> told.compare("retrained on 1 days", "static").difference > 0.5
    True
    """
    whole = {"history_days": history_days, "window_days": window_days}
    check_parameters("drift_report", whole, dict.fromkeys(whole, Whole(low=1)))
    parts = _days(pages)
    first = next(iter(parts))
    history = [part for day, part in parts.items() if day < first + history_days]
    if len(history) == len(parts):
        raise InputError(
            f"drift_report: no day is left after a history of {history_days} days. Give more pages,"
            " or a smaller history_days."
        )
    made = model() if isinstance(model, type) else type(model)(**model.get_params())
    if compared is None:
        compared = ways(window_days)
        if made.max_pairs is not None:
            # Of several states kept side by side none is bounded.
            del compared[AUTO]
    learnt = made.fit(type(pages).concatenate(history), **(fit or {}))
    told = [_follow(learnt, way, parts, first + history_days) for way in compared.values()]
    days = [day for day in parts if day >= first + history_days]
    names = [datetime.fromtimestamp(day * SECONDS_A_DAY, UTC).date().isoformat() for day in days]
    asked = type(pages).concatenate(parts[day] for day in days).queries
    return DriftReport(
        tuple(compared),
        tuple(names),
        np.stack([each.log_likelihoods for each in told], axis=1),
        np.stack([each.perplexities for each in told], axis=1),
        np.array([each.seconds for each in told]),
        next((each.rates for each in told if each.rates), ()),
        np.stack([np.concatenate(each.of_pages) for each in told], axis=1),
        asked.codes.tolist(),
    )


def _days(pages: Pages) -> dict[int, Pages]:
    """Return the pages of each day in the order of days."""
    if pages.times is None or not pages.timed.all():
        raise InputError("drift_report needs the time of every page, in column t.")
    days = days_of(pages.times)
    if len(days) == 0 or (np.diff(days) < 0).any():
        raise InputError("drift_report needs pages in the order of time, and at least one.")
    starts = np.flatnonzero(np.diff(days, prepend=-(2**62)))
    ends = [*starts[1:].tolist(), len(days)]
    return {
        int(days[start]): pages[start:end] for start, end in zip(starts.tolist(), ends, strict=True)
    }


class _Told:
    """What a way foretold, day by day."""

    def __init__(self) -> None:
        self.of_pages: list[NDArray[np.float64]] = []
        self.log_likelihoods: list[float] = []
        self.perplexities: list[float] = []
        self.rates: tuple[float, ...] = ()
        self.seconds = 0.0

    def add(self, state: ClickState, pages: Pages) -> None:
        """Add how likely the clicks of a day were."""
        log = state.log_of(pages, grows=False)
        probabilities = state.probabilities(log)
        self.of_pages.append(scores.page_log_likelihoods(probabilities, log))
        self.log_likelihoods.append(float(self.of_pages[-1].mean()))
        self.perplexities.append(float(scores.perplexities(probabilities, log).mean()))


def _follow(learnt: ClickModel, way: Way, parts: Mapping[int, Pages], begin: int) -> _Told:
    """Foretell and take in day after day, in one way."""
    told, model = _Told(), copy.deepcopy(learnt)
    engine = threads(model.n_threads)
    state = model._state
    for day, part in parts.items():
        if day < begin:
            continue
        told.add(state, part)
        if way.update is not None and way.update.get("forget") == "auto":
            told.rates = (*told.rates, getattr(model, "rate_", float("nan")))
        started = time.process_time()
        if way.latest is not None:
            oldest = day - way.latest + 1 if way.latest else min(parts)
            seen = [each for number, each in parts.items() if oldest <= number <= day]
            state = relearnt(learnt, type(part).concatenate(seen), engine)
        elif way.update is not None:
            state = model.update(part, **way.update)._state
        told.seconds += time.process_time() - started
    return told


def relearnt(model: ClickModel, pages: Pages, engine: Engine) -> ClickState:
    """Return what a model would know had it learnt from other pages, with the same priors.

    Examples
    --------
    >>> import purport
    >>> from purport.clicks.models import DCTR
    >>> first = purport.Pages.from_lists([1] * 9, [[7]] * 9, [[1]] * 9)
    >>> model = DCTR(prior=(0.5, 2.0)).fit(first)
    >>> none = first.with_clicks([False] * 9)
    >>> state = relearnt(model, none, threads(1))
    >>> state.probabilities(state.log_of(none, grows=False))[0] == 1 / 11
    np.True_
    """
    known = model._state
    state = ClickState(known.kind, known.ranks, len(known.tables), known.priors)
    em = BatchEM(state, state.log_of(pages, grows=True), engine)
    learns = PRIOR_ROUNDS if model.prior == "learned" else 0
    for number in range(1, max(1, len(model.history_)) + 1):
        em.round(learns_priors=number <= learns)
    return state
