"""Exact integer noise for vectors of which one person moves every entry a little.

Pure epsilon: noise of mass proportional to exp(-max|k_i| / scale) [Hardt & Talwar 2010, the K-norm mechanism of a
cube]; its deviation is about 2.4 times less than that of independent Laplace noise. With a delta: discrete Gaussian
noise, priced by concentrated privacy. Whichever is narrower is taken; docs/learning.md holds the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger import Budget
from bruit.privacy import Approximate, DiscreteGaussian, Loss, Pure, calibrate, composed, zcdp
from bruit.randomness import discrete_gaussian, discrete_laplace, geometric, uniform_below

LARGEST_SCALE = 2**50
"""Noise of a larger scale leaves the range of 64-bit integers."""


@dataclass(frozen=True)
class CubeNoise:
    """Noise of mass proportional to exp(-max|k_i| / scale) on each block of `entries` integers."""

    scale: Fraction
    entries: int
    loss: Loss

    @property
    def deviation(self) -> float:
        """The standard deviation of one entry, about: a uniform point of a cube whose radius is a Gamma."""
        radius = (self.entries + 1) * (self.entries + 2) * float(self.scale) ** 2
        return sqrt(radius / 3)

    def draw(self, blocks: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
        """One row of noise for each block.

        exp(-m/scale) is proportional to the sum of exp(-r/scale) over r >= m: a radius r of mass proportional to
        (2r+1)^entries exp(-r/scale), then a uniform point of the cube |k_i| <= r.
        """
        if self.entries == 1:
            return discrete_laplace(self.scale, blocks, rng=rng)[:, None]
        radii = [cube_radius(self.scale, self.entries, rng=rng) for _ in range(blocks)]
        return np.array([uniform_below(2 * r + 1, self.entries, rng=rng) - r for r in radii], np.int64)


@dataclass(frozen=True)
class GaussianNoise:
    """Independent discrete Gaussian noise on every entry."""

    variance: Fraction
    entries: int
    loss: Loss

    @property
    def deviation(self) -> float:
        """The standard deviation of one entry."""
        return sqrt(self.variance)

    def draw(self, blocks: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
        """One row of noise for each block."""
        return discrete_gaussian(self.variance, blocks * self.entries, rng=rng).reshape(blocks, self.entries)


VectorNoise = CubeNoise | GaussianNoise


def cube_radius(scale: Fraction, entries: int, *, rng: np.random.Generator) -> int:
    """An integer r >= 0 of mass proportional to (2r+1)^entries exp(-r/scale), exactly.

    A sum of entries + 1 geometric draws has mass proportional to (r+1)...(r+entries) exp(-r/scale); it is kept with
    probability the product of (2r+1) / (2r+2i): all but certain where the scale is large.
    """
    places = 2 * np.arange(1, entries + 1)
    while True:
        r = int(geometric(scale, entries + 1, rng=rng).sum())
        if all(uniform_below(2 * r + int(place), 1, rng=rng)[0] < 2 * r + 1 for place in places):
            return r


def vector_noise(
    price: Budget,
    *,
    entries: int,
    each: int,
    people: int,
    share: Fraction = Fraction(1),
    times: int = 1,
    like: VectorNoise | None = None,
) -> VectorNoise:
    """The narrowest noise a share of a budget buys, `times` times over, for blocks of integers.

    One row moves one block, every entry by at most `each`; `people` is how many such rows a neighbour differs in (rows
    of one person, twice that where a person is exchanged for another). The largest entries of the moved blocks add up
    to at most people * each; the squares of all moves to at most entries * (people * each)^2. Parts of one fit must be
    of one kind, that of the noise `like`: shares of an epsilon and shares of a rho do not add up to either.
    """
    bought: list[VectorNoise] = []
    if _has_epsilon(price) and not isinstance(like, GaussianNoise):
        bought.append(_cube(price, entries, people * each, share, times))
    if (price.delta and not isinstance(like, CubeNoise)) or not bought:
        bought.append(_gaussian(price, entries, each, people, share, times))
    return min(bought, key=lambda noise: noise.deviation)


def all_of(*noises: tuple[VectorNoise, int]) -> Loss:
    """The loss of several noises together, each drawn so many times."""
    return composed((noise.loss, times) for noise, times in noises)


def _has_epsilon(price: Budget) -> bool:
    return isinstance(price.loss, Pure | Approximate)


def _cube(price: Budget, entries: int, moved: int, share: Fraction, times: int) -> VectorNoise:
    scale = moved * times / (price.epsilon * share)
    if scale * entries >= LARGEST_SCALE:
        raise InvalidArgument(
            f"epsilon={float(price.epsilon):.3g} over {entries} numbers asks for noise beyond 64 bits; "
            "give a larger epsilon"
        )
    return CubeNoise(scale, entries, Pure(moved / scale, neighbours=price.neighbours))


def _gaussian(price: Budget, entries: int, each: int, people: int, share: Fraction, times: int) -> VectorNoise:
    squares = entries * (people * each) ** 2
    variance = squares * times / (2 * _rho(price) * share)
    touched = entries * people
    loss = DiscreteGaussian(variance, squared_sensitivity=squares, entries=touched, neighbours=price.neighbours)
    return GaussianNoise(variance, entries, loss)


def _rho(price: Budget) -> Fraction:
    """What a budget is worth in concentrated privacy, by the accountant that will price the charge."""
    terms = price.ledger.terms
    if not _has_epsilon(price):
        if terms.by == "basic":
            raise NotPrivate("a model in a book by 'basic' is paid with budget(epsilon=..., delta=...)")
        return zcdp(price.loss)
    by = price.by or {"basic": "zcdp"}.get(terms.by, terms.by)

    def loss(noise: Fraction) -> DiscreteGaussian:
        return DiscreteGaussian(noise**2, squared_sensitivity=1, neighbours=price.neighbours)

    return 1 / (2 * calibrate(loss, epsilon=price.epsilon, delta=price.delta, by=by) ** 2)
