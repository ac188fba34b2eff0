"""Bounds from counts: exact coverage, summed over the whole binomial law."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from bruit.audit.bounds import at_least, at_most, epsilon_at_least

TRIALS = 40
COUNTS = np.arange(TRIALS + 1)


@given(hits=some.integers(0, 500), more=some.integers(0, 500), alarm=some.floats(1e-6, 0.5))
def test_bounds_agree_with_scipys_exact_interval(hits: int, more: int, alarm: float) -> None:
    trials = max(hits + more, 1)
    interval = stats.binomtest(hits, trials).proportion_ci(1 - 2 * alarm, method="exact")
    assert float(at_least(np.int64(hits), trials, alarm)) == pytest.approx(interval.low, rel=1e-7, abs=1e-12)
    assert float(at_most(np.int64(hits), trials, alarm)) == pytest.approx(interval.high, rel=1e-7, abs=1e-12)


@given(first=some.floats(0.01, 0.99), second=some.floats(0.01, 0.99), delta=some.sampled_from([0.0, 0.01, 0.3]))
def test_on_two_point_laws_the_bound_exceeds_the_truth_with_at_most_the_alarm(
    first: float, second: float, delta: float
) -> None:
    truth = max(math.log((first - delta) / second), 0.0) if first > delta else 0.0
    bounds = epsilon_at_least(COUNTS[:, None], COUNTS[None, :], TRIALS, alarm=0.05, delta=delta)
    chances = np.outer(stats.binom.pmf(COUNTS, TRIALS, first), stats.binom.pmf(COUNTS, TRIALS, second))
    assert chances[bounds > truth + 1e-12].sum() <= 0.05 + 1e-12


@given(alarm=some.floats(1e-15, 0.5), delta=some.floats(0, 0.9))
def test_more_hits_or_fewer_of_the_neighbour_never_lower_the_bound(alarm: float, delta: float) -> None:
    bounds = epsilon_at_least(COUNTS[:, None], COUNTS[None, :], TRIALS, alarm=alarm, delta=delta)
    assert (np.diff(bounds, axis=0) >= -1e-12).all()
    assert (np.diff(bounds, axis=1) <= 1e-12).all()
    assert np.isfinite(bounds).all()
