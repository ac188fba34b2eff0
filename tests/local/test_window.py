"""The piecewise and hybrid mechanisms on a grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law

from bruit.channels import ONE
from bruit.errors import InvalidArgument
from bruit.local import OneBitMean, PiecewiseMean


@given(st.integers(1, 200), st.floats(0.05, 10), st.booleans())
def test_the_law_proves_its_epsilon_and_is_unbiased(steps: int, epsilon: float, mixed: bool) -> None:
    protocol = PiecewiseMean(0, steps, grid=1, epsilon=epsilon, mixed=mixed)
    assert protocol.loss <= protocol.epsilon
    laws = np.array([protocol.law(step) for step in sorted({0, steps // 2, steps})])
    assert laws.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert np.log(laws.max(axis=0) / laws.min(axis=0)).max() <= epsilon + 1e-9
    values = protocol.values[: protocol.places]
    assert [law @ values for law in laws] == pytest.approx(sorted({0, steps // 2, steps}), abs=1e-6 * steps)


@pytest.mark.parametrize("value", [0, 3, 10])
@pytest.mark.parametrize("mixed", [False, True])
def test_reports_follow_the_law(value: int, mixed: bool) -> None:
    protocol, people = PiecewiseMean(0, 10, grid=1, epsilon=2, mixed=mixed), 262_144
    counts = protocol.tally(protocol.randomise(np.full(people, value), np.random.default_rng(1))).counts
    law = protocol.law(value)
    if mixed:
        one = protocol.ends.weights(np.array([value]))[0] / ONE
        law = np.concatenate([law * protocol.share / ONE, np.array([1 - one, one]) * (1 - protocol.share / ONE)])
    assert_law(counts, law)


@pytest.mark.parametrize("mixed", [False, True])
def test_the_variance_of_drawn_tallies_is_the_closed_form(mixed: bool) -> None:
    protocol, rng, people = PiecewiseMean(0, 20, grid=1, epsilon=2, mixed=mixed), np.random.default_rng(2), 500
    reports = protocol.randomise(np.full(people * 2000, 7.0), rng).reshape(2000, people)
    means = protocol.values[reports].mean(axis=1)
    assert means.var() * people == pytest.approx(protocol.variance(7), rel=0.2)
    assert abs(means.mean() - 7) < 6.5 * np.sqrt(protocol.variance(7) / people / 2000)


def test_it_beats_one_bit_at_large_epsilon_and_the_mixture_beats_both() -> None:
    for epsilon in (1, 2, 4):
        bit = OneBitMean(0, 100, grid=1, epsilon=epsilon)._deviation(1) ** 2
        window, mixed = (PiecewiseMean(0, 100, grid=1, epsilon=epsilon, mixed=m).variance() for m in (False, True))
        assert mixed <= 1.01 * min(bit, window)
    assert window < bit


def test_estimates_merge_and_carry_their_interval() -> None:
    protocol, rng = PiecewiseMean(0, 100, grid=1, epsilon=1, mixed=True), np.random.default_rng(3)
    one, two = (protocol.tally(protocol.randomise(rng.uniform(20, 60, 20_000), rng), seeded=True) for _ in range(2))
    release = protocol.estimate(one + two)
    assert release.interval is not None
    assert release.interval.low < release.value < release.interval.high
    assert abs(release.value - 40) < 4 * (release.interval.high - release.interval.low)
    assert "seeded" in release.guarantee.assumes


def test_bad_input_is_refused() -> None:
    protocol = PiecewiseMean(0, 10, grid=1, epsilon=1)
    with pytest.raises(InvalidArgument, match="missing"):
        protocol.randomise([float("nan")])
    with pytest.raises(InvalidArgument, match="at least two"):
        protocol.estimate(protocol.tally([1]))
    with pytest.raises(InvalidArgument, match="report"):
        protocol.tally([protocol.places])
    with pytest.raises(InvalidArgument, match="another protocol"):
        protocol.estimate(PiecewiseMean(0, 10, grid=1, epsilon=2).tally([1, 2]))
