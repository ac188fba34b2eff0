"""The discrete Gaussian noise that a budget pays for, over many releases of integer vectors."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from bruit.channels import require_variance
from bruit.core.losses import DiscreteGaussian, Loss
from bruit.core.neighbours import Neighbours
from bruit.errors import InvalidArgument, NotPrivate
from bruit.learning.estimator.contract import FitRequest
from bruit.privacy import calibrate
from bruit.randomness import discrete_gaussian

COUNT_SHARE = Fraction(1, 100)
"""What of a budget counts the rows, where their number is private and not stated."""

REMEMBERED = 256


@dataclass(frozen=True)
class Moves:
    """The sensitivity of one release to one row: it changes `entries` integers, each by at most `each`.

    `squares` bounds the sum of the squared moves where that is less than entries * each^2. `opposite` says that all
    moves are counts, so that exchanging a row for one in the same cell moves nothing.
    """

    each: int
    entries: int
    squares: int | None = None
    opposite: bool = False

    @property
    def squared(self) -> int:
        """A bound on the squared L2 sensitivity to one row."""
        return self.squares or self.entries * self.each**2

    def apart(self, rows: int, rows_changed: int) -> bool:
        """Whether neighbouring tables change each entry by at most `each` (one row, or two rows that are counted)."""
        return rows == 1 and self.squares is None and (rows_changed == 1 or self.opposite)


@dataclass(frozen=True)
class Releases:
    """What a fit releases: `times` vectors, and the number of rows where that is private and not stated.

    rows     of one person that count              rows_changed   rows that differ between neighbours
    """

    moves: Moves
    times: int
    rows: int
    rows_changed: int
    counted: bool
    neighbours: Neighbours

    def loss(self, noise: Fraction) -> Loss:
        """The privacy loss of all releases with noise of standard deviation noise * each.

        Where a neighbour moves every entry apart a vector is no more than so many single numbers of shift `each`, of
        which accountants know the whole law. Where moves may add up only the sum of all squares is bounded.
        """
        variance = (noise * self.moves.each) ** 2
        if self.moves.apart(self.rows, self.rows_changed):
            one = DiscreteGaussian(variance, squared_sensitivity=self.moves.each**2, neighbours=self.neighbours)
            steps = one * (self.moves.entries * self.rows_changed * self.times)
        else:
            squares, entries = self.moves.squared * self.rows_changed**2, self.moves.entries * self.rows_changed
            steps = self.times * DiscreteGaussian(
                variance, squared_sensitivity=squares, entries=entries, neighbours=self.neighbours
            )
        return steps + self._counting(noise) if self.counted else steps

    def count_variance(self, noise: Fraction) -> Fraction:
        """The variance of the row count's noise, set so that the count costs COUNT_SHARE of what all vectors cost."""
        return (noise * self.moves.each) ** 2 * self.rows_changed**2 / (COUNT_SHARE * self.times * self.moves.squared)

    def _counting(self, noise: Fraction) -> Loss:
        return DiscreteGaussian(
            self.count_variance(noise), squared_sensitivity=self.rows_changed**2, neighbours=self.neighbours
        )


@dataclass(frozen=True)
class StepNoise:
    """The noise of every release of a fit, and of the number of rows where that is paid for.

    `by` is the accountant that prices it; `rate` is how well all releases together show one row,
    sqrt(times * squared moves) / deviation.
    """

    variance: Fraction
    loss: Loss
    rate: float
    count_variance: Fraction | None
    by: str

    def __post_init__(self) -> None:
        require_variance(max(self.variance, self.count_variance or Fraction(0)))

    @property
    def deviation(self) -> float:
        """The standard deviation of one entry."""
        return sqrt(self.variance)

    def draw(self, shape: tuple[int, ...], *, rng: np.random.Generator) -> NDArray[np.int64]:
        """Independent noise for every entry of a release."""
        return discrete_gaussian(self.variance, int(np.prod(shape)), rng=rng).reshape(shape)

    def size(self, question: FitRequest, rows: int, *, rng: np.random.Generator) -> int:
        """The public number of rows, or the noisy count that was paid for; never the count itself."""
        if self.count_variance is None:
            assert question.size is not None
            return question.size
        return max(1, int((rows + discrete_gaussian(self.count_variance, 1, rng=rng))[0]))


def buy_noise(question: FitRequest, moves: Moves, *, times: int, counted: bool = True) -> StepNoise:
    """The least noise with which a budget pays for `times` releases, and for the count of rows where it is private."""
    price = question.price
    assert price is not None
    if not price.delta:
        raise InvalidArgument(f"{question.what} adds Gaussian noise: give its budget a delta, such as delta=1e-6")
    count = counted and question.size is None
    releases = Releases(moves, times, question.rows, question.rows_changed, count, question.neighbours)
    own = "pld" if moves.apart(question.rows, question.rows_changed) else "zcdp"
    by = price.by or {"basic": own}.get(price.ledger.terms.by, price.ledger.terms.by)
    try:
        noise = _least(releases, price.epsilon, price.delta, by)
    except NotPrivate:  # of thousands of releases pld rounds up by more than a small epsilon
        if price.by is not None or by != "pld":
            raise
        by = "zcdp"
        noise = _least(releases, price.epsilon, price.delta, by)
    rate = sqrt(times * moves.squared) / (float(noise) * moves.each)
    paid = releases.count_variance(noise) if count else None
    return StepNoise((noise * moves.each) ** 2, releases.loss(noise), rate, paid, by)


@lru_cache(REMEMBERED)
def _least(releases: Releases, epsilon: Fraction, delta: Fraction, by: str) -> Fraction:
    """The noise that a price allows; folds of a cross-validation ask for the same."""
    return calibrate(releases.loss, epsilon=epsilon, delta=delta, by=by)
