"""What rankings are worth: by hand, against scikit-learn, and against enumeration of models."""

from __future__ import annotations

import known_clicks
import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracle import clicks as oracle

from purport import clicks
from purport.errors import InputError, ParameterError, ShapeError
from purport.measure import ebu, ndcg, rr_dbn, u_ubm
from purport.measure.ranking import expected_utility, reciprocal_satisfaction
from purport.records.pages import Pages

N = 4
ATTRACT = np.array([0.6, 0.3, 0.8, 0.45])
SATISFY = np.array([0.2, 0.7, 0.5, 0.9])


def test_ndcg_by_hand() -> None:
    found = ndcg([[3, 2, 0, 1]])
    gained = 7 + 3 / np.log2(3) + 1 / np.log2(5)
    best = 7 + 3 / np.log2(3) + 1 / np.log2(4)
    assert_allclose(found, [gained / best])
    assert_allclose(ndcg([[3, 2, 0, 1]], gain="linear"), [
        (3 + 2 / np.log2(3) + 1 / np.log2(5)) / (3 + 2 / np.log2(3) + 0.5)
    ])  # fmt: skip
    assert_allclose(ndcg([[0, 3, 2]], k=1), [0.0])
    assert_allclose(ndcg([[2, 3]], k=1), [3 / 7])
    assert np.isnan(ndcg([[0, 0], []])).all()


@pytest.mark.parametrize("k", [None, 1, 3, 50])
def test_ndcg_is_that_of_scikit_learn(k: int | None) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 5, (40, 12))
    scores = rng.integers(0, 6, (40, 12)) / 5.0  # many ties
    expected = [metrics.ndcg_score([g], [s], k=k) for g, s in zip(grades, scores, strict=True)]
    assert_allclose(ndcg(grades.tolist(), scores.tolist(), k, "linear"), expected)
    exponential = [
        metrics.ndcg_score([2.0**g - 1], [s], k=k) for g, s in zip(grades, scores, strict=True)
    ]
    assert_allclose(ndcg(grades.tolist(), scores.tolist(), k), exponential)


def test_bad_rankings_are_refused() -> None:
    for grades in ([[-1.0]], [[np.nan]], [[np.inf]]):
        with pytest.raises(InputError, match="a grade of ranking 0"):
            ndcg(grades)
    with pytest.raises(ShapeError, match="scores has length 1"):
        ndcg([[1], [2]], [[1]])
    with pytest.raises(ShapeError, match=r"scores\[0\] has length 1"):
        ndcg([[1, 2]], [[1]])
    with pytest.raises(InputError, match="a score of ranking 0"):
        ndcg([[1]], [[np.nan]])
    with pytest.raises(ParameterError, match="'k'"):
        ndcg([[1]], k=0)
    with pytest.raises(ParameterError, match="'gain'"):
        ndcg([[1]], gain="squared")
    with pytest.raises(ShapeError, match="satisfy has length 1"):
        ebu([0.5, 0.5], [0.5])
    with pytest.raises(ShapeError, match="examined must have a row a rank"):
        u_ubm([0.5, 0.5], [[1.0]])
    with pytest.raises(InputError, match="attract must be a list of numbers"):
        rr_dbn([[0.5]], [0.5])


def test_metrics_of_models_by_hand() -> None:
    # Rank 1 is clicked with 0.5 and satisfies with 0.4; whoever is not satisfied goes on with 0.8.
    clicked = 0.8 * (1 - 0.5 * 0.4) * 0.25
    assert_allclose(ebu([0.5, 0.25], [0.4, 0.6], 0.8), 0.5 * 0.4 + clicked * 0.6)
    assert_allclose(ebu([0.5, 0.25], [0.4, 0.6], 0.8, [3, 1]), 0.5 * 3 + clicked)
    assert_allclose(rr_dbn([0.5, 0.25], [0.4, 0.6], 0.8), 0.5 * 0.4 + clicked * 0.6 / 2)
    # Rank 2 is clicked after a click with 0.5 * 0.4, and after none with 0.5 * 0.9.
    second = 0.5 * 0.2 + 0.5 * 0.45
    assert_allclose(u_ubm([0.5, 0.5], [[1, 0], [0.9, 0.4]]), 0.25 + second * 0.5)
    assert_allclose(u_ubm([0.5, 0.5], [[1, 0], [0.9, 0.4]], [0, 1]), second)
    assert ebu([], []) == rr_dbn([], []) == 0.0


def test_with_certain_clicks_rr_dbn_is_the_expected_reciprocal_rank() -> None:
    grades = np.array([3, 0, 2, 4])
    satisfies = (2.0**grades - 1) / 16
    err, reached = 0.0, 1.0
    for rank, satisfied in enumerate(satisfies, start=1):
        err += reached * satisfied / rank
        reached *= 1 - satisfied
    assert_allclose(rr_dbn(np.ones(4), satisfies), err)


def everybody(model: str, *parameters: object) -> tuple[np.ndarray, np.ndarray]:
    """Return P(C_r = 1) and P(S_r = 1) by enumeration."""
    pages = [p for p in oracle.every_page(model, N, *parameters).values() if p.probability > 0]
    satisfied = sum((p.probability * p.satisfied for p in pages), np.zeros(N))
    return pages[0].marginal, satisfied


@pytest.mark.parametrize("continuation", [0.3, 0.9, 1.0])
def test_ebu_and_rr_dbn_are_those_of_all_users_of_dbn(continuation: float) -> None:
    marginal, satisfied = everybody("DBN", ATTRACT, SATISFY, continuation)
    gains = [1.0, 0.0, 2.0, 5.0]
    assert_allclose(ebu(ATTRACT, SATISFY, continuation), satisfied.sum())
    assert_allclose(ebu(ATTRACT, SATISFY, continuation, gains), marginal @ gains)
    assert_allclose(rr_dbn(ATTRACT, SATISFY, continuation), satisfied @ (1.0 / np.arange(1, 5)))


def test_u_ubm_is_that_of_all_users_of_ubm() -> None:
    examined = np.random.default_rng(3).uniform(0.1, 0.9, (N, N))
    marginal, _ = everybody("UBM", ATTRACT, examined)
    assert_allclose(u_ubm(ATTRACT, examined), marginal @ ATTRACT)
    assert_allclose(u_ubm(ATTRACT, examined, [4, 3, 2, 1]), marginal @ [4, 3, 2, 1])


def model_of(name: str, cells: list[float] | np.ndarray) -> clicks.model.ClickModel:
    shown = Pages.from_lists([0], [[*range(N)]], [[0] * N])
    model = getattr(clicks, name)()
    return known_clicks.with_truth(model, shown, ATTRACT, np.asarray(cells), SATISFY)


def test_a_model_gives_the_metrics_of_its_parameters() -> None:
    order = [2, 0, 3, 1]
    a, s = ATTRACT[order], SATISFY[order]
    dbn = model_of("DBN", [0.8])
    assert_allclose(dbn.utility(0, order), ebu(a, s, 0.8), rtol=1e-5)
    assert_allclose(dbn.utility(0, order, gains=[3, 1, 0, 2]), ebu(a, s, 0.8, [3, 1, 0, 2]),
                    rtol=1e-5)  # fmt: skip
    assert_allclose(dbn.utility(0, order, "reciprocal"), rr_dbn(a, s, 0.8), rtol=1e-5)
    sdbn = model_of("SDBN", [])
    assert_allclose(sdbn.utility(0, order, "reciprocal"), rr_dbn(a, s), rtol=1e-5)
    cells = known_clicks.browsing_cells(10)
    ubm = model_of("UBM", cells)
    assert_allclose(ubm.utility(0, order), u_ubm(a, cells.reshape(10, 11)), rtol=1e-5)


def test_what_satisfies_depends_on_the_model() -> None:
    order, ranks = [0, 1, 2, 3], np.arange(1, N + 1)
    marginal, satisfied = everybody("CCM", ATTRACT, 0.9, 0.8, 0.3)
    ccm = model_of("CCM", [0.9, 0.8, 0.3])
    assert_allclose(ccm.utility(0, order, "reciprocal"), satisfied @ (1 / ranks), rtol=1e-5)
    assert_allclose(ccm.utility(0, order), marginal @ ATTRACT, rtol=1e-5)
    marginal, _ = everybody("CM", ATTRACT)
    cascade = model_of("CascadeModel", [])
    assert_allclose(cascade.utility(0, order, "reciprocal"), marginal @ (1 / ranks), rtol=1e-5)
    goes_on = 0.9 - 0.08 * np.arange(10)
    marginal, _ = everybody("DCM", ATTRACT, goes_on[:N])
    dcm = model_of("DCM", goes_on)
    assert_allclose(dcm.utility(0, order, "reciprocal"), marginal @ ((1 - goes_on[:N]) / ranks),
                    rtol=1e-5)  # fmt: skip
    for name, cells in (("UBM", known_clicks.browsing_cells(10)), ("DCTR", [])):
        with pytest.raises(InputError, match="knows no satisfaction"):
            model_of(name, cells).utility(0, order, "reciprocal")


@pytest.mark.parametrize(("name", "cells"), [("UBM", known_clicks.browsing_cells(10)),
                                            ("DBN", [0.8]), ("CCM", [0.9, 0.8, 0.3])])  # fmt: skip
def test_utility_is_the_mean_over_simulated_users(name: str, cells: list[float]) -> None:
    model, gains, users = model_of(name, cells), np.array([3.0, 1.0, 4.0, 2.0]), 100_000
    shown = Pages.from_arrays(
        np.arange(users + 1) * N, np.zeros(users, np.int64), np.tile(np.arange(N), users),
        np.zeros(users * N, np.bool_),
    )  # fmt: skip
    drawn = model.simulate(shown, random_state=5).clicks.reshape(users, N) @ gains
    error = drawn.std() / np.sqrt(users)
    assert abs(model.utility(0, [0, 1, 2, 3], gains=gains) - drawn.mean()) < 4 * error


def test_utility_refuses_what_it_cannot_use() -> None:
    dbn = model_of("DBN", [0.8])
    assert dbn.utility(0, []) == 0.0
    assert 0.0 < dbn.utility("unknown", ["new", "newer"]) < 1.0
    with pytest.raises(ParameterError, match="'kind'"):
        dbn.utility(0, [1], "total")
    with pytest.raises(ShapeError, match="gains has length 1"):
        dbn.utility(0, [1, 2], gains=[1.0])
    with pytest.raises(InputError, match=r"GCTR\.utility: this model has one click rate"):
        model_of("GCTR", [0.3]).utility(0, [1])


def test_sums_need_one_number_a_rank() -> None:
    assert_allclose(reciprocal_satisfaction([0.3, 0.2, 0.6]), 0.3 + 0.1 + 0.2)
    with pytest.raises(ShapeError, match="gains has length 1"):
        expected_utility([0.5, 0.5], [1.0])
