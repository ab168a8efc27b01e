"""Real pages: every model on the Sogou sample, on its own split, beside the click rates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bench.benchmark import Setting
from bench.tables import Bar, Row, Table
from purport.clicks import models
from purport.clicks.log import Log
from purport.clicks.scores import log_probabilities, mean_log_likelihood, perplexities
from purport.records.pages import Pages

SHIPPED = {"UBM": (-0.25062, 1.30760), "DBN": (-0.26875, 1.33333)}
"""Log-likelihood and conditional perplexity that come with the data."""
FLOOR = "RCTR"
NAMES = ("UBM", "PBM", "DBN", "CCM", "SDBN", "DCM", "CascadeModel", "DCTR", "RCTR", "GCTR")
DRAWS, SEED = 2000, 0


def run(setting: Setting) -> Iterator[Table]:
    pages = Pages.read(setting.folder("clicks-sogou-thuir") / "pages.tsv.gz")
    split = np.array(pages.field("split"))
    train, test = pages[split == "train"], pages[split == "test"]
    if setting.quick:
        train, test = train[::4], test[::4]
    yield compare(setting, train, test)


def compare(setting: Setting, train: Pages, test: Pages) -> Table:
    """Learn from one part and score the other, once each."""
    queries = np.unique(np.array(test.queries.codes), return_inverse=True)[1]
    found = {}
    rows = []
    for name in NAMES:
        model = getattr(models, name)().fit(train)
        log = model._log(test, "bench")
        conditional = model._state.probabilities(log)
        marginal = model._state.probabilities(log, True)
        found[name] = log_probabilities(conditional, log.clicks)
        perplexity = float(perplexities(conditional, log).mean())
        likelihood = mean_log_likelihood(conditional, log)
        note = (
            f"log-likelihood {likelihood:.5f}, marginal perplexity"
            f" {float(perplexities(marginal, log).mean()):.5f}; {model._state.priors}"
        )
        bar = None
        if name in SHIPPED:
            bar = Bar("figure", "at most", SHIPPED[name][1])
        rows.append(Row(name, perplexity, None, _interval(found[name], log, queries), bar, note))
        if name in SHIPPED:
            bar = Bar("figure", "at least", SHIPPED[name][0])
            rows.append(Row(f"{name}, log-likelihood", likelihood, bar=bar))
    for name in NAMES:
        if name not in (FLOOR, "GCTR"):
            low, high, p = _gain(found[name], found[FLOOR], log, queries)
            difference = float((found[name] - found[FLOOR]).mean())
            bar = Bar("figure", "at least", 0.0)
            note = f"p {p:.2g}, paired bootstrap over queries"
            rows.append(
                Row(
                    f"{name} less {FLOOR}, log-likelihood", difference, None, (low, high), bar, note
                )
            )
    notes = [
        f"{len(train)} pages to learn from, {len(test)} to score; {queries.max() + 1} queries."
        " Conditional perplexity, mean over ranks; spread: 95 % of a bootstrap over queries.",
        "Priors and rounds are chosen on pages kept back inside train. Bars: the figures that are"
        " shipped with the data, UBM 1.30760 and -0.25062, DBN 1.33333.",
    ]
    return Table("Real pages (Sogou)", "perplexity", rows, notes, not setting.quick)


def _interval(
    logs: NDArray[np.float64], log: Log, queries: NDArray[np.int64]
) -> tuple[float, float]:
    """Return the 95 % interval of the perplexity."""
    return _quantiles(np.array([
        float(np.exp2(-_by_rank(logs, log, weights)).mean())
        for weights in _draws(queries)
    ]))  # fmt: skip


def _by_rank(
    logs: NDArray[np.float64], log: Log, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    each = np.repeat(weights, np.diff(log.offsets))
    sums = np.bincount(log.ranks, each * logs / np.log(2.0))
    found: NDArray[np.float64] = sums / np.bincount(log.ranks, each)
    return found


def _draws(queries: NDArray[np.int64]) -> Iterator[NDArray[np.float64]]:
    """Yield how often each page counts in each draw of queries."""
    chance = np.random.default_rng(SEED)
    count = int(queries.max()) + 1
    for _ in range(DRAWS):
        drawn = np.bincount(chance.integers(count, size=count), minlength=count)
        yield drawn[queries].astype(np.float64)


def _gain(
    ours: NDArray[np.float64],
    theirs: NDArray[np.float64],
    log: Log,
    queries: NDArray[np.int64],
) -> tuple[float, float, float]:
    """Return the 95 % interval of the mean difference, and its two-sided p."""
    by_page = np.add.reduceat(ours - theirs, log.offsets[:-1]) / np.diff(log.offsets)
    whole = float(by_page.mean())
    drawn = np.array([float(weights @ by_page / weights.sum()) for weights in _draws(queries)])
    low, high = _quantiles(drawn)
    extreme = np.abs(drawn - whole) >= abs(whole)
    return low, high, float((1 + extreme.sum()) / (1 + DRAWS))


def _quantiles(drawn: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    return low, high
