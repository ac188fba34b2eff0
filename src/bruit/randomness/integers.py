"""Uniform and weighted integers, permutations and samples, without bias."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from bruit.core.arguments import is_whole, whole
from bruit.errors import InvalidArgument
from bruit.randomness import reference
from bruit.randomness._kernels import fill_shuffled, fill_uniform
from bruit.randomness.source import generator
from bruit.randomness.stream import fill, fill_slowly


def uniform_below(bound: int, size: int, *, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
    """`size` independent integers, uniform on 0 .. bound-1, for a bound up to 2^63 [Lemire 2019]."""
    bound, size = whole(bound, "bound", most=2**63), whole(size, "size", least=0)
    return fill(rng, np.empty(size, np.int64), fill_uniform, np.uint64(bound), each=1)


def permutation(size: int, *, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
    """The integers 0 .. size-1 in a uniformly random order [Fisher and Yates 1938]."""
    return fill(rng, np.arange(whole(size, "size", least=0), dtype=np.int64), fill_shuffled, each=1)


def sample_without_replacement(
    population: int, size: int, *, rng: np.random.Generator | None = None
) -> NDArray[np.int64]:
    """`size` different integers of 0 .. population-1 in random order, every ordered choice equally likely.

    Below half of the population repeated draws are dropped: the order of first appearance has the wanted law.
    """
    population = whole(population, "population", least=0, most=2**63)
    size, rng = whole(size, "size", least=0, most=population), generator(rng)
    if 2 * size > population:
        return permutation(population, rng=rng)[:size]
    drawn = np.empty(0, np.int64)
    while len(drawn) < size:
        drawn = np.concatenate([drawn, uniform_below(population, size - len(drawn), rng=rng)])
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    return drawn


def choose(
    weights: Sequence[int] | NDArray[np.integer], size: int, *, rng: np.random.Generator | None = None
) -> NDArray[np.int64]:
    """`size` independent indices, each i with probability weights[i] / sum(weights) exactly; weights are integers."""
    sums = list(accumulate(_weights(weights)))
    out, total = np.empty(whole(size, "size", least=0), np.int64), sums[-1]
    if total <= 2**63:
        uniform = uniform_below(total, len(out), rng=rng).astype(np.uint64)
        return np.searchsorted(np.array(sums, np.uint64), uniform, side="right").astype(np.int64)
    return fill_slowly(rng, out, lambda words: bisect_right(sums, reference.below(words, total)))


def _weights(weights: Sequence[int] | NDArray[np.integer]) -> list[int]:
    """The weights as Python integers; the message never shows one, since weights may come from private data."""
    values = weights.tolist() if isinstance(weights, np.ndarray) else list(weights)
    whole_numbers = all(map(is_whole, values))
    if not whole_numbers or min(values, default=0) < 0 or not sum(map(int, values)):
        raise InvalidArgument("weights must be integers of at least 0, in one row, and not all of them 0")
    return [int(value) for value in values]
