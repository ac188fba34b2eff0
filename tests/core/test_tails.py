"""Tails of sums by their characteristic function, against sums over every value."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bruit.channels import laplace_log_characteristic, laplace_variance
from bruit.core.tails import lower_tail

REACH = 200


def test_a_normal_tail_is_the_normal_one() -> None:
    places, deviations = np.linspace(-9, 9, 13), np.full(13, 2.0)
    found = lower_tail(places, deviations, lambda frequencies: -2 * frequencies**2)
    np.testing.assert_allclose(found, stats.norm.cdf(places / 2), atol=1e-9)


@pytest.mark.parametrize("scale", [0.5, 2.0, 9.0])
@pytest.mark.parametrize("people", [0.4, 3.0, 40.0])
def test_a_tail_of_few_people_and_noise_is_the_sum_over_all(scale: float, people: float) -> None:
    """Who stands at the place itself counts half."""
    ratio, steps = np.exp(-1 / scale), np.arange(-REACH, REACH + 1)
    noise = (1 - ratio) / (1 + ratio) * ratio ** np.abs(steps)
    law = np.convolve(stats.poisson(people).pmf(np.arange(REACH)), noise)
    below = np.cumsum(law) - law / 2
    for place in range(REACH - 5, REACH + 60, 7):

        def log_characteristic(frequencies: np.ndarray) -> np.ndarray:
            drawn = people * (np.exp(1j * frequencies) - 1 - 1j * frequencies)
            return np.asarray(drawn + laplace_log_characteristic(scale, frequencies))

        deviation = np.array([(people + laplace_variance(scale)) ** 0.5])
        (found,) = lower_tail(np.array([place - REACH - people]), deviation, log_characteristic)
        assert found == pytest.approx(below[place], abs=2e-3)
