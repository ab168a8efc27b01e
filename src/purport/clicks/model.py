"""What all click models share: learning from pages, at once or as they come, and what they tell."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from purport.clicks import scores
from purport.clicks.batch import PRIOR_ROUNDS, BatchEM
from purport.clicks.forgetting import Candidates
from purport.clicks.kinds import KINDS, Kind
from purport.clicks.learning import choose_priors
from purport.clicks.log import Log, days_of
from purport.clicks.names import Names
from purport.clicks.online import NO_DAYS, Writer
from purport.clicks.pairs import PairTable
from purport.clicks.state import ClickState, Priors
from purport.errors import ConvergenceWarning, InputError, ParameterError
from purport.estimator.base import Estimator, State
from purport.estimator.chance import RandomState, generator_of
from purport.estimator.constraints import (
    BOOLEAN,
    Constraint,
    Either,
    Number,
    OneOf,
    Whole,
    check_parameters,
    optional,
)
from purport.estimator.progress import Verbosity, progress
from purport.fold.engine import Engine
from purport.fold.thread_engine import threads
from purport.records.pages import Pages

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEEPEST = 50
"""So many ranks have cells of their own, unless the user says."""

BEFORE_ALL = Priors(0.3, 1.0, 0.5, (4.0, 4.0), 8.0)
"""What a model believes that learns online from its first page on."""

_SHARE = Number(low=0.0, high=1.0, below=True)
_LEARNT: dict[str, Constraint] = {"max_iter": Whole(low=1), "tol": Number(low=0.0)}
_KIND = {"kind": OneOf(("conditional", "marginal"))}


class _MeanAndStrength:
    """A prior that is given: the mean of all parameters, and how many results it counts as."""

    def allows(self, value: object) -> bool:
        return (
            isinstance(value, tuple | list)
            and len(value) == 2
            and Number(0.0, 1.0, above=True, below=True).allows(value[0])
            and Number(0.0, above=True).allows(value[1])
        )

    def words(self) -> str:
        return "a pair (mean between 0 and 1, strength above 0)"


class ClickModel(Estimator):
    """A model of clicks; see `UBM` and the others."""

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "prior": Either((OneOf(("learned",)), _MeanAndStrength())),
        "ranks": optional(Whole(1, 1000)),
        "shards": Whole(1, 1024),
        "sync_every": Whole(low=1),
        "n_threads": optional(Whole(low=1)),
        "verbose": Either((BOOLEAN, OneOf(("bar", "lines")))),
    }

    history_: list[dict[str, float]]
    converged_: bool
    rate_: float
    rates_tried_: dict[float, float]
    _state: ClickState
    _writer: Writer
    _candidates: Candidates | None = None
    _counts: dict[str, int]

    def __init__(
        self,
        prior: str | tuple[float, float] = "learned",
        ranks: int | None = None,
        *,
        shards: int = 8,
        sync_every: int = 8192,
        n_threads: int | None = None,
        verbose: Verbosity = False,
    ) -> None:
        self.prior = prior
        self.ranks = ranks
        self.shards = shards
        self.sync_every = sync_every
        self.n_threads = n_threads
        self.verbose = verbose

    @property
    def _kind(self) -> Kind:
        return KINDS[type(self).__name__]

    @property
    def _owner(self) -> str:
        return type(self).__name__

    # Learning.

    def fit(
        self,
        pages: Pages,
        max_iter: int = 50,
        tol: float = 1e-4,
        engine: Engine | None = None,
    ) -> Self:
        """Learn from a log by batch EM, or by counting where nothing is hidden.

        Parameters
        ----------
        pages : Pages
            The log.
        max_iter : int
            Most rounds of EM.
        tol : float
            Stop when no parameter that all pages share changes by more in a round.
        engine : Engine, optional
            What folds over the log; threads by default.

        Returns
        -------
        ClickModel
            Itself.
        """
        self._check_parameters()
        check_parameters(f"{self._owner}.fit", {"max_iter": max_iter, "tol": tol}, _LEARNT)
        self._check_pages(pages, "fit")
        working = engine or threads(self.n_threads)
        state = self._new_state(pages)
        log = state.log_of(pages, grows=True)
        rounds = max_iter
        if self.prior == "learned":
            chosen = choose_priors(self._kind, log, state.ranks, max_iter, working)
            names = state.query_names, state.doc_names
            state, rounds = (
                ClickState(self._kind, state.ranks, self.shards, chosen.priors),
                chosen.rounds,
            )
            state.query_names, state.doc_names = names
        em = BatchEM(state, log, working)
        self._let_candidates_go()
        self._begin(state, pages)
        self._take_rounds(em, rounds, rounds < max_iter, tol)
        if pages.times is not None and pages.timed.any():
            self._writer.learnt_until(int(days_of(pages.times[pages.timed]).max()))
        return self

    def _take_rounds(self, em: BatchEM, rounds: int, is_enough: bool, tol: float) -> None:
        """Do rounds until nothing moves; `is_enough` where more were found to do no good."""
        learns = PRIOR_ROUNDS if self.prior == "learned" else 0
        if self._kind.counts:
            rounds, is_enough = max(1, learns), True
        began = time.perf_counter()
        self.history_, self.converged_ = [], False
        try:
            with progress(f"{self._owner}.fit", rounds, self.verbose) as shown:
                for number in range(1, rounds + 1):
                    change = em.round(learns_priors=number <= learns)
                    self.history_.append({"change": change, "seconds": time.perf_counter() - began})
                    shown.advance(number, f"change {change:.2g}")
                    if number > learns and change <= tol:
                        is_enough = True
                        break
        finally:
            # Also after an interruption: what the last round left is a model.
            self._writer = Writer(em.state, self.sync_every)
            em.close()
        self.converged_ = is_enough
        if not is_enough:
            warnings.warn(
                f"{self._owner} stopped at max_iter={rounds} while parameters still moved by more"
                f" than tol={tol:g}. Raise max_iter, or tol if the fit is good enough.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def update(
        self,
        pages: Pages,
        forget: float | tuple[float, float] | str = 0.0,
        half_life_days: float | None = None,
        engine: Engine | None = None,
    ) -> Self:
        """Take in more pages, in their order, by online EM in one pass.

        A model that has learnt nothing yet begins here.

        Parameters
        ----------
        pages : Pages
            The next pages of the log.
        forget : float, (float, float) or "auto"
            Which share of what was known of a parameter is forgotten each time a page touches it:
            of those that all pages share, and of those of pairs; one number is for both. 0 forgets
            nothing. With "auto" several models are kept that forget at different rates, and this
            one is always that which has foretold recent days best, before it took them in; see
            `rate_` and `rates_tried_`. A day should come whole. This takes five times the memory,
            one model for each rate, and about ten times the time, as each also foretells. A number
            given later lets the others go.
        half_life_days : float, optional
            After so many days what was seen counts half. Pages need times then.
        engine : Engine, optional
            What writes the shards; threads by default.

        Returns
        -------
        ClickModel
            Itself, changed.
        """
        self._check_parameters()
        owner = f"{self._owner}.update"
        is_auto = isinstance(forget, str) and forget == "auto"
        both = tuple(forget) if isinstance(forget, tuple | list) else (forget, forget)
        for share in () if is_auto else both:
            if len(both) != 2 or not _SHARE.allows(share):
                words = f"{_SHARE.words()}, or two of them (shared, pairs), or 'auto'"
                raise ParameterError.for_value(owner, "forget", forget, words)
        allowed = {"half_life_days": optional(Number(low=0.0, above=True))}
        if is_auto and half_life_days is not None:
            words = "None where forget is 'auto', which looks for the rate itself"
            raise ParameterError.for_value(owner, "half_life_days", half_life_days, words)
        check_parameters(owner, {"half_life_days": half_life_days}, allowed)
        self._check_pages(pages, "update")
        if not self._is_fitted():
            state = self._new_state(pages)
            self._begin(state, pages[:0])
            self._writer = Writer(state, self.sync_every)
            self.history_, self.converged_ = [], True
        working = engine or threads(self.n_threads)
        if is_auto:
            self._take_with_candidates(pages, working, owner)
        else:
            self._let_candidates_go()
            days = NO_DAYS if half_life_days is None else self._days(pages, owner)
            log = self._state.log_of(pages, grows=True)
            shares = float(both[0]), float(both[1])
            self._writer.write(log, shares, working, days, half_life_days or 1.0)
        self._counts["pages"] += len(pages)
        self._counts["results"] += len(pages.docs)
        return self

    def _take_with_candidates(self, pages: Pages, engine: Engine, owner: str) -> None:
        if not len(pages):
            return
        by_day = pages.times is not None and bool(pages.timed.any())
        if self._candidates is None:
            learnt = self._counts["days"] if by_day else self._counts["pages"] / self.sync_every
            self._candidates = Candidates.of(self._state, self._writer, learnt, by_day)
        elif self._candidates.by_day != by_day:
            held, given = ("times", "none") if self._candidates.by_day else ("no times", "some")
            raise InputError(
                f"{owner}: the pages before had {held}, in column t; these have {given}. Update"
                " with a number once, or give pages of one sort."
            )
        log = self._state.log_of(pages, grows=True)
        days = self._days(pages, owner) if by_day else NO_DAYS
        try:
            self._candidates.take(log, days, engine)
        finally:
            self._state, self._writer = self._candidates.writer.state, self._candidates.writer
        self._tell_rates()

    def _tell_rates(self) -> None:
        if self._candidates is not None:
            self.rate_ = self._candidates.rate
            self.rates_tried_ = self._candidates.means()

    def _let_candidates_go(self) -> None:
        if self._candidates is not None:
            self._candidates = None
            self._writer = Writer.after(self._writer)
            # What was learnt so long ago has grown old by now.
            self._counts["days"] = 0
            del self.rate_, self.rates_tried_

    def _days(self, pages: Pages, owner: str) -> NDArray[np.int64]:
        """Return the day of each page; a page without a time is of the day of the one before."""
        if pages.times is None or not pages.timed.any():
            raise InputError(
                f"{owner}: half_life_days needs times, in column t; the pages have none."
            )
        days = np.where(pages.timed, days_of(pages.times), 0)
        days[0] = max(days[0], self._writer.day)
        latest: NDArray[np.int64] = np.maximum.accumulate(days)
        return latest

    def _check_pages(self, pages: object, method: str) -> None:
        if not isinstance(pages, Pages):
            raise InputError(
                f"{self._owner}.{method} takes Pages; got {type(pages).__name__}. Read them:"
                " purport.Pages.read(...) takes files and frames."
            )
        if method == "fit" and not len(pages):
            raise InputError(f"{self._owner}.fit needs at least one page; there is none.")

    def _new_state(self, pages: Pages) -> ClickState:
        longest = int(np.max(np.diff(pages.offsets), initial=0))
        ranks = self.ranks or min(max(longest, 10), DEEPEST)
        priors = BEFORE_ALL if isinstance(self.prior, str) else Priors.held(*self.prior)
        return ClickState(self._kind, ranks, self.shards, priors)

    def _begin(self, state: ClickState, pages: Pages) -> None:
        self._state = state
        days = days_of(pages.times[pages.timed]) if pages.times is not None else NO_DAYS
        spanned = int(np.ptp(days)) + 1 if len(days) else 0
        self._counts = {"pages": len(pages), "results": len(pages.docs), "days": spanned}

    # What it tells.

    def _log(self, pages: Pages, method: str) -> Log:
        self._check_fitted()
        self._check_pages(pages, method)
        return self._state.log_of(pages, grows=False)

    def log_likelihood(self, pages: Pages) -> float:
        """Return the mean over pages of the mean over ranks of log P(C_r | the clicks above)."""
        log = self._log(pages, "log_likelihood")
        return scores.mean_log_likelihood(self._state.probabilities(log), log)

    def perplexity(self, pages: Pages, kind: str = "conditional") -> float:
        """Return the mean over ranks of the perplexity at each.

        Parameters
        ----------
        pages : Pages
            What was clicked.
        kind : "conditional" or "marginal"
            Whether the clicks above on the page are known.
        """
        return float(self.perplexity_at_rank(pages, kind).mean())

    def perplexity_at_rank(self, pages: Pages, kind: str = "conditional") -> NDArray[np.float64]:
        """Return 2 to the minus mean log to base 2 of what was seen, at each rank."""
        check_parameters(f"{self._owner}.perplexity", {"kind": kind}, _KIND)
        log = self._log(pages, "perplexity")
        return scores.perplexities(self._state.probabilities(log, kind == "marginal"), log)

    def click_probabilities(self, pages: Pages) -> NDArray[np.float64]:
        """Return P(C_r = 1), knowing no clicks (pages, longest page); NaN past a page's end."""
        return self._table(pages, is_marginal=True)

    def conditional_click_probabilities(self, pages: Pages) -> NDArray[np.float64]:
        """Return P(C_r = 1 | the clicks above) (pages, longest page); NaN past a page's end."""
        return self._table(pages, is_marginal=False)

    def _table(self, pages: Pages, is_marginal: bool) -> NDArray[np.float64]:
        log = self._log(pages, "click_probabilities")
        table = np.full((len(log), log.longest), np.nan)
        pages_of = np.repeat(np.arange(len(log)), np.diff(log.offsets))
        table[pages_of, log.ranks] = self._state.probabilities(log, is_marginal)
        return table

    def simulate(self, pages: Pages, random_state: RandomState = None) -> Pages:
        """Return the same pages with clicks drawn from the model.

        Parameters
        ----------
        pages : Pages
            Queries and results; their clicks are not looked at.
        random_state : int, Generator or None
            Where chance comes from.
        """
        log = self._log(pages, "simulate")
        chance = generator_of(f"{self._owner}.simulate", random_state)
        return pages.with_clicks(self._state.draw(log, chance.random(len(log.docs))))

    # Keeping.

    def _trained_on(self) -> dict[str, Any]:
        self._check_fitted()
        seconds = self.history_[-1]["seconds"] if self.history_ else 0.0
        return {**self._counts, "seconds": seconds}

    def _to_state(self) -> State:
        self._check_fitted()
        state = self._state
        priors = state.priors
        made = State(
            arrays={"sums": state.sums, **_under("online", self._writer.to_arrays())},
            settings={
                "ranks": state.ranks,
                "priors": {
                    "level": priors.level,
                    "by_rank": priors.by_rank,
                    "satisfied": priors.satisfied,
                    "strengths": list(priors.strengths),
                    "of_query": priors.of_query,
                    "cells": list(priors.cells),
                },
                "query_names": state.query_names.known,
                "doc_names": state.doc_names.known,
                "history": self.history_,
                "converged": self.converged_,
                "counts": self._counts,
            },
        )
        for number, table in enumerate(state.tables):
            made = made.join(f"shard {number}", State(table.to_arrays()))
        if self._candidates is not None:
            made = made.join("candidates", self._candidates.to_state())
        return made

    def _restore(self, state: State) -> None:
        settings = state.settings
        told = dict(settings["priors"])
        priors = Priors(
            **{**told, "strengths": tuple(told["strengths"]), "cells": tuple(told["cells"])}
        )
        known = ClickState(self._kind, settings["ranks"], self.shards, priors)
        known.query_names = Names(settings["query_names"])
        known.doc_names = Names(settings["doc_names"])
        if state.arrays["sums"].shape != known.sums.shape:
            raise ValueError("the sums are not those of the cells")
        known.sums = np.array(state.arrays["sums"], np.float64)
        known.tables = [
            PairTable.from_arrays(known.width, state.nested(f"shard {number}").arrays)
            for number in range(self.shards)
        ]
        known.refresh()
        self._state = known
        self._writer = Writer(known, self.sync_every)
        self._writer.restore(state.nested("online").arrays)
        self.history_, self.converged_ = settings["history"], settings["converged"]
        self._counts = {"days": 0, **settings["counts"]}
        if "candidates" in settings:
            others = state.nested("candidates")
            self._candidates = Candidates.restore(others, self._writer)
            self._writer = self._candidates.writer
            self._tell_rates()


def _under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {f"{prefix}/{name}": array for name, array in arrays.items()}
