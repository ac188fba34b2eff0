"""The statistical asserts themselves: they accept the law, refuse a wrong one, and say how many draws that takes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import ALARM, assert_law, binomial_window, draws_to_detect
from scipy import stats


@given(
    trials=st.integers(1, 10_000),
    probability=st.floats(0, 1),
    alarm=st.sampled_from([1e-9, 1e-4, 0.05]),
)
def test_the_window_is_left_with_at_most_the_alarm(trials: int, probability: float, alarm: float) -> None:
    low, high = binomial_window(trials, probability, alarm)
    law = stats.binom(trials, probability)
    assert law.cdf(low - 1) <= alarm / 2
    assert law.sf(high) <= alarm / 2


@given(trials=st.integers(10, 10_000), probability=st.floats(0.05, 0.95))
def test_the_window_is_no_wider_than_it_must_be(trials: int, probability: float) -> None:
    low, high = binomial_window(trials, probability, ALARM)
    law = stats.binom(trials, probability)
    assert low == 0 or law.cdf(low) > ALARM / 2 * (1 - 1e-6)
    assert high == trials or law.sf(high - 1) > ALARM / 2 * (1 - 1e-6)


def test_the_alarm_of_a_fair_coin_is_what_it_says() -> None:
    low, high = binomial_window(1000, 0.5, 0.05)
    assert (low, high) == (469, 531)  # SciPy's table of Binomial(1000, 1/2) at 2.5 % a side


def test_the_true_law_is_accepted() -> None:
    law = np.array([0.5, 0.25, 0.125, 0.125])
    assert_law(np.random.default_rng(1).multinomial(262_144, law), law)


def test_five_per_cent_of_missing_noise_is_refused() -> None:
    claimed, wrong = (np.exp(e) / (1 + np.exp(e)) for e in (1.0, 1.05))
    counts = np.random.default_rng(1).multinomial(262_144, [wrong, 1 - wrong])
    with pytest.raises(AssertionError, match="outside"):
        assert_law(counts, [claimed, 1 - claimed])


def test_the_draws_that_tell_five_per_cent_of_missing_noise() -> None:
    claimed, wrong = (float(np.exp(e) / (1 + np.exp(e))) for e in (1.0, 1.05))
    assert draws_to_detect(claimed, wrong) == 262_144


def test_a_cell_that_cannot_happen_must_be_empty() -> None:
    with pytest.raises(AssertionError, match="cell 2"):
        assert_law([500, 500, 1], [0.5, 0.5, 0.0])


def test_cells_that_miss_an_outcome_are_refused() -> None:
    with pytest.raises(AssertionError, match="cover every outcome"):
        assert_law([5, 5], [0.5, 0.4])


def test_one_probability_for_each_cell() -> None:
    with pytest.raises(AssertionError, match="one probability"):
        assert_law([5, 5], [1.0])
