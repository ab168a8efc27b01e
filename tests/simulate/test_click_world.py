"""The world of clicks: what each knob does, and that its truth is the truth of its pages."""

from __future__ import annotations

import numpy as np
import pytest

from purport.clicks.kinds import KINDS
from purport.clicks.models import DBN, UBM
from purport.errors import InputError, ParameterError
from purport.records.pages import Pages
from purport.simulate.clicks import FIRST_DAY, ClickWorld

SMALL = {"queries": 20, "docs": 12, "pages_a_day": 60}


def ranks_of(pages):
    return np.arange(len(pages.docs)) - np.repeat(pages.offsets[:-1], np.diff(pages.offsets))


def test_the_same_seed_gives_the_same_days_in_whatever_order_they_are_asked_for():
    one, other = (ClickWorld(5, drift=0.1, churn=0.1, **SMALL) for _ in range(2))
    later, first = one.day(6), one.day(1)
    assert other.day(1) == first
    assert other.day(6) == later
    assert ClickWorld(6, drift=0.1, churn=0.1, **SMALL).day(1) != first


def test_days_are_days_in_a_row_with_ids_and_times_of_their_own():
    world = ClickWorld(5, **SMALL)
    pages = world.days(2, 4)
    assert pages == Pages.concatenate([world.day(2), world.day(3), world.day(4)])
    assert len(set(pages.ids)) == len(pages) == 180
    assert (np.diff(pages.times) >= 0).all()
    days = FIRST_DAY + np.arange(1, 4)
    assert np.unique(pages.times // 86_400).tolist() == days.tolist()


@pytest.mark.parametrize("names", [False, True])
def test_without_drift_and_churn_nothing_ever_changes(names):
    world = ClickWorld(5, names=names, **SMALL)
    assert np.array_equal(world.attractiveness(1), world.attractiveness(20))
    assert world.pairs(1)[1].strings() == world.pairs(20)[1].strings()
    assert world.day(1) != world.day(20)


def test_drift_moves_logits_by_its_size_a_day_and_leaves_their_spread():
    world = ClickWorld(5, queries=400, docs=20, drift=0.2)
    first, second, last = (np.log(a / (1 - a)) for a in map(world.attractiveness, (1, 2, 60)))
    assert (second - first).std() == pytest.approx(0.2, rel=0.05)
    assert last.std() == pytest.approx(first.std(), rel=0.05)
    assert last.mean() == pytest.approx(first.mean(), abs=0.05)
    assert np.corrcoef(first, last)[0, 1] < 0.6


def test_a_drift_wider_than_attractiveness_itself_draws_it_anew():
    world = ClickWorld(5, queries=400, docs=20, drift=50.0)
    first, second = (np.log(a / (1 - a)) for a in map(world.attractiveness, (1, 2)))
    assert second.std() == pytest.approx(first.std(), rel=0.05)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.1


@pytest.mark.parametrize("names", [False, True])
def test_churn_replaces_its_share_of_documents_by_ones_never_seen(names):
    world = ClickWorld(5, queries=200, docs=20, names=names, churn=0.1)
    before, after = (world.pairs(number)[1].strings() for number in (1, 2))
    fresh = [new for old, new in zip(before, after, strict=True) if old != new]
    assert 0.08 < len(fresh) / len(before) < 0.12
    assert len(set(fresh)) == len(fresh)
    assert not set(fresh) & set(before)
    moved = world.attractiveness(1) != world.attractiveness(2)
    assert moved.sum() <= len(fresh)


def test_new_documents_of_a_log_have_none_of_its_names():
    log = Pages.from_lists(["a"], [["new2", "new3"]], [[1, 0]])
    world = ClickWorld.over(log, churn=1.0)
    assert not set(world.pairs(2)[1].strings()) & {"new2", "new3"}


def test_without_position_bias_all_ranks_are_examined_alike():
    rates = {}
    for bias in (0.0, 1.0):
        world = ClickWorld(5, kind="PBM", position_bias=bias, swaps=1.0, pages_a_day=4000)
        pages = world.day(1)
        rates[bias] = np.bincount(ranks_of(pages), pages.clicks) / len(pages)
    assert rates[1.0][0] > 2.0 * rates[1.0][-1]
    assert rates[0.0].std() < 0.1 * rates[0.0].mean()


def test_swaps_decide_at_how_many_ranks_a_document_stands():
    seen = {}
    for swaps in (0.0, 1.0):
        pages = ClickWorld(5, queries=1, docs=5, swaps=swaps, pages_a_day=300).day(1)
        seen[swaps] = len(set(zip(pages.docs.strings(), ranks_of(pages).tolist(), strict=True)))
    # One query has three rankings of its five documents.
    assert seen[0.0] <= 15
    assert seen[1.0] == 25


def test_disorder_lets_what_attracts_stand_low():
    stands = {}
    for disorder in (0.0, 5.0):
        world = ClickWorld(5, swaps=0.0, disorder=disorder, **SMALL)
        pairs = zip(*(ids.strings() for ids in world.pairs(1)), strict=True)
        attracts = dict(zip(pairs, world.attractiveness(1).tolist(), strict=True))
        pages = world.day(1)
        asked = np.repeat(pages.queries.strings(), np.diff(pages.offsets)).tolist()
        of = np.array([attracts[pair] for pair in zip(asked, pages.docs.strings(), strict=True)])
        stands[disorder] = of.reshape(len(pages), -1)
    assert (np.diff(stands[0.0], axis=1) <= 0.0).all()
    first, last = stands[5.0].mean(axis=0)[[0, -1]]
    assert first - last < 0.3 * (stands[0.0].mean(axis=0)[[0, -1]] @ [1.0, -1.0])


@pytest.mark.parametrize("kind", list(KINDS))
def test_clicks_of_every_kind_are_as_likely_as_it_is_said(kind):
    world = ClickWorld(5, kind=kind, queries=10, pages_a_day=4000)
    pages, told = world.day(1), world.probabilities(1)
    assert len(told) == len(pages.docs)
    assert ((told >= 0.0) & (told <= 1.0)).all()
    spread = np.sqrt((told * (1.0 - told)).sum())
    assert abs((pages.clicks - told).sum()) < 4.0 * spread


def test_no_model_foretells_better_than_the_world_itself():
    world = ClickWorld(5, queries=10, pages_a_day=1500)
    for kind in (UBM, DBN):
        model = kind(n_threads=1).fit(world.day(1), tol=0.01)
        assert model.log_likelihood(world.day(2)) < world.log_likelihood(2)


def test_a_world_of_real_pages_has_their_queries_as_often_and_their_documents():
    log = ClickWorld(5, queries=5, swaps=0.0, pages_a_day=300).day(1)
    world = ClickWorld.over(log, seed=1, swaps=0.0, pages_a_day=3000)
    day = world.day(1)

    def shares(pages):
        names, counts = np.unique(pages.queries.strings(), return_counts=True)
        return dict(zip(names.tolist(), (counts / len(pages)).tolist(), strict=True))

    real, drawn = shares(log), shares(day)
    assert all(abs(real[name] - drawn.get(name, 0.0)) < 0.05 for name in real)
    both = zip(log.queries.strings(), range(len(log)), strict=True)
    shown = {(query, tuple(log[page].docs.strings())) for query, page in both}
    pairs = zip(day.queries.strings(), range(len(day)), strict=True)
    assert {(query, tuple(day[page].docs.strings())) for query, page in pairs} <= shown


def test_what_is_true_of_real_pages_is_like_what_was_seen_of_them():
    source = ClickWorld(5, queries=3, docs=10, kind="DCTR", pages_a_day=3000)
    world = ClickWorld.over(source.day(1), seed=1, kind="DCTR")
    queries, docs = world.pairs(1)
    told = dict(
        zip(
            zip(queries.strings(), docs.strings(), strict=True),
            world.attractiveness(1),
            strict=True,
        )
    )
    for query, doc, true in zip(
        *(ids.strings() for ids in source.pairs(1)), source.attractiveness(1), strict=True
    ):
        assert told[query, doc] == pytest.approx(true, abs=0.1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"seed": -1},
        {"queries": 0},
        {"docs": 0},
        {"names": 1},
        {"kind": "XYZ"},
        {"pages_a_day": 0},
        {"drift": -0.1},
        {"churn": 1.5},
        {"position_bias": 2.0},
        {"swaps": -0.5},
    ],
)
def test_a_knob_out_of_bounds_is_named(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        ClickWorld(**wrong)


def test_days_begin_with_the_first_and_a_log_must_have_pages():
    world = ClickWorld(5, **SMALL)
    with pytest.raises(ParameterError, match="number"):
        world.day(0)
    with pytest.raises(ParameterError, match="last"):
        world.days(3, 2)
    with pytest.raises(InputError, match="at least one page"):
        ClickWorld.over(world.day(1)[:0])
