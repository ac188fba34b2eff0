from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from bruit.privacy.pld.convolution import trade_off
from bruit.privacy.pld.loss_grid import connect_dots, log_moments
from bruit.privacy.pld.pairs import Direction, GaussianPair, LaplacePair, SampledPair

masses = st.lists(st.tuples(st.floats(-3, 3), st.floats(0.01, 1)), min_size=1, max_size=12)


def stick(losses: Any, weights: NDArray[np.float64], epsilon: float) -> Any:
    return np.sum(weights * np.maximum(0, -np.expm1(epsilon - losses)))


@given(masses, st.floats(0.01, 1), st.floats(-4, 4))
def test_connecting_dots_keeps_both_masses_and_only_raises_divergences(
    atoms: list[tuple[float, float]], step: float, epsilon: float
) -> None:
    losses, weights = (np.array(column) for column in zip(*sorted(atoms), strict=True))
    grid = connect_dots(losses, weights, 0.0, step)
    assert grid.masses.sum() == pytest.approx(weights.sum())
    assert np.sum(grid.masses * np.exp(-grid.losses)) == pytest.approx(np.sum(weights * np.exp(-losses)))
    assert stick(grid.losses, grid.masses, epsilon) >= stick(losses, weights, epsilon) * (1 - 1e-12) - 1e-14


def test_dots_on_the_grid_stay_where_they_are() -> None:
    grid = connect_dots(np.array([-0.3, 0.1, 0.2]), np.array([0.2, 0.3, 0.5]), 0.0, 0.1)
    assert grid.first == -3
    assert grid.last == 2
    assert grid.masses.tolist() == [0.2, 0, 0, 0, 0.3, 0.5]


PAIRS = [
    GaussianPair(1.0, 1.0, 0.0),
    GaussianPair(0.7, 0.01, 0.0),
    GaussianPair(0.7, 0.0, 0.01),
    GaussianPair(2.0, 0.3, 0.3),
    GaussianPair(0.05, 0.2, 0.0),
    LaplacePair(0.73),
    SampledPair(LaplacePair(1.3), 0.2, Direction.REMOVE),
    SampledPair(LaplacePair(1.3), 0.2, Direction.ADD),
    SampledPair(GaussianPair(1.0, 1.0, 0.0), 0.1, Direction.EXCHANGE),
]


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_a_finer_grid_is_below_a_coarser_one_and_both_are_laws(pair: Any) -> None:
    fine, coarse = pair.grid(0.01, 1e-14), pair.grid(0.08, 1e-14)
    for grid in (fine, coarse):
        assert grid.masses.min() >= 0
        assert grid.masses.sum() + grid.infinite == pytest.approx(1, abs=1e-12)
        assert np.sum(grid.masses * np.exp(-grid.losses)) <= 1 + 1e-9
    for epsilon in np.linspace(-2, 5, 29):
        above = stick(coarse.losses, coarse.masses, epsilon)
        assert stick(fine.losses, fine.masses, epsilon) <= above * (1 + 1e-9) + 1e-13


@pytest.mark.parametrize("pair", PAIRS[:4], ids=repr)
def test_position_undoes_loss(pair: GaussianPair) -> None:
    x = np.linspace(-3, 4, 57)
    assert pair.position(pair.loss(x)) == pytest.approx(x, abs=1e-6)


@given(masses, st.integers(1, 6), st.floats(0, 3))
def test_the_transform_is_the_plain_convolution(atoms: list[tuple[float, float]], times: int, epsilon: float) -> None:
    losses, weights = (np.array(column) for column in zip(*sorted(atoms), strict=True))
    grid = connect_dots(losses, weights / weights.sum(), 0.0, 0.25)
    plain = np.ones(1)
    for _ in range(times):
        plain = np.convolve(plain, grid.masses)
    exact = stick((times * grid.first + np.arange(len(plain))) * 0.25, plain, epsilon)
    tilts = np.array([-1.0, -0.2, 0.3, 1.0, 3.0, 9.0])
    moments = times * log_moments(grid.losses, grid.masses, tilts)
    found = trade_off([(grid, times)], min(max(exact, 1e-6), 0.9), tilts, moments).delta(epsilon)
    assert exact - 1e-15 <= found <= exact + 2e-9 + 1e-6 * exact
