"""The corrected resampled t test against scipy's paired test, its formula and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from purport.errors import InputError, ParameterError
from purport.measure import corrected_resampled_t

DIFFERENCES = [0.021, -0.004, 0.013, 0.008, 0.017, 0.002, 0.011, 0.009, -0.001, 0.015]


def test_without_correction_it_is_the_paired_t_test() -> None:
    stats = pytest.importorskip("scipy.stats")
    told = corrected_resampled_t(DIFFERENCES, 0.0, confidence=0.9)
    theirs = stats.ttest_1samp(DIFFERENCES, 0.0)
    assert (told.t, told.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    bounds = theirs.confidence_interval(0.9)
    assert (told.low, told.high) == pytest.approx((bounds.low, bounds.high))


def test_the_correction_is_that_of_the_paper() -> None:
    plain = corrected_resampled_t(DIFFERENCES, 0.0)
    told = corrected_resampled_t(DIFFERENCES, 0.1)
    # 1/n + n_test/n_train against 1/n, with n = 10 and a ratio of 1 to 9.
    assert told.t == pytest.approx(plain.t / math.sqrt(1 + 10 / 9))


def test_differences_that_share_their_data_are_found_too_often_without_it() -> None:
    """Means of random halves of one sample: their spread hides that they are the same data."""
    generator = np.random.default_rng(1)
    found = {0.0: 0, 0.5: 0}
    for _ in range(300):
        data = generator.normal(size=60)
        means = [generator.choice(data, size=30, replace=False).mean() for _ in range(10)]
        for share in found:
            found[share] += corrected_resampled_t(means, share).p_value < 0.05
    assert found[0.0] / 300 > 0.2
    assert found[0.5] / 300 < 0.1


def test_differences_without_spread() -> None:
    same = corrected_resampled_t([0.5, 0.5], 0.1)
    assert (same.t, same.p_value, same.low, same.high) == (math.inf, 0.0, 0.5, 0.5)
    assert corrected_resampled_t([0.0, 0.0], 0.1).p_value == 1.0


@pytest.mark.parametrize("values", [[], [1.0], [1.0, math.nan], [[1.0, 2.0]]])
def test_too_little_to_test(values: list[float]) -> None:
    with pytest.raises(InputError, match="at least two finite numbers"):
        corrected_resampled_t(values, 0.1)


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match="test_share"):
        corrected_resampled_t(DIFFERENCES, 1.0)
