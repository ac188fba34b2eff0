"""Tails of noise with a normal law, against sums over every value of the noise."""

from __future__ import annotations

import numpy as np
import pytest
from inference.noisy_tables import laplace, table
from scipy import stats

from bruit.inference.means import mean, tail_of_mean
from bruit.inference.noise_laws import NormalNoise, ReportNoise
from bruit.inference.tails import two_sided_tail
from bruit.inference.totals import totals_of
from bruit.local import KRR, OUE


def enumerated(distance: float, weights: tuple[float, float], deviation: float, epsilon: str) -> float:
    """P(|w . Z + N| >= distance), summed over both noises."""
    reach = 400
    law = laplace(epsilon).noise.law(reach)
    steps = np.arange(-reach, reach + 1)
    sums = weights[0] * steps[:, None] + weights[1] * steps[None, :]
    tails = stats.norm.sf((distance - sums) / deviation) + stats.norm.cdf((-distance - sums) / deviation)
    return float((np.outer(law, law) * tails).sum())


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.7, -0.3), (0.5, 0.5)])
def test_a_tail_is_the_sum_over_all_noise(epsilon: str, weights: tuple[float, float]) -> None:
    law, flat = laplace(epsilon), np.array([weights])
    heavy = law.variance * float(np.square(flat).sum())
    for normal in (0.3 * heavy + 0.5, 5 * heavy + 0.5):
        for distance in np.array([0.5, 1.96, 3.5]) * (normal + heavy) ** 0.5:
            found = two_sided_tail(
                np.array([distance]),
                np.array([normal]),
                np.array([heavy]),
                lambda frequencies: law.log_characteristic(frequencies[..., None] * flat[:, None, :]),
            )
            assert found[0] == pytest.approx(enumerated(distance, weights, normal**0.5, epsilon), abs=2e-5)


def test_a_normal_tail_is_the_normal_one() -> None:
    places = np.linspace(0, 5, 11)
    found = two_sided_tail(places, np.ones(11), np.zeros(11), lambda frequencies: np.zeros_like(frequencies))
    np.testing.assert_allclose(found, 2 * stats.norm.sf(places), atol=1e-9)


def test_the_ends_of_an_interval_have_the_tail_of_its_level() -> None:
    counts = table(np.array([31.0, 52.0, 44.0, 12.0]), "0.3")
    totals = totals_of(counts, counts.axes[0].numbers)
    found = mean(counts, confidence=0.9)
    assert tail_of_mean(totals, np.array([found.low, found.high])) == pytest.approx(0.1, abs=1e-3)


def test_discrete_laplace_noise_has_its_variance() -> None:
    law, steps = laplace("0.7"), np.arange(-300, 301)
    assert law.variance == pytest.approx(float(law.noise.law(300) @ steps**2), rel=1e-9)


def test_the_covariance_of_reports_is_that_of_the_channel() -> None:
    protocol, truth = KRR(["a", "b", "c"], epsilon=1), np.array([50.0, 30.0, 20.0])
    law = ReportNoise(protocol.support, 100, one_place=True)
    channel = protocol.channel.probabilities()
    inverse = np.linalg.inv(channel)
    each = [inverse.T @ (np.diag(row) - np.outer(row, row)) @ inverse for row in channel]
    np.testing.assert_allclose(law.covariance(truth), np.tensordot(truth, np.array(each), 1), rtol=1e-9)


@pytest.mark.parametrize("law", [laplace("0.5"), NormalNoise(4.0)], ids=["laplace", "normal"])
def test_rehearsals_have_the_covariance_that_is_said(law: object) -> None:
    means, rng = np.array([40.0, 10.0, 5.0]), np.random.default_rng(1)
    drawn = law.draw(means, 40_000, rng)  # type: ignore[attr-defined]
    expected = np.diag(means) + law.covariance(means)  # type: ignore[attr-defined]
    np.testing.assert_allclose(drawn.mean(0), means, atol=0.25)
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.06 * expected.max())


@pytest.mark.parametrize(("kind", "one_place"), [(KRR, True), (OUE, False)])
def test_rehearsed_reports_have_the_covariance_that_is_said(kind: type, one_place: bool) -> None:
    protocol, rng = kind(["a", "b", "c"], epsilon=1), np.random.default_rng(2)
    means, people = np.array([500.0, 300.0, 200.0]), 1000
    law = ReportNoise(protocol.support, people, one_place)
    sampled = np.diag(means) - np.outer(means, means) / people
    expected = sampled + law.covariance(means)
    drawn = law.draw(means, 40_000, rng)
    np.testing.assert_allclose(drawn.mean(0), means, atol=2)
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.04 * expected.max())
