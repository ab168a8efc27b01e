"""What happens to a click model over its life: bounds set late, merges, errors, days, doubles."""

from __future__ import annotations

import numpy as np
import pytest

from purport.clicks import PBM, UBM
from purport.clicks.prequential import drift_report
from purport.errors import InputError
from purport.records.pages import Pages
from purport.simulate.clicks import ClickWorld

WORLD = ClickWorld(3, queries=30, docs=40, pages_a_day=400)
DAY = 86_400


def looks_at_ranks(model: PBM) -> float:
    """Return how many results the model has learnt from, as its ranks count them."""
    return float(model._state.sums[: model._state.cells, 1].sum())


def plain(pages: Pages, **parameters: int) -> PBM:
    """Return a model that has learnt from pages, no longer than needed here."""
    return PBM(prior=(0.3, 2.0), **parameters).fit(pages, tol=0.1)


def test_a_bound_taken_away_counts_no_page_twice() -> None:
    model = PBM(max_pairs=500, sync_every=300).fit(WORLD.day(1)).set_params(max_pairs=None)
    before = looks_at_ranks(model)
    more = WORLD.days(2, 3)
    model.update(more)
    assert looks_at_ranks(model) - before == pytest.approx(len(more.docs))


def test_a_bound_set_later_holds_and_outlives_a_merge() -> None:
    model = PBM(sync_every=100).fit(WORLD.day(1)).set_params(max_pairs=100)
    model.update(WORLD.day(2))
    assert model.n_pairs_ <= 100
    model.merge(PBM(sync_every=100, max_pairs=100).fit(WORLD.day(3)))
    assert model.n_pairs_ <= 100
    model.update(WORLD.day(4))
    assert model.n_pairs_ <= 100


def test_what_was_merged_grows_old_from_its_last_day_on() -> None:
    model = plain(WORLD.day(1)).merge(plain(WORLD.day(2)))
    later = WORLD.day(300)
    model.update(later, half_life_days=10.0)
    assert looks_at_ranks(model) == pytest.approx(len(later.docs), rel=1e-3)


@pytest.mark.parametrize("first", [-50, 0, 5, 20_000])
def test_it_does_not_matter_which_day_is_the_first(first: int) -> None:
    times = [first * DAY] * 20 + [(first + 30) * DAY] * 20
    clicks = [[1, 0]] * 20 + [[0, 1]] * 20
    pages = Pages.from_lists([1] * 40, [[7, 8]] * 40, clicks, times)
    model = PBM(prior=(0.3, 2.0)).update(pages, half_life_days=1.0)
    assert looks_at_ranks(model) == pytest.approx(40.0, rel=1e-6)
    assert model.relevance(1, [8])[0] > model.relevance(1, [7])[0]
    auto = PBM(prior=(0.3, 2.0)).update(pages, forget="auto")
    assert np.isfinite(list(auto.rates_tried_.values())).all()


def test_ties_are_those_of_the_pairs_that_are_left() -> None:
    log = WORLD.days(1, 2)
    named = Pages.from_arrays(
        log.offsets,
        [f"q{query}" for query in log.queries.strings()],
        [f"d{doc}" for doc in log.docs.strings()],
        log.clicks,
    )
    whole, bounded = plain(named), plain(named, max_pairs=60)
    whole.identifiability(named)
    bounded.identifiability(named)
    met = 0
    for query in set(named.queries.strings()):
        if query not in bounded._state.query_names.known:
            continue
        docs = bounded.relevance(query).docs
        met += len(docs)
        assert (
            bounded.relevance(query, docs, 0.9).tied.tolist()
            == whole.relevance(query, docs, 0.9).tied.tolist()
        )
    assert met > 10


def test_ids_that_come_later_inherit_no_ties() -> None:
    log = Pages.from_lists(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[1, 0], [1, 0]] * 2)
    model = PBM(prior=(0.3, 2.0)).fit(log)
    other = Pages.from_lists(["q"] * 4, [["x", "a"], ["a", "x"]] * 2, [[1, 0], [0, 1]] * 2)
    model.identifiability(other)
    model.update(Pages.from_lists(["q"], [["y"]], [[1]]))
    assert model.relevance("q", ["y"], 0.9).tied.tolist() == [True]


def test_what_is_refused_changes_nothing() -> None:
    pages = WORLD.day(1)
    model = UBM(max_pairs=100)
    with pytest.raises(InputError, match="max_pairs does not bound"):
        model.update(pages, forget="auto")
    assert not model._is_fitted()
    untimed = Pages.from_arrays(pages.offsets, pages.queries, pages.docs, pages.clicks)
    with pytest.raises(InputError, match="needs times"):
        model.update(untimed, half_life_days=3.0)
    assert not model._is_fitted()
    model.update(pages)
    assert (model.pages_seen_, model.dropped_) == (len(pages), 0)


def test_a_page_that_comes_twice_is_learnt_from_once_by_fit_too() -> None:
    pages = WORLD.day(1)
    model = PBM(prior=(0.3, 2.0)).fit(Pages.concatenate([pages, pages]), tol=0.1)
    assert (model.pages_seen_, model.dropped_) == (len(pages), len(pages))
    assert looks_at_ranks(model) == len(pages.docs)
    model.update(pages)
    assert (model.pages_seen_, model.dropped_) == (len(pages), 2 * len(pages))


def test_a_drift_report_leaves_out_what_a_bound_does_not_allow() -> None:
    told = drift_report(
        PBM(prior=(0.3, 2.0), max_pairs=300), WORLD.days(1, 4), history_days=2, fit={"tol": 0.1}
    )
    assert "auto" not in told.ways
    assert "static" in told.ways
