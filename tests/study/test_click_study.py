"""The stage on clicks: models beside each other, one kept by the dev part, no id let out."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from purport.clicks import models
from purport.errors import InputError
from purport.records.pages import Pages
from purport.study.click_evaluation import owners_of
from purport.study.clicks import Parts, study_clicks
from purport.study.daily import day_by_day
from purport.study.examination import after_click, click_rates, examined
from purport.study.pipeline import run_study, write_report
from purport.study.positions import LEAST_SHOWN, ShownDocuments, agreement, find_reversed
from purport.study.stages import Attractiveness, Material, Settings, read_material

SETTINGS = Settings(samples=40, n_threads=1)
QUERIES, DOCS = 10, 6
LOOKS = 0.9 ** np.arange(DOCS) * 0.6 ** (np.arange(DOCS) > 1)
ATTRACTS = np.random.default_rng(7).beta(1.0, 2.0, (QUERIES, DOCS))
SECONDS_A_DAY = 86_400


unfinished = pytest.mark.filterwarnings("ignore::purport.errors.ConvergenceWarning")
"""For tests that let models learn as briefly as the study does."""


def world(count, seed, days=0, name=str, **more):
    """Invent pages that people read by position; documents mostly keep their places."""
    chance = np.random.default_rng(seed)
    asked = chance.integers(QUERIES, size=count)
    shown = np.tile(np.arange(DOCS), (count, 1))
    turned = chance.random(count) < 0.3
    shown[turned] = chance.permuted(shown[turned], axis=1)
    clicks = chance.random(shown.shape) < LOOKS * ATTRACTS[asked[:, None], shown]
    times = np.sort(chance.integers(days * SECONDS_A_DAY, size=count)) if days else None
    return Pages.from_lists(
        [name(f"q{query}") for query in asked.tolist()],
        [[name(f"d{doc}") for doc in docs] for docs in shown.tolist()],
        clicks.astype(int).tolist(),
        None if times is None else times.tolist(),
        **more,
    )


def truth():
    pairs = [(f"q{query}", f"d{doc}") for query in range(QUERIES) for doc in range(DOCS)]
    return Attractiveness(*zip(*pairs, strict=True), ATTRACTS.ravel())


@pytest.fixture(scope="module")
def logs():
    return world(1500, 1, days=6), world(500, 2)


@pytest.fixture(scope="module")
def studied(logs):
    return study_clicks(*logs, truth(), invented=True, settings=SETTINGS)


def test_models_stand_from_floors_to_the_richest(studied, logs):
    model, found = studied
    assert [one.name for one in found.models] == ["RCTR", "DCTR", "PBM", "CCM", "DBN", "UBM"]
    assert [one.is_floor for one in found.models] == [True, True, *[False] * 4]
    assert found.train.pages + found.dev.pages == 1500
    assert found.dev.pages == pytest.approx(300, abs=20)
    assert (found.test.pages, found.test.results) == (500, 500 * DOCS)
    assert found.test.click_rate == logs[1].clicks.mean()
    assert found.best.dev == max(one.dev for one in found.models if not one.is_floor)
    assert found.kept == type(model).__name__
    assert found.above_floor


@unfinished
def test_scores_are_those_of_the_models_after_the_dev_part(logs):
    parts = Parts.of(*logs)
    _, found = study_clicks(*logs, settings=SETTINGS)
    for name in ("RCTR", "PBM"):
        model = getattr(models, name)(n_threads=1).fit(parts.learning, tol=1e-3)
        told = next(one for one in found.models if one.name == name)
        assert told.dev == pytest.approx(model.log_likelihood(parts.dev), abs=1e-12)
        model.update(parts.dev)
        test = parts.test
        assert told.log_likelihood.value == pytest.approx(model.log_likelihood(test), abs=1e-12)
        assert told.conditional.value == pytest.approx(model.perplexity(test), abs=1e-12)
        assert told.marginal.value == pytest.approx(model.perplexity(test, "marginal"), abs=1e-12)
        assert told.log_likelihood.low < told.log_likelihood.value < told.log_likelihood.high
        floor = found.plainest.log_likelihood.value
        assert told.gain.difference == pytest.approx(told.log_likelihood.value - floor, abs=1e-12)
    assert found.plainest.gain.difference == 0.0


def test_queries_are_drawn_whole():
    pages = world(60, 3)
    owners = owners_of(pages)
    asked = pages.queries.strings()
    assert len(np.unique(owners)) == len(set(asked))
    assert len(set(zip(asked, owners.tolist(), strict=True))) == len(set(asked))


def test_pages_of_all_lengths_are_scored_as_the_models_score_them():
    docs = [[1], [1, 2, 3], [4, 5], [2]] * 5
    clicks = [[0], [1, 0, 1], [0, 0], [1]] * 5
    pages = Pages.from_lists([1, 2, 3, 4] * 5, docs, clicks)
    model, found = study_clicks(pages, pages, settings=SETTINGS)
    kinds = [model.perplexity(pages, kind) for kind in ("conditional", "marginal")]
    best = found.best
    told = [one.value for one in (best.log_likelihood, best.conditional, best.marginal)]
    assert told == pytest.approx([model.log_likelihood(pages), *kinds])
    assert best.conditional.low < best.conditional.high


def test_no_session_is_on_both_sides_and_every_query_is_learnt_from():
    sessions = [f"s{number // 3}" for number in range(600)]
    pages = world(600, 5, sessions=sessions)
    parts = Parts.of(pages, pages)
    sides = [set(part.sessions.strings()) for part in (parts.learning, parts.dev)]
    assert not sides[0] & sides[1]
    assert len(parts.dev) == pytest.approx(120, abs=3)
    assert set(parts.dev.queries.strings()) <= set(parts.learning.queries.strings())
    assert len(parts.learning) + len(parts.dev) == 600


def test_one_session_may_be_cut_but_the_first_page_of_a_query_is_learnt_from():
    pages = world(100, 5, sessions=["s"] * 100)
    parts = Parts.of(pages, pages)
    assert len(parts.dev) == 20
    assert set(parts.dev.queries.strings()) <= set(parts.learning.queries.strings())
    alone = Pages.from_lists([*range(50)], [[1, 2]] * 50, [[1, 0]] * 50)
    assert len(Parts.of(alone, alone).dev) == 10


def test_what_cannot_be_studied():
    pages = world(30, 1)
    with pytest.raises(InputError, match=r"at least 5 pages .* there are 4"):
        study_clicks(pages[:4], pages)
    with pytest.raises(InputError, match="pages to test on"):
        study_clicks(pages, pages[:0])


def test_pages_without_a_click_are_studied_too():
    pages = Pages.from_lists([1, 2] * 10, [[1, 2]] * 20, [[0, 0]] * 20)
    _, found = study_clicks(pages, pages, settings=SETTINGS)
    assert found.click_rates == (0.0, 0.0)
    assert found.reversed.reversed == 0
    (outcome,) = run_study(Material(train_pages=pages, test_pages=pages), samples=10)
    assert "(0.0% of results clicked)" in str(outcome.section.body)


@unfinished
def test_examination_of_a_position_model_is_its_cells(logs):
    train, test = logs
    model = models.PBM(n_threads=1, prior=(0.5, 2.0)).fit(train, tol=1e-3)
    cells = model._state.parameters[:DOCS].tolist()
    assert examined("PBM", model, test).by_rank == pytest.approx(cells)
    beside = np.array(examined("PBM", model, test).beside_first())
    assert np.abs(beside - LOOKS / LOOKS[0]).max() < 0.12
    chain = models.DBN(n_threads=1).fit(train, tol=1e-2)
    assert examined("DBN", chain, test).by_rank[0] == pytest.approx(1.0)
    assert click_rates(test) == pytest.approx(test.clicks.reshape(-1, DOCS).mean(axis=0).tolist())


@unfinished
def test_ranks_that_few_pages_have_are_not_told_about():
    pages = Pages.from_lists(
        [1] * 25, [[1, 2]] * 21 + [[1, 2, 3]] * 4, [[1, 0]] * 21 + [[0] * 3] * 4
    )
    assert len(click_rates(pages)) == 2
    model = models.UBM(prior=(0.5, 2.0)).fit(pages)
    assert len(examined("UBM", model, pages).by_rank) == 2
    assert after_click(model, pages) == ((None, None, None), (None, None, None))


@unfinished
def test_the_user_browsing_model_is_told_by_rank_and_last_click(logs):
    train, test = logs
    model = models.UBM(n_threads=1, prior=(0.5, 2.0)).fit(train, tol=1e-2)
    rows = after_click(model, test)
    assert len(rows) == DOCS
    assert {len(row) for row in rows} == {DOCS + 1}
    # A rank cannot come after a click on itself or further down.
    assert all(share is None for rank, row in enumerate(rows) for share in row[rank + 1 :])
    assert rows[0][0] is not None
    cells = model._state.parameters[: model._state.cells].reshape(10, 11)
    assert rows[2][1] == cells[2, 1]


def test_pairs_that_position_hides_are_found_as_by_hand(studied, logs):
    model, found = studied
    told = ShownDocuments.of(model, logs[0], truth())
    assert told.shown.min() >= LEAST_SHOWN
    turned = right = pairs = 0
    for a, b in combinations(range(len(told.docs)), 2):
        if told.queries[a] != told.queries[b]:
            continue
        pairs += 1
        apart = told.learnt[a] - told.learnt[b]
        if apart * (told.click_rate[a] - told.click_rate[b]) < 0:
            turned += 1
            right += int(apart * (told.true[a] - told.true[b]) > 0)
    counted = found.reversed
    assert (counted.pairs, counted.reversed, counted.right) == (pairs, turned, right)
    assert turned > 5
    for one, other in found.misled:
        assert one.query == other.query
        assert one.click_rate > other.click_rate
        assert one.learnt < other.learnt
        assert one.rank < other.rank
    assert len({one.query for one, _ in found.misled}) == len(found.misled) > 0


def test_what_is_known_of_documents_is_counted_right(logs):
    pages = logs[0]
    told = ShownDocuments.of(models.DCTR(prior=(0.5, 2.0)).fit(pages), pages, truth())
    rows = list(pages.rows())
    for place in (0, len(told.docs) - 1):
        query, doc = told.queries[place], told.docs[place]
        seen = [row for row in rows if row["qid"] == query]
        ranks = [row["docs"].index(doc) for row in seen]
        clicks = [row["clicks"][rank] for row, rank in zip(seen, ranks, strict=True)]
        assert told.shown[place] == len(seen)
        assert told.rank[place] == pytest.approx(np.mean(ranks) + 1)
        assert told.click_rate[place] == pytest.approx(np.mean(clicks))
        assert told.true[place] == ATTRACTS[int(query[1:]), int(doc[1:])]
        expected = (sum(clicks) + 1.0) / (len(clicks) + 2.0)
        assert told.learnt[place] == pytest.approx(expected)


def test_agreement_with_the_truth_is_that_of_ranks(studied, logs):
    from scipy.stats import spearmanr

    model, found = studied
    told = ShownDocuments.of(model, logs[0], truth())
    assert found.agreement.a == pytest.approx(spearmanr(told.learnt, told.true)[0])
    assert found.agreement.b == pytest.approx(spearmanr(told.click_rate, told.true)[0])
    assert found.agreement.a > found.agreement.b
    assert agreement(ShownDocuments.of(model, logs[0]), 10) is None
    strange = Attractiveness(["x"], ["y"], np.array([0.5]))
    assert agreement(ShownDocuments.of(model, logs[0], strange), 10) is None


def test_nothing_is_shown_of_real_documents(studied, logs):
    model, _ = studied
    found, shown = find_reversed("PBM", ShownDocuments.of(model, logs[0]))
    assert (found.right, shown) == (None, ())
    assert found.reversed > 0


PBM_HELD, FIT = models.PBM(n_threads=1, prior=(0.5, 2.0)), {"tol": 1e-2}


def learn(pages):
    return models.PBM(n_threads=1, prior=(0.5, 2.0)).fit(pages, **FIT)


@unfinished
def test_each_day_is_foretold_before_it_is_taken_in(logs):
    pages = logs[0]
    found = day_by_day(PBM_HELD, pages, 20, FIT)
    assert (found.history, len(found.days)) == (3, 3)
    assert [day.day for day in found.days] == ["1970-01-04", "1970-01-05", "1970-01-06"]
    days = pages.times // SECONDS_A_DAY
    static, online = learn(pages[days < 3]), learn(pages[days < 3])
    for number, told in enumerate(found.days, start=3):
        today = pages[days == number]
        assert told.pages == len(today)
        assert told.static == pytest.approx(static.log_likelihood(today), abs=1e-12)
        assert told.online == pytest.approx(online.log_likelihood(today), abs=1e-12)
        online.update(today)
    sizes = [day.pages for day in found.days]
    assert found.gain.a == pytest.approx(np.average([d.online for d in found.days], weights=sizes))
    assert found.gain.b == pytest.approx(np.average([d.static for d in found.days], weights=sizes))


@unfinished
def test_days_come_in_order_whatever_the_order_of_pages(logs):
    pages = logs[0]
    shuffled = pages[np.random.default_rng(0).permutation(len(pages))]
    alike = (
        day_by_day(PBM_HELD, shuffled, 5, FIT),
        day_by_day(PBM_HELD, pages, 5, FIT),
    )
    assert [day.day for day in alike[0].days] == [day.day for day in alike[1].days]
    assert alike[0].days[0].static == pytest.approx(alike[1].days[0].static, abs=1e-9)


@unfinished
def test_without_times_or_with_few_days_there_is_nothing_to_tell_of_days(logs):
    assert day_by_day(PBM_HELD, logs[1], 5, FIT) is None
    assert day_by_day(PBM_HELD, world(40, 1, days=3), 5, FIT) is None


def test_ids_of_real_data_are_nowhere(tmp_path):
    def name(id_):
        return f"xyzzy {id_}"

    pages = world(400, 4, days=4, name=name, sessions=[f"secret{n}" for n in range(400)])
    material = Material(train_pages=pages, test_pages=pages[:100])
    (outcome,) = run_study(material, samples=10)
    write_report([outcome], tmp_path / "report.html", "a log")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    everything = html + json.dumps(outcome.numbers) + outcome.headline
    assert "xyzzy" not in everything
    assert "secret" not in everything
    assert "No queries and no documents are shown" in html
    assert "Day by day" in html


def test_ids_of_invented_data_are_shown_but_not_in_numbers(studied, logs, tmp_path):
    material = Material(
        train_pages=logs[0], test_pages=logs[1], attractiveness=truth(), invented=True
    )
    (outcome,) = run_study(material, samples=10)
    write_report([outcome], tmp_path / "report.html", "a log")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    one, _ = studied[1].misled[0]
    assert f"{one.query}: {one.doc}" in html
    assert "misled" not in outcome.numbers
    json.dumps(outcome.numbers, allow_nan=False)
    assert outcome.numbers["by_day"]["history"] == 3


def test_pages_are_read_as_their_columns_tell(tmp_path, logs):
    train, test = logs
    train.write(tmp_path / "train.tsv")
    test.write(tmp_path / "test.parquet")
    for held in (None, "pages"):
        material = read_material(tmp_path / "train.tsv", tmp_path / "test.parquet", held=held)
        assert material.train_pages == train
        assert material.test_pages == test
        assert material.train_sessions is None
    with pytest.raises(InputError, match="in studies of sessions alone"):
        read_material(tmp_path / "train.tsv", tmp_path / "train.tsv", tmp_path / "train.tsv")
