"""What all click models share: learning from pages, at once or as they come, and what they tell."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np

from purport.clicks import scores
from purport.clicks.batch import PRIOR_ROUNDS, BatchEM
from purport.clicks.forgetting import Candidates
from purport.clicks.identifiability import Identifiability, LogAndPairs, Ties, identifiability_of
from purport.clicks.kinds import KINDS, Kind
from purport.clicks.learning import choose_priors
from purport.clicks.log import Log, days_of
from purport.clicks.merging import add_state
from purport.clicks.names import Names
from purport.clicks.online import NO_DAY, NO_DAYS, Writer
from purport.clicks.pairs import PairTable
from purport.clicks.relevance import Relevance, relevance_of
from purport.clicks.seen_pages import SeenPages
from purport.clicks.state import ClickState, Priors
from purport.clicks.utility import utility_of
from purport.errors import ConvergenceWarning, InputError, ParameterError, shown
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
_NEED_A_PAGE = ("fit", "log_likelihood", "perplexity", "identifiability")
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
    """What all models of clicks can do; see `purport.clicks.UBM` and the others."""

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "prior": Either((OneOf(("learned",)), _MeanAndStrength())),
        "ranks": optional(Whole(1, 1000)),
        "shards": Whole(1, 1024),
        "sync_every": Whole(low=1),
        "max_pairs": optional(Whole(low=1)),
        "window": Whole(low=0),
        "n_threads": optional(Whole(low=1)),
        "verbose": Either((BOOLEAN, OneOf(("bar", "lines")))),
    }

    history_: list[dict[str, float]]
    converged_: bool
    dropped_: int
    rate_: float
    rates_tried_: dict[float, float]
    _state: ClickState
    _writer: Writer
    _candidates: Candidates | None = None
    _counts: dict[str, int]
    _seen: SeenPages
    _taken: list[dict[str, Any]]
    """What `purport.study.click_logs` knows of the logs that were taken in."""
    _ties: Ties | None = None

    def __init__(
        self,
        prior: str | tuple[float, float] = "learned",
        ranks: int | None = None,
        *,
        shards: int = 8,
        sync_every: int = 8192,
        max_pairs: int | None = None,
        window: int = 100_000,
        n_threads: int | None = None,
        verbose: Verbosity = False,
    ) -> None:
        self.prior = prior
        self.ranks = ranks
        self.shards = shards
        self.sync_every = sync_every
        self.max_pairs = max_pairs
        self.window = window
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
            Stop when parameters that all pages share move by no more in a round, on average over
            their uses.
        engine : Engine, optional
            What folds over the log; threads by default.

        Returns
        -------
        ClickModel
            Itself.

        Examples
        --------
        >>> from purport.clicks.models import SDBN
        >>> pages = Pages.from_lists(["cats"] * 2, [["a", "b"]] * 2, [[0, 1], [1, 0]])
        >>> SDBN(prior=(0.5, 2.0)).fit(pages).click_probabilities(pages[0]).round(3).tolist()
        [[0.5, 0.444]]
        """
        self._check_parameters()
        check_parameters(f"{self._owner}.fit", {"max_iter": max_iter, "tol": tol}, _LEARNT)
        self._check_pages(pages, "fit")
        working = engine or threads(self.n_threads)
        seen = SeenPages(self.window)
        fresh, given = seen.fresh(pages), len(pages)
        pages = pages if fresh.all() else pages[fresh]
        state = self._new_state(pages)
        log = state.log_of(pages, grows=True)
        rounds, settled = max_iter, False
        if self.prior == "learned":
            chosen = choose_priors(self._kind, log, state.ranks, max_iter, working)
            names = state.query_names, state.doc_names
            state = ClickState(self._kind, state.ranks, self.shards, chosen.priors)
            rounds, settled = chosen.rounds, chosen.settled
            state.query_names, state.doc_names = names
        em = BatchEM(state, log, working)
        self._let_candidates_go()
        self._begin(state, pages, seen)
        self.dropped_ = given - len(pages)
        times = NO_DAYS if pages.times is None else pages.times[pages.timed]
        self._take_rounds(em, rounds, settled, tol, int(days_of(times).max(initial=NO_DAY)))
        return self

    def _take_rounds(self, em: BatchEM, rounds: int, is_enough: bool, tol: float, day: int) -> None:
        """Do rounds until nothing moves; `is_enough` where more were found to do no good.

        What is learnt is of a day, the last one of the log.
        """
        learns = PRIOR_ROUNDS if self.prior == "learned" else 0
        if self._kind.counts:
            rounds, is_enough = max(1, learns), True
        began = time.perf_counter()
        self.history_, self.converged_ = [], False
        try:
            with progress(f"{self._owner}.fit", rounds, self.verbose) as bar:
                for number in range(1, rounds + 1):
                    change = em.round(learns_priors=number <= learns)
                    self.history_.append({"change": change, "seconds": time.perf_counter() - began})
                    bar.advance(number, f"change {change:.2g}")
                    if number > learns and change <= tol:
                        is_enough = True
                        break
        finally:
            # Also after an interruption: what the last round left is a model.
            if self.max_pairs is not None:
                em.state.evict(self.max_pairs)
            self._writer = Writer(em.state, self.sync_every, self.max_pairs)
            self._writer.learnt_until(day)
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

        A model that has learnt nothing yet begins here. An interruption leaves some of the pages in
        it: go on from the last model that was saved.

        Parameters
        ----------
        pages : Pages
            The next pages of the log.
        forget : float, (float, float) or "auto"
            Which share of what was known of a parameter is forgotten each time a page touches it:
            of those that all pages share, and of those of pairs; one number is for both. 0 forgets
            nothing. With "auto" several models are kept that forget at different rates, and this
            one is always that which has foretold recent days best, before it took them in; see
            `rate_` and `rates_tried_`. A day should come whole: one that is cut is foretold in
            parts, which changes scores a little. This takes five times the memory, one model for
            each rate, and about ten times the time, as each also foretells. A number given later
            lets the others go.
        half_life_days : float, optional
            After so many days what was seen counts half. Pages need times then.
        engine : Engine, optional
            What writes the shards; threads by default.

        Returns
        -------
        ClickModel
            Itself, changed.

        Examples
        --------
        >>> from purport.clicks.models import PBM
        >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b"]] * 3, [[0, 1], [1, 0], [1, 0]])
        >>> model = PBM().fit(pages[:2])
        >>> model.update(pages[2:], forget=0.01).click_probabilities(pages[0]).round(3).tolist()
        [[0.434, 0.373]]
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
        # All that can be refused is refused before anything is changed.
        days = NO_DAYS if half_life_days is None else self._days(pages, owner)
        if is_auto:
            self._check_candidates(pages, owner)
        if not self._is_fitted():
            state = self._new_state(pages)
            self._begin(state, pages[:0], SeenPages(self.window))
            self._writer = Writer(state, self.sync_every)
            self.history_, self.converged_ = [], True
        working = engine or threads(self.n_threads)
        self._writer.most = self.max_pairs
        pages, days = self._fresh(pages, days)
        if is_auto:
            self._take_with_candidates(pages, working, owner)
        else:
            self._let_candidates_go()
            shares = float(both[0]), float(both[1])
            for part in self._writer.stretches(len(pages)):
                some = pages if self._writer.most is None else pages[part]
                log = self._state.log_of(some, grows=True)
                self._writer.write(log, shares, working, days[part], half_life_days or 1.0)
        self._counts["pages"] += len(pages)
        self._counts["results"] += len(pages.docs)
        return self

    def _fresh(self, pages: Pages, days: NDArray[np.int64]) -> tuple[Pages, NDArray[np.int64]]:
        """Leave out pages whose ids came before, within the window."""
        if self._seen.window != self.window:
            self._seen = SeenPages.from_arrays(self.window, self._seen.to_arrays())
        fresh = self._seen.fresh(pages)
        if fresh.all():
            return pages, days
        self.dropped_ += int(np.count_nonzero(~fresh))
        return pages[fresh], days[fresh] if len(days) else days

    @property
    def pages_seen_(self) -> int:
        """How many pages were learnt from, by `fit` and by `update`."""
        self._check_fitted()
        return self._counts["pages"]

    def _check_candidates(self, pages: Pages, owner: str) -> None:
        """Refuse what models that forget at several rates cannot take in."""
        if self.max_pairs is not None:
            raise InputError(
                f"{owner}: forget='auto' keeps several states, which max_pairs does not bound."
                " Give a rate, or leave max_pairs out."
            )
        if len(pages) and self._candidates and self._candidates.by_day != _has_times(pages):
            held, given = ("times", "none") if self._candidates.by_day else ("no times", "some")
            raise InputError(
                f"{owner}: the pages before had {held}, in column t; these have {given}. Update"
                " with a number once, or give pages of one sort."
            )

    def _take_with_candidates(self, pages: Pages, engine: Engine, owner: str) -> None:
        if not len(pages):
            return
        by_day = _has_times(pages)
        if self._candidates is None:
            learnt = self._counts["days"] if by_day else self._counts["pages"] / self.sync_every
            self._candidates = Candidates.of(self._state, self._writer, learnt, by_day)
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
        if not len(pages):
            return NO_DAYS
        if pages.times is None or not pages.timed.any():
            raise InputError(
                f"{owner}: half_life_days needs times, in column t; the pages have none."
            )
        days = np.where(pages.timed, days_of(pages.times), NO_DAY)
        days[0] = max(days[0], self._writer.day if self._is_fitted() else NO_DAY)
        if days[0] == NO_DAY:
            days[0] = days[np.argmax(pages.timed)]
        latest: NDArray[np.int64] = np.maximum.accumulate(days)
        return latest

    def _check_pages(self, pages: object, method: str) -> None:
        if not isinstance(pages, Pages):
            raise InputError(
                f"{self._owner}.{method} takes Pages; got {type(pages).__name__}. Read them:"
                " purport.Pages.read(...) takes files and frames."
            )
        if method in _NEED_A_PAGE and not len(pages):
            raise InputError(f"{self._owner}.{method} needs at least one page; there is none.")

    def _new_state(self, pages: Pages) -> ClickState:
        longest = int(np.max(np.diff(pages.offsets), initial=0))
        ranks = self.ranks or min(max(longest, 10), DEEPEST)
        priors = BEFORE_ALL if isinstance(self.prior, str) else Priors.held(*self.prior)
        return ClickState(self._kind, ranks, self.shards, priors)

    def _begin(self, state: ClickState, pages: Pages, seen: SeenPages) -> None:
        self._state = state
        days = days_of(pages.times[pages.timed]) if pages.times is not None else NO_DAYS
        spanned = int(np.ptp(days)) + 1 if len(days) else 0
        self._counts = {"pages": len(pages), "results": len(pages.docs), "days": spanned}
        self._seen, self._taken, self.dropped_ = seen, [], 0
        self._ties = None

    def merge(self, other: Self) -> Self:
        """Add what another model of the same kind has learnt from another log.

        Models that count become what one model of both logs would be. Where something is hidden,
        what each expected of its own log under its own parameters is added up. What is expected of
        pairs, and how firmly, stays as it is here; a pair that is new brings its prior along. So
        the order of merging makes no difference where `prior` is given, and a little where each
        model has learnt its own. What both have learnt counts as of the later of their last days.
        Ids of pages that the other has seen are not taken over.

        Parameters
        ----------
        other : ClickModel
            With the same parameters and as many ranks; it is left alone. Models whose sums grow old
            by calendar time cannot be merged: each pair is of a day of its own.

        Returns
        -------
        ClickModel
            Itself, changed.

        Examples
        --------
        >>> from purport.clicks.models import DCTR
        >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b"]] * 3, [[0, 1], [1, 0], [1, 0]])
        >>> model = DCTR(prior=(0.5, 2.0)).fit(pages[:2])
        >>> model.merge(DCTR(prior=(0.5, 2.0)).fit(pages[2:]))
        DCTR(prior=(0.5, 2.0))
        >>> model.click_probabilities(pages[0]).tolist()
        [[0.6, 0.4]]
        """
        self._check_mergeable(other)
        every, seen = self._writer.every, self._writer.seen + other._writer.seen
        add_state(self._state, other._state)
        if self.max_pairs is not None:
            self._state.evict(self.max_pairs)
        day = max(self._writer.day, other._writer.day)
        self._writer = Writer(self._state, every, self.max_pairs)
        self._writer.seen = seen
        self._writer.learnt_until(day)
        self._counts = {name: count + other._counts[name] for name, count in self._counts.items()}
        self.converged_ = self.converged_ and other.converged_
        return self

    def _check_mergeable(self, other: object) -> None:
        """Raise where sums would not be of the same parameters."""
        if not isinstance(other, type(self)):
            raise InputError(
                f"{self._owner}.merge takes another {self._owner}; got {type(other).__name__}."
            )
        self._check_fitted()
        other._check_fitted()
        for name in ("prior", "shards", "sync_every"):
            mine, theirs = (
                tuple(given) if isinstance(given, list) else given
                for given in (getattr(self, name), getattr(other, name))
            )
            if mine != theirs:
                raise InputError(
                    f"{self._owner}.merge needs equal parameters; {name} is {shown(mine)} here and"
                    f" {shown(theirs)} there."
                )
        if self._state.ranks != other._state.ranks:
            raise InputError(
                f"{self._owner}.merge needs as many ranks; there are {self._state.ranks} here and"
                f" {other._state.ranks} there. Give both models the same ranks=."
            )
        if self._writer.aged or other._writer.aged or self._candidates or other._candidates:
            raise InputError(
                f"{self._owner}.merge cannot add sums that grow old (half_life_days, or"
                " forget='auto'): each pair is of a day of its own. Learn from both logs."
            )

    # What it tells.

    @property
    def n_pairs_(self) -> int:
        """How many pairs of a query and a document were met."""
        self._check_fitted()
        return sum(table.pairs for table in self._state.tables)

    def _cells(self) -> NDArray[np.float64]:
        """Return the parameters that all pages share (M,)."""
        self._check_fitted()
        return self._state.parameters[: self._state.cells].copy()

    def _log(self, pages: Pages, method: str) -> Log:
        self._check_fitted()
        self._check_pages(pages, method)
        return self._state.log_of(pages, grows=False)

    def log_likelihood(self, pages: Pages) -> float:
        """Return the mean over pages of the mean over ranks of log P(C_r | the clicks above).

        Examples
        --------
        >>> from purport.clicks.models import GCTR
        >>> pages = Pages.from_lists(["cats"] * 2, [["a", "b"]] * 2, [[0, 1], [0, 0]])
        >>> round(GCTR(prior=(0.5, 2.0)).fit(pages).log_likelihood(pages), 4)
        -0.5788
        """
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

        Examples
        --------
        >>> from purport.clicks.models import GCTR
        >>> pages = Pages.from_lists(["cats"] * 2, [["a", "b"]] * 2, [[0, 1], [0, 0]])
        >>> round(GCTR(prior=(0.5, 2.0)).fit(pages).perplexity(pages), 4)
        1.8107
        """
        return float(self.perplexity_at_rank(pages, kind).mean())

    def perplexity_at_rank(self, pages: Pages, kind: str = "conditional") -> NDArray[np.float64]:
        """Return 2 to the minus mean log to base 2 of what was seen, at each rank (longest page,).

        Parameters
        ----------
        pages, kind
            As for `perplexity`.

        Examples
        --------
        >>> from purport.clicks.models import GCTR
        >>> pages = Pages.from_lists(["cats"] * 2, [["a", "b"]] * 2, [[0, 1], [0, 0]])
        >>> GCTR(prior=(0.5, 2.0)).fit(pages).perplexity_at_rank(pages).round(4).tolist()
        [1.5, 2.1213]
        """
        check_parameters(f"{self._owner}.perplexity", {"kind": kind}, _KIND)
        log = self._log(pages, "perplexity")
        return scores.perplexities(self._state.probabilities(log, kind == "marginal"), log)

    def click_probabilities(self, pages: Pages) -> NDArray[np.float64]:
        """Return P(C_r = 1), knowing no clicks (pages, longest page); NaN past a page's end.

        Examples
        --------
        >>> from purport.clicks.models import CascadeModel
        >>> pages = Pages.from_lists(["cats"] * 2, [["a", "b"], ["a"]], [[0, 1], [1]])
        >>> model = CascadeModel(prior=(0.5, 2.0)).fit(pages)
        >>> model.click_probabilities(pages).round(3).tolist()
        [[0.5, 0.333], [0.5, nan]]
        """
        return self._table(pages, "click_probabilities", is_marginal=True)

    def conditional_click_probabilities(self, pages: Pages) -> NDArray[np.float64]:
        """Return P(C_r = 1 | the clicks above) (pages, longest page); NaN past a page's end.

        Examples
        --------
        >>> from purport.clicks.models import CascadeModel
        >>> pages = Pages.from_lists(["cats"] * 2, [["a", "b"], ["a"]], [[0, 1], [1]])
        >>> model = CascadeModel(prior=(0.5, 2.0)).fit(pages)
        >>> model.conditional_click_probabilities(pages).round(3).tolist()
        [[0.5, 0.667], [0.5, nan]]
        """
        return self._table(pages, "conditional_click_probabilities", is_marginal=False)

    def _table(self, pages: Pages, method: str, is_marginal: bool) -> NDArray[np.float64]:
        log = self._log(pages, method)
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

        Examples
        --------
        >>> from purport.clicks.models import RCTR
        >>> pages = Pages.from_lists(["cats"] * 3, [["a", "b"]] * 3, [[1, 0], [1, 1], [1, 0]])
        >>> model = RCTR(prior=(0.5, 0.5)).fit(pages)
        >>> model.simulate(pages, random_state=1).clicks.tolist()
        [True, False, True, False, True, False]
        """
        log = self._log(pages, "simulate")
        chance = generator_of(f"{self._owner}.simulate", random_state)
        return pages.with_clicks(self._state.draw(log, chance.random(len(log.docs))))

    # What results are worth.

    @overload
    def relevance(
        self,
        query: str | int,
        docs: Sequence[str | int],
        interval: None = None,
        min_evidence: float = 1.0,
    ) -> NDArray[np.float64]: ...

    @overload
    def relevance(
        self,
        query: str | int,
        docs: Sequence[str | int] | None,
        interval: float,
        min_evidence: float = 1.0,
    ) -> Relevance: ...

    @overload
    def relevance(
        self,
        query: str | int,
        docs: None = None,
        interval: float | None = None,
        min_evidence: float = 1.0,
    ) -> Relevance: ...

    def relevance(
        self,
        query: str | int,
        docs: Sequence[str | int] | None = None,
        interval: float | None = None,
        min_evidence: float = 1.0,
    ) -> NDArray[np.float64] | Relevance:
        """Return what documents are worth for a query: the chance to attract, and to satisfy.

        That is attractiveness, for DBN and SDBN times satisfaction. A document or a query that the
        model has not met has what is expected of it.

        Parameters
        ----------
        query : str or int
            Its id.
        docs : list of str or int, optional
            Ids of documents; without them all that were met for the query, the best first, with
            their ids and intervals.
        interval : float, optional
            With it a `Relevance` is returned, in which bounds hold what a document is worth with
            this probability; 0.95 where documents are listed and none is given.
        min_evidence : float
            From how many results on that were surely looked at a document counts as known.

        Returns
        -------
        (documents,) float64, or Relevance

        Examples
        --------
        >>> from purport.clicks import PBM
        >>> pages = Pages.from_lists(["cats"] * 4, [["a", "b"]] * 4, [[1, 0]] * 3 + [[1, 1]])
        >>> model = PBM(prior=(0.5, 2.0)).fit(pages)
        >>> model.relevance("cats", ["a", "new"]).round(2).tolist()
        [0.83, 0.5]
        >>> told = model.relevance("cats", ["a", "b", "new"], interval=0.9, min_evidence=2.0)
        >>> told.known.tolist(), told.met.tolist()
        ([True, False, False], [True, True, False])
        """
        self._check_fitted()
        return relevance_of(
            self._owner, self._state, self._ties, query, docs, interval, min_evidence
        )

    def identifiability(self, pages: Pages) -> Identifiability:
        """Tell which parameters a log can tell apart, and which rest on the prior.

        The model keeps which pairs are tied until it is fitted again, so that `relevance` flags
        them. It is not done by `fit`, for online EM could not keep it up to date at its pace.

        Parameters
        ----------
        pages : Pages
            The log, mostly the one that the model has learnt from.
        """
        self._check_fitted()
        self._check_pages(pages, "identifiability")
        found = identifiability_of(self._owner, self._state, LogAndPairs.of(self._state, pages))
        self._ties = found.ties
        return found

    def utility(
        self,
        query: str | int,
        docs: Sequence[str | int],
        kind: str = "expected",
        gains: Sequence[float] | None = None,
    ) -> float:
        """Return what a ranking is worth to somebody who behaves as the model says.

        Parameters
        ----------
        query : str or int
            Its id.
        docs : list of str or int
            Ids of documents, from the first rank to the last.
        kind : "expected" or "reciprocal"
            The sum over ranks of P(click) times gain, which is uUBM for UBM and EBU for DBN; or of
            P(satisfied there) / rank, rank 1 being the first, which is rrDBN for DBN.
        gains : list of float, optional
            What a click on each document brings, such as a grade; without them how likely it
            satisfies (DBN, SDBN), else how attractive it is.

        Examples
        --------
        >>> from purport.clicks import DBN
        >>> pages = Pages.from_lists(["cats"] * 4, [["a", "b"]] * 4, [[1, 0]] * 3 + [[0, 1]])
        >>> model = DBN(prior=(0.5, 2.0)).fit(pages)
        >>> model.utility("cats", ["a", "b"]) > model.utility("cats", ["b", "a"])
        True
        """
        self._check_fitted()
        return utility_of(self._owner, self._state, query, docs, kind, gains)

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
            arrays={
                "sums": state.sums,
                **_under("queries", state.query_names.to_arrays()),
                **_under("docs", state.doc_names.to_arrays()),
                **_under("online", self._writer.to_arrays()),
                **_under("seen", self._seen.to_arrays()),
            },
            settings={
                "ranks": state.ranks,
                "shards": len(state.tables),
                "sync_every": self._writer.every,
                "priors": {
                    "level": priors.level,
                    "by_rank": priors.by_rank,
                    "satisfied": priors.satisfied,
                    "strengths": list(priors.strengths),
                    "of_query": priors.of_query,
                    "cells": list(priors.cells),
                },
                "dropped": self.dropped_,
                "taken": self._taken,
                "history": self.history_,
                "converged": self.converged_,
                "counts": self._counts,
            },
        )
        for number, table in enumerate(state.tables):
            made = made.join(f"shard {number}", State(table.to_arrays()))
        if self._ties is not None:
            made = made.join("ties", State(self._ties.to_arrays()))
        if self._candidates is not None:
            made = made.join("candidates", self._candidates.to_state())
        return made

    def _restore(self, state: State) -> None:
        settings = state.settings
        told = dict(settings["priors"])
        priors = Priors(
            **{**told, "strengths": tuple(told["strengths"]), "cells": tuple(told["cells"])}
        )
        known = ClickState(self._kind, settings["ranks"], settings["shards"], priors)
        known.query_names = Names.from_arrays(state.nested("queries").arrays)
        known.doc_names = Names.from_arrays(state.nested("docs").arrays)
        if state.arrays["sums"].shape != known.sums.shape:
            raise ValueError("the sums are not those of the cells")
        known.sums = np.array(state.arrays["sums"], np.float64)
        known.tables = [
            PairTable.from_arrays(known.width, state.nested(f"shard {number}").arrays)
            for number in range(settings["shards"])
        ]
        known.refresh()
        self._state = known
        self._writer = Writer(known, settings["sync_every"], self.max_pairs)
        self._writer.restore(state.nested("online").arrays)
        self._seen = SeenPages.from_arrays(self.window, state.nested("seen").arrays)
        self._taken, self.dropped_ = settings["taken"], settings["dropped"]
        self.history_, self.converged_ = settings["history"], settings["converged"]
        self._counts = settings["counts"]
        ties = state.nested("ties").arrays
        self._ties = Ties.from_arrays(ties) if ties else None
        if "candidates" in settings:
            others = state.nested("candidates")
            self._candidates = Candidates.restore(others, self._writer)
            self._writer = self._candidates.writer
            self._tell_rates()


def _has_times(pages: Pages) -> bool:
    return pages.times is not None and bool(pages.timed.any())


def _under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {f"{prefix}/{name}": array for name, array in arrays.items()}
