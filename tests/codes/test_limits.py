"""Shannon's limits and the normal approximation beside published figures."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from bruit.channels import gaussian
from bruit.codes import finite_length_limit, shannon_limit
from bruit.codes.limits import capacity_and_dispersion
from bruit.errors import InvalidArgument


@pytest.mark.parametrize(("rate", "level"), [(1 / 3, -0.495), (1 / 2, 0.187), (3 / 4, 1.626)])
def test_the_limits_of_bits_over_gaussian_noise(rate: float, level: float) -> None:
    assert shannon_limit(rate) == pytest.approx(level, abs=6e-4)


def test_a_rate_of_one_half_survives_11_percent_errors_or_half_the_bits() -> None:
    assert shannon_limit(0.5, "symmetric") == pytest.approx(0.1100, abs=5e-5)
    assert shannon_limit(0.5, "erasure") == pytest.approx(0.5)


def test_randomised_response_is_the_symmetric_channel_with_error_1_over_1_plus_e_to_epsilon() -> None:
    epsilon = shannon_limit(0.5, "randomised response")
    assert 1 / (1 + np.exp(epsilon)) == pytest.approx(shannon_limit(0.5, "symmetric"))


def test_the_gaussian_capacity_is_that_of_the_channel() -> None:
    mean, _ = capacity_and_dispersion("gaussian", 1.0, rate=0.5)
    assert mean == pytest.approx(gaussian(snr=10**0.1).binary_capacity(), abs=1e-12)


@pytest.mark.parametrize("kind", ["gaussian", "symmetric", "erasure", "randomised response"])
def test_the_finite_limit_satisfies_its_equation_and_approaches_shannons(kind: Any) -> None:
    level = finite_length_limit(1000, 500, word_errors=1e-3, kind=kind)
    mean, variance = capacity_and_dispersion(kind, level, rate=0.5)
    bits = 1000 * mean - np.sqrt(1000 * variance) * stats.norm.isf(1e-3) + 0.5 * np.log2(1000)
    assert bits == pytest.approx(500, abs=1e-5)
    far = finite_length_limit(10**8, 5 * 10**7, word_errors=1e-3, kind=kind)
    assert far == pytest.approx(shannon_limit(0.5, kind), abs=5e-3)


def test_dispersion_of_the_symmetric_channel_has_its_closed_form() -> None:
    _, variance = capacity_and_dispersion("symmetric", 0.11)
    assert variance == pytest.approx(0.11 * 0.89 * np.log2(0.89 / 0.11) ** 2)


@pytest.mark.parametrize("rate", [0.0, 1.0, -1.0])
def test_rates_outside_are_refused(rate: float) -> None:
    with pytest.raises(InvalidArgument):
        shannon_limit(rate)
    with pytest.raises(InvalidArgument):
        finite_length_limit(100, 50, word_errors=rate)
