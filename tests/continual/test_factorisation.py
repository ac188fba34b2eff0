"""The factor of running sums: its identity, its errors beside the textbooks', and what is refused."""

from math import log2, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.continual.factorisation import FIXED, Factor, repeated, repeated_exactly, search_factor, square_root_error
from bruit.continual.factorisation.any_horizon import ANY_HORIZON, LONGEST, SQUARED_NORM
from bruit.errors import InvalidArgument


def column(factor: Factor, periods: int) -> np.ndarray:
    return np.array([x / 2.0**FIXED for x in factor.c(periods)])


def tree_error(periods: int) -> float:
    """The largest error of the binary tree, for a person in one period."""
    levels = int(log2(periods)) + 1
    most = max(bin(period).count("1") for period in range(1, periods + 1))
    return sqrt(levels * most)


def largest_error(factor: Factor, periods: int) -> float:
    c, b = column(factor, periods), factor.b(periods)
    return sqrt(float(c @ c) * float(b @ b))


@pytest.mark.parametrize("aim", ["max", "mean"])
def test_b_times_c_sums_what_comes(aim: str) -> None:
    factor = search_factor(64, aim=aim)
    product = np.convolve(factor.b(64), column(factor, 64))[:64]
    np.testing.assert_allclose(product, 1.0, atol=1e-13)


@pytest.mark.parametrize(("periods", "share", "most"), [(256, 0.335, 2.84), (1024, 0.32, 3.3), (4096, 0.30, 3.75)])
def test_the_largest_error_is_a_third_of_the_trees(periods: int, share: float, most: float) -> None:
    error = largest_error(search_factor(periods), periods)
    assert error <= share * tree_error(periods)
    assert error <= most
    assert error >= square_root_error(periods) * (1 - 1e-3)  # near it no Toeplitz matrix does better


def test_the_mean_error_can_be_made_smaller_instead() -> None:
    c, b = column(search_factor(256, aim="mean"), 256), search_factor(256, aim="mean").b(256)
    mean = sqrt(float(c @ c) * float(np.cumsum(b**2).mean()))
    assert mean <= 2.62


def test_a_factor_can_be_searched_for_a_window() -> None:
    def window_error(factor: Factor) -> float:
        c, b = column(factor, 256), factor.b(256)
        late = b.copy()
        late[7:] -= b[:-7]
        return sqrt(float(c @ c) * float(late @ late))

    assert window_error(search_factor(256, window=7)) < 0.75 * window_error(search_factor(256))


def test_the_factor_of_any_horizon_stays_near_every_known_one() -> None:
    errors = np.sqrt(float(SQUARED_NORM) * np.cumsum(ANY_HORIZON.b(LONGEST) ** 2))
    for power in range(3, 21):
        assert errors[2**power - 1] <= 1.26 * square_root_error(2**power)


def test_the_shipped_norm_is_above_that_of_every_shorter_stream() -> None:
    c = column(ANY_HORIZON, 4096)
    tail = SQUARED_NORM - float(c @ c)
    assert 0 < tail < c[-1] ** 2 * (LONGEST - 4096)  # c falls


@pytest.mark.stress
def test_the_shipped_norm_is_that_of_the_shipped_factor() -> None:
    exact = sum((x >> 40) ** 2 for x in ANY_HORIZON.c(LONGEST)) / 2.0**240
    assert exact <= SQUARED_NORM <= exact * (1 + 1e-15)


def test_positive_weights_do_not_make_c_fall() -> None:
    """Lemma 1 of the first draft was wrong: this one was accepted, and its c rises."""
    rising = Factor(weights=(0.3, 0.6), poles=(1.0, 0.1))
    with pytest.raises(InvalidArgument, match="does not fall"):
        rising.c(8)


@pytest.mark.parametrize(
    ("weights", "poles"),
    [((0.3,), (0.9,)), ((0.3, 0.3), (1.0, 1.0)), ((0.6, 0.6), (1.0, 0.5)), ((0.3, -0.1), (1.0, 0.5)), ((), ())],
)
def test_a_factor_without_its_order_is_refused(weights: tuple[Any, ...], poles: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidArgument, match="a factor has poles"):
        Factor(weights, poles)


@given(series=st.lists(st.integers(-9, 9), min_size=1, max_size=40), times=st.integers(1, 50), apart=st.integers(1, 12))
def test_both_sums_of_shifted_series_agree_with_the_plain_one(series: list[int], times: int, apart: int) -> None:
    plain = np.zeros(len(series))
    for shift in range(0, min(times * apart, len(series)), apart):
        plain[shift:] += series[: len(series) - shift]
    np.testing.assert_array_equal(repeated(np.array(series, float), times, apart), plain)
    np.testing.assert_array_equal(repeated_exactly(series, times, apart), plain)
