"""Day by day: a click model that stays as it was beside the same one, kept up to date.

Each day is foretold before it is taken in, so nothing is scored by a model that has seen it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from purport.clicks.log import SECONDS_A_DAY, days_of
from purport.clicks.model import ClickModel
from purport.clicks.scores import page_log_likelihoods
from purport.measure.bootstrap import comparisons_of
from purport.measure.resampling import resampled
from purport.records.pages import Pages
from purport.report.click_findings import DayByDay, DayFinding
from purport.study.click_evaluation import CONFIDENCE, owners_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST_DAYS: Final = 4
"""The first half of the days is learnt from; fewer would not show how things go."""
MOST_DAYS: Final = 28
"""So many days at most are foretold, the last ones."""


def day_by_day(
    name: str, learn: Callable[[Pages], ClickModel], pages: Pages, samples: int
) -> DayByDay | None:
    """Learn from the first half of the days of a log, then foretell one day after the other.

    Parameters
    ----------
    name : str
        Of the model.
    learn : callable
        Makes a model from the pages of the first days.
    pages : Pages
        In any order; those whose time is not known are left out.
    samples : int
        Draws of the bootstrap.

    Returns
    -------
    DayByDay or None
        None where there are no times, or too few days.

    Examples
    --------
    >>> from purport.clicks.models import RCTR
    >>> day = [86_400 * number for number in range(4) for _ in range(9)]
    >>> pages = Pages.from_lists([1] * 36, [[1]] * 36, [[0]] * 18 + [[1]] * 18, times=day)
    >>> found = day_by_day("RCTR", RCTR(prior=(0.5, 2.0)).fit, pages, 10)
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
    days, begins = np.unique(days_of(pages.times[order]), return_index=True)
    pages = pages[order]
    if len(days) < FEWEST_DAYS:
        return None
    history = max(len(days) // 2, len(days) - MOST_DAYS)
    ends = [*begins.tolist(), len(pages)]
    online = learn(pages[: ends[history]])
    static = copy.deepcopy(online)
    found, told = [], []
    for number in range(history, len(days)):
        today = pages[ends[number] : ends[number + 1]]
        likelihoods = [_likelihoods(each, today) for each in (online, static)]
        told.append(np.stack([np.ones(len(today)), *likelihoods], axis=1))
        means = [float(each.mean()) for each in likelihoods]
        date = datetime.fromtimestamp(int(days[number]) * SECONDS_A_DAY, UTC)
        found.append(DayFinding(f"{date:%Y-%m-%d}", len(today), means[1], means[0]))
        if number + 1 < len(days):
            online.update(today)
    groups = owners_of(pages[ends[history] :])
    columns = np.concatenate(told).T
    sums = np.stack([np.bincount(groups, column) for column in columns], axis=1)
    drawn = resampled(sums[np.bincount(groups) > 0], samples, 0)
    total = sums.sum(axis=0)
    gain = comparisons_of(
        [total[side : side + 1] / total[0] for side in (1, 2)],
        [drawn[:, side : side + 1] / drawn[:, :1] for side in (1, 2)],
        CONFIDENCE,
    )[0]
    return DayByDay(name, history, tuple(found), gain)


def _likelihoods(model: ClickModel, pages: Pages) -> NDArray[np.float64]:
    log = model._log(pages, "study")
    return page_log_likelihoods(model._state.probabilities(log), log)
