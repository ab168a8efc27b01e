"""Real pages: every model on the Sogou sample, on its own split, beside the click rates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench.benchmark import Setting
from bench.tables import Bar, Row, Table
from purport.clicks import models
from purport.records.pages import Pages
from purport.study.click_evaluation import CONDITIONAL, LIKELIHOOD, MARGINAL, evaluate_clicks

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
    floor = getattr(models, FLOOR)().fit(train)
    rows, gains = [], []
    for name in NAMES:
        model = floor if name == FLOOR else getattr(models, name)().fit(train)
        told = evaluate_clicks(model, test, floor, DRAWS, SEED)
        likelihood, perplexity = told.scores[LIKELIHOOD], told.scores[CONDITIONAL]
        note = (
            f"log-likelihood {likelihood.value:.5f}, marginal perplexity"
            f" {told.scores[MARGINAL].value:.5f}; {model._state.priors}"
        )
        bar = Bar("figure", "at most", SHIPPED[name][1]) if name in SHIPPED else None
        spread = (perplexity.low, perplexity.high)
        rows.append(Row(name, perplexity.value, None, spread, bar, note))
        if name in SHIPPED:
            bar = Bar("figure", "at least", SHIPPED[name][0])
            rows.append(Row(f"{name}, log-likelihood", likelihood.value, bar=bar))
        if name not in (FLOOR, "GCTR"):
            gain = told.beside_other[LIKELIHOOD]
            note = f"p {gain.p_value:.2g}, paired bootstrap over queries"
            bar = Bar("figure", "at least", 0.0)
            who = f"{name} less {FLOOR}, log-likelihood"
            gains.append(Row(who, gain.difference, None, (gain.low, gain.high), bar, note))
    queries = len(np.unique(np.array(test.queries.codes)))
    notes = [
        f"{len(train)} pages to learn from, {len(test)} to score; {queries} queries."
        " Conditional perplexity, mean over ranks; spread: 95 % of a bootstrap over queries.",
        "Priors and rounds are chosen on pages kept back inside train. Bars: the figures that are"
        " shipped with the data, UBM 1.30760 and -0.25062, DBN 1.33333.",
    ]
    return Table("Real pages (Sogou)", "perplexity", rows + gains, notes, not setting.quick)
