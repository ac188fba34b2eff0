"""Geometric, discrete Laplace and discrete Gaussian noise follow their laws and keep no trace of floating point."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, expm1, tanh
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import ALARM, assert_law, binomial_window, draws_to_detect
from mpmath import mp, mpf

from bruit.errors import InvalidArgument
from bruit.randomness import discrete_gaussian, discrete_laplace, geometric

DRAWS = 1 << 18
SCALES = [
    Fraction(1, 10),
    Fraction(1, 2),
    1,
    10 / 3,
    40,
    Fraction(10**17, 12345678901234567),
    Fraction(2**70, 2**69 + 1),
]
VARIANCES = [0.01, Fraction(1, 3), 1, 4, 10.37, 900, Fraction(10**13 + 7, 10**12), Fraction(10**40 + 7, 10**38)]


def seeded(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def draws_for(number: Fraction | float) -> int:
    """Fewer where numbers of any size are drawn in plain Python."""
    return DRAWS if Fraction(number).denominator < 2**62 else 1 << 13


def laplace_mass(values: np.ndarray, scale: float) -> np.ndarray:
    return np.array([tanh(1 / (2 * scale)) * exp(-abs(k) / scale) for k in values])


def gaussian_mass(values: np.ndarray, variance: Fraction | float) -> np.ndarray:
    """By a sum of 40 digits that reaches 40 deviations."""
    mp.dps = 40
    exact = mpf(Fraction(variance).numerator) / Fraction(variance).denominator
    reach = int(40 * exact**0.5) + 40
    total = mp.fsum(mp.exp(-(k * k) / (2 * exact)) for k in range(-reach, reach + 1))
    return np.array([float(mp.exp(-(int(k) ** 2) / (2 * exact)) / total) for k in values])


def assert_follows(drawn: np.ndarray, mass: Any, reach: int) -> None:
    """Cells for -reach .. reach, with one more on each side for what lies beyond."""
    inner = np.arange(-reach, reach + 1)
    law = mass(inner)
    beyond = max((1 - law.sum()) / 2, 0.0)
    counts = np.bincount(np.clip(drawn, -reach - 1, reach + 1) + reach + 1, minlength=2 * reach + 3)
    assert_law(counts, [beyond, *law, beyond])


def test_power_is_as_stated() -> None:
    # 2^18 draws tell a scale of 1.03 from 1, a variance of 4.4 from 4, and a zero that counts twice, by the cell at 0
    def at_zero(scale: Any) -> Any:
        return tanh(1 / (2 * scale))

    assert draws_to_detect(at_zero(1), at_zero(1.03)) <= DRAWS
    assert draws_to_detect(gaussian_mass([0], 4)[0], gaussian_mass([0], 4.4)[0]) <= DRAWS
    assert draws_to_detect(at_zero(40), 2 * at_zero(40) / (1 + at_zero(40))) <= DRAWS


@pytest.mark.parametrize("scale", SCALES)
def test_discrete_laplace_follows_its_law(scale: Any) -> None:
    drawn = discrete_laplace(scale, draws_for(scale), rng=seeded(1))
    assert_follows(drawn, lambda values: laplace_mass(values, float(scale)), int(3 * scale) + 1)


@pytest.mark.parametrize("scale", SCALES)
def test_geometric_follows_its_law(scale: Any) -> None:
    drawn, reach = geometric(scale, draws_for(scale), rng=seeded(2)), int(3 * scale) + 1
    law = [-expm1(-1 / float(scale)) * exp(-k / float(scale)) for k in range(reach)]
    counts = np.bincount(np.minimum(drawn, reach), minlength=reach + 1)
    assert_law(counts, [*law, exp(-reach / float(scale))])


@pytest.mark.parametrize("variance", VARIANCES)
def test_discrete_gaussian_follows_its_law(variance: Any) -> None:
    drawn = discrete_gaussian(variance, draws_for(variance), rng=seeded(3))
    assert_follows(drawn, lambda values: gaussian_mass(values, variance), int(2.5 * float(variance) ** 0.5) + 1)


@pytest.mark.parametrize("scale", [2**52, Fraction(2**116 - 1, 2**64)])
def test_a_huge_scale_follows_its_law(scale: Any) -> None:
    # the continuous law, 24 cells of equal mass; the grid moves a cell by less than 2^-50
    cells, size = 24, draws_for(scale)
    shares = 1 - np.arange(1, cells) / cells
    edges = -float(scale) * np.log(shares)
    counts = np.bincount(np.searchsorted(edges, geometric(scale, size, rng=seeded(4)), "right"), minlength=cells)
    assert_law(counts, [1 / cells] * cells)
    assert np.abs(discrete_gaussian(scale**2, 100, rng=seeded(4))).max() < 20 * scale


def off_the_grid(answers: np.ndarray) -> tuple[int, int]:
    """Of the answers nearer to zero than one, how many are not a multiple of 2^-53; and how many there are."""
    near = answers[np.abs(answers) < 1].astype(float)
    return int((near * 2.0**53 % 1 != 0).sum()), len(near)


def test_low_bits_say_nothing_about_the_value() -> None:
    # noise in floating point leaves low bits that only some values can produce [Mironov 2012]; this sees the leak ...
    floating = np.random.default_rng(5).laplace(size=DRAWS)
    leak, of = off_the_grid(0.0 + floating)
    assert leak > binomial_window(of, 0.25, ALARM)[1]
    assert off_the_grid(1.0 + floating)[0] == 0
    # ... and integers leave none: every answer is possible from both values
    for noise in (discrete_laplace(1, DRAWS, rng=seeded(6)), discrete_gaussian(1, DRAWS, rng=seeded(6))):
        assert noise.dtype == np.int64
        assert off_the_grid(0 + noise)[0] == off_the_grid(1 + noise)[0] == 0
        assert set((0 + noise).tolist()) >= set(range(-3, 4)) <= set((1 + noise).tolist())


@given(st.fractions(min_value=0, max_value=2**52).filter(bool) | st.floats(1e-300, 2.0**52), st.integers(0, 2**32))
def test_any_legal_number_is_drawn(number: Any, seed: int) -> None:
    for sampler in (geometric, discrete_laplace, discrete_gaussian):
        drawn = sampler(number, 3, rng=seeded(seed))
        assert drawn.dtype == np.int64
        assert drawn.shape == (3,)


@given(st.floats(1e-3, 1e6), st.integers(0, 2**32))
def test_a_float_is_its_shortest_decimal(number: float, seed: int) -> None:
    meant = Fraction(repr(number))
    for sampler in (geometric, discrete_laplace, discrete_gaussian):
        assert sampler(number, 5, rng=seeded(seed)).tolist() == sampler(meant, 5, rng=seeded(seed)).tolist()


def test_numpy_numbers_are_numbers() -> None:
    drawn = discrete_laplace(3, 5, rng=seeded(1)).tolist()
    for three in (np.int64(3), np.float64(3), np.uint8(3), 3.0, Fraction(3)):
        assert discrete_laplace(three, np.int64(5), rng=seeded(1)).tolist() == drawn
    short, long = (geometric(number, 50, rng=seeded(1)).tolist() for number in (10.1, float(np.float32(10.1))))
    assert geometric(np.float32(10.1), 50, rng=seeded(1)).tolist() == short != long


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), True, "3", None, 2**53, Fraction(2**80, 3)])
def test_a_scale_out_of_range_is_refused_beforehand(wrong: Any) -> None:
    for sampler in (geometric, discrete_laplace):
        with pytest.raises(InvalidArgument, match="scale="):
            sampler(wrong, 0)


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), True, "3", 2**106])
def test_a_variance_out_of_range_is_refused_beforehand(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match="variance="):
        discrete_gaussian(wrong, 0)


@pytest.mark.parametrize("sampler", [geometric, discrete_laplace, discrete_gaussian])
def test_no_draws_are_no_draws(sampler: Callable[..., Any]) -> None:
    assert sampler(1, 0).shape == (0,)
    for size in (-1, 1.5):
        with pytest.raises(InvalidArgument, match="size="):
            sampler(1, size)
    with pytest.raises(InvalidArgument, match="default_rng"):
        sampler(1, 1, rng=1)
