"""Coins follow their law."""

from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest
from laws import assert_law, draws_to_detect

from bruit.errors import InvalidArgument
from bruit.randomness import bernoulli, bernoulli_bits, bernoulli_exp

ONE = 1 << 52
DRAWS = 1 << 18
NUMERATORS = [1, ONE // 3, ONE // 2, ONE // 2 + 1, 3 * ONE // 4, int(ONE * 0.7310585786300049), ONE - 1]


def seeded(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_power_is_as_stated() -> None:
    # randomised response at epsilon 1 is told from 1.05 by this many draws, all but once in a thousand
    assert draws_to_detect(exp(1) / (1 + exp(1)), exp(1.05) / (1 + exp(1.05))) <= DRAWS
    assert draws_to_detect(exp(-0.5), exp(-0.5) * 1.02) <= DRAWS


@pytest.mark.parametrize("numerator", NUMERATORS)
def test_bernoulli_follows_its_law(numerator: int) -> None:
    ones = int(bernoulli(numerator, DRAWS, rng=seeded(1)).sum())
    assert_law([DRAWS - ones, ones], [1 - numerator / ONE, numerator / ONE])


@pytest.mark.parametrize("numerator", [ONE // 3, ONE // 2 + 1])
def test_bits_of_a_word_are_independent(numerator: int) -> None:
    # each lane with its neighbour and with the same lane of the next word: a pool shared by lanes would show here
    packed, p = bernoulli_bits(numerator, 1 << 16, rng=seeded(2)), numerator / ONE
    lanes = (packed[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    pairs = [(lanes[:, i], lanes[:, (i + 1) % 64]) for i in range(64)]
    pairs += [(lanes[::2, i], lanes[1::2, i]) for i in range(64)]
    law = [(1 - p) ** 2, p * (1 - p), p * (1 - p), p * p]
    for one, other in pairs:
        assert_law(np.bincount((2 * one + other).astype(np.int64), minlength=4), law, alarm=1e-9 / len(pairs))


@pytest.mark.parametrize("exponent", [0, Fraction(1, 1000), 0.5, 1, Fraction(7, 3), 6, Fraction(2**70 + 1, 2**70)])
def test_exponential_coins_follow_their_law(exponent: Any) -> None:
    size = DRAWS if exponent in (0, 1) or Fraction(exponent).denominator < 2**63 else 1 << 13
    ones, p = int(bernoulli_exp(exponent, size, rng=seeded(3)).sum()), exp(-exponent)
    assert_law([size - ones, ones], [1 - p, p])


def test_certain_coins() -> None:
    assert not bernoulli(0, 100).any()
    assert bernoulli(ONE, 100).all()
    assert (bernoulli_bits(ONE, 3) == 2**64 - 1).all()
    assert bernoulli_exp(0, 100).all()
    assert not bernoulli_exp(10**400, 100).any()  # exp(-10^400), drawn without an overflow


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65])
def test_any_size(size: int) -> None:
    assert bernoulli(ONE // 3, size).shape == (size,)
    assert bernoulli_exp(0.3, size).shape == (size,)
    assert bernoulli(ONE // 3, size).dtype == bernoulli_exp(1, size).dtype == np.bool_


@pytest.mark.parametrize("numerator", [-1, ONE + 1, 0.5, True, "1", None])
def test_a_numerator_out_of_range_is_refused(numerator: Any) -> None:
    with pytest.raises(InvalidArgument, match="numerator="):
        bernoulli(numerator, 3)


@pytest.mark.parametrize("exponent", [-1, float("nan"), float("inf"), True, "1", 1j])
def test_an_exponent_out_of_range_is_refused(exponent: Any) -> None:
    with pytest.raises(InvalidArgument, match="exponent="):
        bernoulli_exp(exponent, 3)


@pytest.mark.parametrize("size", [-1, 2.0, None])
def test_a_size_out_of_range_is_refused(size: Any) -> None:
    for call in (lambda: bernoulli(1, size), lambda: bernoulli_exp(1, size)):
        with pytest.raises(InvalidArgument, match="size="):
            call()  # type: ignore[no-untyped-call]
    with pytest.raises(InvalidArgument, match="words="):
        bernoulli_bits(1, size)


@pytest.mark.parametrize("numerator", [0, 1, ONE])
def test_a_seed_instead_of_a_generator_is_refused_even_for_a_certain_coin(numerator: Any) -> None:
    with pytest.raises(InvalidArgument, match="default_rng"):
        bernoulli(numerator, 3, rng=7)
