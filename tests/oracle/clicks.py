"""Click models the slow, obvious way: every outcome of every coin that a user may toss on a page.

A model is the story of one user on a page of n <= 6 results, told with coins. A coin has a name and
a place: the name is that of a parameter, the place says which of its entries is the chance of
heads. All ways in which the coins may fall are written down, each with its probability; the rest is
addition. A coin's expected tosses and heads, given the clicks, are the counts of the E-step, so no
posterior is derived here.

Symbols: n results, ranks r = 0 .. n - 1; A attraction, E examination, S satisfaction, C click. What
comes after the last rank is seen by nobody, so no coin is tossed for it.

========  =========================================================================================
model     parameters, in the order in which they are given
========  =========================================================================================
UBM       attractiveness (n,), examination (n, >= n): column 0 when nothing was clicked before,
          k + 1 when the last click was at rank k
PBM       attractiveness (n,), examination (n,)
DBN       attractiveness (n,), satisfaction (n,), continuation: the chance to go on, after a skip or
          a click that did not satisfy
CCM       attractiveness (n,), which is also the chance that a click satisfies; after_skip,
          after_click, after_satisfaction: the chances to go on, t1, t2 and t3
DCM       attractiveness (n,), continuation (n,): the chance to go on after a click at rank r
SDBN      attractiveness (n,), satisfaction (n,): DBN with a continuation of 1
CM        attractiveness (n,): the first click ends the page
GCTR      rate: the chance of any click
RCTR      rate (n,): the chance of a click at rank r
DCTR      attractiveness (n,): the chance of a click on the result
========  =========================================================================================
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Counts(NamedTuple):
    """Expected heads and tosses of the coins of one parameter, each of the parameter's shape."""

    numerator: np.ndarray
    denominator: np.ndarray


@dataclass(frozen=True)
class Page:
    """What enumeration says of one page and its clicks.

    Where the clicks are impossible, what is conditioned on them is NaN.

    Attributes
    ----------
    clicks : tuple of int
    probability : float
        Of these clicks.
    conditional : (n,) array
        P(C_r = 1 | C_<r): of a click, whether there was one or not.
    marginal : (n,) array
        P(C_r = 1).
    attracted, examined, satisfied : (n,) arrays
        P(A_r = 1 | C), P(E_r = 1 | C) and P(S_r = 1 | C). A result attracts or does not, examined
        or not; only a click satisfies.
    counts : dict of str to Counts
        What the page adds to each parameter in the E-step.
    """

    clicks: tuple[int, ...]
    probability: float
    conditional: np.ndarray
    marginal: np.ndarray
    attracted: np.ndarray
    examined: np.ndarray
    satisfied: np.ndarray
    counts: dict[str, Counts]


@dataclass
class User:
    """Walks through a page; how the first coins fall is told beforehand, the others fall tails."""

    parameters: dict[str, np.ndarray]
    told: tuple[int, ...]
    clicks: list[int] = field(default_factory=list)
    attracted: list[int] = field(default_factory=list)
    examined: list[int] = field(default_factory=list)
    satisfied: list[int] = field(default_factory=list)
    fallen: list[int] = field(default_factory=list)
    coins: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    probability: float = 1.0

    def toss(self, name: str, *place: int) -> int:
        """Toss the coin of a parameter's entry."""
        number = len(self.fallen)
        heads = self.told[number] if number < len(self.told) else 0
        chance = float(self.parameters[name][place])
        self.probability *= chance if heads else 1.0 - chance
        self.fallen.append(heads)
        self.coins.append((name, place))
        return heads

    def leave(self, attracted: int, examined: int, clicked: int, satisfied: int = 0) -> None:
        """Be done with a result."""
        self.attracted.append(attracted)
        self.examined.append(examined)
        self.clicks.append(clicked)
        self.satisfied.append(satisfied)


Story = Callable[[User, int], None]


def tell_ubm(user: User, n: int) -> None:
    last = -1
    for r in range(n):
        examined = user.toss("examination", r, last + 1)
        attracted = user.toss("attractiveness", r)
        clicked = examined * attracted
        user.leave(attracted, examined, clicked)
        if clicked:
            last = r


def tell_pbm(user: User, n: int) -> None:
    for r in range(n):
        examined = user.toss("examination", r)
        attracted = user.toss("attractiveness", r)
        user.leave(attracted, examined, examined * attracted)


def tell_dbn(user: User, n: int) -> None:
    examined = 1
    for r in range(n):
        attracted = user.toss("attractiveness", r)
        clicked = examined * attracted
        satisfied = user.toss("satisfaction", r) if clicked else 0
        user.leave(attracted, examined, clicked, satisfied)
        if examined and satisfied:
            examined = 0
        elif examined and r < n - 1:
            examined = user.toss("continuation")


def tell_ccm(user: User, n: int) -> None:
    examined = 1
    for r in range(n):
        attracted = user.toss("attractiveness", r)
        clicked = examined * attracted
        satisfied = user.toss("attractiveness", r) if clicked else 0
        user.leave(attracted, examined, clicked, satisfied)
        if examined and r < n - 1:
            after = (
                "after_satisfaction" if satisfied else "after_click" if clicked else "after_skip"
            )
            examined = user.toss(after)


def tell_dcm(user: User, n: int) -> None:
    examined = 1
    for r in range(n):
        attracted = user.toss("attractiveness", r)
        clicked = examined * attracted
        user.leave(attracted, examined, clicked)
        if clicked and r < n - 1:
            examined = user.toss("continuation", r)


def tell_sdbn(user: User, n: int) -> None:
    examined = 1
    for r in range(n):
        attracted = user.toss("attractiveness", r)
        clicked = examined * attracted
        satisfied = user.toss("satisfaction", r) if clicked else 0
        user.leave(attracted, examined, clicked, satisfied)
        examined = examined * (1 - satisfied)


def tell_cm(user: User, n: int) -> None:
    examined = 1
    for r in range(n):
        attracted = user.toss("attractiveness", r)
        clicked = examined * attracted
        user.leave(attracted, examined, clicked)
        examined = examined * (1 - clicked)


def tell_gctr(user: User, n: int) -> None:
    for _ in range(n):
        clicked = user.toss("rate")
        user.leave(clicked, 1, clicked)


def tell_rctr(user: User, n: int) -> None:
    for r in range(n):
        clicked = user.toss("rate", r)
        user.leave(clicked, 1, clicked)


def tell_dctr(user: User, n: int) -> None:
    for r in range(n):
        clicked = user.toss("attractiveness", r)
        user.leave(clicked, 1, clicked)


MODELS: dict[str, tuple[Story, tuple[str, ...]]] = {
    "UBM": (tell_ubm, ("attractiveness", "examination")),
    "PBM": (tell_pbm, ("attractiveness", "examination")),
    "DBN": (tell_dbn, ("attractiveness", "satisfaction", "continuation")),
    "CCM": (tell_ccm, ("attractiveness", "after_skip", "after_click", "after_satisfaction")),
    "DCM": (tell_dcm, ("attractiveness", "continuation")),
    "SDBN": (tell_sdbn, ("attractiveness", "satisfaction")),
    "CM": (tell_cm, ("attractiveness",)),
    "GCTR": (tell_gctr, ("rate",)),
    "RCTR": (tell_rctr, ("rate",)),
    "DCTR": (tell_dctr, ("attractiveness",)),
}
"""Of each model its story and the names of its parameters."""


def ubm(clicks, attractiveness, examination) -> Page:
    return page("UBM", clicks, attractiveness, examination)


def pbm(clicks, attractiveness, examination) -> Page:
    return page("PBM", clicks, attractiveness, examination)


def dbn(clicks, attractiveness, satisfaction, continuation) -> Page:
    return page("DBN", clicks, attractiveness, satisfaction, continuation)


def ccm(clicks, attractiveness, after_skip, after_click, after_satisfaction) -> Page:
    return page("CCM", clicks, attractiveness, after_skip, after_click, after_satisfaction)


def dcm(clicks, attractiveness, continuation) -> Page:
    return page("DCM", clicks, attractiveness, continuation)


def sdbn(clicks, attractiveness, satisfaction) -> Page:
    return page("SDBN", clicks, attractiveness, satisfaction)


def cm(clicks, attractiveness) -> Page:
    return page("CM", clicks, attractiveness)


def gctr(clicks, rate) -> Page:
    return page("GCTR", clicks, rate)


def rctr(clicks, rate) -> Page:
    return page("RCTR", clicks, rate)


def dctr(clicks, attractiveness) -> Page:
    return page("DCTR", clicks, attractiveness)


def page(model: str, clicks, *parameters) -> Page:
    """Return what enumeration says of one page; parameters as `MODELS` orders them."""
    return every_page(model, len(clicks), *parameters)[tuple(int(click) for click in clicks)]


def every_page(model: str, n: int, *parameters) -> dict[tuple[int, ...], Page]:
    """Return the page of every click vector of n results, the impossible ones included."""
    story, names = MODELS[model]
    given = {
        name: np.asarray(values, dtype=float)
        for name, values in zip(names, parameters, strict=True)
    }
    walks = every_walk(story, given, n)
    vectors = list(itertools.product((0, 1), repeat=n))
    agreeing = {clicks: [w for w in walks if tuple(w.clicks) == clicks] for clicks in vectors}
    chances = {clicks: sum(w.probability for w in agreeing[clicks]) for clicks in vectors}

    def chance_of(start: tuple[int, ...]) -> float:
        return sum(p for clicks, p in chances.items() if clicks[: len(start)] == start)

    marginal = np.array([sum(p for c, p in chances.items() if c[r]) for r in range(n)])
    return {
        clicks: Page(
            clicks,
            chances[clicks],
            np.array([share(chance_of((*clicks[:r], 1)), chance_of(clicks[:r])) for r in range(n)]),
            marginal,
            *(
                sum((w.probability * np.array(getattr(w, what)) for w in agreeing[clicks]), none(n))
                / (chances[clicks] or np.nan)
                for what in ("attracted", "examined", "satisfied")
            ),
            {name: counts(agreeing[clicks], name, given[name]) for name in names},
        )
        for clicks in vectors
    }


def every_walk(story: Story, parameters: dict[str, np.ndarray], n: int) -> list[User]:
    """Return a user for every way in which the coins may fall."""
    walks = []
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        told = waiting.pop()
        user = User(parameters, told)
        story(user, n)
        walks.append(user)
        # Each coin that fell tails of itself might have fallen heads.
        waiting += [(*user.fallen[:k], 1) for k in range(len(told), len(user.fallen))]
    return walks


def counts(walks: list[User], name: str, values: np.ndarray) -> Counts:
    """Return the expected heads and tosses of one parameter's coins over walks of one page."""
    heads, tosses = np.zeros(values.shape), np.zeros(values.shape)
    for user in walks:
        for (coin, place), fallen in zip(user.coins, user.fallen, strict=True):
            if coin == name:
                heads[place] += user.probability * fallen
                tosses[place] += user.probability
    total = sum(user.probability for user in walks) or np.nan
    return Counts(heads / total, tosses / total)


def share(part: float, whole: float) -> float:
    return part / whole if whole else np.nan


def none(n: int) -> np.ndarray:
    return np.zeros(n)
