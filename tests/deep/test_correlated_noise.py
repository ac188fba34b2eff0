"""The banded matrix, its noise, its groups and its price."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import torch
from laws import assert_law
from numpy.typing import NDArray
from scipy import linalg, optimize, stats

import bruit
from bruit.deep import Banded
from bruit.deep.noise import Correlated, Groups, fresh_key
from bruit.deep.noise.sources import Source
from bruit.errors import InvalidArgument
from bruit.privacy import Gaussian, Sampled, Scheme, epsilon
from bruit.privacy.training.factorisation import _log_error, mean_square, square_root

CPU = torch.device("cpu")
RUN = {"size": 4000, "batch_size": 200, "epochs": 3, "delta": "1e-5", "target_epsilon": 2}
RUNS = [(1, 1, 0.0), (12, 1, 0.0), (7, 3, 0.0), (12, 4, 0.9), (3, 8, 0.5), (64, 16, 0.0)]


def toeplitz(column: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """The lower triangular matrix whose first column is given, as far as it goes."""
    first = np.zeros(steps)
    first[: len(column)] = column[:steps]
    return np.tril(linalg.toeplitz(first))


def source(seed: int = 1) -> Source:
    return Source(np.random.default_rng(seed), "a test's", seeded=True)


def given(correlated: Correlated, steps: list[int], size: int) -> NDArray[np.float64]:
    """The noise of some steps, one row for each."""
    return np.array([correlated.at(step).normal(torch.zeros(size, dtype=torch.float64)).numpy() for step in steps])


@pytest.mark.parametrize(("steps", "bands", "momentum"), RUNS)
def test_the_error_is_that_of_the_matrices_and_no_larger_than_the_square_roots(
    steps: int, bands: int, momentum: float
) -> None:
    column = Banded(bands, momentum).coefficients(steps)
    assert len(column) == min(bands, steps)
    sums = toeplitz(np.ones(steps), steps) @ toeplitz(momentum ** np.arange(steps), steps)
    error = np.linalg.norm(sums @ np.linalg.inv(toeplitz(column, steps))) ** 2 / steps
    assert mean_square(column, steps, momentum) == pytest.approx(error, rel=1e-9)
    root = square_root(min(bands, steps), momentum)
    assert error <= mean_square(root, steps, momentum) * (1 + 1e-9)


def test_the_square_root_squared_is_the_matrix_of_sums() -> None:
    root = toeplitz(square_root(9, 0.7), 9)
    np.testing.assert_allclose(root @ root, toeplitz(np.ones(9), 9) @ toeplitz(0.7 ** np.arange(9), 9), rtol=1e-12)


def test_the_search_knows_its_slope() -> None:
    def value(rest: NDArray[np.float64]) -> float:
        return _log_error(rest, 20, 0.4)[0]

    rest = square_root(5, 0.0)[1:]
    assert optimize.check_grad(value, lambda rest: _log_error(rest, 20, 0.4)[1], rest) < 1e-5  # type: ignore[misc]


@pytest.mark.parametrize(("steps", "bands", "momentum"), [run for run in RUNS if run[0] <= 12])
def test_records_that_are_in_steps_apart_move_what_is_hidden_by_one_for_each(
    steps: int, bands: int, momentum: float
) -> None:
    """C u has the squared norm of u where u's steps are `bands` apart: brute force over all such sets of steps."""
    matrix = toeplitz(Banded(bands, momentum).coefficients(steps), steps)
    assert np.linalg.norm(matrix, axis=0).max() == pytest.approx(1, abs=1e-12)
    assert np.linalg.norm(matrix, axis=0).argmax() == 0
    for number in range(1, -(-steps // bands) + 1):
        for chosen in itertools.combinations(range(steps), number):
            if min(np.diff(chosen), default=bands) >= bands:
                columns = matrix[:, list(chosen)]
                assert np.count_nonzero(columns, axis=1).max() <= 1  # each row tells of one of its steps
                assert np.linalg.norm(columns.sum(1)) ** 2 <= number + 1e-9


def test_the_noise_is_the_inverse_of_the_matrix_times_independent_noise() -> None:
    column, right = Banded(4).coefficients(11), source()
    independent = np.array([right.normal(torch.zeros(5, dtype=torch.float64)).numpy() for _ in range(11)])
    noise = given(Correlated(source(), column), list(range(11)), 5)
    np.testing.assert_allclose(toeplitz(column, 11) @ noise, independent, rtol=0, atol=1e-12)


def test_the_noise_follows_the_covariance_that_is_claimed() -> None:
    """Standardised by its covariance C⁻¹C⁻ᵀ, the noise of a coordinate has a χ² square."""
    column, size = Banded(3).coefficients(6), 4000
    noise = given(Correlated(source(3), column), list(range(6)), size)
    inverse = np.linalg.inv(toeplitz(column, 6))
    squares = (noise * np.linalg.solve(inverse @ inverse.T, noise)).sum(0)
    cells = np.searchsorted(stats.chi2.ppf(np.arange(1, 10) / 10, 6), squares)
    assert_law(np.bincount(cells, minlength=10), np.full(10, 0.1))


def test_one_band_is_the_source_bit_for_bit() -> None:
    right, other = source(), Correlated(source(), Banded(1).coefficients(5))
    for step in range(5):
        like = torch.zeros(7)
        assert torch.equal(right.normal(like), other.at(step).normal(like))


def test_after_a_gap_the_matrix_is_two_blocks_and_no_column_is_longer() -> None:
    """The columns of the matrix in use, found by sending one unit of independent noise through it at a time."""
    column, steps = Banded(3).coefficients(8), [0, 1, 2, 3, 5, 6, 7]

    class Unit(Source):
        def normal(self, like: torch.Tensor) -> torch.Tensor:
            row = torch.zeros_like(like)
            row[next(turns)] = 1
            return row

    turns = iter(range(7))
    inverse = given(Correlated(Unit(np.random.default_rng(), "units", seeded=True), column), steps, 7)
    matrix = np.linalg.inv(inverse)
    np.testing.assert_allclose(matrix[4:, :4], 0, atol=1e-12)
    np.testing.assert_allclose(matrix[:4, :4], toeplitz(column, 4), atol=1e-12)
    np.testing.assert_allclose(matrix[4:, 4:], toeplitz(column, 3), atol=1e-12)
    assert np.linalg.norm(matrix, axis=0).max() <= 1 + 1e-12


def test_a_caller_that_changes_its_noise_changes_no_later_one() -> None:
    column = Banded(2).coefficients(4)
    spoilt, right = Correlated(source(), column), Correlated(source(), column)
    for step in range(3):
        found, expected = (each.at(step).normal(torch.zeros(3)) for each in (spoilt, right))
        assert torch.equal(found, expected)
        found.zero_()


def test_a_draw_that_fails_leaves_no_past() -> None:
    class Full(Source):
        def normal(self, like: torch.Tensor) -> torch.Tensor:
            if failing:
                raise torch.OutOfMemoryError("no room")
            return torch.ones_like(like)

    failing, column = False, Banded(2).coefficients(4)
    correlated = Correlated(Full(np.random.default_rng(), "ones", seeded=True), column)
    correlated.at(0).normal(torch.zeros(1))
    failing = True
    with pytest.raises(torch.OutOfMemoryError):
        correlated.at(1).normal(torch.zeros(1))
    failing = False
    assert correlated.at(2).normal(torch.zeros(1, dtype=torch.float64)).item() == pytest.approx(1 / column[0])


def test_groups_are_dealt_by_fair_coins_and_stay() -> None:
    groups = Groups(30_000, 3, fresh_key(np.random.default_rng(2)))
    assert_law(np.bincount(groups.dealt, minlength=3), np.full(3, 1 / 3))
    again = Groups(30_000, 3, groups.key)
    turns = [again.on_turn(np.arange(30_000), step) for step in range(6)]
    assert sum(map(len, turns[:3])) == 30_000
    for step in range(6):
        assert np.array_equal(turns[step], np.flatnonzero(groups.dealt == step % 3))


def test_a_key_deals_the_same_whatever_release_of_numpy_reads_it() -> None:
    assert Groups(8, 5, "2a").dealt.tolist() == [0, 0, 2, 2, 1, 4, 1, 3]


def test_a_record_behind_another_has_a_group_whatever_stands_before_it() -> None:
    """The groups of two places are independent: all nine pairs are as likely."""
    rng, pairs = np.random.default_rng(4), []
    for _ in range(2048):
        first, second = Groups(2, 3, fresh_key(rng)).dealt
        pairs.append(3 * first + second)
    assert_law(np.bincount(pairs, minlength=9), np.full(9, 1 / 9))


@pytest.mark.parametrize("neighbours", [bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE])
@pytest.mark.parametrize("bands", [7, 20])
def test_the_price_is_that_of_the_sampled_steps_one_record_can_be_in(
    bands: int, neighbours: bruit.privacy.Neighbours
) -> None:
    planned = Banded(bands).plan(**RUN, neighbours=neighbours)  # type: ignore[arg-type]
    there = Gaussian(Fraction(repr(planned.noise_multiplier)), neighbours=bruit.ADD_OR_REMOVE_ONE)
    rate = Fraction(bands * 200, 4000)
    each = Sampled(there, rate=rate, scheme=Scheme.POISSON, neighbours=neighbours)
    assert planned.loss == each * -(-60 // bands)
    assert (planned.steps, planned.rate) == (60, float(rate))
    assert 2 * 0.99 < epsilon(planned.loss, delta="1e-5", by="pld") <= planned.epsilon <= 2


def test_one_band_is_planned_as_ever() -> None:
    expected = bruit.privacy.plan(**RUN, neighbours=bruit.ADD_OR_REMOVE_ONE)  # type: ignore[arg-type]
    assert Banded(1).plan(**RUN, neighbours=bruit.ADD_OR_REMOVE_ONE) == expected  # type: ignore[arg-type]
    assert Banded(1).expected_error(expected) == pytest.approx(expected.noise_multiplier * np.sqrt((60 + 1) / 2))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"bands": 0}, "bands=0"), ({"bands": 2.0}, "bands=2.0"), ({"bands": 2, "momentum": 1.0}, "momentum=1.0")],
)
def test_what_is_no_matrix_is_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        Banded(**wrong)  # type: ignore[arg-type]
