"""What documents are worth: intervals against exact posteriors and against simulated truths."""

from __future__ import annotations

import warnings
from pathlib import Path

import known_clicks
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import betaincinv

import purport
from purport import clicks
from purport.clicks.beliefs import Belief, product_within
from purport.clicks.pairs import COLUMNS, DEFINED, DOUBT, EXPECTED, PRIOR
from purport.errors import ConvergenceWarning, InputError, NotFittedError, ParameterError
from purport.records.pages import Pages

WITH_PAIRS = ["UBM", "PBM", "CCM", "DCM", "CascadeModel", "DCTR", "DBN", "SDBN"]
LOG = Pages.from_lists(
    ["cats", "cats", "cats", "dogs", "cats"],
    [["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"], ["a", 7], ["d", "a", "b"]],
    [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1], [0, 0, 1]],
)


def learnt(name: str, prior: tuple[float, float] | str = (0.4, 3.0)) -> clicks.model.ClickModel:
    return getattr(clicks, name)(prior=prior).fit(LOG, max_iter=200, tol=1e-3)


@pytest.mark.parametrize("name", WITH_PAIRS)
def test_relevance_is_attraction_and_for_some_times_satisfaction(name: str) -> None:
    model = learnt(name)
    docs = ["c", "b", "a", "new"]
    found = model.relevance("cats", docs)
    log = model._state.log_of(Pages.from_lists(["cats"], [docs], [[0, 0, 0, 0]]), grows=False)
    assert_allclose(found, np.prod(model._state.parameters_of(log), axis=0), rtol=1e-12)
    told = model.relevance("cats", docs, 0.8)
    assert_array_equal(told.mean, found)
    assert told.docs == docs
    assert told.met.tolist() == [True, True, True, False]
    assert told.tied is None
    assert ((told.low <= told.mean) & (told.mean <= told.high)).all()
    assert told.evidence[3] == 0.0
    assert told.prior_only[3]


@pytest.mark.parametrize("name", ["UBM", "DBN"])
def test_documents_of_a_query_come_best_first(name: str) -> None:
    model = learnt(name)
    told = model.relevance("cats")
    assert sorted(told.docs) == ["a", "b", "c", "d"]
    assert (np.diff(told.mean) <= 0.0).all()
    assert told.interval == 0.95
    assert len(told) == 4
    again = model.relevance("cats", told.docs, interval=0.95)
    for column in ("mean", "low", "high", "evidence", "met", "prior_only", "known"):
        assert_array_equal(getattr(told, column), getattr(again, column))
    assert model.relevance("dogs", interval=0.5).docs in (["7", "a"], ["a", "7"])


def test_a_query_that_nobody_sent_has_what_is_expected() -> None:
    model = learnt("PBM")
    told = model.relevance("birds", ["a", 3], interval=0.9, min_evidence=0.0)
    assert_allclose(told.mean, 0.4)
    assert_allclose(told.low, betaincinv(1.2, 1.8, 0.05), rtol=1e-3)
    assert_allclose(told.high, betaincinv(1.2, 1.8, 0.95), rtol=1e-3)
    assert told.evidence.tolist() == [0.0, 0.0]
    assert told.known.all()
    assert not told.met.any()
    assert model.relevance("birds").docs == []
    assert model.relevance("cats", []).shape == (0,)


def test_a_query_tells_what_to_expect_of_its_new_documents() -> None:
    pages = Pages.from_lists(
        np.repeat(["liked", "ignored"], 40).tolist(),
        [[f"{query}{page % 20}"] for query in range(2) for page in range(40)],
        [[1]] * 40 + [[0]] * 40,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = clicks.DCTR().fit(pages)
    assert model.relevance("liked", ["new"])[0] > model.relevance("ignored", ["new"])[0]


def test_min_evidence_says_what_is_known() -> None:
    told = learnt("DCTR").relevance("cats", ["a", "b", "c", "d", "new"], 0.9, min_evidence=3.5)
    assert_allclose(told.evidence, [4.0, 4.0, 3.0, 1.0, 0.0])
    assert told.known.tolist() == [True, True, False, False, False]


def test_where_nothing_is_hidden_the_interval_is_that_of_a_beta() -> None:
    told = learnt("DCTR").relevance("cats", ["a"], interval=0.9)
    assert_allclose(told.mean, (3 + 1.2) / (4 + 3))
    assert_allclose(told.low, betaincinv(4.2, 2.8, 0.05), rtol=1e-3)
    assert_allclose(told.high, betaincinv(4.2, 2.8, 0.95), rtol=1e-3)


def test_results_that_nobody_looked_at_leave_the_prior_alone() -> None:
    pages = Pages.from_lists(["q"] * 9, [["a", "b"]] * 9, [[1, 0]] * 9)
    told = clicks.SDBN(prior=(0.5, 2.0)).fit(pages).relevance("q", ["a", "b"], interval=0.9)
    assert told.prior_only.tolist() == [False, True]
    assert told.met.tolist() == [True, True]
    assert told.evidence[1] == 0.0


@pytest.mark.parametrize(
    ("clicked", "skipped"),
    [([0.9] * 5, [0.9] * 15), ([0.5] * 6, [0.5] * 14), ([0.3] * 4, [0.3] * 30),
     ([0.9, 0.5, 0.2], [0.9, 0.9, 0.5, 0.4, 0.3, 0.2, 0.2, 0.1] * 2), ([0.1], [0.1] * 20)],
)  # fmt: skip
@pytest.mark.parametrize("prior", [(0.3, 4.0), (0.5, 2.0)])
def test_one_pair_of_ubm_against_its_exact_posterior(
    clicked: list[float], skipped: list[float], prior: tuple[float, float]
) -> None:
    mean, strength = prior
    hits, misses = np.array(clicked), np.array(skipped)
    a = mean
    for _ in range(5000):
        attracted = a * (1.0 - misses) / (1.0 - a * misses)
        a = (len(hits) + attracted.sum() + strength * mean) / (len(hits) + len(misses) + strength)
    kept = np.zeros((1, COLUMNS))
    kept[0, EXPECTED], kept[0, DEFINED] = len(hits) + attracted.sum(), len(hits) + len(misses)
    kept[0, DOUBT], kept[0, PRIOR] = (attracted * (1.0 - attracted)).sum(), mean
    low, high = Belief.of(kept, strength).within(0.9)

    grid = (np.arange(200_000) + 0.5) / 200_000
    log = (len(hits) + mean * strength - 1) * np.log(grid)
    log += ((1 - mean) * strength - 1) * np.log1p(-grid)
    for examined in misses:
        log += np.log1p(-grid * examined)
    below = np.cumsum(np.exp(log - log.max()))
    exact = np.interp([0.05, 0.95], below / below[-1], grid)
    # Exact but for the grid where all skips had the same examination.
    atol = 0.002 if len({*clicked, *skipped}) == 1 else 0.035
    assert_allclose([low[0], high[0]], exact, atol=atol)
    # The naive Beta of the sums is much narrower wherever much was hidden.
    naive = kept.copy()
    naive[0, DOUBT] = 0.0
    bounds = Belief.of(naive, strength).within(0.9)
    assert bounds[1][0] - bounds[0][0] < high[0] - low[0]
    if max(misses) < 0.6:
        assert bounds[1][0] - bounds[0][0] < 0.8 * (exact[1] - exact[0])


def test_one_satisfaction_of_dbn_against_its_exact_posterior() -> None:
    mean, strength, failures = 0.4, 3.0, 6
    # Last clicks, after each of which somebody who goes on clicks once more with such a chance.
    chances = np.array([0.8, 0.5, 0.5, 0.2, 0.1, 0.0])
    s = mean
    for _ in range(5000):
        satisfied = s / (1.0 - (1.0 - s) * chances)
        s = (satisfied.sum() + strength * mean) / (len(chances) + failures + strength)
    doubt = (satisfied * (1.0 - satisfied)).sum()
    kept = np.array([[satisfied.sum(), len(chances) + failures, doubt, mean]])
    low, high = Belief.of(kept, strength, is_failure=True).within(0.9)
    grid = (np.arange(200_000) + 0.5) / 200_000
    log = (mean * strength - 1) * np.log(grid)
    log += (failures + (1 - mean) * strength - 1) * np.log1p(-grid)
    log += np.log1p(-np.outer(chances, 1.0 - grid)).sum(axis=0)
    below = np.cumsum(np.exp(log - log.max()))
    exact = np.interp([0.05, 0.95], below / below[-1], grid)
    assert_allclose([low[0], high[0]], exact, atol=0.012)
    first, second = Belief.of(kept, strength, is_failure=True).moments()
    density = np.exp(log - log.max()) / np.exp(log - log.max()).sum()
    assert_allclose(first[0], density @ grid, atol=0.005)
    assert_allclose(second[0], density @ grid**2, atol=0.005)


@pytest.mark.parametrize("strength", [0.5, 2.0, 32.0])
@pytest.mark.parametrize("seen", [(0, 0), (0, 1), (3, 4), (0, 1000), (500_000, 1_000_000)])
def test_without_doubt_the_posterior_is_a_beta(strength: float, seen: tuple[int, int]) -> None:
    hits, shown = seen
    kept = np.array([[hits, shown, 0.0, 0.3]])
    alpha, beta = hits + 0.3 * strength, shown - hits + 0.7 * strength
    for is_failure in (False, True):
        belief = Belief.of(kept, strength, is_failure)
        low, high = belief.within(0.9)
        exact = betaincinv(alpha, beta, 0.05), betaincinv(alpha, beta, 0.95)
        assert_allclose((low[0], high[0]), exact, rtol=0.01, atol=1e-5)
        mean, square = belief.moments()
        assert_allclose(mean, alpha / (alpha + beta), rtol=1e-3)
        assert_allclose(square, mean * (alpha + 1) / (alpha + beta + 1), rtol=2e-3)


@pytest.mark.parametrize(("name", "pages"), [("UBM", 8000), ("UBM", 40000), ("DBN", 8000)])
def test_intervals_cover_the_truth_as_often_as_they_say(name: str, pages: int) -> None:
    mean, strength, queries, documents = 0.3, 4.0, 400, 8
    rng = np.random.default_rng(1)
    attract, satisfy = rng.beta(mean * strength, (1 - mean) * strength, (2, queries * documents))
    shown = known_clicks.shown(queries, documents, documents, pages, seed=3)
    cells = known_clicks.browsing_cells(10) if name == "UBM" else np.array([0.85])
    model = getattr(clicks, name)
    log = known_clicks.with_truth(model(), shown, attract, cells, satisfy).simulate(shown, 7)
    found = model(prior=(mean, strength)).fit(log, max_iter=500)
    truth = attract if name == "UBM" else attract * satisfy
    inside, naive = [], []
    docs = np.arange(queries * documents).reshape(queries, documents)
    for query, listed in enumerate(docs):
        told = found.relevance(query, listed.tolist(), interval=0.9)
        inside.append((told.low <= truth[listed]) & (truth[listed] <= told.high))
    for table in found._state.tables:
        kept = table.kept[: table.pairs].copy()
        kept[:, DOUBT::COLUMNS] = 0.0
        beliefs = [Belief.of(part, strength) for part in np.hsplit(kept, found._state.width)]
        low, high = product_within(beliefs, 0.9)
        true = truth[table.pair_keys[: table.pairs, 1]]
        naive.append((low <= true) & (true <= high))
    assert 0.85 <= np.mean(inside) <= 0.95
    assert np.concatenate(naive).mean() < np.mean(inside) - 0.05


def test_models_without_documents_refuse() -> None:
    for name in ("GCTR", "RCTR"):
        model = learnt(name)
        with pytest.raises(InputError, match=f"{name}.relevance: this model has one click rate"):
            model.relevance("cats", ["a"])


def test_what_is_no_id_or_no_probability_is_refused() -> None:
    model = learnt("UBM")
    with pytest.raises(InputError, match="docs must be a list of ids"):
        model.relevance("cats", "abc")
    with pytest.raises(InputError, match="docs must be a list of ids"):
        model.relevance("cats", [None])  # type: ignore[list-item]
    with pytest.raises(InputError, match="the query must be an id"):
        model.relevance(None, ["a"])  # type: ignore[arg-type]
    for interval in (0.0, 1.0, True, "wide"):
        with pytest.raises(ParameterError, match="'interval'"):
            model.relevance("cats", ["a"], interval)
    with pytest.raises(ParameterError, match="'min_evidence'"):
        model.relevance("cats", ["a"], min_evidence=-1.0)
    with pytest.raises(NotFittedError):
        clicks.UBM().relevance("cats", ["a"])


def test_ids_may_be_numbers_or_their_digits() -> None:
    model = learnt("UBM")
    assert model.relevance("dogs", [7]) == model.relevance("dogs", np.array(["7"]))
    assert model.relevance("dogs", [7], 0.9).met[0]


def test_tied_pairs_are_flagged_until_the_next_fit(tmp_path: Path) -> None:
    model = learnt("PBM")
    report = model.identifiability(LOG)
    told = model.relevance("cats", ["a", "b", "new"], interval=0.9)
    assert told.tied is not None
    assert told.tied.tolist() == [False, False, True]
    assert report.ties is model._ties
    purport.save(model, tmp_path / "model")
    again = purport.load(tmp_path / "model").relevance("cats", ["a", "b", "new"], interval=0.9)
    assert_array_equal(again.tied, told.tied)
    assert model.update(LOG).relevance("cats", interval=0.9).tied is not None
    assert model.fit(LOG, max_iter=200, tol=1e-3).relevance("cats").tied is None


def test_online_em_gives_intervals_too() -> None:
    model = clicks.UBM(prior=(0.4, 3.0)).update(LOG, forget=0.01)
    told = model.relevance("cats", ["a"], interval=0.9)
    assert told.low[0] < told.mean[0] < told.high[0]
    assert 0.0 < told.evidence[0] <= 4.0
