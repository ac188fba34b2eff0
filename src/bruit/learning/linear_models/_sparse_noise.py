"""Noise for vectors of sums in which one row changes few entries, as with products of one-hot columns."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from bruit.channels import IntegerNoise, VectorNoise
from bruit.core.losses import Approximate, DiscreteGaussian, DiscreteLaplace, Loss, Pure
from bruit.learning.estimator.contract import FitRequest
from bruit.learning.trees.noise import Moves, buy_noise
from bruit.mechanisms import buy_vectors


@dataclass(frozen=True)
class SparseNoise:
    """Independent integer noise on every entry of a vector, priced for the few entries that one row moves."""

    entries: int
    noise: IntegerNoise
    loss: Loss

    @property
    def deviation(self) -> float:
        """The standard deviation of one entry, from the continuous distribution that the discrete one approximates."""
        law = self.noise.loss
        return sqrt(law.variance) if isinstance(law, DiscreteGaussian) else sqrt(2) * float(law.scale)

    def draw(self, blocks: int, *, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        """One row of noise for each block."""
        return self.noise.draw(blocks * self.entries, rng=rng).reshape(blocks, self.entries)


def buy_for_few(question: FitRequest, *, entries: int, moved: int, each: int) -> VectorNoise | SparseNoise:
    """The smallest noise that a budget pays for on `entries` sums, of which a row changes `moved` by at most `each`.

    Discrete Laplace noise pays for the sum of the moves, l1 = rows_changed * moved * each; discrete Gaussian noise for
    the squares, l2^2 = moved * (rows_changed * each)^2; noise of a cube for all entries, whether they are moved or not.
    """
    price = question.price
    assert price is not None
    bought: list[VectorNoise | SparseNoise] = [
        buy_vectors(price, entries=entries, each=each, rows_changed=question.rows_changed)
    ]
    if isinstance(price.loss, Pure | Approximate):
        l1 = question.rows_changed * moved * each
        laplace = IntegerNoise.laplace(price.epsilon, sensitivity=l1, neighbours=question.neighbours)
        assert isinstance(laplace.loss, DiscreteLaplace)
        bought.append(SparseNoise(entries, laplace, laplace.loss))
    if isinstance(price.loss, Approximate):
        found = buy_noise(question, Moves(each, moved, squares=moved * each**2), times=1, counted=False)
        law = DiscreteGaussian(found.variance, squared_sensitivity=1, neighbours=question.neighbours)
        bought.append(SparseNoise(entries, IntegerNoise(law), found.loss))
    return min(bought, key=lambda noise: noise.deviation)
