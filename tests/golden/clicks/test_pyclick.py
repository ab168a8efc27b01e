"""What PyClick gave on drawn clicks: met where it is exact, explained where it is not.

`write_pyclick.py` made the numbers; here nobody needs PyClick.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracle import click_training as training
from oracle import clicks as oracle

HERE = Path(__file__).parent
CLOSE = {"rtol": 0.0, "atol": 1e-12}
ALL = frozenset(training.DEVIATIONS)


@functools.cache
def golden(name: str):
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def log(part: str):
    return [(p["query"], p["docs"], p["clicks"]) for p in golden("pyclick.json")[part]]


def settings():
    models = golden("pyclick.json")["models"]
    return [(name, int(count)) for name, counts in models.items() for count in counts]


def flat(parameters):
    """Return PyClick's parameters by name and key, as `click_training` has them."""
    told = {}
    for name, values in parameters.items():
        if isinstance(values, dict):
            for query, docs in values.items():
                told |= {(name, (int(query), int(doc))): v for doc, v in docs.items()}
        elif not isinstance(values, list):
            told[name, ()] = values
        elif isinstance(values[0], list):
            told |= {(name, (r, j)): v for r, row in enumerate(values) for j, v in enumerate(row)}
        else:
            told |= {(name, r): v for r, v in enumerate(values)}
    return told


@functools.cache
def trained(model: str, iterations: int):
    return training.train(model, log("pages"), iterations, ALL)


@pytest.mark.parametrize(("model", "iterations"), settings())
def test_parameters_are_met(model: str, iterations: int) -> None:
    theirs = flat(golden("pyclick.json")["models"][model][str(iterations)]["parameters"])
    ours = trained(model, iterations)
    assert ours.keys() <= theirs.keys()
    for place, expected in theirs.items():
        # What no page told anything of is still at 1/2.
        assert_allclose(ours.get(place, 0.5), expected, **CLOSE, err_msg=str(place))


@pytest.mark.parametrize("part", ["pages", "held_out"])
@pytest.mark.parametrize(("model", "iterations"), settings())
def test_measures_are_met(model: str, iterations: int, part: str) -> None:
    found = golden("pyclick.json")["models"][model][str(iterations)]
    told = found["train" if part == "pages" else part]
    pages, parameters = log(part), trained(model, iterations)
    likelihood = training.log_likelihood(model, pages, parameters)
    assert_allclose(likelihood, told["log_likelihood"], **CLOSE)
    for kind in ("conditional", "marginal"):
        ranks = training.perplexity_at_rank(model, pages, parameters, kind)
        assert_allclose(ranks, told[f"{kind}_perplexity"]["at_rank"], rtol=1e-12)
        assert_allclose(np.mean(ranks), told[f"{kind}_perplexity"]["mean"], rtol=1e-12)


def objective(model: str, parameters) -> float:
    """Return what EM with one head in two tosses climbs: log-likelihood and log-prior."""
    pages = log("pages")
    likelihood = training.log_likelihood(model, pages, parameters) * len(pages) * 10
    return likelihood + float(sum(np.log(p) + np.log1p(-p) for p in parameters.values()))


@pytest.mark.parametrize("model", ["DBN", "CCM"])
def test_exact_posteriors_climb_and_pyclicks_do_not(model: str) -> None:
    pages = log("pages")
    exact, theirs = (
        [objective(model, training.train(model, pages, n, how)) for n in (2, 5, 10, 20)]
        for how in (frozenset(), ALL)
    )
    assert min(np.diff(exact)) > 0.0
    assert min(np.diff(theirs)) < -1.0
    assert exact[-1] > theirs[-1] + 10.0


def summed(found, n: int):
    """Return counts by name and key, over a page whose documents are its ranks."""
    told = {}
    for name, key, numerator, denominator in found:
        place = (name, key[1] if name in {"attractiveness", "satisfaction"} else key)
        had = told.get(place, (0.0, 0.0))
        told[place] = (had[0] + numerator, had[1] + denominator)
    return told


def by_hand(model: str, page, deviations=frozenset()):
    """Return our counts of a page made by hand."""
    n = len(page["clicks"])
    parameters = {}
    for name, values in page["parameters"][model].items():
        for key, v in flat({name: values}).items():
            pair = name in {"attractiveness", "satisfaction"}
            parameters[(name, (0, key[1])) if pair else key] = v
    one = (0, list(range(n)), page["clicks"])
    return summed(training.counts(model, one, parameters, deviations), n)


def by_enumeration(model: str, page):
    given = page["parameters"][model]
    n = len(page["clicks"])
    values = [given[name] for name in oracle.MODELS[model][1]]
    if model == "UBM":
        values[1] = [row + [0.5] * (n - len(row)) for row in values[1]]
    told = {}
    for name, (numerator, denominator) in oracle.page(
        model, page["clicks"], *values
    ).counts.items():
        for key in zip(*np.nonzero(denominator), strict=True) if denominator.shape else [()]:
            place = (name, key[0] if len(key) == 1 else key)
            told[place] = (numerator[key], denominator[key])
    return told


def by_pyclick(model: str, page):
    cells = training.keys(model, (0, list(range(len(page["clicks"]))), page["clicks"]))[1]
    told = {}
    for name, sums in page["counts"][model].items():
        pairs = zip(sums["numerator"], sums["denominator"], strict=True)
        for r, (numerator, denominator) in enumerate(pairs):
            key = r if name in {"attractiveness", "satisfaction"} else cells[r]
            if name == "continuation" or name.startswith("after"):
                key = ()
            had = told.get((name, key), (0.0, 0.0))
            told[name, key] = (had[0] + numerator, had[1] + denominator)
    return told


def assert_same(found, expected) -> None:
    for place in found.keys() | expected.keys():
        ours, theirs = found.get(place, (0.0, 0.0)), expected.get(place, (0.0, 0.0))
        assert_allclose(ours, theirs, **CLOSE, err_msg=str(place))


def differs(found, expected) -> bool:
    return any(
        max(abs(np.subtract(found.get(place, (0, 0)), expected.get(place, (0, 0))))) > 1e-3
        for place in found.keys() | expected.keys()
    )


PAGES = golden("pyclick_pages.json")["pages"]
TITLES = [page["about"] for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=TITLES)
@pytest.mark.parametrize("model", ["UBM", "PBM", "DBN", "CCM"])
def test_counts_without_deviations_are_those_of_enumeration(model: str, page) -> None:
    assert_same(by_hand(model, page), by_enumeration(model, page))


@pytest.mark.parametrize("page", PAGES, ids=TITLES)
@pytest.mark.parametrize("model", ["UBM", "PBM", "DBN", "CCM"])
def test_counts_with_every_deviation_are_pyclicks(model: str, page) -> None:
    assert_same(by_hand(model, page, ALL), by_pyclick(model, page))
    exact = model in {"UBM", "PBM"}
    assert differs(by_pyclick(model, page), by_enumeration(model, page)) == (not exact)


CLICK_SKIP, EQUAL, NO_CLICK, TWO_CLICKS = TITLES[:4]
WHY = [
    (TWO_CLICKS, "DBN", ("continuation", ()), {"last"}),
    (TWO_CLICKS, "CCM", ("after_click", ()), {"last"}),
    (EQUAL, "DBN", ("continuation", ()), {"last", "skip"}),
    (EQUAL, "CCM", ("after_skip", ()), {"last", "skip"}),
    (CLICK_SKIP, "DBN", ("continuation", ()), {"last", "skip", "top"}),
    (CLICK_SKIP, "CCM", ("after_click", ()), {"top"}),
    (CLICK_SKIP, "DBN", ("attractiveness", 1), {"forgetful"}),
    (CLICK_SKIP, "CCM", ("attractiveness", 1), {"forgetful"}),
    (NO_CLICK, "DBN", ("attractiveness", 1), {"unclicked"}),
    (NO_CLICK, "DBN", ("continuation", ()), {"last", "unclicked"}),
    (NO_CLICK, "CCM", ("after_skip", ()), {"last", "unclicked"}),
    (TWO_CLICKS, "CCM", ("attractiveness", 0), {"earlier"}),
    (CLICK_SKIP, "CCM", ("attractiveness", 0), {"certain"}),
]
"""A page, a model, a count, and the deviations that it takes, all of them, to make it PyClick's."""


@pytest.mark.parametrize(("title", "model", "place", "deviations"), WHY)
def test_each_deviation_shows_where_it_acts(title, model, place, deviations) -> None:
    page = PAGES[TITLES.index(title)]
    expected = by_pyclick(model, page)[place]
    assert_allclose(by_hand(model, page, frozenset(deviations))[place], expected, **CLOSE)
    for one in deviations:
        without = by_hand(model, page, frozenset(deviations) - {one})[place]
        assert max(abs(np.subtract(without, expected))) > 1e-3


def test_every_deviation_is_shown() -> None:
    assert set().union(*(deviations for *_, deviations in WHY)) == ALL
