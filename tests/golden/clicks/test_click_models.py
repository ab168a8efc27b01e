"""Our click models beside PyClick: equal where it is exact, and what else they are where it is not.

With ``prior=(0.5, 2.0)`` our models begin as PyClick does, and add to the same 1 over 2.

* UBM, PBM, SDBN, DCM, GCTR, RCTR and DCTR: the same parameters and the same measures.
* The cascade model: the same parameters and marginals. PyClick's conditional measures of it take
  marginals up to the first click, and 1e-6 for whatever comes after it, skips included, which are
  certain; so they differ.
* DBN and CCM: ours are the plain twin without a deviation; `test_pyclick` tells what PyClick's are.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracle import click_training as training

from purport import clicks
from purport.clicks.model import ClickModel
from purport.errors import ConvergenceWarning
from purport.records.pages import Pages

HERE = Path(__file__).parent
CLOSE = {"rtol": 0.0, "atol": 1e-9}
OURS = {"CM": "CascadeModel"}
EXACT = [("UBM", 1), ("UBM", 5), ("UBM", 20), ("PBM", 1), ("PBM", 5), ("PBM", 20)]
EXACT += [(name, 1) for name in ("SDBN", "DCM", "CM", "GCTR", "RCTR", "DCTR")]
CHAINS = [("DBN", 1), ("DBN", 5), ("DBN", 20), ("CCM", 1), ("CCM", 5), ("CCM", 20)]
PAIRS = ("attractiveness", "satisfaction")


@functools.cache
def golden():
    return json.loads((HERE / "pyclick.json").read_text(encoding="utf-8"))


def listed(part: str):
    return [(page["query"], page["docs"], page["clicks"]) for page in golden()[part]]


def pages(part: str) -> Pages:
    return Pages.from_lists(*zip(*listed(part), strict=True))


@functools.cache
def fitted(name: str, iterations: int) -> ClickModel:
    model = getattr(clicks, OURS.get(name, name))(prior=(0.5, 2.0))
    if name not in ("UBM", "PBM", "DBN", "CCM"):
        return model.fit(pages("pages"))
    with pytest.warns(ConvergenceWarning):
        return model.fit(pages("pages"), max_iter=iterations, tol=0.0)


def of_pairs(model: ClickModel) -> dict[str, dict[tuple[int, int], float]]:
    """Return the parameters of all pairs that are shown in training."""
    log = model._state.log_of(pages("pages"), grows=False)
    places = [(query, doc) for query, docs, _ in listed("pages") for doc in docs]
    found = model._state.parameters_of(log)
    return {
        name: dict(zip(places, values.tolist(), strict=True))
        for name, values in zip(PAIRS, found, strict=False)
    }


@pytest.mark.parametrize(("name", "iterations"), EXACT)
def test_parameters_are_pyclicks(name: str, iterations: int) -> None:
    theirs = golden()["models"][name][str(iterations)]["parameters"]
    model = fitted(name, iterations)
    shared = {
        attribute: getattr(model, attribute)
        for attribute in ("examination_", "continuation_", "click_rates_")
        if hasattr(type(model), attribute)
    }
    assert len(theirs) == len(of_pairs(model)) + len(shared)
    for parameter, ours in of_pairs(model).items():
        told = {
            (int(query), int(doc)): value
            for query, docs in theirs[parameter].items()
            for doc, value in docs.items()
        }
        assert told.keys() <= ours.keys()
        for place, value in ours.items():
            assert_allclose(value, told.get(place, 0.5), **CLOSE, err_msg=f"{parameter} {place}")
    for attribute, ours in shared.items():
        told = theirs[{"click_rates_": "rate"}.get(attribute, attribute[:-1])]
        if name == "UBM":
            # PyClick has no cells for a last click further down.
            for rank, row in enumerate(told):
                assert_allclose(ours[rank, : len(row)], row, **CLOSE)
                assert np.all(ours[rank, rank + 1 :] == 0.5)
        else:
            assert_allclose(ours, np.atleast_1d(told), **CLOSE)


@pytest.mark.parametrize("part", ["pages", "held_out"])
@pytest.mark.parametrize(("name", "iterations"), EXACT)
def test_measures_are_pyclicks(name: str, iterations: int, part: str) -> None:
    found = golden()["models"][name][str(iterations)]
    told = found["train" if part == "pages" else part]
    model, asked = fitted(name, iterations), pages(part)
    marginal = model.perplexity_at_rank(asked, "marginal")
    assert_allclose(marginal, told["marginal_perplexity"]["at_rank"], **CLOSE)
    assert_allclose(
        model.perplexity(asked, "marginal"), told["marginal_perplexity"]["mean"], **CLOSE
    )
    likelihood = model.log_likelihood(asked)
    if name == "CM":
        assert likelihood > told["log_likelihood"] + 1.0
        return
    assert_allclose(likelihood, told["log_likelihood"], **CLOSE)
    conditional = model.perplexity_at_rank(asked)
    assert_allclose(conditional, told["conditional_perplexity"]["at_rank"], **CLOSE)
    assert_allclose(model.perplexity(asked), told["conditional_perplexity"]["mean"], **CLOSE)


def test_a_cascade_takes_what_follows_a_click_as_skipped_for_certain() -> None:
    model = fitted("CM", 1)
    single = [page for page in golden()["held_out"] if sum(page["clicks"]) == 1]
    asked = Pages.from_lists(
        *zip(*((p["query"], p["docs"], p["clicks"]) for p in single), strict=True)
    )
    found = model.conditional_click_probabilities(asked)
    for row, page in zip(found, single, strict=True):
        first = page["clicks"].index(1)
        assert np.all(row[first + 1 :] == 0.0)
        assert np.all(row[: first + 1] > 0.0)


@pytest.mark.parametrize(("name", "iterations"), CHAINS)
def test_dbn_and_ccm_are_the_twin_without_deviations(name: str, iterations: int) -> None:
    expected = training.train(name, listed("pages"), iterations)
    model = fitted(name, iterations)
    for parameter, ours in of_pairs(model).items():
        for place, value in ours.items():
            assert_allclose(value, expected.get((parameter, place), 0.5), **CLOSE)
    names = (
        ("after_skip", "after_click", "after_satisfaction") if name == "CCM" else ("continuation",)
    )
    assert_allclose(
        np.atleast_1d(model.continuation_),
        [expected[parameter, ()] for parameter in names],
        **CLOSE,
    )
    for part in ("pages", "held_out"):
        asked, one = pages(part), listed(part)
        likelihood = training.log_likelihood(name, one, expected)
        assert_allclose(model.log_likelihood(asked), likelihood, **CLOSE)
        for kind in ("conditional", "marginal"):
            ranks = training.perplexity_at_rank(name, one, expected, kind)
            assert_allclose(model.perplexity_at_rank(asked, kind), ranks, **CLOSE)


@pytest.mark.parametrize("name", ["DBN", "CCM"])
def test_pyclicks_dbn_and_ccm_are_others(name: str) -> None:
    """Its posteriors are not exact, and it shows; `test_pyclick` tells each reason by itself."""
    told = golden()["models"][name]["5"]
    model = fitted(name, 5)
    ours = of_pairs(model)["attractiveness"]
    theirs = {
        (int(query), int(doc)): value
        for query, docs in told["parameters"]["attractiveness"].items()
        for doc, value in docs.items()
    }
    assert max(abs(ours[place] - value) for place, value in theirs.items()) > 0.05
    assert abs(model.log_likelihood(pages("pages")) - told["train"]["log_likelihood"]) > 1e-3
