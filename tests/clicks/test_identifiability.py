"""Which parameters a log tells apart: components by hand, and what is lost as swaps are removed."""

from __future__ import annotations

from itertools import pairwise

import known_clicks
import numpy as np
import pytest
from numpy.testing import assert_allclose

from purport import clicks
from purport.clicks.beliefs import Belief
from purport.clicks.identifiability import Identifiability
from purport.clicks.pairs import COLUMNS
from purport.errors import InputError, NotFittedError
from purport.records.pages import Pages

RANKS = 10
CELLS = {
    "PBM": 0.9 * 0.8 ** np.arange(RANKS),
    "UBM": known_clicks.browsing_cells(RANKS),
    "DBN": np.array([0.85]),
}


def report(name: str, pages: Pages) -> Identifiability:
    model = getattr(clicks, name)(prior=(0.4, 3.0)).fit(pages, max_iter=100, tol=0.01)
    return model.identifiability(pages)


def test_documents_at_two_ranks_tie_them() -> None:
    pages = Pages.from_lists(
        ["cats", "cats", "dogs", "dogs"],
        [["a", "b", "c"], ["b", "a", "c"], ["d", "e", "f", "g"], ["d", "e", "g", "f"]],
        [[1, 0, 0], [1, 0, 1], [1, 0, 0, 0], [1, 0, 0, 1]],
    )
    told = report("PBM", pages)
    # Ranks 0 and 1 by a and b; ranks 2 and 3 by f, which was clicked, and not by g, which was not.
    assert [component.ranks for component in told.components] == [(0, 1), (2, 3)]
    assert [component.results for component in told.components] == [8, 6]
    assert [(cell.rank, cell.last, cell.component) for cell in told.cells] == [
        (0, None, 0), (1, None, 0), (2, None, 1), (3, None, 1),
    ]  # fmt: skip
    assert [cell.pairs for cell in told.cells] == [3, 3, 3, 2]
    # Of rank 0 a and b, of ranks 2 and 3 f; g was swapped, but never clicked.
    assert [cell.swapped for cell in told.cells] == [2, 2, 1, 1]
    assert (told.pairs, told.tied, told.unclicked, told.unseen) == (7, 3, 2, 6)
    assert told.cells[0].error == 0.0
    assert np.isfinite(told.cells[1].error)
    assert told.cells[2].error == told.cells[3].error == np.inf


def test_a_document_never_clicked_ties_nothing() -> None:
    docs = [["a", "b"], ["b", "c"]]
    apart = report("PBM", Pages.from_lists(["q", "q"], docs, [[1, 0], [0, 1]]))
    assert [component.ranks for component in apart.components] == [(0,), (1,)]
    assert apart.tied == apart.pairs == 3
    together = report("PBM", Pages.from_lists(["q", "q"], docs, [[1, 1], [0, 1]]))
    assert [component.ranks for component in together.components] == [(0, 1)]
    assert together.tied == 0


def test_the_same_document_of_two_queries_ties_nothing() -> None:
    told = report("PBM", Pages.from_lists(["p", "q"], [["a", "b"], ["b", "a"]], [[1, 1], [1, 1]]))
    assert len(told.components) == 2


def test_cells_of_ubm_are_tied_by_clicks_above_but_not_their_ranks() -> None:
    pages = Pages.from_lists(
        ["q"] * 3, [["a", "b"]] * 3, [[1, 1], [0, 1], [0, 0]]
    )  # b is seen after a click and after none, always at rank 1
    told = report("UBM", pages)
    assert [(cell.rank, cell.last, cell.component) for cell in told.cells] == [
        (0, -1, 0), (1, -1, 1), (1, 0, 1),
    ]  # fmt: skip
    assert [component.cells for component in told.components] == [1, 2]
    # One rank in a component: attraction is told only as a product with its examination.
    assert told.tied == 2
    assert told.unseen == RANKS * (RANKS + 1) - 3


def test_errors_are_those_of_a_generalised_linear_model() -> None:
    """Compare with the inverse of the whole information matrix, pairs and cells."""
    shown = known_clicks.shown(6, 5, 5, 400, swaps=0.5, seed=1)
    rng = np.random.default_rng(2)
    truth = known_clicks.with_truth(clicks.PBM(), shown, rng.uniform(0.2, 0.8, 30), CELLS["PBM"])
    log = truth.simulate(shown, 3)
    model = clicks.PBM(prior=(0.4, 3.0)).fit(log, max_iter=300)
    told = model.identifiability(log)
    assert len(told.components) == 1
    information = np.zeros((30 + 5, 30 + 5))
    docs, ranks = log.docs.codes, np.tile(np.arange(5), len(log))
    attract = np.concatenate([model.relevance(q, range(5 * q, 5 * q + 5)) for q in range(6)])
    clicked = np.bincount(docs, log.clicks, 30) > 0
    for doc, rank in zip(docs.tolist(), ranks.tolist(), strict=True):
        if clicked[doc]:
            chance = attract[doc] * model._state.parameters[rank]
            direction = np.zeros(35)
            direction[[doc, 30 + rank]] = 1.0
            information += chance / (1.0 - chance) * np.outer(direction, direction)
    reference = 30 + int(np.argmax(np.bincount(ranks, log.clicks)))
    kept = np.setdiff1d(np.flatnonzero(np.diag(information)), [reference])
    variance = np.diag(np.linalg.inv(information[np.ix_(kept, kept)]))
    expected = dict(zip(kept.tolist(), np.sqrt(variance), strict=True))
    for cell in told.cells:
        assert_allclose(cell.error, expected.get(30 + cell.rank, 0.0), rtol=1e-6)


def test_errors_foretell_how_far_examination_is_off() -> None:
    squares = []
    for seed in range(4):
        shown = known_clicks.shown(200, 8, 8, 10_000, seed=seed)
        attract = np.random.default_rng(seed).beta(1.2, 2.8, 1600)
        truth = known_clicks.with_truth(clicks.UBM(), shown, attract, CELLS["UBM"])
        log = truth.simulate(shown, seed + 50)
        model = clicks.UBM(prior=(0.3, 4.0)).fit(log, max_iter=500)
        told = model.identifiability(log)
        numbers = [cell.rank * (RANKS + 1) + cell.last + 1 for cell in told.cells]
        errors = np.array([cell.error for cell in told.cells])
        off = np.log(model._state.parameters[numbers] / CELLS["UBM"][numbers])
        off -= off[errors == 0.0]
        squares += ((off[errors > 0.0] / errors[errors > 0.0]) ** 2).tolist()
    assert 0.7 < np.sqrt(np.mean(squares)) < 1.4


@pytest.mark.parametrize("name", ["PBM", "UBM", "DBN"])
def test_attraction_is_lost_as_swaps_are_removed(name: str) -> None:
    """Rankings put the best first; only swaps can tell that from where people look."""
    lost, doubted, tied = [], [], []
    for swaps in (1.0, 0.1, 0.03, 0.0):
        found = [_recovered(name, swaps, seed) for seed in range(3)]
        off, sure, flagged = (np.concatenate(each) for each in zip(*found, strict=True))
        lost.append(np.sqrt(np.mean(off**2)))
        doubted.append(np.sqrt(np.mean((off / sure) ** 2)))
        tied.append(flagged.mean())
    if name == "DBN":
        # Less is seen of what stands low, but all that is believed holds, and how firmly, too.
        assert 0.9 < min(doubted) < max(doubted) < 1.1, doubted
        assert lost[-1] < 1.5 * lost[0]
        assert tied[-1] < 0.25
    else:
        assert all(fewer > 1.05 * more for more, fewer in pairwise(lost)), lost
        assert lost[-1] > 1.5 * lost[0]
        assert all(fewer > 1.03 * more for more, fewer in pairwise(doubted)), doubted
        assert tied == [0.0, 0.0, 0.0, 1.0]


def _recovered(name: str, swaps: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how far attraction is off, how far it is believed to be, and what is tied."""
    shown = known_clicks.shown(200, 8, 8, 10_000, swaps=swaps, seed=seed)
    rng = np.random.default_rng(seed)
    attract = -np.sort(-rng.beta(1.2, 2.8, (200, 8)), axis=1).ravel()
    satisfy = rng.beta(1.2, 2.8, 1600)
    model = getattr(clicks, name)
    truth = known_clicks.with_truth(model(), shown, attract, CELLS[name], satisfy)
    log = truth.simulate(shown, seed + 50)
    found = model(prior=(0.3, 4.0)).fit(log, max_iter=1000)
    off, sure = [], []
    for table in found._state.tables:
        believed = Belief.of(table.kept[: table.pairs, :COLUMNS], 4.0)
        first, second = believed.moments()
        off.append(believed.mean - attract[table.pair_keys[: table.pairs, 1]])
        sure.append(np.sqrt(second - first**2))
    return np.concatenate(off), np.concatenate(sure), found.identifiability(log).ties.tied


@pytest.mark.parametrize(
    ("name", "tied"),
    [("DBN", 1), ("CCM", 1), ("SDBN", 1), ("DCM", 1), ("CascadeModel", 1), ("DCTR", 0)],
)
def test_what_nobody_surely_looked_at_is_tied(name: str, tied: int) -> None:
    pages = Pages.from_lists(
        ["q", "q", "r"], [["a", "b", "c"], ["b", "a", "c"], ["a"]], [[1, 0, 0], [0, 1, 0], [1]]
    )
    told = report(name, pages)
    assert (told.pairs, told.tied, told.unclicked) == (4, tied, 2)
    assert told.components == told.cells == ()
    assert told.explanation in str(told)


def test_pages_without_clicks_are_sure_of_the_first_result_or_of_all() -> None:
    pages = Pages.from_lists(["q"], [["a", "b", "c"]], [[0, 0, 0]])
    tied = {name: report(name, pages).tied for name in ("DBN", "CCM", "SDBN", "DCM")}
    assert tied == {"DBN": 2, "CCM": 2, "SDBN": 0, "DCM": 0}


def test_the_cascade_stops_at_the_first_click() -> None:
    pages = Pages.from_lists(["q"], [["a", "b", "c"]], [[1, 0, 1]])
    assert {name: report(name, pages).tied for name in ("CascadeModel", "SDBN")} == {
        "CascadeModel": 2,
        "SDBN": 0,
    }


@pytest.mark.parametrize(
    ("name", "unseen"),
    [("DBN", 0), ("CCM", 0), ("DCM", RANKS - 1), ("SDBN", 0), ("GCTR", 0), ("RCTR", RANKS - 2)],
)
def test_cells_that_rest_on_the_prior_are_counted(name: str, unseen: int) -> None:
    pages = Pages.from_lists(["q", "q"], [["a", "b"]] * 2, [[1, 0], [0, 0]])
    assert report(name, pages).unseen == unseen
    if name in ("DBN", "CCM"):
        alone = report(name, Pages.from_lists(["q"], [["a"]], [[1]]))
        assert alone.unseen == {"DBN": 1, "CCM": 3}[name]


def test_a_report_is_a_table_that_can_be_read() -> None:
    shown = known_clicks.shown(5, 8, 8, 200, seed=1)
    truth = known_clicks.with_truth(clicks.UBM(), shown, np.full(40, 0.5), CELLS["UBM"])
    log = truth.simulate(shown, 2)
    told = report("UBM", log)
    rows = told.rows()
    assert len(rows) == len(told.cells) > 20
    assert [*rows[0]] == [
        "rank", "last", "shown", "clicks", "pairs", "swapped", "component", "error",
    ]  # fmt: skip
    assert sum(row["shown"] for row in rows) == len(log.docs)
    assert sum(row["clicks"] for row in rows) == log.clicks.sum()
    assert str(told).endswith(f"and {len(rows) - 20} cells more: see rows()")
    assert repr(told) == f"Identifiability(UBM: 40 pairs, {told.tied} tied, 1 components)"


def test_asking_leaves_the_model_as_it_is() -> None:
    pages = Pages.from_lists(["q"] * 2, [["a", "b"], ["b", "a"]], [[1, 0], [1, 0]])
    model = clicks.PBM(prior=(0.4, 3.0)).fit(pages, max_iter=100, tol=0.01)
    before = model.relevance("q", ["a", "b", "z"])
    others = Pages.from_lists(["q", "new"], [["z", "y"], ["z", "y"]], [[1, 0], [1, 0]])
    assert model.identifiability(others).pairs == 4
    assert (model.relevance("q", ["a", "b", "z"]) == before).all()
    assert not model.relevance("q", ["z"], 0.9).met[0]


def test_what_is_no_log_is_refused() -> None:
    pages = Pages.from_lists(["q"], [["a"]], [[1]])
    with pytest.raises(NotFittedError):
        clicks.UBM().identifiability(pages)
    model = clicks.UBM(prior=(0.4, 3.0)).fit(pages, max_iter=100, tol=0.01)
    with pytest.raises(InputError, match="takes Pages"):
        model.identifiability([["a"]])  # type: ignore[arg-type]
