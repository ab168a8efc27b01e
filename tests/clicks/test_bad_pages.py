"""Pages that are wrong are refused by row; those that are only strange are learnt from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from purport.clicks import CCM, DBN, PBM, UBM
from purport.clicks.model import ClickModel
from purport.errors import RecordError
from purport.records.pages import Pages
from purport.study.click_evaluation import evaluate_clicks
from purport.study.click_models import CLICK_MODELS

DAY = 86_400
KINDS = list(CLICK_MODELS.values())
BAD = {
    "more clicks than docs": ("a b", "0 1 0", "there are 2 docs but 3 clicks"),
    "fewer clicks than docs": ("a b", "0", "there are 2 docs but 1 clicks"),
    "a click that is neither 0 nor 1": ("a b", "0 2", r"clicks\[1\] is neither 0 nor 1"),
    "an empty page": ("", "", "it has no docs"),
}


@pytest.mark.parametrize("bad", BAD)
def test_wrong_pages_are_refused_by_row_and_left_out_if_asked(bad: str, tmp_path: Path) -> None:
    docs, clicks, reason = BAD[bad]
    log = tmp_path / "log.tsv"
    log.write_text(f"qid\tdocs\tclicks\nq\tx y\t0 1\nq\t{docs}\t{clicks}\n", encoding="utf-8")
    with pytest.raises(RecordError, match=f"row 3: {reason}"):
        Pages.read(log)
    with pytest.warns(match="1 bad rows were left out"):
        pages = Pages.read(log, on_error="skip")
    assert UBM().update(pages).pages_seen_ == 1


def checked(model: ClickModel, pages: Pages) -> None:
    """Ask for everything that a model tells; none of it may be anything but a probability."""
    for table in (
        model.click_probabilities(pages),
        model.conditional_click_probabilities(pages),
    ):
        inside = table[~np.isnan(table)]
        assert inside.size == len(pages.docs)
        # After its click the cascade model expects no other: 0 is one of its answers.
        assert np.all((inside >= 0.0) & (inside < 1.0))
    assert model.log_likelihood(pages) < 0.0
    assert model.perplexity(pages) >= 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_documents_that_stand_on_a_page_twice(kind: type[ClickModel]) -> None:
    pages = Pages.from_lists(
        ["q"] * 6, [["a", "b", "a", "a"]] * 6, [[1, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]] * 2
    )
    checked(kind().update(pages).update(pages, forget=0.1), pages)
    checked(kind(prior=(0.5, 2.0)).fit(pages, max_iter=3, tol=1.0), pages)


@pytest.mark.parametrize("kind", KINDS)
def test_pages_of_one_result(kind: type[ClickModel]) -> None:
    pages = Pages.from_lists(["q", "r"] * 3, [["a"], ["b"]] * 3, [[1], [0]] * 3)
    model = kind(prior=(0.5, 2.0)).fit(pages, max_iter=3, tol=1.0)
    checked(model.update(pages), pages)
    assert model.click_probabilities(pages).shape == (6, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_results(kind: type[ClickModel]) -> None:
    chance = np.random.default_rng(1)
    pages = Pages.from_arrays(
        [0, 10_000, 10_003],
        [1, 2],
        [*range(10_000), 1, 2, 3],
        chance.random(10_003) < 0.1,
    )
    model = kind(prior=(0.5, 2.0)).fit(pages, max_iter=3, tol=1.0)
    checked(model.update(pages, forget=0.01), pages)


def test_ten_thousand_results_are_evaluated() -> None:
    pages = Pages.from_arrays([0, 10_000, 10_003], [1, 2], [*range(10_003)], np.arange(10_003) % 2)
    found = evaluate_clicks(PBM().update(pages), pages, samples=20)
    assert len(found.ranks) == 10_000
    assert [found.ranks[0].shown, found.ranks[-1].shown] == [2, 1]
    assert "and 9,980 more" in found.text()


@pytest.mark.parametrize("kind", [UBM, DBN, CCM])
def test_time_that_goes_back_counts_as_the_latest_day(kind: type[ClickModel]) -> None:
    chance = np.random.default_rng(2)
    days = np.cumsum(chance.integers(-2, 4, 400)) + 100
    parts = [
        Pages.from_arrays(
            np.arange(0, 1201, 3),
            np.arange(400) % 7,
            np.arange(1200) % 11,
            np.random.default_rng(3).random(1200) < 0.3,
            times=times * DAY,
        )
        for times in (days, np.maximum.accumulate(days))
    ]
    models = [kind(sync_every=64).update(pages, half_life_days=3.0) for pages in parts]
    one, two = (model._to_state() for model in models)
    assert {name: array.tobytes() for name, array in one.arrays.items()} == {
        name: array.tobytes() for name, array in two.arrays.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_documents_and_queries_that_nobody_has_met(kind: type[ClickModel]) -> None:
    pages = Pages.from_lists(["q"] * 4, [["a", "b"]] * 4, [[1, 0]] * 4)
    strange = Pages.from_lists(["q", "new"], [["a", "never"], ["never", "ever"]], [[0, 1], [0, 0]])
    model = kind().update(pages)
    checked(model, strange)
    # Asking does not teach.
    assert model._state.doc_names.known == ["a", "b"]
