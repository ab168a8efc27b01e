"""How people read result pages, as click models have learnt it: what is looked at, who goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from purport.clicks.kinds import CCM, DBN, UBM
from purport.clicks.model import ClickModel
from purport.clicks.pairs import DEFINED
from purport.records.pages import Pages
from purport.report.click_findings import Examined, Reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_PAGES: Final = 20
"""A rank that fewer pages have is not told about."""
MOST_RANKS: Final = 20
LEAST_RESULTS: Final = 50
"""A cell of the UBM that fewer results met is left empty: it rests on its prior."""
MOST_AFTER: Final = 10


def click_rates(pages: Pages) -> tuple[float, ...]:
    """Return the click rate of each rank that is told about.

    Examples
    --------
    >>> click_rates(Pages.from_lists([1] * 20, [[1, 2]] * 20, [[1, 0], [0, 0]] * 10))
    (0.5, 0.0)
    """
    ranks = np.arange(pages.offsets[-1]) - np.repeat(pages.offsets[:-1], np.diff(pages.offsets))
    return _means_by_rank(pages.clicks.astype(np.float64), ranks)


def examined(name: str, model: ClickModel, pages: Pages) -> Examined:
    """Return how likely each rank is looked at, in the mean over pages.

    All models have it that a result is clicked if it is looked at and attracts, and that the latter
    does not depend on what stands above: P(E_r = 1) = P(C_r = 1) / a_r.

    Examples
    --------
    >>> from purport.clicks.models import PBM
    >>> pages = Pages.from_lists([1] * 20, [[1, 2], [2, 1]] * 10, [[1, 0], [1, 0]] * 10)
    >>> model = PBM(prior=(0.5, 2.0)).fit(pages)
    >>> [round(share, 2) for share in examined("PBM", model, pages).by_rank]
    [0.95, 0.05]
    """
    log = model._log(pages, "study")
    attracts = model._state.parameters_of(log)[0]
    clicked = model._state.probabilities(log, is_marginal=True)
    return Examined(name, _means_by_rank(clicked / attracts, log.ranks))


def after_click(model: ClickModel, pages: Pages) -> tuple[tuple[float | None, ...], ...]:
    """Return the UBM's examination of each rank by where the last click was; none, then the first.

    Examples
    --------
    >>> from purport.clicks.models import UBM
    >>> pages = Pages.from_lists([1] * 60, [[1, 2]] * 60, [[1, 0], [0, 1], [0, 0]] * 20)
    >>> found = after_click(UBM(prior=(0.5, 2.0)).fit(pages, tol=0.01), pages)
    >>> len(found), found[0][1:], found[1][1]
    (2, (None, None), None)
    """
    state = model._state
    assert state.kind.number == UBM
    ranks = min(state.ranks, MOST_AFTER, len(click_rates(pages)))
    shape = state.ranks, state.ranks + 1
    shares = state.parameters[: state.cells].reshape(shape)[:ranks, : ranks + 1].tolist()
    # The rates of the last row, where there are more ranks, are those of all deeper ones as well.
    met = state.sums[: state.cells, DEFINED].reshape(shape)[:ranks, : ranks + 1].tolist()
    return tuple(
        tuple(
            share if count >= LEAST_RESULTS else None
            for share, count in zip(row, counts, strict=True)
        )
        for row, counts in zip(shares, met, strict=True)
    )


def readings(name: str, model: ClickModel) -> list[Reading]:
    """Return what a model that reads from top to bottom says of how people go on.

    Examples
    --------
    >>> from purport.clicks.models import DBN
    >>> pages = Pages.from_lists([1] * 6, [[1, 2]] * 6, [[1, 0], [0, 1]] * 3)
    >>> [told.what for told in readings("DBN", DBN(prior=(0.5, 2.0)).fit(pages))]
    ['go on after a result that did not satisfy them']
    """
    told = {
        DBN: ("go on after a result that did not satisfy them",),
        CCM: (
            "go on after a result they did not click",
            "go on after clicking one that proved irrelevant",
            "go on after clicking one that proved relevant",
        ),
    }.get(model._state.kind.number, ())
    shared = model._state.parameters[: len(told)].tolist()
    return [Reading(name, what, value) for what, value in zip(told, shared, strict=True)]


def _means_by_rank(values: NDArray[np.float64], ranks: NDArray[np.int64]) -> tuple[float, ...]:
    """Return the mean at each rank that enough pages have; at least that at the first."""
    counts = np.bincount(ranks)
    told = max(1, min(int((counts >= LEAST_PAGES).sum()), MOST_RANKS))
    return tuple((np.bincount(ranks, values)[:told] / counts[:told]).tolist())
