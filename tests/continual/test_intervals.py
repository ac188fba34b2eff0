"""Simulated streams with the real programme: errors as the closed forms say, intervals that cover as they say."""

import numpy as np
import pytest
from continual.conftest import plan_for
from hypothesis import given
from hypothesis import strategies as st
from laws import binomial_window

from bruit.continual.noise.buffers import empty, rounded, step
from bruit.continual.noise.deviations import (
    change_deviation,
    change_half_width,
    slope_weights,
    total_deviation,
    total_half_width,
    weighted_deviation,
    weighted_half_width,
)
from bruit.randomness import discrete_gaussian

PERIODS, STREAMS = 64, 3000
PLAN = plan_for(PERIODS)


@pytest.fixture(scope="module")
def noise() -> np.ndarray:
    """What is added to each total, a row a period and a column a stream."""
    rng, buffers, rows = np.random.default_rng(11), empty(PLAN.factor, STREAMS), []
    for _ in range(PERIODS):
        fresh = discrete_gaussian(PLAN.lattice.sigma**2, STREAMS, rng=rng)
        buffers, given = step(PLAN.factor, PLAN.lattice.spare, buffers, fresh)
        rows.append(rounded(given, PLAN.unit))
    return np.array(rows)


def assert_covers(misses: np.ndarray, confidence: float) -> None:
    """At most as many misses as the confidence allows, and not far fewer: widths are whole numbers."""
    low, high = binomial_window(STREAMS, 1 - confidence, 1e-9)
    assert int(misses.sum()) <= high
    assert int(misses.sum()) >= low * 0.3


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_of_totals_cover(noise: np.ndarray, confidence: float) -> None:
    for period in (1, 2, 10, PERIODS):
        width = total_half_width(PLAN, period, confidence)
        assert_covers(np.abs(noise[period - 1]) > width, confidence)


@pytest.mark.parametrize(("since", "until"), [(1, 2), (10, 17), (7, 64), (63, 64), (32, 64)])
def test_intervals_of_changes_cover(noise: np.ndarray, since: int, until: int) -> None:
    moved = noise[until - 1] - noise[since - 1]
    assert_covers(np.abs(moved) > change_half_width(PLAN, since, until, 0.95), 0.95)


@pytest.mark.parametrize(("window", "until"), [(2, 5), (7, 30), (64, 64)])
def test_intervals_of_trends_cover(noise: np.ndarray, window: int, until: int) -> None:
    weights = slope_weights(until, window)
    slopes = weights @ noise[:until]
    assert_covers(np.abs(slopes) > weighted_half_width(PLAN, weights, 0.95), 0.95)


def test_simulated_errors_are_those_of_the_closed_form(noise: np.ndarray) -> None:
    simulated = np.sqrt((noise.astype(float) ** 2).mean(axis=1))
    expected = np.array([total_deviation(PLAN, period) for period in range(1, PERIODS + 1)])
    np.testing.assert_allclose(simulated, np.sqrt(expected**2 + 1 / 12), rtol=0.09)  # seven deviations of one row


@given(until=st.integers(2, PERIODS), since=st.integers(1, PERIODS - 1))
def test_closed_forms_agree_with_the_weights_of_the_noise(until: int, since: int) -> None:
    if since >= until:
        return
    weights = np.zeros(until)
    weights[until - 1], weights[since - 1] = 1, -1
    assert change_deviation(PLAN, since, until) == pytest.approx(weighted_deviation(PLAN, weights), rel=1e-9)
    last = np.zeros(until)
    last[-1] = 1
    assert total_deviation(PLAN, until) == pytest.approx(weighted_deviation(PLAN, last), rel=1e-9)


def test_a_line_has_its_own_slope() -> None:
    totals = 3.0 + 2.5 * np.arange(1, 21)
    assert slope_weights(20, 6) @ totals == pytest.approx(2.5)
