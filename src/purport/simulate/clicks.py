"""The world of clicks: days of result pages whose attractiveness is known, and wanders.

What attracts on one day attracts on the next, or a little less or more: the logit x of each pair of
a query and a document follows

    x' = m + rho (x - m) + drift e,    rho^2 = 1 - drift^2 / v,

e standard normal, m and v the mean and the variance over all pairs on the first day. So on every
day as many pairs are as attractive as on the first; which they are changes. Without drift, rho is 1
and nothing does.

Symbols: N pages of a day, P pairs, R ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from purport.clicks.kinds import KINDS
from purport.clicks.log import SECONDS_A_DAY
from purport.clicks.pages import click_probabilities
from purport.clicks.pairs import LEAST, MOST
from purport.clicks.scores import log_probabilities
from purport.errors import InputError
from purport.estimator.constraints import (
    BOOLEAN,
    Constraint,
    Number,
    OneOf,
    Whole,
    check_parameters,
)
from purport.records.columns import frozen, positions_of
from purport.records.ids import Ids
from purport.records.pages import Pages
from purport.simulate.shelves import NOISE, Shelf

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_DAY = 20_458
"""5 January 2026, in days since 1970: the first day of every world."""
PAGE_IDS = 1_000_000
"""The id of a page is its day times so many, and its number on the day."""

_SHARE = Number(low=0.0, high=1.0)
_SOURCE: dict[str, Constraint] = {"seed": Whole(low=0), "kind": OneOf(tuple(KINDS))}
_INVENTED: dict[str, Constraint] = {
    **_SOURCE,
    "queries": Whole(low=1),
    "docs": Whole(low=1),
    "names": BOOLEAN,
    "disorder": Number(low=0.0),
}
_KNOBS: dict[str, Constraint] = {
    "pages_a_day": Whole(1, PAGE_IDS),
    "drift": Number(low=0.0),
    "churn": _SHARE,
    "position_bias": _SHARE,
    "swaps": _SHARE,
}


class ClickWorld:
    """Queries with their documents, and people who look at result pages day after day.

    Parameters
    ----------
    seed : int
        Of the world, and of all of its days.
    queries, docs : int
        How many queries there are, and how many documents each has. The most common query is asked
        about twice as often as the next one.
    names : bool
        Whether ids are strings; otherwise they are numbers.
    kind : str
        The click model that decides who clicks: "UBM", or another one.
    pages_a_day : int
        N.
    drift : float
        How far the logit of each attractiveness wanders a day. At 0, the zero, nothing wanders and
        there is nothing to forget; beyond the deviation of all logits each day is a world anew.
    churn : float
        The share of all documents that are replaced by new ones each day. At 0 none is.
    position_bias : float
        How much the rank decides what is examined. At 0 all ranks are examined alike.
    swaps : float
        The share of pages whose results are shuffled. At 0, a document keeps its ranks, and what
        is due to it and what to the rank can hardly be told apart.
    disorder : float
        How far rankings are from the order of what attracts. At 0 they are that order; the higher,
        the more often what attracts stands low, and click rates mislead.

    Examples
    --------
    >>> world = ClickWorld(seed=3, drift=0.1)
    >>> world.day(1)
    Pages(1000 records, 10000 results; with id, t)
    >>> world.days(1, 3)
    Pages(3000 records, 30000 results; with id, t)
    >>> wandered = np.abs(world.attractiveness(8) - world.attractiveness(1)).mean()
    >>> 0.01 < wandered < 0.1
    np.True_
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        queries: int = 100,
        docs: int = 20,
        names: bool = True,
        kind: str = "UBM",
        pages_a_day: int = 1000,
        drift: float = 0.0,
        churn: float = 0.0,
        position_bias: float = 1.0,
        swaps: float = 0.25,
        disorder: float = NOISE,
    ) -> None:
        given = {
            "seed": seed,
            "queries": queries,
            "docs": docs,
            "names": names,
            "kind": kind,
            "disorder": disorder,
        }
        check_parameters("ClickWorld", given, _INVENTED)
        chance = np.random.default_rng([seed, 0])
        shelf = Shelf.invented(KINDS[kind], queries, docs, names, chance, disorder)
        self._begin("ClickWorld", shelf, seed, pages_a_day, drift, churn, position_bias, swaps)

    @classmethod
    def over(
        cls,
        pages: Pages,
        seed: int = 0,
        *,
        kind: str = "UBM",
        pages_a_day: int = 1000,
        drift: float = 0.0,
        churn: float = 0.0,
        position_bias: float = 1.0,
        swaps: float = 0.25,
    ) -> Self:
        """Make a world of real pages: those of a log, each as often as it occurs there.

        A model of the kind learns from the log. What is true of each pair on the first day is drawn
        from what is believed of it then, so that worlds with other seeds are equally like the log.

        Parameters
        ----------
        pages : Pages
            The log.
        seed, kind, pages_a_day, drift, churn, position_bias, swaps
            As of `ClickWorld`.

        Examples
        --------
        >>> log = ClickWorld(seed=3, queries=20).day(1)
        >>> world = ClickWorld.over(log, seed=1, pages_a_day=50)
        >>> set(world.day(1).queries.strings()) <= set(log.queries.strings())
        True
        """
        owner = "ClickWorld.over"
        check_parameters(owner, {"seed": seed, "kind": kind}, _SOURCE)
        if not len(pages):
            raise InputError(f"{owner} needs at least one page; there is none.")
        world = cls.__new__(cls)
        shelf = Shelf.of(pages, kind, np.random.default_rng([seed, 0]))
        world._begin(owner, shelf, seed, pages_a_day, drift, churn, position_bias, swaps)
        return world

    def _begin(
        self,
        owner: str,
        shelf: Shelf,
        seed: int,
        pages_a_day: int,
        drift: float,
        churn: float,
        position_bias: float,
        swaps: float,
    ) -> None:
        knobs = {
            "pages_a_day": pages_a_day,
            "drift": drift,
            "churn": churn,
            "position_bias": position_bias,
            "swaps": swaps,
        }
        check_parameters(owner, knobs, _KNOBS)
        self._shelf, self._seed, self._pages_a_day = shelf, seed, pages_a_day
        self._drift, self._churn, self._swaps = drift, churn, swaps
        self._shared = shelf.biased(position_bias)
        first = np.log(shelf.attracts / (1.0 - shelf.attracts))
        self._mean, self._deviation = float(first.mean()), float(first.std())
        self._population = first
        # Of each day from the first on: logits, and the number of each pair's document.
        self._days = [(first, np.array(shelf.docs.codes, np.int64))]
        self._names = None if shelf.docs.names is None else list(shelf.docs.names)
        self._next = int(self._days[0][1].max()) + 1 if self._names is None else len(self._names)

    def _until(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return logits and documents of a day."""
        check_parameters("ClickWorld", {"number": number}, {"number": Whole(low=1)})
        while len(self._days) < number:
            logits, docs = self._days[-1]
            chance = np.random.default_rng([self._seed, 1, len(self._days)])
            moves, replaced = chance.normal(size=len(docs)), chance.random(len(docs)) < self._churn
            strangers = chance.integers(len(docs), size=len(docs))
            step = min(self._drift, self._deviation)
            if step > 0.0:
                stays = np.sqrt(1.0 - (step / self._deviation) ** 2)
                logits = self._mean + stays * (logits - self._mean) + step * moves
            logits = np.where(replaced, self._population[strangers], logits)
            docs = docs.copy()
            docs[replaced] = self._new_docs(int(replaced.sum()))
            self._days.append((logits, docs))
        return self._days[number - 1]

    def _new_docs(self, count: int) -> NDArray[np.int64]:
        numbers = np.arange(self._next, self._next + count)
        self._next += count
        if self._names is not None:
            met = set(self._names) if count else set()
            for number in numbers.tolist():
                name = f"new{number}"
                while name in met:
                    name += "+"
                self._names.append(name)
        return numbers

    def day(self, number: int) -> Pages:
        """Return the pages of a day, in the order of their times.

        Parameters
        ----------
        number : int
            From 1.

        Examples
        --------
        >>> pages = ClickWorld(seed=3, pages_a_day=5).day(2)
        >>> pages.ids, (np.diff(pages.times) >= 0).all()
        (['2000001', '2000002', '2000003', '2000004', '2000005'], np.True_)
        """
        return self._drawn(number)[0]

    def days(self, first: int, last: int) -> Pages:
        """Return the pages of some days, both ends included."""
        check_parameters(
            "ClickWorld.days",
            {"first": first, "last": last},
            {"first": Whole(low=1), "last": Whole(low=first)},
        )
        return Pages.concatenate(self.day(number) for number in range(first, last + 1))

    def pairs(self, number: int) -> tuple[Ids, Ids]:
        """Return the queries and the documents of all pairs (P,) on a day."""
        return self._shelf.queries, self._docs_of(self._until(number)[1])

    def attractiveness(self, number: int) -> NDArray[np.float64]:
        """Return that of all pairs (P,) on a day, in the order of `pairs`."""
        logits = self._until(number)[0]
        shares: NDArray[np.float64] = np.clip(1.0 / (1.0 + np.exp(-logits)), LEAST, MOST)
        return shares

    def probabilities(self, number: int) -> NDArray[np.float64]:
        """Return how likely a click was at each result (results,) of a day, those above known."""
        return self._drawn(number)[1]

    def log_likelihood(self, number: int) -> float:
        """Return the mean over the pages of a day, as click models have it: no model expects more.

        Examples
        --------
        >>> ClickWorld(seed=3).log_likelihood(1) < 0.0
        True
        """
        pages, probabilities = self._drawn(number)
        sums = np.add.reduceat(log_probabilities(probabilities, pages.clicks), pages.offsets[:-1])
        return float((sums / np.diff(pages.offsets)).mean())

    def _drawn(self, number: int) -> tuple[Pages, NDArray[np.float64]]:
        """Return the pages of a day, and how likely each click was."""
        shelf = self._shelf
        _, docs = self._until(number)
        chance = np.random.default_rng([self._seed, 2, number])
        chosen = chance.choice(len(shelf.weights), self._pages_a_day, p=shelf.weights)
        places, offsets = positions_of(chosen, shelf.offsets)
        slots = self._shuffled(shelf.slots[places], offsets, chance)
        clicks, found = np.zeros(len(slots), np.bool_), np.empty(len(slots))
        satisfies = shelf.satisfies[slots] if len(shelf.satisfies) else shelf.satisfies
        click_probabilities(
            shelf.kind.number, False, offsets, clicks, shelf.ranks,
            self.attractiveness(number)[slots], satisfies, self._shared,
            chance.random(len(slots)), found,
        )  # fmt: skip
        seconds = np.sort(chance.integers(SECONDS_A_DAY, size=len(chosen)))
        pages = Pages.from_arrays(
            offsets,
            shelf.queries.take(slots[offsets[:-1]]),
            self._docs_of(docs[slots]),
            clicks,
            times=(FIRST_DAY + number - 1) * SECONDS_A_DAY + seconds,
            ids=number * PAGE_IDS + 1 + np.arange(len(chosen)),
        )
        return pages, found

    def _shuffled(
        self, slots: NDArray[np.int64], offsets: NDArray[np.int64], chance: np.random.Generator
    ) -> NDArray[np.int64]:
        """Shuffle the results of some pages."""
        lengths = np.diff(offsets)
        is_shuffled = chance.random(len(lengths)) < self._swaps
        ranks = np.arange(len(slots)) - np.repeat(offsets[:-1], lengths)
        keys = np.where(np.repeat(is_shuffled, lengths), chance.random(len(slots)), ranks)
        of_page = np.repeat(np.arange(len(lengths)), lengths)
        return slots[np.lexsort((keys, of_page))]

    def _docs_of(self, numbers: NDArray[np.int64]) -> Ids:
        if self._names is None:
            return Ids(frozen(numbers.copy()))
        return Ids(frozen(numbers.astype(np.int32)), list(self._names))
