"""Online EM of click models with plain loops and dictionaries: Eq. 3 and Eq. 4, one page at a time.

What a page says of a parameter is what `oracle.click_training` counts, under the parameters of that
moment. UBM and PBM take in a page result by result, the others look at all of it first. Of each
parameter two sums are kept; its prior stands beside them and never decays.

* A touch multiplies the sums of what is touched by 1 - eta, and adds. Cells of DBN and CCM are
  touched once a page, all else each time that something is counted there.
* By calendar time cells grow old at each new day, pairs when they are next met; what is expected of
  the other pairs of a query does not.
* A new pair is expected to be what its rank and the others of its query let expect. What ranks let
  expect is set anew after every so many pages.

A page is (query, docs, clicks), a document at most once.
"""

from __future__ import annotations

from collections import defaultdict

from oracle import click_training as training

LEAST, MOST, HIGHEST = 1e-6, 1 - 1e-6, 0.95
PAIRS = ("attractiveness", "satisfaction")


def within(value, low=LEAST, high=MOST):
    return min(max(value, low), high)


class Stream:
    """Takes pages in.

    Parameters
    ----------
    model : str
        As `click_training` names it.
    ranks : int
        With cells of their own.
    priors : Priors
        With the fields level, by_rank, satisfied, strengths, of_query and cells.
    every : int
        So many pages lie between two settings of what ranks let expect.
    """

    def __init__(self, model, ranks, priors, every):
        self.model, self.ranks, self.priors, self.every = model, ranks, priors, every
        self.sums = defaultdict(lambda: [0.0, 0.0])
        self.expected = {}
        self.of_queries = defaultdict(lambda: [0.0, 0.0])
        self.of_ranks = [[0.0, 0.0] for _ in range(ranks)]
        self.rates = [priors.level] * ranks
        self.days, self.today, self.seen = {}, None, 0

    def place(self, name, key):
        """Return where a parameter is kept: ranks further down share the cells of the last one."""
        if name in PAIRS or key == ():
            return name, key
        if isinstance(key, tuple):
            return name, (min(key[0], self.ranks - 1), min(key[1], self.ranks))
        return name, min(key, self.ranks - 1)

    def get(self, place, default=None):
        """Return a parameter, as the `get` of a dictionary of them."""
        name, key = place = self.place(*place)
        heads, tosses = self.sums[place]
        if name not in PAIRS:
            return within((heads + self.priors.cells[0]) / (tosses + self.priors.cells[1]))
        strength = self.priors.strengths[PAIRS.index(name)]
        if name == "satisfaction":
            return within((heads + strength * self.priors.satisfied) / (tosses + strength))
        return within((heads + strength * self.expected[key]) / (tosses + strength))

    def take(self, page, forget_shared=0.0, forget_pairs=0.0, day=None, half_life=None):
        """Take in one page."""
        query, docs, clicks = page
        if day is not None:
            self.grow_old(day, half_life, [(query, doc) for doc in docs])
        of_query = self.of_queries[query]
        for r, doc in enumerate(docs):
            if (query, doc) not in self.expected:
                strength = self.priors.of_query
                others = (of_query[0] + strength) / (of_query[1] + strength)
                self.expected[query, doc] = within(self.rates[min(r, self.ranks - 1)] * others)
        found = training.counts(self.model, (query, docs, clicks), self)
        if self.model not in ("UBM", "PBM"):
            found = list(found)
        once = defaultdict(lambda: [0.0, 0.0])
        total, usual, has_pairs = 0.0, 0.0, False
        for name, key, heads, tosses in found:
            if name in PAIRS:
                touch(self.sums[name, key], heads, tosses, forget_pairs)
                if name == "attractiveness":
                    rank = min(docs.index(key[1]), self.ranks - 1)
                    touch(self.of_ranks[rank], heads, tosses, forget_shared)
                    total, usual = total + heads, usual + self.rates[rank] * tosses
                    has_pairs = True
            elif self.model in ("DBN", "CCM"):
                touch(once[name, key], heads, tosses, 0.0)
            else:
                touch(self.sums[self.place(name, key)], heads, tosses, forget_shared)
        for place, (heads, tosses) in once.items():
            touch(self.sums[place], heads, tosses, forget_shared)
        if has_pairs:
            touch(of_query, total, usual, forget_pairs)
        self.seen += 1
        if self.seen % self.every == 0:
            self.set_rates()

    def grow_old(self, day, half_life, pairs):
        """Let cells grow old up to a day, and some pairs; time that goes back changes nothing."""
        before = self.today
        self.today = day if before is None else max(before, day)
        if before is not None:
            for place, both in self.sums.items():
                if place[0] not in PAIRS:
                    scale(both, before - self.today, half_life)
            for both in self.of_ranks:
                scale(both, before - self.today, half_life)
        for pair in pairs:
            for name in PAIRS:
                scale(
                    self.sums[name, pair], self.days.get(pair, self.today) - self.today, half_life
                )
            self.days[pair] = self.today

    def set_rates(self):
        shown = [tosses for _, tosses in self.of_ranks]
        if not sum(shown):
            return
        rates = [
            within((heads + self.priors.cells[0]) / (tosses + self.priors.cells[1]))
            for heads, tosses in self.of_ranks
        ]
        mean = sum(rate * often for rate, often in zip(rates, shown, strict=True)) / sum(shown)
        level = self.priors.level
        self.rates = [
            within(
                level * ((rate / mean) if often else 1.0) ** self.priors.by_rank,
                LEAST,
                max(level, HIGHEST),
            )
            for rate, often in zip(rates, shown, strict=True)
        ]


def touch(both, heads, tosses, forget):
    """Add to two sums, unless there is nothing to add; what was there before decays."""
    if tosses:
        both[0] = (1 - forget) * both[0] + heads
        both[1] = (1 - forget) * both[1] + tosses


def scale(both, days, half_life):
    both[0] *= 2 ** (days / half_life)
    both[1] *= 2 ** (days / half_life)
