"""Table 2 of the paper on online EM: CPU time of 13 days of updates, in each way.

The paper retrains by plain EM, 50 rounds over all pages of all days so far, each day anew. So do
we, page by page in the order of the log, with our own kernels: the ratio says what is saved by not
retraining, not by who has written the program.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Iterator
from statistics import median

from bench.benchmark import Setting
from bench.clicks.drift import real_pages
from bench.clicks.settings import (
    CHEAPER,
    COST_PAGES_A_DAY,
    COST_SEED,
    DAYS,
    DRIFTS,
    FIT,
    HISTORY,
    PLAIN_PRIOR,
    PLAIN_ROUNDS,
    SWAPS,
)
from bench.tables import Bar, Row, Table
from bench.timing import Ratio
from purport.clicks.batch import BatchEM
from purport.clicks.model import ClickModel
from purport.clicks.models import UBM
from purport.clicks.prequential import relearnt
from purport.clicks.state import ClickState, Priors
from purport.errors import ConvergenceWarning
from purport.fold.thread_engine import threads
from purport.records.pages import Pages
from purport.simulate.clicks import ClickWorld

PLAIN = "plain EM, all pages"
PAPER = {"mean": 516.1 / 3.9, "first": 28.1 / 0.3, "last": 49.6 / 0.3}


def run(setting: Setting) -> Iterator[Table]:
    real = real_pages(setting.folder("clicks-sogou-thuir"))
    size = 500 if setting.quick else COST_PAGES_A_DAY
    world = ClickWorld.over(real, COST_SEED, pages_a_day=size, drift=DRIFTS[1], swaps=SWAPS)
    days = [world.day(number) for number in range(1, DAYS + 1)]
    so_far = [Pages.concatenate(days[: number + 1]) for number in range(DAYS)]
    learnt = UBM(n_threads=1).fit(so_far[HISTORY - 1], **FIT)
    systems: dict[str, Callable[[], list[float]]] = {
        "online EM": lambda: updated(learnt, days, 0.0),
        "EM with forgetting 0.005": lambda: updated(learnt, days, 0.005),
        'forget="auto"': lambda: updated(learnt, days, "auto"),
        PLAIN: lambda: each_day(so_far, plain),
        "ours, priors kept": lambda: each_day(
            so_far, lambda pages: relearnt(learnt, pages, threads(1))
        ),
        "ours, priors chosen anew": lambda: each_day(
            so_far, lambda pages: UBM(n_threads=1).fit(pages, **FIT)
        ),
    }
    rounds = 1 if setting.quick else 3
    took: dict[str, list[list[float]]] = {name: [] for name in systems}
    updated(learnt, days[: HISTORY + 1], 0.0)  # so that kernels are there
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(rounds):
            for name, system in systems.items():
                took[name].append(system())
    total = {name: [sum(each) for each in found] for name, found in took.items()}
    rows = []
    for name in systems:
        ratio = Ratio.of(total[PLAIN], total[name])
        first, last = (median(each[place] for each in took[name]) for place in (0, -1))
        bar = Bar("ratio", "at least", CHEAPER) if name == "online EM" else None
        note = (
            f"{median(total[name]) / 60:.4g} minutes in all; day {HISTORY + 1}: {first:.3g} s,"
            f" day {DAYS}: {last:.3g} s"
        )
        told, spread = (None, None) if name == PLAIN else (ratio.middle, ratio.spread)
        rows.append(Row(name, median(total[name]), told, spread, bar, note))
    rows.append(Row("paper, online EM", 3.9 * 60, PAPER["mean"], (PAPER["first"], PAPER["last"])))
    notes = [
        f"CPU time of one thread, median of {rounds} rounds in turn; days {HISTORY + 1} to {DAYS}"
        f" of {size} pages of ten results, {len(so_far[-1])} pages at the end, seed {COST_SEED},"
        f" drift {DRIFTS[1]:g}. Ratio: how many times cheaper than {PLAIN}.",
        f"{PLAIN}: {PLAIN_ROUNDS} rounds over the pages in the order of the log, each day anew."
        " Ours: counts of cells, and as many rounds as the history took. No bar stands beside it.",
        "The paper had 100 000 pages a day, of which it says nothing more, and another machine.",
    ]
    yield Table("Table 2: 13 days of updates", "CPU s", rows, notes, not setting.quick)


def updated(learnt: ClickModel, days: list[Pages], forget: float | str) -> list[float]:
    """Return the seconds that each day took to be taken in."""
    model, seconds = copy.deepcopy(learnt), []
    for day in days[HISTORY:]:
        began = time.process_time()
        model.update(day, forget=forget)
        seconds.append(time.process_time() - began)
    return seconds


def each_day(so_far: list[Pages], learn: Callable[[Pages], object]) -> list[float]:
    """Return the seconds that each day took to be learnt with all before."""
    seconds = []
    for pages in so_far[HISTORY:]:
        began = time.process_time()
        learn(pages)
        seconds.append(time.process_time() - began)
    return seconds


def plain(pages: Pages) -> ClickState:
    """Learn by plain EM."""
    model = UBM()
    state = ClickState(model._kind, 10, 1, Priors.held(*PLAIN_PRIOR))
    em = BatchEM(state, state.log_of(pages, grows=True), threads(1), as_pages=True)
    for _ in range(PLAIN_ROUNDS):
        em.round()
    return state
