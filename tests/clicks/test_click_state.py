"""What a click model keeps: bounded, no page twice, the same however a log is cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from purport.clicks import DBN, GCTR, SDBN, UBM
from purport.clicks.model import ClickModel
from purport.clicks.names import Names
from purport.clicks.seen_pages import SeenPages, hashes_of
from purport.errors import InputError, ParameterError
from purport.records.ids import Ids
from purport.records.pages import Pages
from purport.store.folders import load, save

LENGTH = 5
DAY = 86_400


def made_pages(count: int, queries: int = 40, seed: int = 1, ids: bool = False) -> Pages:
    """Return a log of queries with names, half of whose documents have names, too."""
    chance = np.random.default_rng(seed)
    asked = chance.zipf(1.4, count) % queries
    shown = np.argsort(chance.random((count, 12)), axis=1)[:, :LENGTH] + 20 * asked[:, None]
    return Pages.from_arrays(
        np.arange(0, LENGTH * count + 1, LENGTH),
        [f"query {number}" for number in asked],
        [str(doc) if doc % 2 else f"doc-{doc}" for doc in shown.ravel().tolist()],
        chance.random(LENGTH * count) < 0.3,
        times=np.arange(count) * 300,
        ids=[f"page {number}" for number in range(count)] if ids else None,
    )


def new_pages(count: int, first: int = 0) -> Pages:
    """Return pages whose queries and documents never come again, one document but for."""
    numbers = np.arange(first, first + count)
    docs = [doc for number in numbers for doc in ("home", f"a{number}", f"b{number}")]
    queries = [f"q{number % 7}" if number % 3 else f"once {number}" for number in numbers]
    return Pages.from_arrays(np.arange(0, 3 * count + 1, 3), queries, docs, numbers.repeat(3) % 2)


def bits_of(model: ClickModel) -> dict[str, object]:
    """Return all that a model is, to the bit."""
    state = model._to_state()
    arrays = {
        name: (array.dtype.str, array.shape, array.tobytes())
        for name, array in state.arrays.items()
    }
    return {**arrays, "settings": state.settings}


def pairs_of(model: ClickModel) -> int:
    return sum(table.pairs for table in model._state.tables)


UPDATES = [{}, {"forget": (0.001, 0.01)}, {"half_life_days": 0.5}]


@pytest.mark.parametrize("update", UPDATES, ids=str)
@pytest.mark.parametrize("max_pairs", [None, 160])
@pytest.mark.parametrize("kind", [UBM, DBN])
def test_cuts_of_a_log_and_snapshots_change_no_bit(
    kind: type[ClickModel], max_pairs: int | None, update: dict[str, object], tmp_path: Path
) -> None:
    pages = made_pages(1500, ids=True)
    parameters = {"sync_every": 200, "max_pairs": max_pairs, "window": 300, "shards": 4}
    whole = kind(**parameters).update(pages, **update)
    parts = kind(**parameters)
    for start in range(0, len(pages), 371):
        parts.update(pages[start : start + 371], **update)
        save(parts, tmp_path / "model", overwrite=True)
        parts = load(tmp_path / "model")
    assert bits_of(parts) == bits_of(whole)


# Eviction.


def test_ever_new_pairs_take_bounded_memory() -> None:
    model = UBM(sync_every=100, max_pairs=400, shards=4)
    sizes = []
    for first in range(0, 20_000, 1000):
        model.update(new_pages(1000, first))
        state = model._state
        sizes.append(
            (
                sum(len(table.kept) for table in state.tables),
                len(state.query_names.known) <= 400,
                len(state.doc_names.known) <= 400,
                len(state.query_names._number_of) == len(state.query_names.known),
            )
        )
        assert pairs_of(model) <= 400
    assert sizes == [sizes[0]] * len(sizes)
    assert sizes[0][1:] == (True, True, True)


def test_names_of_models_without_pairs_are_forgotten_too() -> None:
    model = GCTR(sync_every=100, max_pairs=10).update(new_pages(1000))
    assert model._state.doc_names.known == []
    assert model.click_probabilities(new_pages(1)).shape == (1, 3)


def test_those_with_the_least_evidence_go_and_of_these_the_oldest() -> None:
    docs = [["often", "old"]] + [["often", f"new {number}"] for number in range(9)]
    pages = Pages.from_lists(["q"] * 10, docs, [[1, 0]] * 10)
    # Eleven pairs; at most ten may stay, so that nine do: the two oldest of those seen once go.
    model = UBM(sync_every=10, max_pairs=10, shards=1).update(pages)
    assert model._state.doc_names.known == ["often", *(f"new {number}" for number in range(1, 9))]
    table = model._state.tables[0]
    assert table.kept[: table.pairs, 1].tolist() == [10.0] + [1.0] * 8
    # What they brought stays with their query.
    everything = UBM(sync_every=10, shards=1).update(pages)._state.tables[0]
    assert table.query_sums[0].tolist() == everything.query_sums[0].tolist()


def test_evidence_counts_as_it_has_decayed() -> None:
    early = Pages.from_lists(["q"] * 8, [["early"]] * 8, [[1]] * 8, times=[DAY] * 8)
    late = Pages.from_lists(["q"] * 4, [["late"]] * 4, [[1]] * 4, times=[41 * DAY] * 4)
    last = Pages.from_lists(["q"] * 3, [["x"], ["x"], ["y"]], [[0]] * 3, times=[41 * DAY] * 3)
    for half_life, left in ((10.0, ["late", "x"]), (1000.0, ["early", "late"])):
        model = UBM(sync_every=15, max_pairs=3, shards=1)
        for pages in (early, late, last):
            model.update(pages, half_life_days=half_life)
        assert model._state.doc_names.known == left


def test_a_bound_that_is_not_reached_changes_nothing() -> None:
    pages = made_pages(1000)
    free = UBM(sync_every=200).update(pages)
    bound = UBM(sync_every=200, max_pairs=8 * pairs_of(free)).update(pages)
    assert bits_of(bound) == bits_of(free)


def test_fit_keeps_the_bound_too() -> None:
    pages = made_pages(2000)
    model = SDBN(max_pairs=100, shards=2).fit(pages)
    assert pairs_of(model) <= 100
    # What has gone is a pair that nobody has met.
    assert np.isfinite(model.log_likelihood(pages))


def test_names_that_were_forgotten_get_new_numbers() -> None:
    names = Names(["a", "b", "c"])
    names.keep(np.array([-1, -3]))
    again = Names.from_arrays(names.to_arrays())
    for each in (names, again):
        assert each.numbers(["b", "c", "d"]).tolist() == [-4, -3, -5]
        assert each.strings([-1, -3, -4, -5]) == ["a", "c", "b", "d"]


@pytest.mark.parametrize("places", [[0, 0], [1, 0], [0], [0, 9]])
def test_damaged_names_are_refused(places: list[int]) -> None:
    arrays = Names(["a", "b"]).to_arrays()
    with pytest.raises(ValueError, match="out of order"):
        Names.from_arrays({**arrays, "places": np.array(places)})


# Pages that come twice.


def test_a_page_that_comes_twice_is_dropped() -> None:
    pages = made_pages(500, ids=True)
    once = UBM().update(pages)
    twice = UBM().update(pages[:300]).update(pages[:300]).update(pages[100:])
    assert (once.dropped_, twice.dropped_) == (0, 500)
    assert twice.pages_seen_ == 500
    arrays = ({**bits_of(model), "settings": None} for model in (once, twice))
    assert next(arrays) == next(arrays)


def test_pages_of_a_fit_are_known_to_updates() -> None:
    pages = made_pages(500, ids=True)
    model = UBM(window=200).fit(pages)
    assert model.update(pages[300:]).dropped_ == 200
    assert model.pages_seen_ == 500


def test_what_comes_again_from_before_the_window_is_new() -> None:
    pages = made_pages(500, ids=True)
    # Each page that is let in pushes the oldest id out: the one that comes next.
    assert UBM(window=200).fit(pages).update(pages[299:]).dropped_ == 0


@pytest.mark.parametrize("window", [1, 2, 3, 10])
def test_a_window_is_as_long_as_it_says(window: int) -> None:
    chance = np.random.default_rng(window)
    ids = chance.integers(0, 2 * window + 1, 400).tolist()
    last: list[int] = []
    expected = []
    for number in ids:
        expected.append(number not in last)
        if number not in last:
            last = [*last, number][-window:]
    pages = Pages.from_lists([1] * 400, [[1]] * 400, [[0]] * 400, ids=ids)
    assert SeenPages(window).fresh(pages).tolist() == expected
    seen = SeenPages(window)
    found: list[bool] = []
    for start in range(0, 400, 7):
        found += seen.fresh(pages[start : start + 7]).tolist()
        seen = SeenPages.from_arrays(window, seen.to_arrays())
    assert found == expected


def test_a_window_of_nothing_and_pages_without_ids_drop_nothing() -> None:
    pages = made_pages(100, ids=True)
    assert UBM(window=0).update(pages).update(pages).dropped_ == 0
    assert UBM().update(made_pages(100)).update(made_pages(100)).dropped_ == 0


def test_ids_made_of_sessions_do_not_count() -> None:
    pages = Pages.from_lists([7, 7], [[1], [1]], [[0], [1]], sessions=["s", "s"])
    # Read in two batches, both would be called s/7/1.
    model = UBM().update(pages[:1]).update(pages[1:]).update(pages)
    assert (model.dropped_, model.pages_seen_) == (0, 4)


def test_the_window_may_change() -> None:
    pages = made_pages(100, ids=True)
    model = UBM().update(pages).set_params(window=10)
    assert model.update(pages[90:]).dropped_ == 10


def test_the_same_id_as_a_number_and_as_text_is_one() -> None:
    numbers = Pages.from_lists([1, 1], [[1]] * 2, [[0]] * 2, ids=[7, 8])
    texts = Pages.from_lists([1] * 3, [[1]] * 3, [[0]] * 3, ids=["7", "07", "x"])
    assert UBM().update(numbers).update(texts).dropped_ == 1
    assert len(set(hashes_of(Ids.of([str(number) for number in range(10_000)])).tolist())) == 10_000


def test_an_update_that_is_refused_takes_no_ids_in() -> None:
    pages = Pages.from_lists([1], [[1]], [[0]], ids=["a"])
    model = UBM()
    with pytest.raises(InputError, match="half_life_days needs times"):
        model.update(pages, half_life_days=1.0)
    assert model.update(pages).dropped_ == 0


@pytest.mark.parametrize(
    ("name", "value"), [("max_pairs", 0), ("max_pairs", 1.5), ("window", -1), ("window", None)]
)
def test_bounds_are_checked(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=f"parameter '{name}' must be"):
        UBM(**{name: value}).update(made_pages(1))
