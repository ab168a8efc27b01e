"""Merging models of two logs: sums add up, ids match, and what does not fit is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import drawn_pages
import numpy as np
import pytest
from numpy.testing import assert_allclose

import purport
from purport import clicks
from purport.clicks.kinds import KINDS
from purport.clicks.model import ClickModel
from purport.clicks.pairs import COLUMNS, DOUBT, PRIOR
from purport.errors import InputError, NotFittedError
from purport.records.pages import Pages

HELD = (0.3, 2.0)
COUNTED = [name for name, kind in KINDS.items() if kind.counts]


def new(name: str, **given: Any) -> ClickModel:
    model: ClickModel = getattr(clicks, name)(**{"prior": HELD} | given)
    return model


def bits(model: ClickModel) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in model._to_state().arrays.items()}


def sums(model: ClickModel) -> dict[tuple[str, str], np.ndarray]:
    """Return all that is kept of each pair, by its ids."""
    state, found = model._state, {}
    for table in state.tables:
        asked = state.query_names.strings(table.query_keys[: table.queries, 0].tolist())
        shown = state.doc_names.strings(table.pair_keys[: table.pairs, 1].tolist())
        owners = table.pair_keys[: table.pairs, 0].tolist()
        for owner, doc, kept in zip(owners, shown, table.kept, strict=False):
            found[asked[owner], doc] = kept.copy()
    return found


@pytest.mark.parametrize("ids", ["", None], ids=["strings", "numbers"])
@pytest.mark.parametrize("name", COUNTED)
def test_counts_of_two_halves_are_those_of_the_whole(name: str, ids: str | None) -> None:
    log = drawn_pages.log(300, seed=1, names=ids)
    whole = new(name).fit(log)
    merged = new(name).fit(log[:140])
    assert merged.merge(new(name).fit(log[140:])) is merged
    np.testing.assert_array_equal(merged.click_probabilities(log), whole.click_probabilities(log))
    assert merged.log_likelihood(log) == whole.log_likelihood(log)
    assert merged.n_pairs_ == whole.n_pairs_
    assert merged._trained_on()["pages"] == 300
    ours, theirs = sums(merged), sums(whole)
    assert ours.keys() == theirs.keys()
    for pair, kept in theirs.items():
        np.testing.assert_array_equal(ours[pair], kept)
    if ids is None:
        # Whole numbers are dealt alike in all models, so even the order is the same.
        assert bits(merged) == bits(whole)


@pytest.mark.parametrize("how", ["fit", "update"])
@pytest.mark.parametrize("name", ["UBM", "PBM", "DBN", "CCM"])
def test_what_was_expected_adds_up(name: str, how: str) -> None:
    log = drawn_pages.log(300, seed=2)
    # Names are numbered in another order in each.
    one, other = log[:140], log[140:][::-1]
    learnt = [
        new(name).fit(half, tol=1e-2) if how == "fit" else new(name).update(half)
        for half in (one, other)
    ]
    assert learnt[0]._state.query_names.known != learnt[1]._state.query_names.known
    a, b = map(sums, learnt)
    cells = learnt[0]._state.sums + learnt[1]._state.sums
    before = bits(learnt[1])
    merged = learnt[0].merge(learnt[1])
    assert bits(learnt[1]) == before
    found = sums(merged)
    assert found.keys() == a.keys() | b.keys()
    nothing = np.zeros(8)
    for pair, kept in found.items():
        for parameter in range(merged._state.width):
            of = COLUMNS * parameter
            added = [one.get(pair, nothing)[of : of + DOUBT + 1] for one in (a, b)]
            assert_allclose(kept[of : of + DOUBT + 1], np.sum(added, axis=0), atol=1e-12)
            assert kept[of + PRIOR] == pytest.approx(HELD[0], abs=1e-12)
    assert_allclose(merged._state.sums, cells, rtol=1e-15)


def test_a_pair_that_is_new_brings_its_prior_along() -> None:
    log = drawn_pages.log(200, seed=3)
    a, b = (
        new("UBM", prior="learned").update(log[:40]),
        new("UBM", prior="learned").update(log[40:]),
    )
    before, brought = sums(a), sums(b)
    found = sums(a.merge(b))
    assert found.keys() > before.keys()
    for pair, kept in found.items():
        assert kept[PRIOR] == before.get(pair, brought.get(pair))[PRIOR]


def of_queries(model: ClickModel) -> dict[str, np.ndarray]:
    """Return what is kept of each query, by its id."""
    found = {}
    for table in model._state.tables:
        keys = table.query_keys[: table.queries, 0].tolist()
        rows = table.query_sums[: table.queries].copy()
        found |= dict(zip(model._state.query_names.strings(keys), rows, strict=True))
    return found


@pytest.mark.parametrize("name", ["UBM", "DBN", "DCTR"])
def test_what_is_known_of_queries_adds_up(name: str) -> None:
    log = drawn_pages.log(200, seed=3, queries=40)
    a, b = (new(name, prior="learned").update(half) for half in (log[:60], log[60:][::-1]))
    one, other = of_queries(a), of_queries(b)
    found = of_queries(a.merge(b))
    assert found.keys() == one.keys() | other.keys()
    for query, kept in found.items():
        assert_allclose(kept, one.get(query, np.zeros(2)) + other.get(query, np.zeros(2)))


@pytest.mark.parametrize("name", ["UBM", "SDBN"])
def test_a_merged_model_is_a_model(name: str, tmp_path: Path) -> None:
    log = drawn_pages.log(300, seed=4)
    merged = new(name).update(log[:100]).merge(new(name).update(log[100:200]))
    purport.save(merged, tmp_path / "model")
    loaded = purport.load(tmp_path / "model")
    assert bits(loaded) == bits(merged)
    went_on = bits(merged.update(log[200:]))
    assert bits(loaded.update(log[200:])) == went_on


def test_merging_leaves_what_was_asked_before_alone() -> None:
    log = drawn_pages.log(100, seed=5)
    model = new("UBM").update(log[:50])
    twice = new("UBM").update(log[:50])
    model.merge(new("UBM").update(log[:0]))
    np.testing.assert_array_equal(model.click_probabilities(log), twice.click_probabilities(log))


def test_what_does_not_fit_is_refused() -> None:
    log = drawn_pages.log(60, seed=6, days=6)
    model = new("UBM").fit(log, tol=1e-2)
    held = bits(model)
    for other, said in (
        (new("PBM").fit(log, tol=1e-2), "UBM.merge takes another UBM; got PBM."),
        ({}, "UBM.merge takes another UBM; got dict."),
        (
            new("UBM", prior=(0.4, 2.0)).fit(log, tol=1e-2),
            "UBM.merge needs equal parameters; prior is (0.3, 2.0) here and (0.4, 2.0) there.",
        ),
        (
            new("UBM", shards=2).fit(log, tol=1e-2),
            "UBM.merge needs equal parameters; shards is 8 here and 2 there.",
        ),
        (
            new("UBM", sync_every=5).fit(log, tol=1e-2),
            "UBM.merge needs equal parameters; sync_every is 8192 here and 5 there.",
        ),
        (
            new("UBM", ranks=3).fit(log, tol=1e-2),
            "UBM.merge needs as many ranks; there are 10 here and 3 there. Give both models the"
            " same ranks=.",
        ),
        (
            new("UBM").update(log, half_life_days=3.0),
            "UBM.merge cannot add sums that grow old (half_life_days, or forget='auto'): each pair"
            " is of a day of its own. Learn from both logs.",
        ),
    ):
        with pytest.raises(InputError) as caught:
            model.merge(other)
        assert str(caught.value) == said
    for one, other in ((model, new("UBM")), (new("UBM"), model)):
        with pytest.raises(NotFittedError):
            one.merge(other)
    assert bits(model) == held


def test_ids_match_across_numbers_and_strings() -> None:
    numbers = Pages.from_lists([7, 8], [[1, 2], [3]], [[1, 0], [1]])
    strings = Pages.from_lists(["7", "x"], [["2", "y"], ["3"]], [[1, 0], [0]])
    merged = new("DCTR").fit(numbers).merge(new("DCTR").fit(strings))
    assert set(sums(merged)) == {("7", "1"), ("7", "2"), ("8", "3"), ("7", "y"), ("x", "3")}
    assert sums(merged)["7", "2"][:2].tolist() == [1.0, 2.0]


def test_models_that_have_forgotten_names_are_merged() -> None:
    chance = np.random.default_rng(3)
    logs = [
        Pages.from_lists(
            [f"q{number}" for number in chance.integers(0, 30, 300)],
            [[f"d{doc}" for doc in chance.permutation(40)[:3]] for _ in range(300)],
            chance.integers(0, 2, (300, 3)).tolist(),
        )
        for _ in range(2)
    ]
    bounded = [clicks.DCTR((0.4, 2.0), sync_every=50, max_pairs=60).update(log) for log in logs]
    first, second = bounded
    apart = [
        {
            (query, doc): model.relevance(query, [doc], interval=0.9)
            for query in {f"q{number}" for number in range(30)}
            for doc in model.relevance(query).docs
        }
        for model in bounded
    ]
    first.set_params(max_pairs=None)
    second.set_params(max_pairs=None)
    first.merge(second)
    for (query, doc), told in apart[1].items():
        merged = first.relevance(query, [doc], interval=0.9)
        before = apart[0].get((query, doc))
        looks = told.evidence[0] + (0.0 if before is None else before.evidence[0])
        assert merged.evidence[0] == pytest.approx(looks)
