"""Day by day: a click model that stays as it was beside the same one, kept up to date.

Each day is foretold before it is taken in, so nothing is scored by a model that has seen it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from purport.clicks.log import days_of
from purport.clicks.model import ClickModel
from purport.clicks.prequential import ONLINE, STATIC, Way, drift_report
from purport.records.pages import Pages
from purport.report.click_findings import DayByDay, DayFinding

FEWEST_DAYS: Final = 4
"""The first half of the days is learnt from; fewer would not show how things go."""
MOST_DAYS: Final = 28
"""So many days at most are foretold, the last ones."""


def day_by_day(
    model: ClickModel, pages: Pages, samples: int, fit: Mapping[str, Any] | None = None
) -> DayByDay | None:
    """Learn from the first half of the days of a log, then foretell one day after the other.

    Parameters
    ----------
    model : ClickModel
        Its parameters are used; what it has learnt is not.
    pages : Pages
        In any order; those whose time is not known are left out.
    samples : int
        Draws of the bootstrap over queries.
    fit : dict, optional
        What `fit` is given.

    Returns
    -------
    DayByDay or None
        None where there are no times, or too few days.

    Examples
    --------
    >>> from purport.clicks.models import RCTR
    >>> day = [86_400 * number for number in range(4) for _ in range(9)]
    >>> pages = Pages.from_lists([1] * 36, [[1]] * 36, [[0]] * 18 + [[1]] * 18, times=day)
    >>> found = day_by_day(RCTR(prior=(0.5, 2.0)), pages, 10)
    >>> found.history, [day.day for day in found.days]
    (2, ['1970-01-03', '1970-01-04'])
    >>> found.days[0].static == found.days[0].online, found.gain.difference > 0.1
    (True, True)
    """
    if not pages.timed.any():
        return None
    pages = pages[np.flatnonzero(pages.timed)]
    assert pages.times is not None
    order = np.argsort(pages.times, kind="stable")
    days, counts = np.unique(days_of(pages.times), return_counts=True)
    if len(days) < FEWEST_DAYS:
        return None
    history = max(len(days) // 2, len(days) - MOST_DAYS)
    told = drift_report(
        model,
        pages[order],
        history_days=int(days[history] - days[0]),
        compared={STATIC: Way(), ONLINE: Way(update={})},
        fit=fit,
    )
    return DayByDay(
        type(model).__name__,
        history,
        tuple(
            DayFinding(day, int(count), float(static), float(online))
            for day, count, (static, online) in zip(
                told.days, counts[history:], told.log_likelihoods, strict=True
            )
        ),
        told.compare(ONLINE, STATIC, samples),
    )
