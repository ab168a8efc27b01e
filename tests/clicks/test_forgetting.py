"""Forgetting: by calendar time, by what is known, and at the rate that foretells best."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from purport.clicks.evidence import EvidenceWriter, forget_what_was_not_seen
from purport.clicks.models import (
    CCM,
    DBN,
    DCM,
    DCTR,
    GCTR,
    PBM,
    RCTR,
    SDBN,
    UBM,
    CascadeModel,
)
from purport.errors import InputError, ParameterError
from purport.fold.thread_engine import threads
from purport.records.pages import Pages
from purport.simulate.clicks import ClickWorld
from purport.store.folders import load, save


def two_days(gap):
    """Return pages of a query on one day, all clicked, and some days later one, not clicked."""
    first = Pages.from_lists([1] * 40, [[7, 8]] * 40, [[1, 0]] * 40, times=[86_400 * 20_000] * 40)
    later = Pages.from_lists([1], [[7, 8]], [[0, 0]], times=[86_400 * (20_000 + gap)])
    return first, later


@pytest.mark.parametrize("kind", [UBM, DBN])
def test_what_a_batch_has_taught_grows_old_from_its_last_day_on(kind):
    first, later = two_days(gap=10)
    kept = {}
    for half_life in (1.0, 10.0, 1000.0):
        model = kind(prior=(0.5, 2.0), n_threads=1).fit(first, tol=1e-2)
        before = model._state.tables[model._state.shards_of(model._log(first, "fit"))[0]].kept[0, 1]
        model.update(later, half_life_days=half_life)
        table = model._state.tables[model._state.shards_of(model._log(first, "fit"))[0]]
        kept[half_life] = (table.kept[0, 1] - 1.0) / before
    assert kept[10.0] == pytest.approx(0.5)
    assert kept[1.0] == pytest.approx(2.0**-10)
    assert kept[1000.0] == pytest.approx(2.0**-0.01)


def test_what_was_learnt_without_times_is_of_the_day_of_the_first_time():
    _, later = two_days(gap=10)
    untimed = Pages.from_lists([1] * 40, [[7, 8]] * 40, [[1, 0]] * 40)
    model = UBM(prior=(0.5, 2.0), n_threads=1).fit(untimed, tol=1e-2)
    table = model._state.tables[model._state.shards_of(model._log(later, "fit"))[0]]
    model.update(later, half_life_days=1.0)
    assert table.kept[0, 1] == 41.0
    assert np.array_equal(table.days[: table.pairs], [20_010, 20_010])


WORLD = {"queries": 8, "docs": 6, "pages_a_day": 300}
KINDS = [UBM, PBM, DBN, CCM, DCM, SDBN, CascadeModel, GCTR, RCTR, DCTR]


def untimed(pages):
    return Pages.from_arrays(pages.offsets, pages.queries, pages.docs, pages.clicks)


def learnt(kind=UBM, drift=0.0, last=4, prior=(0.3, 2.0)):
    """Return a model of some days, and the world."""
    world = ClickWorld(7, drift=drift, **WORLD)
    model = kind(prior, n_threads=1, shards=3, sync_every=100)
    return model.fit(world.days(1, last), tol=0.01), world


def same(one, other):
    """Tell whether two models know the same to the last bit."""
    told, held = one._to_state(), other._to_state()
    return (
        told.settings == held.settings
        and told.arrays.keys() == held.arrays.keys()
        and all(np.array_equal(told.arrays[name], held.arrays[name]) for name in told.arrays)
    )


def test_the_rate_that_is_found_is_that_of_the_world():
    for drift in (0.0, 0.3):
        model, world = learnt(drift=drift, last=10)
        for number in range(11, 31):
            model.update(world.day(number), forget="auto")
        assert model.rate_ == max(model.rates_tried_, key=model.rates_tried_.get)
        assert model.rate_ <= 0.05 if drift == 0.0 else model.rate_ >= 0.2


def test_with_drift_it_foretells_better_than_without_forgetting_and_without_drift_as_well():
    for drift, least in ((0.0, -0.0005), (0.3, 0.003)):
        auto, world = learnt(drift=drift, last=10)
        plain = copy.deepcopy(auto)
        gains = []
        for number in range(11, 26):
            day = world.day(number)
            gains.append(auto.log_likelihood(day) - plain.log_likelihood(day))
            auto.update(day, forget="auto")
            plain.update(day)
        assert np.mean(gains) > least


def test_a_log_that_is_cut_at_other_days_teaches_the_same_to_the_last_bit():
    one, world = learnt(drift=0.2)
    others = [copy.deepcopy(one) for _ in range(2)]
    one.update(world.days(5, 9), forget="auto")
    for cuts, other in zip(([5, 6, 7, 8, 9], [5, 8]), others, strict=True):
        for first, last in zip(cuts, [*(cut - 1 for cut in cuts[1:]), 9], strict=True):
            other.update(world.days(first, last), forget="auto")
        assert same(one, other)


def test_any_number_of_threads_gives_the_same_bits():
    one, world = learnt(drift=0.2)
    other = copy.deepcopy(one)
    one.update(world.days(5, 7), forget="auto", engine=threads(1))
    other.update(world.days(5, 7), forget="auto", engine=threads(3))
    assert same(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_is_saved_in_the_middle_goes_on_to_the_same_bits(kind, tmp_path):
    model, world = learnt(kind, drift=0.2)
    model.update(world.days(5, 6), forget="auto")
    save(model, tmp_path / "model")
    read = load(tmp_path / "model")
    assert same(model, read)
    assert (read.rate_, read.rates_tried_) == (model.rate_, model.rates_tried_)
    for each in (model, read):
        each.update(world.days(7, 8), forget="auto")
    assert same(model, read)


def test_a_model_that_was_saved_before_it_foretold_a_day_goes_on_too(tmp_path):
    model, world = learnt()
    save(model, tmp_path / "model")
    read = load(tmp_path / "model")
    for each in (model, read):
        each.update(world.days(5, 6), forget="auto")
    assert same(model, read)


def test_a_model_may_begin_with_it_and_foretells_from_the_first_day_on():
    world = ClickWorld(7, **WORLD)
    model = UBM(n_threads=1).update(world.days(1, 3), forget="auto")
    assert np.isfinite(list(model.rates_tried_.values())).all()
    assert model.log_likelihood(world.day(4)) > RCTR(n_threads=1).fit(
        world.days(1, 3), tol=0.01
    ).log_likelihood(world.day(4))


def test_without_times_so_many_pages_stand_for_a_day_wherever_the_log_is_cut_between():
    one, world = learnt(drift=0.2)
    other = copy.deepcopy(one)
    pages = untimed(world.days(5, 6))
    one.update(pages, forget="auto")
    for first in range(0, len(pages), 200):
        other.update(pages[first : first + 200], forget="auto")
    assert one._candidates.moment == 6
    assert same(one, other)


def test_times_must_not_come_and_go():
    model, world = learnt()
    model.update(world.day(5), forget="auto")
    with pytest.raises(InputError, match="column t"):
        model.update(untimed(world.day(6)), forget="auto")
    model.update(world.day(6)[:0], forget="auto")
    model.update(world.day(6), forget="auto")


def test_a_number_given_later_lets_the_candidates_go():
    model, world = learnt(drift=0.2)
    model.update(world.day(5), forget="auto")
    before = model.click_probabilities(world.day(6))
    model.update(world.day(6)[:0], forget=0.01)
    assert np.allclose(model.click_probabilities(world.day(6)), before, atol=1e-12)
    assert not hasattr(model, "rate_")
    assert model._candidates is None
    model.update(world.day(6), forget=0.01)
    assert not any("candidate" in name for name in model._to_state().arrays)
    model.update(world.day(7), forget="auto")
    assert set(model.rates_tried_) == {0.0, 0.05, 0.1, 0.2, 0.3}


def test_learning_anew_lets_the_candidates_go():
    model, world = learnt()
    model.update(world.day(5), forget="auto")
    model.fit(world.days(1, 4), tol=0.01)
    assert not hasattr(model, "rate_")
    told, held = model._to_state().arrays, learnt()[0]._to_state().arrays
    assert told.keys() == held.keys()
    assert all(np.array_equal(told[name], held[name]) for name in told)


@pytest.mark.parametrize("wrong", ["often", "", "AUTO", None, (0.1, 0.1, 0.1)])
def test_what_is_no_rate_is_named(wrong):
    model, world = learnt()
    with pytest.raises(ParameterError, match="forget"):
        model.update(world.day(5), forget=wrong)


def test_a_half_life_does_not_go_with_it():
    model, world = learnt()
    with pytest.raises(ParameterError, match="half_life_days"):
        model.update(world.day(5), forget="auto", half_life_days=3.0)


def test_what_is_counted_as_evidence_is_what_was_seen():
    """A twin, page by page, of what is written at the top of `purport.clicks.evidence`."""
    model, world = learnt(UBM, prior=(0.4, 3.0))
    state = copy.deepcopy(model)._state
    before = {name: value[:2] for name, value in kept_of(state).items()}
    forget_what_was_not_seen(state)
    for name, (expected, defined, _, prior) in kept_of(state).items():
        a = (before[name][0] + 3.0 * prior) / (before[name][1] + 3.0)
        assert (expected + 3.0 * prior) / (defined + 3.0) == pytest.approx(a, abs=1e-12)
        assert 0.0 <= defined <= before[name][1]
    page = world.day(5)[:1]
    log = state.log_of(page, grows=True)
    examined = state.parameters[: state.cells].copy()
    held = kept_of(state)
    EvidenceWriter(state, 100).write(log, (0.0, 0.0), threads(1))
    last = -1
    for rank, (doc, click) in enumerate(zip(log.docs, log.clicks, strict=True)):
        expected, defined, _, prior = held.get((log.queries[0], doc), (0.0, 0.0, 0.0, 0.4))
        n = defined + 3.0
        a = (expected + 3.0 * prior) / n
        g = examined[rank * (state.ranks + 1) + min(last + 1, state.ranks)]
        x = 1.0 if click else a * (1.0 - g) / (1.0 - a * g)
        seen = min(max(1.0 - x * (1.0 - x) / (a * (1.0 - a)), 0.0), 1.0)
        told = kept_of(state)[log.queries[0], doc]
        assert told[1] == pytest.approx(defined + seen, abs=1e-12)
        assert (told[0] + 3.0 * told[3]) / (told[1] + 3.0) == pytest.approx(
            a + (x - a) / (n + 1.0), abs=1e-12
        )
        last = rank if click else last


def test_what_wanders_is_known_with_so_much_more_variance():
    model, _ = learnt(DBN, prior=(0.4, 3.0))
    state = model._state
    forget_what_was_not_seen(state)
    before = [(state.pair_parameters(table, 1), table.kept.copy()) for table in state.tables]
    EvidenceWriter(state, 100).wander(0.04)
    for table, (found, kept) in zip(state.tables, before, strict=True):
        known = kept[: table.pairs, 5]
        expected = known / (1.0 + 0.04 * known * found * (1.0 - found))
        assert np.allclose(table.kept[: table.pairs, 5], expected, atol=1e-12)
        assert (table.kept[: table.pairs, 7] == kept[: table.pairs, 7]).all()


def kept_of(state):
    """Return what is kept of each pair."""
    found = {}
    for table in state.tables:
        queries = table.query_keys[table.pair_keys[: table.pairs, 0], 0]
        for pair in range(table.pairs):
            found[queries[pair], table.pair_keys[pair, 1]] = table.kept[pair, :4].tolist()
    return found
