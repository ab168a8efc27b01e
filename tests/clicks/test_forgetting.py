"""Forgetting: by calendar time, by what is known, and at the rate that foretells best."""

from __future__ import annotations

import numpy as np
import pytest

from purport.clicks.models import DBN, UBM
from purport.records.pages import Pages


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
