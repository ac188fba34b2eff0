"""The Gaussian channel of codes."""

import math

import numpy as np
import pytest
from laws import assert_law
from scipy import stats

from bruit.channels import gaussian
from bruit.errors import InvalidArgument


def test_the_noise_follows_its_law() -> None:
    received = gaussian(noise=0.5).send(np.ones(262_144), rng=np.random.default_rng(3))
    edges = np.linspace(-1, 3, 41)
    counts = np.bincount(np.searchsorted(edges, received), minlength=42)
    below = np.concatenate([[0], stats.norm.cdf(edges, 1, 0.5), [1]])
    assert_law(counts, np.diff(below))


def test_shannon_limits_of_binary_inputs() -> None:
    """Rates 1/3, 1/2 and 3/4 are reached at -0.495, 0.187 and 1.626 dB per information bit."""
    for rate, decibels in ((1 / 3, -0.495), (1 / 2, 0.187), (3 / 4, 1.626)):
        channel = gaussian(snr=2 * rate * 10 ** (decibels / 10))
        assert channel.binary_capacity() == pytest.approx(rate, abs=1e-4)


def test_the_capacity_is_shannons() -> None:
    assert gaussian(snr=3).capacity() == pytest.approx(1.0)


def test_log_likelihood_is_that_of_two_normal_laws() -> None:
    channel, seen = gaussian(noise=0.7), np.array([-1.3, 0.0, 0.4])
    exact = stats.norm.logpdf(seen, 1, 0.7) - stats.norm.logpdf(seen, -1, 0.7)
    assert channel.log_likelihood(seen) == pytest.approx(exact)


def test_no_number_bounds_its_loss() -> None:
    assert gaussian(noise=1).epsilon == math.inf


@pytest.mark.parametrize("arguments", [{}, {"noise": 0}, {"noise": math.inf}, {"snr": -1}, {"noise": 1, "snr": 1}])
def test_what_makes_no_gaussian_channel_is_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument):
        gaussian(**arguments)
