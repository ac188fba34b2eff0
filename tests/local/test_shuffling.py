"""Amplification by shuffling, against laws enumerated in full."""

import math

import numpy as np
import pytest
from scipy import stats

from bruit.errors import InvalidArgument
from bruit.local import shuffled, shuffled_delta
from bruit.privacy import REPLACE_ONE, Assumption


def enumerated(local: float, answers: int, epsilon: float) -> float:
    """The divergence of the theorem's two pairs, over every outcome."""
    keep = math.exp(local) / (math.exp(local) + 1)
    one, other = {}, {}  # type: ignore[var-annotated]
    for c in range(answers):
        weight = stats.binom.pmf(c, answers - 1, math.exp(-local))
        for a in range(c + 1):
            mass = weight * stats.binom.pmf(a, c, 0.5)
            for law, first in ((one, keep), (other, 1 - keep)):
                law[a + 1, c - a] = law.get((a + 1, c - a), 0) + mass * first
                law[a, c - a + 1] = law.get((a, c - a + 1), 0) + mass * (1 - first)
    return sum(max(0, one[pair] - math.exp(epsilon) * other[pair]) for pair in one)


@pytest.mark.parametrize("local", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("answers", [2, 7, 30])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_the_bound_is_the_theorems_divergence(local: float, answers: int, epsilon: float) -> None:
    assert shuffled_delta(local, answers, epsilon) == pytest.approx(
        enumerated(local, answers, epsilon), rel=1e-8, abs=1e-13
    )


@pytest.mark.parametrize("local", [0.5, 1.0, 2.0])
def test_shuffled_coins_are_never_less_private_than_the_bound(local: float) -> None:
    """Randomised response on bits, shuffled, is a sum of coins: its own divergence is exact and below the bound."""
    people, lie = 40, 1 / (math.exp(local) + 1)
    for ones in (0, 20, 39):
        rest = np.convolve(
            stats.binom.pmf(np.arange(ones + 1), ones, 1 - lie),
            stats.binom.pmf(np.arange(people - ones), people - 1 - ones, lie),
        )
        for epsilon in (0.05, 0.2, 0.5):
            with_one, with_zero = np.convolve(rest, [lie, 1 - lie]), np.convolve(rest, [1 - lie, lie])
            exact = np.maximum(with_one - math.exp(epsilon) * with_zero, 0).sum()
            assert exact <= shuffled_delta(local, people, epsilon) + 1e-12


def test_crowds_amplify_and_nobody_is_worse_off() -> None:
    few, many = shuffled(1, 5, delta=1e-6), shuffled(1, 100_000, delta=1e-6)
    assert (few.epsilon, few.delta) == (1, 0)
    assert many.epsilon < 0.02
    assert many.neighbours == REPLACE_ONE
    assert Assumption.TRUSTED_SHUFFLER in many.assumes
    assert shuffled_delta(1.0, 100_000, float(many.epsilon)) <= 1e-6


@pytest.mark.parametrize(("local", "answers", "delta"), [(0, 10, 0.1), (1, 0, 0.1), (1, 10, 0), (1, 10, 1)])
def test_bad_input_is_refused(local: float, answers: int, delta: float) -> None:
    with pytest.raises(InvalidArgument):
        shuffled(local, answers, delta=delta)
