"""The enumeration of click models against what can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracle import clicks as oracle

N = 4
CLOSE = {"rtol": 0.0, "atol": 1e-14}


def drawn(model: str, n: int = N, seed: int = 0) -> list[np.ndarray]:
    """Draw the parameters of a model for a page of n results."""
    rng = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {"attractiveness": (n,), "satisfaction": (n,)}
    if model == "UBM":
        shapes["examination"] = (n, n)
    elif model in {"PBM", "DCM", "RCTR"}:
        shapes |= {"examination": (n,), "continuation": (n,), "rate": (n,)}
    return [rng.uniform(0.1, 0.9, shapes.get(name, ())) for name in oracle.MODELS[model][1]]


@pytest.mark.parametrize("model", oracle.MODELS)
@pytest.mark.parametrize("n", [1, 2, N])
def test_pages_of_all_clicks_are_whole(model: str, n: int) -> None:
    pages = oracle.every_page(model, n, *drawn(model, n))
    assert len(pages) == 2**n
    assert_allclose(sum(page.probability for page in pages.values()), 1.0, **CLOSE)
    for clicks, page in pages.items():
        if page.probability == 0.0:
            continue
        # The chain rule gives the probability back.
        chances = np.where(np.array(clicks) == 1, page.conditional, 1.0 - page.conditional)
        assert_allclose(np.prod(chances), page.probability, **CLOSE)
        clicked = np.flatnonzero(clicks)
        assert_allclose(page.examined[clicked], 1.0, **CLOSE)
        assert_allclose(page.attracted[clicked], 1.0, **CLOSE)
        assert not page.satisfied[np.array(clicks) == 0].any()
        for numerator, denominator in page.counts.values():
            assert (numerator <= denominator + 1e-14).all()


@pytest.mark.parametrize("model", oracle.MODELS)
def test_expected_counts_at_the_truth_give_the_truth_back(model: str) -> None:
    parameters = drawn(model, seed=1)
    pages = oracle.every_page(model, N, *parameters).values()
    marginal = sum(page.probability * np.array(page.clicks) for page in pages)
    possible = [page for page in pages if page.probability > 0.0]
    for name, values in zip(oracle.MODELS[model][1], parameters, strict=True):
        heads = sum(page.probability * page.counts[name].numerator for page in possible)
        tosses = sum(page.probability * page.counts[name].denominator for page in possible)
        assert_allclose(heads, tosses * values, **CLOSE)
    for page in possible:
        assert_allclose(page.marginal, marginal, **CLOSE)


def test_one_skip_under_a_ubm() -> None:
    a, g = 0.3, 0.6
    page = oracle.ubm([0], [a], [[g]])
    assert_allclose(page.probability, 1 - a * g, **CLOSE)
    assert_allclose(page.attracted, [(1 - g) * a / (1 - a * g)], **CLOSE)
    assert_allclose(page.examined, [(1 - a) * g / (1 - a * g)], **CLOSE)


def test_a_ubm_looks_up_the_last_click() -> None:
    examination = np.array([[0.9, 0.0, 0.0], [0.5, 0.7, 0.0], [0.2, 0.3, 0.8]])
    a = np.array([0.4, 0.5, 0.6])
    for clicks, cells in (
        ((0, 0, 0), (0, 0, 0)),
        ((1, 0, 0), (0, 1, 1)),
        ((0, 1, 1), (0, 0, 2)),
    ):
        page = oracle.ubm(clicks, a, examination)
        assert_allclose(page.conditional, a * examination[range(3), cells], **CLOSE)
        tossed = np.zeros((3, 3))
        tossed[range(3), cells] = 1.0
        assert_allclose(page.counts["examination"].denominator, tossed, **CLOSE)
    first = 0.4 * 0.9
    assert_allclose(page.marginal[1], first * 0.5 * 0.7 + (1 - first) * 0.5 * 0.5, **CLOSE)


def test_a_pbm_knows_no_history() -> None:
    page = oracle.pbm([1, 0], [0.5, 0.25], [1.0, 0.5])
    assert_allclose(page.probability, 0.5 * (1 - 0.125), **CLOSE)
    assert_allclose(page.conditional, [0.5, 0.125], **CLOSE)
    assert_allclose(page.counts["attractiveness"].numerator, [1.0, 0.5 * 0.25 / 0.875], **CLOSE)
    assert_allclose(page.counts["examination"].numerator, [1.0, 0.75 * 0.5 / 0.875], **CLOSE)


def test_a_click_and_a_skip_under_a_dbn() -> None:
    a, s, k = [0.5, 0.4], [0.3, 0.2], 0.9
    page = oracle.dbn([1, 0], a, s, k)
    onward = (1 - 0.3) * k  # the second result is examined
    skip = 1 - onward * 0.4
    assert_allclose(page.probability, 0.5 * skip, **CLOSE)
    assert_allclose(page.conditional, [0.5, onward * 0.4], **CLOSE)
    assert_allclose(page.satisfied, [0.3 / skip, 0.0], **CLOSE)
    assert_allclose(page.examined, [1.0, onward * 0.6 / skip], **CLOSE)
    assert_allclose(page.attracted, [1.0, (1 - onward) * 0.4 / skip], **CLOSE)
    numerator, denominator = page.counts["continuation"]
    assert_allclose(numerator, onward * 0.6 / skip, **CLOSE)
    assert_allclose(denominator, 1 - 0.3 / skip, **CLOSE)
    assert_allclose(page.counts["satisfaction"].denominator, [1.0, 0.0], **CLOSE)


def test_two_clicks_under_a_ccm() -> None:
    a0, a1, t1, t2, t3 = 0.5, 0.4, 0.9, 0.8, 0.3
    page = oracle.ccm([1, 1], [a0, a1], t1, t2, t3)
    onward = t2 * (1 - a0) + t3 * a0
    assert_allclose(page.probability, a0 * onward * a1, **CLOSE)
    # The first click satisfied or not, in the shares in which users went on; of the second nobody
    # saw what came of it.
    satisfied = t3 * a0 / onward
    assert_allclose(page.satisfied, [satisfied, a1], **CLOSE)
    numerator, denominator = page.counts["attractiveness"]
    assert_allclose(numerator, [1 + satisfied, 1 + a1], **CLOSE)
    assert_allclose(denominator, [2.0, 2.0], **CLOSE)
    for name, expected in (
        ("after_skip", 0.0),
        ("after_click", 1 - satisfied),
        ("after_satisfaction", satisfied),
    ):
        assert_allclose(page.counts[name].numerator, expected, **CLOSE)
        assert_allclose(page.counts[name].denominator, expected, **CLOSE)


def test_the_last_rank_tells_nothing_of_going_on() -> None:
    assert oracle.dbn([1], [0.5], [0.5], 0.5).counts["continuation"].denominator == 0.0
    assert oracle.ccm([0], [0.5], 0.5, 0.5, 0.5).counts["after_skip"].denominator == 0.0
    last = oracle.dcm([0, 1], [0.5, 0.5], [0.5, 0.5]).counts["continuation"]
    assert_allclose(last.denominator, [0.0, 0.0], **CLOSE)


def test_a_dcm_goes_on_after_a_skip() -> None:
    page = oracle.dcm([0, 1, 0], [0.2, 0.5, 0.4], [0.9, 0.6, 0.3])
    assert_allclose(page.conditional, [0.2, 0.5, 0.6 * 0.4], **CLOSE)
    assert_allclose(page.marginal[1], (0.8 + 0.2 * 0.9) * 0.5, **CLOSE)


def test_an_sdbn_is_a_dbn_that_always_goes_on() -> None:
    a, s = drawn("SDBN")
    simple, full = oracle.every_page("SDBN", N, a, s), oracle.every_page("DBN", N, a, s, 1.0)
    for clicks, page in simple.items():
        assert_allclose(page.probability, full[clicks].probability, **CLOSE)
        assert_allclose(page.conditional, full[clicks].conditional, **CLOSE)
        for name in ("attractiveness", "satisfaction"):
            for one, other in zip(page.counts[name], full[clicks].counts[name], strict=True):
                assert_allclose(one, other, **CLOSE)


def test_a_first_click_ends_a_cascade() -> None:
    a = [0.2, 0.5, 0.4]
    page = oracle.cm([0, 1, 0], a)
    assert_allclose(page.probability, 0.8 * 0.5, **CLOSE)
    assert_allclose(page.conditional, [0.2, 0.5, 0.0], **CLOSE)
    assert_allclose(page.marginal, [0.2, 0.8 * 0.5, 0.8 * 0.5 * 0.4], **CLOSE)
    impossible = oracle.cm([1, 0, 1], a)
    assert impossible.probability == 0.0
    assert np.isnan(impossible.examined).all()
    assert np.isnan(impossible.counts["attractiveness"].numerator).all()


def test_click_rates() -> None:
    clicks = [1, 0]
    assert_allclose(oracle.gctr(clicks, 0.3).probability, 0.3 * 0.7, **CLOSE)
    assert_allclose(oracle.gctr(clicks, 0.3).counts["rate"].numerator, 1.0, **CLOSE)
    assert_allclose(oracle.gctr(clicks, 0.3).counts["rate"].denominator, 2.0, **CLOSE)
    assert_allclose(oracle.rctr(clicks, [0.3, 0.2]).probability, 0.3 * 0.8, **CLOSE)
    assert_allclose(oracle.rctr(clicks, [0.3, 0.2]).counts["rate"].numerator, clicks, **CLOSE)
    assert_allclose(oracle.dctr(clicks, [0.3, 0.2]).conditional, [0.3, 0.2], **CLOSE)


def test_a_certain_coin_leaves_impossible_clicks_alone() -> None:
    page = oracle.pbm([1, 1], [1.0, 1.0], [1.0, 0.0])
    assert page.probability == 0.0
    assert_allclose(page.conditional, [1.0, 0.0], **CLOSE)
    assert np.isnan(page.examined).all()
