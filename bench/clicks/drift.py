"""Tables 1 and 3 and Figure 1 of the paper on online EM, on invented days of real pages.

Each day is foretold, then taken in. The log of the paper is not public: the queries and pages are
those of a log of Sogou, each as often as it is there, and what is true of them is drawn from what
a model learnt of them. Drift is the knob: at 0 no attractiveness wanders.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from bench.benchmark import Setting
from bench.clicks.settings import (
    BAR_SEEDS,
    CHURN,
    DAYS,
    DRIFTS,
    FIT,
    HISTORY,
    LOST_AT_MOST,
    PAGES_A_DAY,
    SHARES,
    SIGNIFICANT,
    SWAPS,
    TRUTHS,
    WINDOW,
)
from bench.tables import Bar, Row, Table
from purport.clicks.model import ClickModel
from purport.clicks.models import CCM, DBN, UBM
from purport.clicks.prequential import (
    AUTO,
    ONLINE,
    RETRAINED,
    STATIC,
    DriftReport,
    Way,
    drift_report,
    ways,
)
from purport.errors import ConvergenceWarning
from purport.measure.resampled_t import ResampledT, corrected_resampled_t
from purport.records.pages import Pages
from purport.simulate.clicks import ClickWorld

RECENT = f"{RETRAINED} on {WINDOW} days"
FORGETTING = {f"forgetting {share:g}": Way(update={"forget": share}) for share in SHARES}
WAYS: dict[str, Way] = {**ways(WINDOW), **FORGETTING}
LIMIT = "limit"
UNIT = 1e-5
"""Of Table 3 and Figure 1."""
PAPER = {
    RETRAINED: (-0.2180, 1.2783),
    STATIC: (-0.2204, 1.2825),
    ONLINE: (-0.2188, 1.2796),
    "forgetting 0.001": (-0.2178, 1.2777),
    "forgetting 0.005": (-0.2180, 1.2775),
    "forgetting 0.01": (-0.2183, 1.2775),
}
PAPER_MODELS = {"UBM": (-0.2204, 1.2825), "DBN": (-0.3523, 1.3135), "CCM": (-0.3534, 1.3176)}


def run(setting: Setting) -> Iterator[Table]:
    pages = real_pages(setting.folder("clicks-sogou-thuir"))
    seeds = BAR_SEEDS[: 2 if setting.quick else None]
    for drift in DRIFTS:
        told, limits = [], []
        for seed in seeds:
            world = world_of(pages, seed, drift, setting)
            log = world.days(1, DAYS)
            told.append(followed(UBM(n_threads=1), log, WAYS))
            limits.append([world.log_likelihood(day) for day in range(HISTORY + 1, DAYS + 1)])
        yield table_3(drift, told, float(np.mean(limits)), setting)
        yield figure_1(drift, told, setting)


def models(setting: Setting) -> Iterator[Table]:
    pages = real_pages(setting.folder("clicks-sogou-thuir"))
    drift = DRIFTS[1]
    for truth, seeds in TRUTHS.items():
        found: dict[str, list[DriftReport]] = {}
        for seed in seeds[: 2 if setting.quick else None]:
            log = world_of(pages, seed, drift, setting, truth).days(1, DAYS)
            for kind in (UBM, DBN, CCM):
                told = followed(kind(n_threads=1), log, {STATIC: Way()})
                found.setdefault(kind.__name__, []).append(told)
        yield table_1(truth, drift, found, setting)


def followed(model: ClickModel, log: Pages, compared: Mapping[str, Way]) -> DriftReport:
    """Foretell and take in a log, after so many rounds at most as the paper has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return drift_report(model, log, HISTORY, WINDOW, compared=compared, fit=FIT)


@cache
def real_pages(folder: Path) -> Pages:
    """Return the pages of the log."""
    return Pages.read(folder / "pages.tsv.gz")


def world_of(
    pages: Pages, seed: int, drift: float, setting: Setting, kind: str = "UBM"
) -> ClickWorld:
    """Return a world of the benchmark."""
    size = 300 if setting.quick else PAGES_A_DAY
    return ClickWorld.over(
        pages, seed, kind=kind, pages_a_day=size, drift=drift, churn=CHURN, swaps=SWAPS
    )


def table_1(
    truth: str, drift: float, found: Mapping[str, Sequence[DriftReport]], setting: Setting
) -> Table:
    """Compare models that are not updated."""
    rows = []
    first = by_world(found["UBM"], STATIC)
    for name, told in found.items():
        mine = by_world(told, STATIC)
        note = f"perplexity {perplexity(told, STATIC):.4f}; paper {PAPER_MODELS[name]}"
        if name != "UBM":
            note += f"; less UBM {said(over_worlds(mine - first))}"
        rows.append(Row(name, float(mine.mean()), note=note))
    notes = [
        f"Drift {drift:g}, {len(first)} worlds. The clicks are those of a {truth}: whoever makes"
        " the clicks is favoured. The paper's order is that of real clicks of Yandex.",
        "Differences with 95 % by the t test over worlds, which are independent of each other.",
    ]
    title = f"Table 1: models that learnt {HISTORY} days, on the next {DAYS - HISTORY}; {truth}"
    return Table(title, "log-likelihood", rows, notes, not setting.quick)


def table_3(drift: float, told: Sequence[DriftReport], limit: float, setting: Setting) -> Table:
    """Compare ways to keep up to date."""
    mine = {way: by_world(told, way) for way in WAYS}
    base = mine[RETRAINED]
    over = float(limit - base.mean())
    rows = [Row(LIMIT, over / UNIT, note=f"{limit:.5f}: the world's own truth")]
    for way in WAYS:
        less = over_worlds(mine[way] - base)
        note = f"{mine[way].mean():.5f}, perplexity {perplexity(told, way):.5f}"
        note += f"; paper {PAPER[way]}" if way in PAPER else ""
        for other in (RETRAINED, ONLINE):
            if way != other:
                days = paired_t(by_day(told, way) - by_day(told, other))
                note += f"; less {other}: p {days.p_value:.1g} over days"
        if way != ONLINE:
            note += f", {said(over_worlds(mine[way] - mine[ONLINE]))} over worlds"
        rows.append(Row(way, less.mean / UNIT, None, spread_of(less), note=note))
    rates = [rate for each in told for rate in each.rates[-1:]]
    rows += list(orders(drift, mine))
    notes = [
        f"{len(told)} worlds of real pages, seeds {BAR_SEEDS[0]} to {BAR_SEEDS[len(told) - 1]};"
        f" {DAYS} days of {300 if setting.quick else PAGES_A_DAY} pages, the first {HISTORY} learnt"
        f" from; churn {CHURN:g}, swaps {SWAPS:g}. Means over days {HISTORY + 1} to {DAYS}.",
        f"Figures: log-likelihood less that of {RETRAINED}, and its 95 % by the t test over worlds,"
        " which are independent of each other. Then the log-likelihood itself, and p of the paper's"
        " own test, paired t over all days of all worlds.",
        f"Rates that auto used on the last day: {', '.join(f'{rate:g}' for rate in rates)}.",
        "Retrained models keep the priors that the history chose, as all others do.",
    ]
    return Table(f"Table 3: drift {drift:g}", "0.00001", rows, notes, not setting.quick)


def orders(drift: float, mine: Mapping[str, np.ndarray]) -> Iterator[Row]:
    """Yield what has to lie above what; each figure is the lower end of a difference."""
    if drift == 0.0:
        lost = over_worlds(mine[AUTO] - mine[ONLINE])
        bar = Bar("figure", "at least", -LOST_AT_MOST / UNIT)
        yield Row("auto less online: lower end", lost.low / UNIT, None, spread_of(lost), bar)
        pairs = [(ONLINE, STATIC), (RETRAINED, ONLINE)]
    else:
        pairs = [
            (ONLINE, STATIC),
            (RETRAINED, ONLINE),
            (AUTO, RETRAINED),
            (AUTO, RECENT),
        ]
    for above, below in pairs:
        over = over_worlds(mine[above] - mine[below])
        bar = None if drift == 0.0 else Bar("figure", "at least", 0.0)
        note = f"p {over.p_value:.1g}{'' if over.p_value < SIGNIFICANT else ': not significant'}"
        who = f"{above} less {below}: lower end"
        yield Row(who, over.low / UNIT, None, spread_of(over), bar, note)


def figure_1(drift: float, told: Sequence[DriftReport], setting: Setting) -> Table:
    """Tell by how much each way differs from retraining, day by day."""
    shown = [way for way in WAYS if way != RETRAINED]
    base = np.mean([each.log_likelihoods[:, column(RETRAINED)] for each in told], axis=0)
    harder = np.mean([each.perplexities[:, column(RETRAINED)] for each in told], axis=0)
    rows = []
    for day in range(DAYS - HISTORY):
        notes = []
        for way in shown:
            of = column(way)
            likely = np.mean([each.log_likelihoods[day, of] for each in told]) - base[day]
            less = harder[day] - np.mean([each.perplexities[day, of] for each in told])
            notes.append(f"{way} {likely / UNIT:+.0f} / {less / UNIT:+.0f}")
            if way == AUTO:
                figure = float(likely) / UNIT
        rows.append(Row(f"day {HISTORY + 1 + day}", figure, note="; ".join(notes)))
    notes = [
        "Log-likelihood less that of retraining / perplexity of retraining less its own, both in"
        " units of 0.00001, means over worlds; above 0 is better than retraining. Figure: auto.",
    ]
    title = f"Figure 1: differences to retraining by day, drift {drift:g}"
    return Table(title, "0.00001", rows, notes, not setting.quick)


def column(way: str) -> int:
    """Return the column of a way in a report."""
    return list(WAYS).index(way)


def by_day(told: Sequence[DriftReport], way: str) -> np.ndarray:
    """Return the log-likelihood of each day of each world."""
    return np.array([each.log_likelihoods[:, each.ways.index(way)] for each in told])


def by_world(told: Sequence[DriftReport], way: str) -> np.ndarray:
    """Return the mean log-likelihood of each world."""
    return np.asarray(by_day(told, way).mean(axis=1))


def perplexity(told: Sequence[DriftReport], way: str) -> float:
    """Return the mean over worlds and days."""
    return float(np.mean([each.perplexities[:, each.ways.index(way)] for each in told]))


def over_worlds(differences: np.ndarray) -> ResampledT:
    """Test differences of worlds, which are independent of each other."""
    return corrected_resampled_t(differences.tolist(), 0.0)


def paired_t(differences: np.ndarray) -> ResampledT:
    """Do the paper's test: paired, over days."""
    return corrected_resampled_t(differences.ravel().tolist(), 0.0)


def spread_of(over: ResampledT) -> tuple[float, float]:
    """Return the interval in the unit of Table 3."""
    return over.low / UNIT, over.high / UNIT


def said(over: ResampledT) -> str:
    """Say a difference with its interval."""
    return f"{over.mean:+.5f} ({over.low:+.5f} to {over.high:+.5f})"
