"""One bit for a mean."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law
from scipy import stats

from bruit.channels import ONE, log_above
from bruit.errors import BadFile, InvalidArgument, OutOfDomain
from bruit.local import MeanTally, OneBitMean, mean_from_json


@given(st.floats(0.01, 12), st.integers(1, 1000))
def test_every_value_has_weights_within_epsilon(epsilon: float, steps: int) -> None:
    protocol = OneBitMean(0, steps, grid=1, epsilon=epsilon)
    ones = protocol.weights(np.arange(steps + 1))
    assert (np.diff(ones) >= 0).all()
    low, high = int(ones[0]), int(ones[-1])
    assert log_above(high, low) <= protocol.epsilon
    assert log_above(ONE - low, ONE - high) <= protocol.epsilon
    assert protocol.loss <= protocol.epsilon
    exact = protocol.channel.other + np.arange(steps + 1) / steps * (protocol.channel.keep - protocol.channel.other)
    assert ones == pytest.approx(exact, abs=4)


@pytest.mark.parametrize("value", [-5, 0, 3, 7.4, 10, 99])
def test_bits_follow_the_law_of_the_clamped_value(value: float) -> None:
    protocol, people = OneBitMean(0, 10, grid=1, epsilon=1), 262_144
    ones = int(protocol.randomise(np.full(people, value), np.random.default_rng(1)).values.sum())
    kept, e = min(max(round(value), 0), 10), math.e
    chance = 1 / (e + 1) + kept / 10 * (e - 1) / (e + 1)
    assert_law([ones, people - ones], [chance, 1 - chance])


def test_the_interval_covers_a_mixed_crowd_exactly() -> None:
    """Half of 60 people at one end, the others at three quarters: the law of the ones is a convolution."""
    protocol, people = OneBitMean(0, 4, grid=1, epsilon=1), 60
    chances = protocol.weights(np.array([0, 3])) / ONE
    mass = np.convolve(*(stats.binom.pmf(np.arange(31), 30, chance) for chance in chances))
    covered = 0.0
    mean = 0.0
    for ones, weight in enumerate(mass):
        release = protocol.estimate(MeanTally(protocol, people, ones))
        assert release.interval is not None
        covered += weight * (release.interval.low <= 1.5 <= release.interval.high)
        mean += weight * release.value
    assert covered >= 0.95
    assert mean == pytest.approx(1.5)


def test_planning_agrees_with_itself() -> None:
    protocol = OneBitMean(0, 100, grid=1, epsilon=1)
    people = protocol.answers_for(error=1)
    assert protocol.expected_error(people) <= 1 < protocol.expected_error(people - 1)


def test_tallies_merge_and_survive_json() -> None:
    protocol = OneBitMean(-1, 1, grid="0.01", epsilon=0.5)
    one, two = protocol.tally([1, 0, 1]), protocol.tally(protocol.randomise([0.5, -0.5]))
    assert (one + two).answers == 5
    assert mean_from_json(json.loads(json.dumps(protocol.to_json()))) == protocol
    with pytest.raises(BadFile):
        mean_from_json({**protocol.to_json(), "law": {}})
    with pytest.raises(BadFile):
        mean_from_json({})


@pytest.mark.parametrize(
    ("low", "high", "grid"), [(1, 1, 1), (2, 1, 1), (0, 1, 0), (0, 1, 0.3), (0, 1, -1), (0, 1, 1e-12)]
)
def test_bounds_that_are_no_range_are_refused(low: float, high: float, grid: float) -> None:
    with pytest.raises(OutOfDomain):
        OneBitMean(low, high, grid=grid, epsilon=1)


def test_bad_input_is_refused() -> None:
    protocol = OneBitMean(0, 1, grid=1, epsilon=1)
    with pytest.raises(InvalidArgument, match="missing"):
        protocol.randomise([float("nan")])
    with pytest.raises(InvalidArgument, match="empty"):
        protocol.estimate(protocol.tally([]))
    with pytest.raises(InvalidArgument, match="report"):
        protocol.tally([2])
    with pytest.raises(InvalidArgument, match="same protocol"):
        protocol.tally([1]) + OneBitMean(0, 1, grid=1, epsilon=2).tally([1])
