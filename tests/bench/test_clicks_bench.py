"""The tables on click models that stay up to date, on a world that takes a moment."""

from __future__ import annotations

import pytest

from bench.benchmark import Setting
from bench.clicks import drift, retraining, settings
from purport.simulate.clicks import ClickWorld


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Cut everything down, and put invented pages in the place of real ones."""
    pages = ClickWorld(3, queries=6, docs=5).day(1)
    (tmp_path / "clicks-sogou-thuir").mkdir()
    for module in (drift, retraining):
        monkeypatch.setattr(module, "real_pages", lambda folder: pages)
        monkeypatch.setattr(module, "DAYS", 5)
        monkeypatch.setattr(module, "HISTORY", 3)
        monkeypatch.setattr(module, "DRIFTS", (0.0, 0.2))
    monkeypatch.setattr(drift, "PAGES_A_DAY", 100)
    monkeypatch.setattr(drift, "BAR_SEEDS", (1, 2))
    monkeypatch.setattr(drift, "TRUTHS", {"UBM": (1, 2)})
    monkeypatch.setattr(drift, "SHARES", (0.01,))
    monkeypatch.setattr(retraining, "PLAIN_ROUNDS", 3)
    return Setting(tmp_path, quick=True)


def test_seeds_of_development_are_kept_apart_from_those_of_bars():
    bars = {*settings.BAR_SEEDS, settings.COST_SEED, *sum(settings.TRUTHS.values(), ())}
    assert not bars & set(settings.DEVELOPMENT_SEEDS)
    assert len(settings.BAR_SEEDS) >= 10
    assert 0.0 in settings.DRIFTS


def test_ways_stand_beside_retraining_with_bars_where_there_is_drift(small):
    still, _, wandering, by_day = drift.run(small)
    for table in (still, wandering):
        found = {row.who: row for row in table.rows}
        assert found["retrained"].figure == 0.0
        assert set(drift.WAYS) < set(found)
        assert "not judged" in str(table)
    bars = {row.who: row.bar for row in still.rows if row.bar}
    assert {who: bar.bound for who, bar in bars.items()} == {
        "auto less online: lower end": pytest.approx(-50.0)
    }
    bars = [row.who for row in wandering.rows if row.bar]
    assert bars == [
        "online less static: lower end",
        "retrained less online: lower end",
        "auto less retrained: lower end",
        "auto less retrained on 7 days: lower end",
    ]
    assert [row.who for row in by_day.rows] == ["day 4", "day 5"]
    auto = {row.who: row.figure for row in wandering.rows}["auto"]
    assert sum(row.figure for row in by_day.rows) / 2 == pytest.approx(auto)


def test_models_are_compared_where_each_of_them_makes_the_clicks(small):
    (table,) = drift.models(small)
    assert [row.who for row in table.rows] == ["UBM", "DBN", "CCM"]
    assert all(-1.0 < row.figure < 0.0 for row in table.rows)


def test_costs_are_beside_plain_em(small):
    (table,) = retraining.run(small)
    ratios = {row.who: row.ratio for row in table.rows}
    assert ratios[retraining.PLAIN] is None
    assert ratios["online EM"] > 0.0
    assert [row.who for row in table.rows if row.bar] == ["online EM"]
