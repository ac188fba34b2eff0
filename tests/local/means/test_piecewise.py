"""The piecewise and hybrid mechanisms on a grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law, binomial_window

from bruit.channels import ONE
from bruit.errors import InvalidArgument
from bruit.local import OneBitMean, PiecewiseMean


@given(st.integers(1, 200), st.floats(0.05, 10), st.booleans())
def test_the_law_proves_its_epsilon_and_is_unbiased(steps: int, epsilon: float, mixed: bool) -> None:
    protocol = PiecewiseMean(0, steps, grid=1, epsilon=epsilon, mixed=mixed)
    assert protocol.loss <= protocol.epsilon
    laws = np.array([protocol.law_at(step) for step in sorted({0, steps // 2, steps})])
    assert laws.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert np.log(laws.max(axis=0) / laws.min(axis=0)).max() <= epsilon + 1e-9
    values = protocol.values[: protocol.places]
    assert [law @ values for law in laws] == pytest.approx(sorted({0, steps // 2, steps}), abs=1e-6 * steps)


@pytest.mark.parametrize("value", [0, 3, 10])
@pytest.mark.parametrize("mixed", [False, True])
def test_reports_follow_the_law(value: int, mixed: bool) -> None:
    protocol, people = PiecewiseMean(0, 10, grid=1, epsilon=2, mixed=mixed), 262_144
    counts = protocol.tally(protocol.randomise(np.full(people, value), rng=np.random.default_rng(1))).counts
    law = protocol.law_at(value)
    if mixed:
        one = protocol.ends.weights(np.array([value]))[0] / ONE
        law = np.concatenate([law * protocol.share / ONE, np.array([1 - one, one]) * (1 - protocol.share / ONE)])
    assert_law(counts, law)


@pytest.mark.parametrize("mixed", [False, True])
def test_the_variance_of_drawn_tallies_is_the_closed_form(mixed: bool) -> None:
    """A tally of people who hold one number is multinomial; two groups make the variance of their mixture."""
    protocol, rng, people = PiecewiseMean(0, 20, grid=1, epsilon=2, mixed=mixed), np.random.default_rng(2), 500
    held = {7: 300, 20: 200}
    tallies = sum(rng.multinomial(size, protocol.whole_law(step), 40_000) for step, size in held.items())
    means = tallies @ protocol.values / people
    variance = sum(size * protocol.variance(step) for step, size in held.items()) / people**2
    truth = sum(size * step for step, size in held.items()) / people
    assert means.var() == pytest.approx(variance, rel=0.05)
    assert abs(means.mean() - truth) < 6.2 * np.sqrt(variance / 40_000)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_exact_intervals_cover_whatever_the_people_hold(mixed: bool, epsilon: float) -> None:
    """The law of the sum of reports, exactly: a convolution over the grid of places, for a few people or many."""
    protocol = PiecewiseMean(0, 4, grid=1, epsilon=epsilon)
    for held in ([0], [0, 4], [1] * 3 + [4] * 7, [0] * 200 + [3] * 100):
        mass = np.ones(1)
        for step in held:
            mass = np.convolve(mass, protocol.law_at(step))
        slope = (protocol.values[-1] - protocol.values[0]) / (protocol.places - 1)
        means = protocol.values[0] + slope * np.arange(len(mass)) / len(held)
        half = protocol.expected_error(len(held))
        assert mass[np.abs(means - np.mean(held)) <= half].sum() >= 0.95
    # the mixture adds the two values of a bit, so its tallies are drawn: 20 000 of 50 people on two numbers
    if mixed:
        protocol, rng = PiecewiseMean(0, 4, grid=1, epsilon=epsilon, mixed=True), np.random.default_rng(9)
        tallies = rng.multinomial(30, protocol.whole_law(0), 20_000) + rng.multinomial(
            20, protocol.whole_law(3), 20_000
        )
        means = tallies @ protocol.values / 50
        missed = int((np.abs(means - 1.2) > protocol.expected_error(50)).sum())
        assert missed <= binomial_window(20_000, 0.05, 1e-9)[1]


@pytest.mark.parametrize("mixed", [False, True])
def test_normal_intervals_of_many_people_cover_95_percent(mixed: bool) -> None:
    protocol, rng, draws = PiecewiseMean(0, 20, grid=1, epsilon=1, mixed=mixed), np.random.default_rng(4), 30_000
    held = {0: 400, 7: 300, 20: 300}
    truth, people = sum(step * size for step, size in held.items()) / 1000, sum(held.values())
    tallies = sum(rng.multinomial(size, protocol.whole_law(step), draws) for step, size in held.items())
    means = tallies @ protocol.values / people
    spread = (tallies @ protocol.values**2 - people * means**2) / (people - 1)
    covered = int((np.abs(means - truth) <= 1.959964 * np.sqrt(spread / people)).sum())
    # the spread of the numbers themselves makes it a little wider than this table alone needs: 95 to 97.5 %
    assert binomial_window(draws, 0.945, 1e-9)[0] <= covered <= binomial_window(draws, 0.98, 1e-9)[1]
    one = protocol.tally_of(tallies[0], tallies[0].sum(), seeded=True)
    details = protocol.estimate(one, method="normal").details
    assert details["raw_high"] - means[0] == pytest.approx(1.959964 * np.sqrt(spread[0] / people), rel=1e-6)
    assert details["approximate"]
    assert not protocol.estimate(one).details["approximate"]


def test_it_beats_one_bit_at_large_epsilon_and_the_mixture_beats_both() -> None:
    for epsilon in (1, 2, 4):
        bit = OneBitMean(0, 100, grid=1, epsilon=epsilon)._deviation(1) ** 2
        window, mixed = (PiecewiseMean(0, 100, grid=1, epsilon=epsilon, mixed=m).variance() for m in (False, True))
        assert mixed <= 1.01 * min(bit, window)
    assert window < bit


def test_estimates_merge_and_carry_their_interval() -> None:
    protocol, rng = PiecewiseMean(0, 100, grid=1, epsilon=1, mixed=True), np.random.default_rng(3)
    one, two = (protocol.tally(protocol.randomise(rng.uniform(20, 60, 20_000), rng=rng)) for _ in range(2))
    release = protocol.estimate(one + two)
    assert release.interval is not None
    assert release.interval.low < release.value < release.interval.high
    assert abs(release.value - 40) < 4 * (release.interval.high - release.interval.low)
    assert "seeded" in release.guarantee.assumes


def test_bad_input_is_refused() -> None:
    protocol = PiecewiseMean(0, 10, grid=1, epsilon=1)
    with pytest.raises(InvalidArgument, match="at least 2"):
        protocol.estimate(protocol.tally([1]), method="normal")
    with pytest.raises(InvalidArgument, match="at least 1"):
        protocol.estimate(protocol.tally([]))
    with pytest.raises(InvalidArgument, match="method"):
        protocol.estimate(protocol.tally([1]), method="mid-p")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="report"):
        protocol.tally([protocol.places])
    with pytest.raises(InvalidArgument, match="another protocol"):
        protocol.estimate(PiecewiseMean(0, 10, grid=1, epsilon=2).tally([1, 2]))
