"""Integers, permutations and choices are uniform where they should be."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law, draws_to_detect

from bruit.errors import InvalidArgument
from bruit.randomness import choose, permutation, sample_without_replacement, uniform_below

DRAWS = 1 << 18


def seeded(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_power_is_as_stated() -> None:
    # a bound of 3 * 2^61 by plain remainders would give the lowest third twice the weight of the others
    assert draws_to_detect(1 / 3, 1 / 2) <= 1 << 10
    assert draws_to_detect(1 / 24, 1 / 24 * 1.1) <= DRAWS


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 24, 100])
def test_small_bounds_follow_their_law(bound: int) -> None:
    assert_law(np.bincount(uniform_below(bound, DRAWS, rng=seeded(1)), minlength=bound), [1 / bound] * bound)


@pytest.mark.parametrize("bound", [3 << 61, 5 << 60, (1 << 63) - 1, 1 << 63])
def test_large_bounds_have_no_bias(bound: int) -> None:
    cells = 24
    edges = [bound * i // cells for i in range(1, cells)]
    counts = np.bincount(np.searchsorted(edges, uniform_below(bound, DRAWS, rng=seeded(2)), "right"), minlength=cells)
    assert_law(counts, [1 / cells] * cells)


@given(bound=st.integers(1, 2**63), seed=st.integers(0, 2**32))
def test_values_stay_below_the_bound(bound: int, seed: int) -> None:
    drawn = uniform_below(bound, 20, rng=seeded(seed))
    assert drawn.dtype == np.int64
    assert drawn.min() >= 0
    assert int(drawn.max()) < bound


def codes(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows) @ 10 ** np.arange(np.shape(rows)[1])


def test_permutations_are_equally_likely() -> None:
    rng, every = seeded(3), codes(list(permutations(range(4))))
    drawn = codes([permutation(4, rng=rng) for _ in range(1 << 13)])
    assert_law([int((drawn == one).sum()) for one in every], [1 / 24] * 24)


@pytest.mark.parametrize(("population", "size"), [(4, 3), (5, 2)])
def test_samples_are_equally_likely(population: Any, size: Any) -> None:
    rng, every = seeded(4), codes(list(permutations(range(population), size)))
    drawn = codes([sample_without_replacement(population, size, rng=rng) for _ in range(1 << 12)])
    assert_law([int((drawn == one).sum()) for one in every], [1 / len(every)] * len(every))


@given(data=st.data(), population=st.integers(0, 300))
def test_samples_have_no_repeats(data: Any, population: int) -> None:
    size = data.draw(st.integers(0, population))
    drawn = sample_without_replacement(population, size, rng=seeded(5))
    assert len(set(drawn.tolist())) == len(drawn) == size
    assert set(drawn.tolist()) <= set(range(population))


def test_a_sample_of_a_huge_population_is_cheap() -> None:
    assert len(set(sample_without_replacement(2**63, 1000, rng=seeded(6)).tolist())) == 1000


@given(size=st.integers(0, 200), seed=st.integers(0, 2**32))
def test_permutations_hold_every_number_once(size: int, seed: int) -> None:
    assert sorted(permutation(size, rng=seeded(seed)).tolist()) == list(range(size))


@pytest.mark.parametrize(
    "weights", [[1], [3, 0, 5, 1], np.array([7, 1, 0], np.uint8), [2**62, 2**61, 2**62 - 2**61], [2**90, 0, 3 << 89]]
)
def test_choices_follow_their_weights(weights: Any) -> None:
    exact = [int(weight) for weight in weights]
    size = DRAWS if sum(exact) <= 2**63 else 1 << 13
    counts = np.bincount(choose(weights, size, rng=seeded(7)), minlength=len(exact))
    assert_law(counts, [weight / sum(exact) for weight in exact])


@pytest.mark.parametrize(
    "weights", [[], [0, 0], [1, -1], [0.5, 0.5], [True, False], ["1"], np.ones((2, 2), int), np.array([1.0])]
)
def test_rule_2_refused_weights_are_not_shown(weights: Any) -> None:
    with pytest.raises(InvalidArgument, match="integers of at least 0, in one row, and not all of them 0"):
        choose(weights, 3)


@pytest.mark.parametrize("bound", [0, -1, 2**63 + 1, 2.0, True])
def test_a_bound_out_of_range_is_refused(bound: Any) -> None:
    with pytest.raises(InvalidArgument, match="bound="):
        uniform_below(bound, 3)


def test_more_than_the_population_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="size=4 must be a whole number from 0 to 3"):
        sample_without_replacement(3, 4)
