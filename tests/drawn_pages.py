"""Result pages drawn for tests: as Hypothesis draws single ones, and logs by a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from purport.clicks.kinds import KINDS
from purport.records.pages import Pages

MODELS = tuple(KINDS)
chances = st.floats(0.01, 0.99)


@dataclass(frozen=True)
class Drawn:
    """One page under one model.

    Attributes
    ----------
    name : str
        Of the model.
    ranks : int
        With cells of their own; may be fewer than the page has.
    clicks : (n,) booleans
    attracts, satisfies : (n,) floats
    shared : (M,) floats
    """

    name: str
    ranks: int
    clicks: np.ndarray
    attracts: np.ndarray
    satisfies: np.ndarray
    shared: np.ndarray


@st.composite
def pages(draw: st.DrawFn, models: tuple[str, ...] = MODELS) -> Drawn:
    """Draw a page of one to six results, and the parameters of a model."""
    name = draw(st.sampled_from(models))
    n, ranks = draw(st.integers(1, 6)), draw(st.integers(1, 7))

    def floats(size: int) -> np.ndarray:
        return np.array(draw(st.lists(chances, min_size=size, max_size=size)), float)

    clicks = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    return Drawn(
        name, ranks, np.array(clicks), floats(n), floats(n), floats(KINDS[name].cells(ranks))
    )


def log(
    pages: int,
    seed: int = 0,
    *,
    queries: int = 6,
    docs: int = 12,
    longest: int = 7,
    names: str | None = "",
    days: int | None = None,
) -> Pages:
    """Draw a log in which what is higher on a page is clicked more.

    Parameters
    ----------
    pages : int
    seed : int
        Decides all.
    queries, docs, longest : int
        How many there are; the most results of a page, none twice.
    names : str, optional
        What ids of strings begin with; None gives whole numbers.
    days : int, optional
        Over how many days the log goes; None leaves out times.
    """
    random = np.random.default_rng(seed)
    worth = random.beta(1.0, 2.0, (queries, docs))
    asked, shown, clicked = [], [], []
    for query in random.integers(0, queries, pages).tolist():
        listed = random.permutation(docs)[: random.integers(1, longest + 1)]
        chance = worth[query, listed] * 0.9 ** np.arange(len(listed))
        asked.append(query)
        shown.append(listed.tolist())
        clicked.append((random.random(len(listed)) < chance).astype(int).tolist())
    if names is not None:
        asked = [f"{names}q{query}" for query in asked]
        shown = [[f"{names}d{doc}" for doc in listed] for listed in shown]
    times: list[Any] | None = None
    if days is not None:
        times = [86_400 * 20_000 + 86_400 * days * page // pages for page in range(pages)]
    return Pages.from_lists(asked, shown, clicked, times=times)
