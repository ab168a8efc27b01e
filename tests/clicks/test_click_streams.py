"""Online EM: a slow twin, the same bits however a log is cut, threads, and going on when loaded."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import drawn_pages
import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracle.click_stream import Stream

import purport
from purport import clicks
from purport.clicks.kinds import KINDS
from purport.clicks.model import BEFORE_ALL, ClickModel
from purport.clicks.state import Priors
from purport.errors import InputError, ParameterError
from purport.records.pages import Pages

CLOSE = {"rtol": 0.0, "atol": 1e-10}
TWINS = {"CascadeModel": "CM"}
NAMES = {"UBM": "examination", "PBM": "examination", "DCM": "continuation", "DBN": "continuation"}
AFTER = ("after_skip", "after_click", "after_satisfaction")
EVERY = 50
HELD = (0.4, 3.0)
SETTINGS: list[dict[str, Any]] = [
    {},
    {"forget": 0.02},
    {"forget": (0.05, 0.0)},
    {"forget": (0.0, 0.1)},
    {"half_life_days": 3.0},
    {"half_life_days": 0.5, "forget": (0.01, 0.03)},
]


def new(name: str, **given: Any) -> ClickModel:
    model: ClickModel = getattr(clicks, name)(**{"sync_every": EVERY} | given)
    return model


def bits(model: ClickModel) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in model._to_state().arrays.items()}


def cells_of(name: str, twin: Stream, ranks: int) -> list[float]:
    """Return the twin's cells in the order of the kernels."""
    if name == "UBM":
        return [twin.get(("examination", (r, j))) for r in range(ranks) for j in range(ranks + 1)]
    if name in ("PBM", "DCM"):
        return [twin.get((NAMES[name], r)) for r in range(ranks)]
    if name == "RCTR":
        return [twin.get(("rate", r)) for r in range(ranks)]
    names = {"DBN": ("continuation",), "CCM": AFTER, "GCTR": ("rate",)}.get(name, ())
    return [twin.get((one, ())) for one in names]


@pytest.mark.parametrize("prior", ["learned", HELD], ids=["learned", "held"])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("name", KINDS)
def test_one_shard_is_the_plain_twin(name: str, setting: dict[str, Any], prior: Any) -> None:
    ranks = 4  # fewer than the longest page has
    log = drawn_pages.log(230, seed=1, days=9)
    model = new(name, prior=prior, ranks=ranks, shards=1).update(log, **setting)
    priors = BEFORE_ALL if prior == "learned" else Priors.held(*prior)
    twin = Stream(TWINS.get(name, name), ranks, priors, EVERY)
    forget = setting.get("forget", 0.0)
    shared, pairs = forget if isinstance(forget, tuple) else (forget, forget)
    half_life = setting.get("half_life_days")
    asked, listed = log.queries.strings(), log.docs.strings()
    for page, (start, end) in enumerate(pairwise(log.offsets)):
        one = (asked[page], listed[start:end], log.clicks[start:end].astype(int).tolist())
        day = None if half_life is None else int(log.times[page]) // 86_400
        twin.take(one, shared, pairs, day, half_life)
    state = model._state
    assert_allclose(state.parameters[: state.cells], cells_of(name, twin, ranks), **CLOSE)
    of_results = np.repeat(asked, np.diff(log.offsets)).tolist()
    found = state.parameters_of(state.log_of(log, grows=False))
    for parameter, values in zip(("attractiveness", "satisfaction"), found, strict=False):
        expected = [twin.get((parameter, pair)) for pair in zip(of_results, listed, strict=True)]
        assert_allclose(values, expected, **CLOSE)
    if state.width:
        assert_allclose(state.sums[state.cells :], twin.of_ranks, **CLOSE)
        twin.set_rates()
        assert_allclose(state.rates, twin.rates, **CLOSE)
        (table,) = state.tables
        names = state.query_names.strings(table.query_keys[: table.queries, 0].tolist())
        expected = [twin.of_queries[query] for query in names]
        assert_allclose(table.query_sums[: table.queries], expected, **CLOSE)


CUTS = [0, 1, 2, 49, 50, 51, 130, 131, 230]


@pytest.mark.parametrize("ids", ["", None], ids=["strings", "numbers"])
@pytest.mark.parametrize("setting", SETTINGS[::2] + SETTINGS[-1:], ids=str)
@pytest.mark.parametrize("name", KINDS)
def test_however_a_log_is_cut_the_bits_are_the_same(
    name: str, setting: dict[str, Any], ids: str | None, tmp_path: Path
) -> None:
    log = drawn_pages.log(230, seed=2, names=ids, days=9)
    whole = bits(new(name, n_threads=1).update(log, **setting))
    assert bits(new(name, n_threads=2).update(log, **setting)) == whole
    parts = new(name, n_threads=2)
    for start, end in pairwise(CUTS):
        # A slice keeps the names of the whole; one that is read by itself does not.
        part = log[start:end]
        parts.update(part if start % 2 else reread(part, tmp_path / str(start)), **setting)
        if start == 50:
            purport.save(parts, tmp_path / "model")
            parts = purport.load(tmp_path / "model")
    assert bits(parts) == whole


def reread(pages: Pages, place: Path) -> Pages:
    place.mkdir()
    pages.write(place / "pages.tsv")
    return Pages.read(place / "pages.tsv")


@pytest.mark.parametrize("name", ["UBM", "DBN"])
def test_parameters_that_are_changed_later_do_not_break_what_is_saved(
    name: str, tmp_path: Path
) -> None:
    log = drawn_pages.log(100, seed=3)
    model = new(name).update(log[:60])
    purport.save(model, tmp_path / "one")
    expected = bits(model.update(log[60:]))
    changed = purport.load(tmp_path / "one").set_params(shards=3, sync_every=7)
    purport.save(changed, tmp_path / "two")
    assert bits(purport.load(tmp_path / "two").update(log[60:])) == expected


@pytest.mark.parametrize("name", ["UBM", "CCM"])
def test_updates_go_on_from_a_fit(name: str) -> None:
    log = drawn_pages.log(300, seed=4, days=30)
    model = new(name, prior=HELD).fit(log[:200], tol=1e-3)
    before = model.log_likelihood(log[:200])
    model.update(log[200:])
    assert abs(model.log_likelihood(log[:200]) - before) < 0.02
    # What a fit learnt is of the day on which time begins to count: a long half-life hardly tells.
    timed = new(name, prior=HELD).fit(log[:200], tol=1e-3).update(log[200:], half_life_days=1e9)
    assert_allclose(timed.click_probabilities(log), model.click_probabilities(log), atol=1e-6)


@pytest.mark.parametrize("name", ["UBM", "DBN"])
def test_what_is_learnt_without_days_is_of_the_day_before_it(name: str) -> None:
    # Most pairs of the pages in the middle are new there.
    log = drawn_pages.log(300, seed=9, queries=60, docs=30, days=30)
    mixed, never = (
        new(name)
        .update(log[:100], half_life_days=long)
        .update(log[100:200])
        .update(log[200:], half_life_days=long)
        for long in (1e9, None)
    )
    assert_allclose(mixed.click_probabilities(log), never.click_probabilities(log), atol=1e-6)


def test_time_that_goes_backwards_changes_nothing() -> None:
    log = drawn_pages.log(200, seed=5, days=20)
    random = np.random.default_rng(0)
    late = random.random(200) < 0.3
    latest = np.maximum.accumulate(np.where(late, 0, log.times))
    latest = np.maximum(latest, log.times[0])
    asked = log.queries.strings(), log.docs.strings()
    back, ahead = (
        Pages.from_arrays(log.offsets, *asked, log.clicks, times=times)
        for times in (np.where(late, log.times[0] - 86_400 * 50, log.times), latest)
    )
    for name in ("UBM", "DBN"):
        ours, theirs = (new(name).update(one, half_life_days=2.0) for one in (back, ahead))
        assert bits(ours) == bits(theirs)
        # Also when the time of the call before is not reached again.
        again = new(name).update(back[:150], half_life_days=2.0)
        assert bits(again.update(back[150:], half_life_days=2.0)) == bits(theirs)


def test_pages_without_a_time_are_of_the_day_before_them() -> None:
    log = drawn_pages.log(120, seed=6, days=8)
    times = log.times.astype(float)
    times[[5, 40, 41]] = np.nan
    holes = Pages.from_arrays(
        log.offsets, log.queries.strings(), log.docs.strings(), log.clicks, times=times
    )
    filled = times.copy()
    for page in (5, 40, 41):
        filled[page] = filled[page - 1]
    whole = Pages.from_arrays(
        log.offsets, log.queries.strings(), log.docs.strings(), log.clicks, times=filled
    )
    ours, theirs = (new("UBM").update(one, half_life_days=2.0) for one in (holes, whole))
    assert bits(ours) == bits(theirs)


def test_a_half_life_needs_times() -> None:
    log = drawn_pages.log(10)
    with pytest.raises(InputError, match="half_life_days needs times, in column t"):
        new("UBM").update(log, half_life_days=1.0)
    model = new("UBM").update(log)
    held = bits(model)
    with pytest.raises(InputError, match="column t"):
        model.update(log, half_life_days=1.0)
    assert bits(model) == held


def test_updates_refuse_what_makes_no_sense() -> None:
    log = drawn_pages.log(10, days=1)
    for forget in (1.0, -0.1, "often", (0.1,), (0.1, 0.2, 0.3), (0.1, float("nan")), True):
        with pytest.raises(
            ParameterError, match=r"UBM\.update: parameter 'forget' must be a number"
        ):
            new("UBM").update(log, forget=forget)
    for half_life in (0.0, -1.0, float("nan"), "week"):
        with pytest.raises(ParameterError, match="parameter 'half_life_days' must be"):
            new("UBM").update(log, half_life_days=half_life)
    with pytest.raises(InputError, match=r"UBM.update takes Pages; got list"):
        new("UBM").update([[0, 1]])


def test_an_update_with_nothing_changes_nothing() -> None:
    log = drawn_pages.log(60, seed=7, days=5)
    for setting in ({}, {"half_life_days": 2.0}):
        model = new("DBN").update(log, **setting)
        held = bits(model)
        assert bits(model.update(log[:0], **setting)) == held


def test_a_document_may_stand_on_a_page_twice() -> None:
    log = Pages.from_lists(["a"] * 40, [["x", "y", "x"]] * 40, [[0, 1, 1], [1, 0, 0]] * 20)
    for name in KINDS:
        for model in (new(name).fit(log), new(name).update(log), new(name).update(log, 0.1)):
            probabilities = model.click_probabilities(log)
            assert np.all((probabilities > 0.0) & (probabilities < 1.0))
            assert model.n_pairs_ == (0 if name in ("GCTR", "RCTR") else 2)


@pytest.mark.parametrize("name", ["UBM", "DBN"])
def test_shards_lose_little_against_strict_order(name: str) -> None:
    log = drawn_pages.log(3000, seed=8, queries=60)
    one = new(name, shards=1).update(log[:2000])
    many = new(name, shards=8).update(log[:2000])
    assert abs(one.log_likelihood(log[2000:]) - many.log_likelihood(log[2000:])) < 0.01
