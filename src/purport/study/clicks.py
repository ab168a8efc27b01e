"""The stage on clicks: learns click models from pages, keeps one, tests all, says what they tell.

Which model is kept is decided on a part of the training pages that none learnt from; then all take
in that part as well, by online EM. Test pages are scored once by each model and decide nothing.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from purport.clicks.model import ClickModel
from purport.clicks.models import CCM, DBN, DCTR, PBM, RCTR, UBM
from purport.errors import ConvergenceWarning, InputError
from purport.estimator.progress import progress
from purport.measure.bootstrap import Comparison, Interval, comparisons_of, intervals_of
from purport.records.pages import Pages
from purport.records.parting import numbers_of_groups
from purport.report.click_findings import (
    ClickFindings,
    ClickModelFinding,
    DayByDay,
    PageSize,
)
from purport.report.clicks import USELESS, click_section
from purport.study.click_evaluation import CONFIDENCE, QuerySums, owners_of
from purport.study.daily import day_by_day
from purport.study.examination import after_click, click_rates, examined, readings
from purport.study.positions import ShownDocuments, agreement, find_reversed
from purport.study.stages import Attractiveness, Material, Outcome, Settings, Stage

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEV: Final = 0.2
"""The share of the training pages that decides which model is kept."""

LEAST_DEV: Final = 0.02
"""Where whole sessions would give less, pages are cut off one by one."""

FLOORS: Final[tuple[type[ClickModel], ...]] = (RCTR, DCTR)
"""The first knows ranks alone and is what others are compared with, the second documents alone."""

MODELS: Final[tuple[type[ClickModel], ...]] = (PBM, CCM, DBN, UBM)
"""From the plainest to the richest."""

LEARNT: Final[dict[str, Any]] = {"max_iter": 50, "tol": 1e-3}
"""A study shows how models compare; `fit clicks` lets one learn longer."""


@dataclass(frozen=True)
class Learnt:
    """A model that has learnt: from the learning part for `dev`, from the dev part as well now."""

    model: ClickModel
    dev: float
    seconds: float

    @property
    def name(self) -> str:
        """How it is called."""
        return type(self.model).__name__

    @property
    def is_floor(self) -> bool:
        """Whether it leaves out either position or documents."""
        return isinstance(self.model, FLOORS)


@dataclass(frozen=True)
class Parts:
    """The pages of a study: to learn from and to choose by, in their order, and to test on."""

    learning: Pages
    dev: Pages
    test: Pages

    @classmethod
    def of(cls, train: Pages, test: Pages) -> Parts:
        """Cut the dev part off the training pages.

        No session is cut apart. The first page of a query is always learnt from: of pages to come,
        too, most will be of queries that are known.
        """
        if not len(test):
            raise InputError("The study of clicks needs pages to test on; there are none.")
        held = _held_back(train)
        if not held.any():
            raise InputError(
                "The study of clicks needs at least 5 pages to learn from and to choose by; there"
                f" are {len(train)}."
            )
        return cls(train[~held], train[held], test)


def _held_back(train: Pages) -> NDArray[np.bool_]:
    """Return which pages are of the dev part."""
    _, firsts = np.unique(train.queries.codes, return_index=True)
    is_first = np.zeros(len(train), np.bool_)
    is_first[firsts] = True
    sent = None if train.sessions is None else train.sessions.values()
    sessions, alone = numbers_of_groups(len(train), sent), np.arange(len(train))
    never = np.zeros(len(train), np.bool_)
    for groups, kept in ((sessions, is_first), (alone, is_first), (alone, never)):
        held = _drawn(groups, kept)
        if held.sum() >= max(1.0, LEAST_DEV * len(train)):
            return held
    return never


def _drawn(groups: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Draw groups without a page that must be kept, until they are the dev part."""
    sizes, keeps = np.bincount(groups), np.bincount(groups, kept) > 0
    order = np.random.default_rng(0).permutation(len(sizes))
    order = order[~keeps[order]]
    is_drawn = np.zeros(len(sizes), np.bool_)
    is_drawn[order[np.cumsum(sizes[order]) <= DEV * len(groups)]] = True
    return is_drawn[groups]


def study_clicks(
    train: Pages,
    test: Pages,
    truth: Attractiveness | None = None,
    *,
    invented: bool = False,
    settings: Settings | None = None,
) -> tuple[ClickModel, ClickFindings]:
    """Learn click models, keep the best on a part cut off for that, test all, and ask them.

    Parameters
    ----------
    train, test : Pages
        In the order in which they were shown.
    truth : Attractiveness, optional
        What is true of the documents on them.
    invented : bool
        Whether the findings may show queries and documents.
    settings : Settings, optional
        Threads, progress and draws.

    Examples
    --------
    >>> pages = Pages.from_lists([1, 2] * 30, [[1, 2, 3]] * 60, [[1, 0, 0], [0, 0, 1]] * 30)
    >>> model, findings = study_clicks(pages, pages[:20], settings=Settings(samples=20))
    >>> [model.name for model in findings.models], findings.misled is None
    (['RCTR', 'DCTR', 'PBM', 'CCM', 'DBN', 'UBM'], True)
    """
    chosen = Settings() if settings is None else settings
    parts = Parts.of(train, test)
    learnt = _learn(parts, chosen)
    by_name = {one.name: one for one in learnt}
    best = max((one for one in learnt if not one.is_floor), key=lambda one: one.dev)
    told = ShownDocuments.of(best.model, train, truth)
    turned, misled = find_reversed(best.name, told, shows=invented)
    rich = [one for one in learnt if not one.is_floor]
    findings = ClickFindings(
        train=_size(parts.learning),
        dev=_size(parts.dev),
        test=_size(test),
        models=_findings(learnt, test, chosen.samples),
        floor=FLOORS[0].__name__,
        kept=best.name,
        click_rates=click_rates(test),
        examined=tuple(examined(one.name, one.model, test) for one in rich),
        after_click=after_click(by_name["UBM"].model, test),
        readings=tuple(told for one in rich for told in readings(one.name, one.model)),
        reversed=turned,
        agreement=agreement(told, chosen.samples),
        misled=misled if invented else None,
        by_day=_by_day(type(best.model), Pages.concatenate([train, test]), chosen),
    )
    return best.model, findings


def _learn(parts: Parts, settings: Settings) -> list[Learnt]:
    """Let all models learn."""
    kinds, learnt = (*FLOORS, *MODELS), []
    with progress("learning click models", len(kinds), settings.verbose) as shown:
        for number, kind in enumerate(kinds):
            shown.advance(number, kind.__name__)
            began = time.perf_counter()
            model = _fitted(kind, parts.learning, settings)
            dev = model.log_likelihood(parts.dev)
            model.update(parts.dev)
            learnt.append(Learnt(model, dev, time.perf_counter() - began))
    return learnt


def _fitted(kind: type[ClickModel], pages: Pages, settings: Settings) -> ClickModel:
    # Most of the time goes into priors, of which models show no progress: the study shows its own.
    model = kind(n_threads=settings.n_threads)
    with warnings.catch_warnings():
        # How many rounds a model learnt for stands in the report.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(pages, **LEARNT)


def _by_day(kind: type[ClickModel], pages: Pages, settings: Settings) -> DayByDay | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = kind(n_threads=settings.n_threads)
        return day_by_day(model, pages, settings.samples, LEARNT)


def _findings(learnt: Sequence[Learnt], test: Pages, samples: int) -> tuple[ClickModelFinding, ...]:
    sums = QuerySums(learnt[0].model._log(test, "study"), owners_of(test))
    systems = [sums.of(one.model, test) for one in learnt]
    values = [sums.measured(np.asarray(system.sum(axis=0))[None])[:, 0] for system in systems]
    draws = sums.draws(systems, samples, random_state=0)

    def gain(place: int) -> Comparison:
        return comparisons_of(
            [values[place][0], values[0][0]], [draws[place][:, 0], draws[0][:, 0]], CONFIDENCE
        )[0]

    return tuple(
        ClickModelFinding(
            one.name,
            *_intervals(values[place], draws[place]),
            gain(place),
            dev=one.dev,
            seconds=one.seconds,
            rounds=len(one.model.history_),
            is_floor=one.is_floor,
        )
        for place, one in enumerate(learnt)
    )


def _intervals(
    values: NDArray[np.float64], draws: NDArray[np.float64]
) -> tuple[Interval, Interval, Interval]:
    likelihood, conditional, marginal = intervals_of(values, draws, CONFIDENCE)
    return likelihood, conditional, marginal


def _run(material: Material, settings: Settings) -> Outcome:
    train, test = material.train_pages, material.test_pages
    if train is None or test is None:
        raise InputError("The study of clicks needs pages to learn from and to test on.")
    model, findings = study_clicks(
        train, test, material.attractiveness, invented=material.invented, settings=settings
    )
    best, floor = findings.best, findings.plainest
    likelihood = best.log_likelihood
    headline = (
        f"clicks: {best.name}: log-likelihood {likelihood.value:.4f} ({likelihood.low:.4f} to"
        f" {likelihood.high:.4f}), perplexity {best.conditional.value:.4f}; click rates of ranks"
        f" {floor.log_likelihood.value:.4f}, {floor.conditional.value:.4f}"
    )
    warning = "" if findings.above_floor else f"clicks: {USELESS}"
    section = click_section(findings)
    return Outcome("clicks", model, section, _numbers(findings), headline, warning)


STAGE = Stage(
    "clicks",
    lambda material: material.train_pages is not None and material.test_pages is not None,
    _run,
)


def _numbers(findings: ClickFindings) -> dict[str, Any]:
    told = asdict(findings)
    del told["misled"]
    return told


def _size(pages: Pages) -> PageSize:
    return PageSize(
        len(pages), len(pages.docs), int(pages.clicks.sum()), len(np.unique(pages.queries.codes))
    )
