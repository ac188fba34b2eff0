"""The noise that a budget buys is the least, and its loss the true one."""

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest
from laws import assert_law

import bruit
from bruit.core import Seed
from bruit.errors import InvalidArgument
from bruit.learning.estimator.contract import FitRequest
from bruit.learning.trees.boosted import GRAIN, residual_steps
from bruit.learning.trees.noise import Moves, Releases, buy_noise
from bruit.ledger import Purchase
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, Gaussian, Neighbours, calibrate, epsilon, zcdp


def question(neighbours: Neighbours = ADD_OR_REMOVE_ONE, *, rows: int = 1, size: int | None = 100) -> FitRequest:
    book = bruit.Ledger("rows", epsilon=10, delta=0.01, neighbours=neighbours, person=EACH_ROW)
    price = book.budget(epsilon=1, delta=1e-5)
    absent: Any = None
    return FitRequest(
        absent, absent, absent, absent, Purchase(price, "learning.Forest", Seed()), (), None, None, size, rows
    )


@pytest.mark.parametrize("times", [1, 50])
def test_many_single_numbers_cost_what_one_gaussian_vector_costs(times: int) -> None:
    """Priced by their whole law, discrete vectors need as little noise as the continuous Gaussian of the same norm."""
    noise = buy_noise(question(), Moves(16, 12), times=times)
    smooth = calibrate(lambda n: Gaussian(n, neighbours=ADD_OR_REMOVE_ONE), epsilon=1, delta=1e-5, by="pld")
    assert noise.rate == pytest.approx(1 / float(smooth), rel=0.003)
    assert 0.995 < epsilon(noise.loss, delta=1e-5, by="pld") <= 1


def test_exchanged_counts_move_twice_as_many_numbers_and_sums_twice_as_far() -> None:
    one = Releases(Moves(1, 3, opposite=True), 1, 1, 1, False, ADD_OR_REMOVE_ONE).loss(Fraction(5))
    two = Releases(Moves(1, 3, opposite=True), 1, 1, 2, False, REPLACE_ONE).loss(Fraction(5))
    assert zcdp(two) == 2 * zcdp(one)
    sums = Releases(Moves(1, 3), 1, 1, 2, False, REPLACE_ONE).loss(Fraction(5))
    assert zcdp(sums) == 4 * zcdp(one)
    three_rows = Releases(Moves(1, 3, opposite=True), 1, 3, 3, False, ADD_OR_REMOVE_ONE).loss(Fraction(5))
    assert zcdp(three_rows) == 9 * zcdp(one)


def test_a_private_size_is_counted_and_paid() -> None:
    told, counted = (
        buy_noise(question(), Moves(1, 2), times=9),
        buy_noise(question(size=None), Moves(1, 2), times=9),
    )
    assert told.count_variance is None
    assert counted.count_variance is not None
    assert zcdp(counted.loss) == pytest.approx(float(zcdp(told.loss)), rel=0.01)
    share = (1 / counted.count_variance) / (2 * zcdp(counted.loss))
    assert float(share) == pytest.approx(1 / 101, rel=1e-9)


def test_noise_follows_its_law() -> None:
    noise = buy_noise(question(), Moves(1, 1), times=1)
    drawn = noise.draw((50_000, 2), rng=np.random.default_rng(4)).ravel()
    k = np.arange(-12, 13)
    law = np.exp(-(k**2) / (2 * float(noise.variance)))
    mass = law / np.exp(-(np.arange(-400, 401) ** 2) / (2 * float(noise.variance))).sum()
    counts = np.array([(drawn == each).sum() for each in k])
    assert_law(np.append(counts, len(drawn) - counts.sum()), np.append(mass, 1 - mass.sum()))
    assert noise.deviation == sqrt(noise.variance)


def test_rule_13_noise_beyond_64_bits_is_refused_with_the_price() -> None:
    """Once the sampler refused it, after the charge: so many rows of a person ask for very much noise."""
    with pytest.raises(InvalidArgument, match="64 bits"):
        buy_noise(question(rows=10**9, size=None), Moves(16, 1, squares=255), times=3)


def test_steps_of_residuals_keep_their_bounds() -> None:
    rng = np.random.default_rng(6)
    share = rng.dirichlet(np.full(6, 0.1), 2000)
    residuals = np.eye(6)[rng.integers(0, 6, 2000)] - share
    steps = residual_steps(residuals, rng.random((2000, 1)))
    assert np.abs(steps).max() <= GRAIN
    assert (steps**2).sum(axis=1).max() <= 2 * GRAIN**2
    alone = residual_steps(np.array([[-1.0], [1.0], [0.5]]), np.array([[0.999], [0.999], [0.0]]))
    assert alone.ravel().tolist() == [-GRAIN, GRAIN, GRAIN // 2]
