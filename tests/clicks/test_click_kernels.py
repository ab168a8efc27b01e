"""The kernels of click models against the enumeration of everything that a user may do."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from drawn_pages import MODELS, Drawn, pages
from hypothesis import given, settings
from numpy.testing import assert_allclose
from oracle import click_training as training
from oracle import clicks as oracle

from purport.clicks.kinds import KINDS
from purport.clicks.pages import NO_UNIFORMS, click_probabilities, sum_pages

CLOSE = {"rtol": 0.0, "atol": 1e-10}
ORACLES = {"CascadeModel": "CM"}
HIDDEN = ("UBM", "PBM", "DBN", "CCM")
AFTER = ("after_skip", "after_click", "after_satisfaction")


def asked(drawn: Drawn, is_marginal: bool) -> np.ndarray:
    """Return what a kernel says of one page."""
    kind, n = KINDS[drawn.name], len(drawn.clicks)
    out = np.empty(n)
    click_probabilities(
        kind.number, is_marginal, np.array([0, n]), drawn.clicks, drawn.ranks, drawn.attracts,
        drawn.satisfies if kind.satisfies else np.empty(0), drawn.shared, NO_UNIFORMS, out,
    )  # fmt: skip
    return out


def cell_numbers(name: str, n: int, ranks: int) -> np.ndarray:
    """Return the number of the cell that each entry of an oracle's parameter has."""
    rows = np.minimum(np.arange(n), ranks - 1)
    if name == "UBM":
        return rows[:, None] * (ranks + 1) + np.minimum(np.arange(n), ranks)
    return np.zeros((), int) if name == "GCTR" else rows


def by_enumeration(drawn: Drawn) -> oracle.Page:
    name, n = ORACLES.get(drawn.name, drawn.name), len(drawn.clicks)
    given = {"attractiveness": drawn.attracts, "satisfaction": drawn.satisfies}
    if name == "CCM":
        given |= dict(zip(AFTER, drawn.shared, strict=True))
    elif name == "DBN":
        given["continuation"] = drawn.shared[0]
    elif len(drawn.shared):
        of_entries = drawn.shared[cell_numbers(name, n, drawn.ranks)]
        given |= dict.fromkeys(("examination", "continuation", "rate"), of_entries)
    wanted = [given[one] for one in oracle.MODELS[name][1]]
    return oracle.page(name, drawn.clicks, *wanted)


@settings(max_examples=400)
@given(pages())
def test_click_probabilities_are_those_of_enumeration(drawn: Drawn) -> None:
    page = by_enumeration(drawn)
    assert_allclose(asked(drawn, is_marginal=True), page.marginal, **CLOSE)
    # What follows clicks that cannot be is not defined.
    defined = ~np.isnan(page.conditional)
    found = asked(drawn, is_marginal=False)
    assert_allclose(found[defined], page.conditional[defined], **CLOSE)
    assert np.all((found >= 0.0) & (found <= 1.0))


@settings(max_examples=400)
@given(pages((*HIDDEN, "GCTR", "RCTR", "DCTR")))
def test_expected_counts_are_those_of_enumeration(drawn: Drawn) -> None:
    kind, n = KINDS[drawn.name], len(drawn.clicks)
    page = by_enumeration(drawn)
    width = (7 if kind.satisfies else 4) if kind.has_pairs else 0
    rates = np.linspace(0.2, 0.7, drawn.ranks)
    of_pairs, of_cells = np.zeros((n, width)), np.zeros((len(drawn.shared) + drawn.ranks, 2))
    sum_pages(
        kind.number, np.array([0, n]), drawn.clicks, np.arange(n, dtype=np.int32), drawn.ranks,
        drawn.attracts, drawn.satisfies if kind.satisfies else np.empty(0), drawn.shared,
        rates if width else np.empty(0), of_pairs, of_cells,
    )  # fmt: skip
    cells = np.zeros((len(drawn.shared), 2))
    if drawn.name == "CCM":
        cells[:] = [page.counts[one] for one in AFTER]
    elif drawn.name == "DBN":
        cells[:] = page.counts["continuation"]
    elif len(cells):
        (name,) = page.counts.keys() & {"examination", "rate"}
        where = cell_numbers(drawn.name, n, drawn.ranks)
        for column, counts in enumerate(page.counts[name]):
            np.add.at(cells[:, column], where, counts)
    assert_allclose(of_cells[: len(cells)], cells, **CLOSE)
    if not width:
        return
    heads, tosses = page.counts["attractiveness"]
    assert_allclose(of_pairs[:, 0], heads, **CLOSE)
    assert_allclose(of_pairs[:, 1], tosses, **CLOSE)
    attracted, satisfied = page.attracted, page.satisfied
    if drawn.name == "DCTR":
        attracted = drawn.clicks.astype(float)
    open_ = attracted * (1.0 - attracted)
    if drawn.name == "CCM":
        open_ = open_ + satisfied * (1.0 - satisfied)
    assert_allclose(of_pairs[:, 2], open_, **CLOSE)
    row = np.minimum(np.arange(n), drawn.ranks - 1)
    assert_allclose(of_pairs[:, 3], rates[row] * tosses, **CLOSE)
    of_ranks = np.zeros((drawn.ranks, 2))
    np.add.at(of_ranks, row, np.transpose([heads, tosses]))
    assert_allclose(of_cells[len(cells) :], of_ranks, **CLOSE)
    if kind.satisfies:
        assert_allclose(of_pairs[:, 4:6].T, page.counts["satisfaction"], **CLOSE)
        assert_allclose(of_pairs[:, 6], satisfied * (1.0 - satisfied), **CLOSE)


@settings(max_examples=200)
@given(pages(("DCM", "SDBN", "CascadeModel")))
def test_what_is_counted_is_what_the_plain_twin_counts(drawn: Drawn) -> None:
    kind, n = KINDS[drawn.name], len(drawn.clicks)
    name = ORACLES.get(drawn.name, drawn.name)
    told: dict[tuple[str, int], np.ndarray] = defaultdict(lambda: np.zeros(2))
    one = (0, list(range(n)), drawn.clicks.astype(int).tolist())
    for parameter, key, heads, tosses in training.counts(name, one, {}):
        of_rank = parameter == "continuation"
        place = min(key, drawn.ranks - 1) if of_rank else key[1]
        told[parameter, place] += heads, tosses
    of_pairs = np.zeros((n, 7 if kind.satisfies else 4))
    of_cells = np.zeros((len(drawn.shared) + drawn.ranks, 2))
    sum_pages(
        kind.number, np.array([0, n]), drawn.clicks, np.arange(n, dtype=np.int32), drawn.ranks,
        drawn.attracts, drawn.satisfies if kind.satisfies else np.empty(0), drawn.shared,
        np.empty(0), of_pairs, of_cells,
    )  # fmt: skip
    for r in range(n):
        np.testing.assert_array_equal(of_pairs[r, :2], told["attractiveness", r])
        if kind.satisfies:
            np.testing.assert_array_equal(of_pairs[r, 4:6], told["satisfaction", r])
    for cell in range(len(drawn.shared)):
        np.testing.assert_array_equal(of_cells[cell], told["continuation", cell])
    assert not of_cells[len(drawn.shared) :].any()


def one_page(name: str, n: int, clicked: float, seed: int = 0) -> Drawn:
    random = np.random.default_rng(seed)
    ranks = 50
    return Drawn(
        name, ranks, random.random(n) < clicked, random.uniform(0.05, 0.9, n),
        random.uniform(0.05, 0.9, n), np.full(KINDS[name].cells(ranks), 0.5),
    )  # fmt: skip


@pytest.mark.parametrize("clicked", [0.0, 0.0003, 0.2, 1.0])
@pytest.mark.parametrize("name", MODELS)
def test_pages_of_ten_thousand_results(name: str, clicked: float) -> None:
    """Cells are 1/2 here, which is what the plain twin takes where it is told nothing."""
    n = 10_000
    drawn, kind = one_page(name, n, clicked), KINDS[name]
    twin = ORACLES.get(name, name)
    parameters = {("attractiveness", (0, r)): a for r, a in enumerate(drawn.attracts.tolist())}
    parameters |= {("satisfaction", (0, r)): s for r, s in enumerate(drawn.satisfies.tolist())}
    one = (0, list(range(n)), drawn.clicks.astype(int).tolist())
    assert_allclose(asked(drawn, False), training.conditional(twin, one, parameters), **CLOSE)
    if name != "UBM":
        assert_allclose(asked(drawn, True), training.marginal(twin, one, parameters), **CLOSE)
    marginal = asked(drawn, True)
    assert np.all((marginal >= 0.0) & (marginal < 1.0))
    of_pairs = np.zeros((n, (7 if kind.satisfies else 4) if kind.has_pairs else 0))
    of_cells = np.zeros((len(drawn.shared) + drawn.ranks, 2))
    sum_pages(
        kind.number, np.array([0, n]), drawn.clicks, np.arange(n, dtype=np.int32), drawn.ranks,
        drawn.attracts, drawn.satisfies if kind.satisfies else np.empty(0), drawn.shared,
        np.empty(0), of_pairs, of_cells,
    )  # fmt: skip
    for sums in (of_pairs[:, :2], of_pairs[:, 4:6], of_cells):
        if sums.shape[1]:
            heads, tosses = sums.T
            assert np.all((heads >= 0.0) & (heads <= tosses + 1e-9))
    if name in ("UBM", "PBM", "GCTR", "RCTR"):
        assert of_cells[:, 1].sum() == n
    if name in HIDDEN:
        assert of_pairs[:, 1].sum() == n + (drawn.clicks.sum() if name == "CCM" else 0)


@pytest.mark.parametrize("clicked", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("name", HIDDEN)
def test_counts_of_a_long_page_are_those_of_the_plain_twin(name: str, clicked: float) -> None:
    n = 150
    drawn, kind = one_page(name, n, clicked, seed=1), KINDS[name]
    parameters = {("attractiveness", (0, r)): a for r, a in enumerate(drawn.attracts.tolist())}
    parameters |= {("satisfaction", (0, r)): s for r, s in enumerate(drawn.satisfies.tolist())}
    one = (0, list(range(n)), drawn.clicks.astype(int).tolist())
    told: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((n, 2)))
    for parameter, key, heads, tosses in training.counts(name, one, parameters):
        told[parameter][key[1] if parameter in ("attractiveness", "satisfaction") else 0] += (
            heads,
            tosses,
        )
    of_pairs = np.zeros((n, 7 if kind.satisfies else 4))
    of_cells = np.zeros((len(drawn.shared) + drawn.ranks, 2))
    sum_pages(
        kind.number, np.array([0, n]), drawn.clicks, np.arange(n, dtype=np.int32), drawn.ranks,
        drawn.attracts, drawn.satisfies if kind.satisfies else np.empty(0), drawn.shared,
        np.empty(0), of_pairs, of_cells,
    )  # fmt: skip
    assert_allclose(of_pairs[:, :2], told["attractiveness"], **CLOSE)
    if kind.satisfies:
        assert_allclose(of_pairs[:, 4:6], told["satisfaction"], **CLOSE)
    of_cells = of_cells[: len(drawn.shared)]
    names = {"DBN": ("continuation",), "CCM": AFTER}.get(name, ("examination",))
    if name in ("UBM", "PBM"):
        assert_allclose(of_cells.sum(axis=0), told["examination"][0], **CLOSE)
    else:
        assert_allclose(of_cells, [told[one][0] for one in names], **CLOSE)
