"""Exact integer noise for vectors in which one person moves every entry a little.

Pure epsilon: noise of mass proportional to exp(-max|k_i| / scale) [Hardt & Talwar 2010, the K-norm mechanism of a
cube]; its deviation is about 2.4 times less than that of independent Laplace noise. With a delta: discrete Gaussian
noise, priced by concentrated privacy. docs/learning.md holds the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.channels.channel import Channel
from bruit.channels.integer_noise import require_variance
from bruit.core.losses import DiscreteGaussian, Pure
from bruit.randomness import discrete_gaussian, discrete_laplace, generator, geometric, uniform_below


@dataclass(frozen=True)
class CubeNoise(Channel):
    """Noise of mass proportional to exp(-max|k_i| / scale) on each block of `entries` integers."""

    scale: Fraction
    entries: int
    loss: Pure

    @property
    def epsilon(self) -> Fraction:
        """The epsilon of one use when a block moves by at most the sensitivity that the loss states."""
        return self.loss.epsilon

    @property
    def deviation(self) -> float:
        """About the standard deviation of one entry: of a uniform point in a cube of Gamma-distributed radius."""
        radius = (self.entries + 1) * (self.entries + 2) * float(self.scale) ** 2
        return sqrt(radius / 3)

    def draw(self, blocks: int, *, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        """One row of noise for each block.

        exp(-m/scale) is proportional to the sum of exp(-r/scale) over r >= m: a radius r of mass proportional to
        (2r+1)^entries exp(-r/scale), then a uniform point of the cube |k_i| <= r.
        """
        source = generator(rng)
        if self.entries == 1:
            return discrete_laplace(self.scale, blocks, rng=source)[:, None]
        radii = [cube_radius(self.scale, self.entries, rng=source) for _ in range(blocks)]
        return np.array([uniform_below(2 * r + 1, self.entries, rng=source) - r for r in radii], np.int64)

    def send(self, values: ArrayLike, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        """Adds noise to blocks of integers, one block per row."""
        return _add(values, self, rng)

    def to_json(self) -> dict[str, Any]:
        """The exact scale, the length of a block and the loss, in JSON types."""
        law = {"kind": "cube noise", "scale": str(self.scale), "entries": self.entries}
        return {**law, "loss": self.loss.to_json()}


@dataclass(frozen=True)
class GaussianVector(Channel):
    """Independent discrete Gaussian noise on every entry of each block of `entries` integers."""

    entries: int
    loss: DiscreteGaussian

    def __post_init__(self) -> None:
        require_variance(self.loss.variance)

    @property
    def epsilon(self) -> float:
        """Infinity: Gaussian noise has no pure epsilon; an accountant prices its loss."""
        return inf

    @property
    def variance(self) -> Fraction:
        """The variance parameter of one entry; the discrete law's own variance is slightly smaller."""
        return self.loss.variance

    @property
    def deviation(self) -> float:
        """The standard deviation of one entry."""
        return sqrt(self.variance)

    def draw(self, blocks: int, *, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        """One row of noise for each block."""
        return discrete_gaussian(self.variance, blocks * self.entries, rng=rng).reshape(blocks, self.entries)

    def send(self, values: ArrayLike, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        """Adds noise to blocks of integers, one block per row."""
        return _add(values, self, rng)

    def to_json(self) -> dict[str, Any]:
        """The length of a block and the loss, which states the variance, in JSON types."""
        return {"kind": "gaussian vector", "entries": self.entries, "loss": self.loss.to_json()}


VectorNoise = CubeNoise | GaussianVector


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


def _add(values: ArrayLike, noise: VectorNoise, rng: np.random.Generator | None) -> NDArray[np.int64]:
    exact = np.asarray(values)
    blocks = exact.reshape(-1, noise.entries)
    return np.asarray((blocks + noise.draw(len(blocks), rng=rng)).reshape(exact.shape))
