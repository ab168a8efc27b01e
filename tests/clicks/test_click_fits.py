"""What fitting promises: an objective that never falls, sums that merge, and a model at any end."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import drawn_pages
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from purport import clicks
from purport.clicks.batch import BatchEM, ClickSums, held_by, parts_of
from purport.clicks.kinds import KINDS
from purport.clicks.log import Log
from purport.clicks.model import ClickModel
from purport.clicks.state import ClickState, Priors
from purport.errors import (
    ConvergenceWarning,
    InputError,
    NotFittedError,
    ParameterError,
)
from purport.fold.thread_engine import threads
from purport.records.pages import Pages

HIDDEN = ("UBM", "PBM", "DBN", "CCM")
COUNTED = tuple(name for name in KINDS if name not in HIDDEN)
HELD = (0.5, 2.0)


def new(name: str, **given: Any) -> ClickModel:
    model: ClickModel = getattr(clicks, name)(**given)
    return model


def bits(model: ClickModel) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in model._to_state().arrays.items()}


# EM.


def objective(state: ClickState, log: Log) -> float:
    """Return the log of the likelihood times a Beta prior for each parameter."""
    chances = state.probabilities(log)
    total = float(np.log(np.where(log.clicks, chances, 1.0 - chances)).sum())
    priors = state.priors
    heads, tosses = priors.cells
    sets = [(state.parameters[: state.cells], heads, tosses)]
    for table, parameter in itertools.product(state.tables, range(state.width)):
        strength = priors.strengths[parameter]
        found = state.pair_parameters(table, parameter)
        sets.append((found, strength * (priors.satisfied if parameter else priors.level), strength))
    for values, of_heads, of_all in sets:
        total += float((of_heads * np.log(values)).sum())
        total += float(((of_all - of_heads) * np.log1p(-values)).sum())
    return total


@settings(max_examples=60)
@given(
    st.sampled_from(HIDDEN),
    st.integers(0, 10_000),
    st.integers(1, 60),
    st.integers(1, 8),
    st.floats(0.1, 0.9),
    st.floats(0.5, 8.0),
)
def test_the_objective_never_falls(
    name: str, seed: int, pages: int, ranks: int, mean: float, strength: float
) -> None:
    state = ClickState(KINDS[name], ranks, 3, Priors.held(mean, strength))
    log = state.log_of(drawn_pages.log(pages, seed, queries=3, docs=9), grows=True)
    em = BatchEM(state, log, threads(1))
    found = [objective(state, log)]
    for _ in range(12):
        em.round()
        found.append(objective(state, log))
    assert np.diff(found).min() > -1e-9 * abs(found[0])
    # Not because nothing moves.
    assert found[-1] > found[0]


@pytest.mark.parametrize("name", HIDDEN)
def test_where_rounds_end_nothing_is_better_nearby(name: str) -> None:
    log = drawn_pages.log(80, seed=1, queries=3)
    model = new(name, prior=HELD, ranks=7).fit(log, max_iter=5000, tol=1e-10)
    state = model._state
    read = state.log_of(log, grows=False)
    best = objective(state, read)
    random = np.random.default_rng(0)
    for _ in range(20):
        step = 1e-2 * random.normal(size=state.cells)
        before = state.parameters[: state.cells].copy()
        state.parameters[: state.cells] = np.clip(before + step, 1e-3, 1 - 1e-3)
        assert objective(state, read) < best + 1e-7
        state.parameters[: state.cells] = before


@pytest.mark.parametrize("name", HIDDEN)
def test_likelihood_of_parts_is_that_of_the_log(name: str) -> None:
    state = ClickState(KINDS[name], 5, 3, Priors.held(0.3, 2.0))
    log = state.log_of(drawn_pages.log(100, seed=2), grows=True)
    em = BatchEM(state, log, threads(1))
    em.round()
    chances = state.probabilities(log)
    expected = np.log(np.where(log.clicks, chances, 1.0 - chances)).mean()
    assert em.log_likelihood() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", HIDDEN)
def test_ranks_further_down_share_cells_alike_in_batches_and_online(name: str) -> None:
    log = drawn_pages.log(200, seed=3)
    for ranks in (1, 3):
        model = new(name, prior=HELD, ranks=ranks)
        model.fit(log, tol=1e-3)
        batch = model.log_likelihood(log)
        online = new(name, prior=HELD, ranks=ranks).update(log).log_likelihood(log)
        assert abs(batch - online) < 0.05
        assert model._state.cells == KINDS[name].cells(ranks)


# Sums.


def parts_by_day(name: str, days: int) -> tuple[ClickState, list[Any], list[list[Any]]]:
    """Return a state, the parts of a log, and those of its days."""
    state = ClickState(KINDS[name], 5, 4, Priors.held(0.4, 2.0))
    log = state.log_of(drawn_pages.log(40 * days, seed=4), grows=True)
    shards, queries, pairs = state.find(log, grows=True)
    for table in state.tables:
        drawn = np.random.default_rng(table.pairs).random((table.pairs, state.width))
        table.kept[: table.pairs, [0, 4][: state.width]] = drawn
    whole = parts_of(state, log, shards, queries, pairs)
    buckets = []
    for day in range(days):
        chosen = np.arange(40 * day, 40 * (day + 1))
        places = slice(log.offsets[chosen[0]], log.offsets[chosen[-1] + 1])
        found = shards[chosen], queries[chosen], pairs[places]
        buckets.append(parts_of(state, log.take(chosen), *found))
    return state, whole, buckets


@pytest.mark.parametrize("name", KINDS)
def test_day_buckets_merge_in_any_order(name: str) -> None:
    state, whole, buckets = parts_by_day(name, 4)
    held = held_by(state, learns_priors=state.width > 0)
    columns = (0, 4, 7)[state.width]
    zero = ClickSums(len(state.sums), [table.pairs for table in state.tables], columns)

    def summed(parts: list[Any]) -> ClickSums:
        return threads(2).fold(parts, zero, held)

    expected = summed(whole).to_arrays()
    days = [summed(parts) for parts in buckets]
    for order in itertools.permutations(range(4)):
        total = zero.zero()
        for day in order:
            total.merge(days[day])
        found = total.to_arrays()
        assert found.keys() == expected.keys()
        for key, array in expected.items():
            assert_allclose(found[key], array, rtol=0.0, atol=1e-11, err_msg=key)
        if KINDS[name].counts:
            # Whole numbers add up to the same in any order; what is expected at ranks does not.
            for key in found.keys() - {"pairs", "width"}:
                kept = [0, 1, 2, 4, 5, 6] if key.startswith("shard") else [0, 1]
                kept = [column for column in kept if column < found[key].shape[1]]
                np.testing.assert_array_equal(found[key][:, kept], expected[key][:, kept])


@pytest.mark.parametrize("name", KINDS)
def test_shards_change_no_more_than_rounding(name: str) -> None:
    log = drawn_pages.log(150, seed=5)
    one, many = (new(name, prior=HELD, shards=n).fit(log, tol=1e-3) for n in (1, 7))
    assert_allclose(one.click_probabilities(log), many.click_probabilities(log), atol=1e-12)


# How a fit ends.


class CountingEngine:
    """Stops a fit as Ctrl-C would, in the middle of a later fold."""

    def __init__(self, after: float = float("inf")) -> None:
        self._engine = threads(1)
        self.folds, self._after = 0, after
        self.place, self.map, self.close = self._engine.place, self._engine.map, self._engine.close

    def fold(self, placed: Any, zero: Any, parameters: Any) -> Any:
        self.folds += 1
        if self.folds > self._after:
            raise KeyboardInterrupt
        return self._engine.fold(placed, zero, parameters)


@pytest.mark.parametrize("after", [0, 1, 4])
@pytest.mark.parametrize("name", HIDDEN)
def test_an_interruption_leaves_the_last_finished_round(name: str, after: int) -> None:
    log = drawn_pages.log(150, seed=6)
    model = new(name, prior=HELD)
    with pytest.raises(KeyboardInterrupt):
        model.fit(log, engine=CountingEngine(after))
    assert model.converged_ is False
    assert len(model.history_) == after
    if after:
        with pytest.warns(ConvergenceWarning):
            stopped = new(name, prior=HELD).fit(log, max_iter=after, tol=0.0)
        assert bits(model) == bits(stopped)
    assert np.isfinite(model.log_likelihood(log))
    assert model.update(log).log_likelihood(log) > -1.0
    assert model.fit(log, tol=1e-2).converged_


@pytest.mark.parametrize("name", ["UBM", "SDBN"])
def test_an_interruption_while_priors_are_chosen_changes_nothing(name: str) -> None:
    log = drawn_pages.log(150, seed=6)
    model = new(name)
    with pytest.raises(KeyboardInterrupt):
        model.fit(log, engine=CountingEngine(10))
    with pytest.raises(NotFittedError):
        model.log_likelihood(log)
    held = bits(model.fit(log))
    with pytest.raises(KeyboardInterrupt):
        model.fit(log[:50], engine=CountingEngine(10))
    assert bits(model) == held
    assert model.converged_


def test_an_interruption_after_priors_were_chosen_leaves_a_model() -> None:
    log = drawn_pages.log(150, seed=6)
    engine = CountingEngine()
    rounds = len(new("UBM").fit(log, engine=engine).history_)
    model = new("UBM")
    with pytest.raises(KeyboardInterrupt):
        model.fit(log, engine=CountingEngine(engine.folds - rounds + 2))
    assert (len(model.history_), model.converged_) == (2, False)
    assert np.isfinite(model.log_likelihood(log))


@pytest.mark.parametrize("name", HIDDEN)
def test_reaching_max_iter_warns_once_and_says_what_to_do(name: str) -> None:
    log = drawn_pages.log(100, seed=7)
    with pytest.warns(ConvergenceWarning) as caught:
        model = new(name, prior=HELD).fit(log, max_iter=2, tol=1e-9)
    assert len(caught) == 1
    assert str(caught[0].message).startswith(f"{name} stopped at max_iter=2 while parameters still")
    assert "Raise max_iter, or tol" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert (len(model.history_), model.converged_) == (2, False)


@pytest.mark.parametrize("name", COUNTED)
def test_counting_takes_one_round(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = new(name, prior=HELD).fit(drawn_pages.log(50, seed=7), max_iter=1, tol=0.0)
    assert (len(model.history_), model.converged_) == (1, True)
    assert model.history_[0].keys() == {"change", "seconds"}


@pytest.mark.parametrize("name", KINDS)
def test_fit_refuses_what_makes_no_sense(name: str) -> None:
    log = drawn_pages.log(5)
    for setting, said in (
        ({"max_iter": 0}, "parameter 'max_iter' must be a whole number at least 1; got 0."),
        ({"tol": -1.0}, "parameter 'tol' must be a number at least 0; got -1.0."),
        ({"tol": "small"}, "parameter 'tol' must be a number at least 0; got 'small'."),
    ):
        with pytest.raises(ParameterError) as caught:
            new(name).fit(log, **setting)
        assert str(caught.value) == f"{name}.fit: {said}"
    with pytest.raises(ParameterError) as caught:
        new(name, prior=(0.5, 0.0)).fit(log)
    assert str(caught.value) == (
        f"{name}: parameter 'prior' must be 'learned' or a pair (mean between 0 and 1, strength"
        " above 0); got (0.5, 0.0)."
    )
    with pytest.raises(InputError, match=rf"{name}\.fit takes Pages; got dict\. Read them:"):
        new(name).fit({"docs": []})
    fitted = new(name, prior=HELD).fit(log)
    for method in ("log_likelihood", "click_probabilities", "simulate", "update"):
        with pytest.raises(InputError, match=rf"{name}\.{method} takes Pages; got str"):
            getattr(fitted, method)("clicks.tsv")
    with pytest.raises(ParameterError, match="parameter 'random_state' must be"):
        fitted.simulate(log, random_state=-1)
    with pytest.raises(ParameterError, match=r"'kind' must be 'conditional' or 'marginal'"):
        fitted.perplexity(log, kind="both")


@pytest.mark.parametrize("name", KINDS)
def test_no_pages(name: str) -> None:
    log = drawn_pages.log(20)
    nothing = log[:0]
    model = new(name, prior=HELD)
    with pytest.raises(InputError, match=rf"{name}\.fit needs at least one page; there is none\."):
        model.fit(nothing)
    model.fit(log)
    for method in ("log_likelihood", "perplexity"):
        with pytest.raises(InputError, match=rf"{name}\.{method} needs at least one page"):
            getattr(model, method)(nothing)
    assert model.click_probabilities(nothing).shape == (0, 0)
    assert model.conditional_click_probabilities(nothing).shape == (0, 0)
    assert len(model.simulate(nothing, random_state=1)) == 0
    begun = new(name, prior=HELD).update(nothing)
    assert_allclose(np.nanmax(begun.click_probabilities(log)), begun.click_probabilities(log)[0, 0])


@pytest.mark.parametrize("name", KINDS)
def test_before_a_fit_nothing_can_be_read(name: str) -> None:
    model = new(name)
    shared = ("examination_", "continuation_", "click_rates_")
    for attribute in ("n_pairs_", *(one for one in shared if hasattr(type(model), one))):
        with pytest.raises(NotFittedError, match=f"This {name} is not fitted yet"):
            getattr(model, attribute)


# What is learnt.

SHAPES = {
    "UBM": ("examination_", (4, 5)),
    "PBM": ("examination_", (4,)),
    "CCM": ("continuation_", (3,)),
    "DCM": ("continuation_", (4,)),
    "GCTR": ("click_rates_", (1,)),
    "RCTR": ("click_rates_", (4,)),
}


@pytest.mark.parametrize("name", KINDS)
def test_what_was_learnt_can_be_read(name: str) -> None:
    log = drawn_pages.log(60, seed=8)
    model = new(name, prior=HELD, ranks=4).fit(log, tol=1e-3)
    of_results = np.repeat(log.queries.strings(), np.diff(log.offsets)).tolist()
    pairs = set(zip(of_results, log.docs.strings(), strict=True))
    assert model.n_pairs_ == (len(pairs) if KINDS[name].has_pairs else 0)
    if name in SHAPES:
        attribute, shape = SHAPES[name]
        found = getattr(model, attribute)
        assert found.shape == shape
        assert np.all((found > 0.0) & (found < 1.0))
        before = model.click_probabilities(log)
        found[:] = 0.5  # is a copy
        np.testing.assert_array_equal(model.click_probabilities(log), before)
    if name == "DBN":
        assert type(model.continuation_) is float
        assert 0.0 < model.continuation_ < 1.0


def test_click_rates_are_those_of_the_log() -> None:
    log = drawn_pages.log(500, seed=9)
    weak = (0.5, 1e-9)
    assert new("GCTR", prior=weak).fit(log).click_rates_[0] == pytest.approx(log.clicks.mean())
    ranks = np.arange(len(log.docs)) - np.repeat(log.offsets[:-1], np.diff(log.offsets))
    expected = [log.clicks[ranks == rank].mean() for rank in range(7)]
    assert_allclose(new("RCTR", prior=weak).fit(log).click_rates_[:7], expected, atol=1e-6)


@pytest.mark.parametrize("name", KINDS)
def test_measures_of_pages_of_all_lengths(name: str) -> None:
    log = drawn_pages.log(120, seed=10)
    model = new(name, prior=HELD).fit(log[:80], tol=1e-3)
    asked = log[80:]
    conditional = model.conditional_click_probabilities(asked)
    marginal = model.click_probabilities(asked)
    lengths = np.diff(asked.offsets)
    for table in (conditional, marginal):
        assert table.shape == (40, lengths.max())
        np.testing.assert_array_equal((~np.isnan(table)).sum(axis=1), lengths)
    logs: dict[str, list[list[float]]] = {"conditional": [], "marginal": []}
    for kind, table in (("conditional", conditional), ("marginal", marginal)):
        for page, (start, end) in enumerate(itertools.pairwise(asked.offsets)):
            chances = [
                chance if clicked else 1.0 - chance
                for chance, clicked in zip(table[page], asked.clicks[start:end], strict=False)
            ]
            logs[kind].append(np.log(np.maximum(chances, 1e-6)).tolist())
    expected = np.mean([np.mean(page) for page in logs["conditional"]])
    assert model.log_likelihood(asked) == pytest.approx(expected, rel=1e-12)
    for kind, pages in logs.items():
        at = [
            2 ** -np.mean([page[rank] / np.log(2.0) for page in pages if rank < len(page)])
            for rank in range(lengths.max())
        ]
        assert_allclose(model.perplexity_at_rank(asked, kind), at, rtol=1e-12)
        assert model.perplexity(asked, kind) == pytest.approx(np.mean(at), rel=1e-12)


@pytest.mark.parametrize("name", KINDS)
def test_simulated_clicks_are_as_likely_as_the_model_says(name: str) -> None:
    log = drawn_pages.log(200, seed=11)
    model = new(name, prior=HELD).fit(log, tol=1e-3)
    page = log[int(np.argmax(np.diff(log.offsets)))]
    many = page[np.zeros(4000, int)]
    drawn = model.simulate(many, random_state=3)
    assert drawn == model.simulate(many.with_clicks(~many.clicks), random_state=3)
    assert drawn != model.simulate(many, random_state=4)
    assert drawn == drawn.with_clicks(drawn.clicks)
    expected = model.click_probabilities(page)[0]
    found = drawn.clicks.reshape(4000, -1).mean(axis=0)
    assert np.all(np.abs(found - expected) < 5.0 * np.sqrt(expected * (1.0 - expected) / 4000))


@pytest.mark.parametrize("name", ["UBM", "DBN", "CCM"])
def test_parameters_that_drew_clicks_are_found_again(name: str) -> None:
    log = drawn_pages.log(6000, seed=12, queries=4)
    truth = new(name, prior=HELD, ranks=7).fit(log[:300], tol=1e-3)
    found = new(name, prior=HELD, ranks=7).fit(
        truth.simulate(log, random_state=0), max_iter=500, tol=1e-4
    )
    assert_allclose(found.click_probabilities(log), truth.click_probabilities(log), atol=0.12)


@pytest.mark.parametrize("name", KINDS)
def test_who_is_not_known_is_expected_to_be_like_others(name: str) -> None:
    log = drawn_pages.log(300, seed=13)
    model = new(name).fit(log)
    strange = Pages.from_lists(
        ["new", "q0", "new"], [["d1", "d2"], ["never", "d2"], ["never"]], [[0, 0], [1, 0], [0]]
    )
    found = model.click_probabilities(strange)
    assert np.all((found > 0.0) & (found < 1.0) | np.isnan(found))
    assert np.isfinite(model.log_likelihood(strange))
    # Asking takes nothing in.
    before = bits(model)
    model.log_likelihood(strange)
    assert bits(model) == before
    if KINDS[name].has_pairs:
        assert found[0, 0] == pytest.approx(found[2, 0])


def test_chosen_priors_foretell_better_than_halves() -> None:
    log = drawn_pages.log(1500, seed=14, queries=150, docs=30)
    for name in ("UBM", "DBN", "DCTR"):
        chosen, halves = (new(name, prior=prior).fit(log[:700], tol=1e-3)
                          for prior in ("learned", HELD))  # fmt: skip
        gain = chosen.log_likelihood(log[700:]) - halves.log_likelihood(log[700:])
        assert gain > 0.002
