"""The report on drift: what each way of keeping up to date foretells, day by day."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from purport.clicks.batch import BatchEM
from purport.clicks.models import PBM, UBM
from purport.clicks.prequential import AUTO, ONLINE, RETRAINED, STATIC, Way, drift_report, relearnt
from purport.clicks.state import ClickState
from purport.errors import InputError, ParameterError
from purport.fold.thread_engine import threads
from purport.measure.means import paired_means
from purport.records.pages import Pages
from purport.simulate.clicks import ClickWorld

RECENT = "retrained on 2 days"
SETTING = {"history_days": 4, "window_days": 2, "fit": {"tol": 0.01}}
MODEL = {"prior": (0.3, 2.0), "n_threads": 1}


@pytest.fixture(scope="module")
def world():
    return ClickWorld(7, queries=8, docs=6, pages_a_day=300, drift=0.3)


@pytest.fixture(scope="module")
def report(world):
    return drift_report(UBM(**MODEL), world.days(1, 12), **SETTING)


def test_each_day_is_foretold_before_it_is_taken_in(world, report):
    assert report.ways == (STATIC, ONLINE, AUTO, RETRAINED, RECENT)
    model = UBM(**MODEL).fit(world.days(1, 4), tol=0.01)
    still, online, auto = model, copy.deepcopy(model), copy.deepcopy(model)
    for number in range(5, 13):
        day = world.day(number)
        found = report.log_likelihoods[number - 5]
        assert found[0] == still.log_likelihood(day)
        assert found[1] == online.log_likelihood(day)
        assert found[2] == auto.log_likelihood(day)
        assert report.perplexities[number - 5, 1] == online.perplexity(day)
        if number > 5:
            assert report.rates[number - 5] == auto.rate_
        online.update(day)
        auto.update(day, forget="auto")
    assert np.isnan(report.rates[0])


def test_what_is_retrained_has_learnt_from_all_days_or_from_the_latest(world, report):
    model = UBM(**MODEL).fit(world.days(1, 4), tol=0.01)
    for column, first in ((3, 1), (4, 8)):
        state = relearnt(model, world.days(first, 9), threads(1))
        log = state.log_of(world.day(10), grows=False)
        told = state.probabilities(log)
        logs = np.log(np.where(log.clicks, told, 1.0 - told)).reshape(len(log), -1)
        assert report.log_likelihoods[5, column] == pytest.approx(logs.mean(), abs=1e-12)


def test_days_are_named_and_all_pages_count(world, report):
    assert report.days[0] == "2026-01-09"
    assert report.log_likelihoods.shape == report.perplexities.shape == (8, 5)
    assert report.of_pages.shape == (8 * 300, 5)
    assert report.of_pages.reshape(8, 300, 5).mean(axis=1) == pytest.approx(report.log_likelihoods)
    assert len(report.queries) == 8 * 300
    assert report.seconds[0] < min(report.seconds[1:])


def test_under_drift_what_is_kept_up_to_date_does_better(report):
    over = report.compare(AUTO, STATIC)
    assert 0.0 < over.low < over.difference < over.high
    assert over.difference == pytest.approx(
        report.of_pages[:, 2].mean() - report.of_pages[:, 0].mean()
    )
    assert report.compare_perplexity(AUTO, STATIC).difference < 0.0
    told = str(report).splitlines()
    assert len(told) == 6
    assert RECENT in told[-1]


def test_other_ways_may_be_compared(world):
    ways = {"half a life": Way(update={"half_life_days": 2.0}), "yesterday": Way(latest=1)}
    report = drift_report(PBM(**MODEL), world.days(1, 6), compared=ways, **SETTING)
    assert report.ways == ("half a life", "yesterday")
    assert report.rates == ()
    with pytest.raises(InputError, match="no way 'static'"):
        report.compare("static", "yesterday")


def test_a_model_is_left_as_it_was(world):
    model = UBM(**MODEL)
    drift_report(model, world.days(1, 6), compared={"static": Way()}, **SETTING)
    assert not hasattr(model, "history_")


def test_logs_that_tell_nothing_of_drift_are_refused(world):
    log = world.days(1, 5)
    untimed = Pages.from_arrays(log.offsets, log.queries, log.docs, log.clicks)
    with pytest.raises(InputError, match="column t"):
        drift_report(UBM, untimed)
    with pytest.raises(InputError, match="order of time"):
        drift_report(UBM, log[::-1])
    with pytest.raises(InputError, match="at least one"):
        drift_report(UBM, log[:0])
    with pytest.raises(InputError, match="no day is left"):
        drift_report(UBM, log, history_days=5)
    with pytest.raises(ParameterError, match="window_days"):
        drift_report(UBM, log, history_days=2, window_days=0)


def test_plain_em_in_the_order_of_the_log_finds_what_counts_of_cells_find(world):
    model = UBM(**MODEL).fit(world.days(1, 1), tol=0.01)
    log = model._state.log_of(world.day(1), grows=False)
    found = []
    for as_pages in (False, True):
        state = ClickState(model._kind, 10, 2, model._state.priors)
        em = BatchEM(state, log, threads(1), as_pages)
        for _ in range(5):
            em.round()
        found.append(state.probabilities(log))
    assert np.allclose(*found, atol=1e-12)


def test_paired_means_take_whole_groups():
    chance = np.random.default_rng(0)
    shifts = np.repeat(chance.normal(size=30), 50)
    a, b = shifts + chance.normal(size=1500), np.zeros(1500)
    alone = paired_means(a, b)
    grouped = paired_means(a, b, groups=np.repeat(np.arange(30), 50).tolist())
    assert alone.difference == grouped.difference == pytest.approx(a.mean())
    assert grouped.high - grouped.low > 3.0 * (alone.high - alone.low)
    assert grouped.high - grouped.low == pytest.approx(2 * 1.96 * shifts.std() / 30**0.5, rel=0.25)


@pytest.mark.parametrize("pair", [([], []), ([1.0], [float("nan")]), ([1.0], [1.0, 2.0])])
def test_paired_means_refuse_what_is_no_pair(pair):
    with pytest.raises(InputError):
        paired_means(*pair)
