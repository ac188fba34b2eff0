"""The sampler keeps its residuals true, draws from its law, and fits what was measured."""

from typing import Any

import numpy as np
import pytest
from laws import assert_law

from bruit.synthetic.gibbs import GibbsSampler, Impossible, Measured
from bruit.synthetic.marginals import count_cells

SIZES = np.array([2, 3, 4])


def test_one_row_is_drawn_from_the_tempered_law() -> None:
    noisy = np.array([2, -1, 0, 1, 3, -2])
    one = Measured((0, 1), noisy, 4.0)
    law = np.exp([-sum((noisy - np.eye(6)[cell]) ** 2) / (2 * 2.0) for cell in range(6)])
    table = np.zeros((1, 3), np.uint8)
    sampler, found = GibbsSampler(SIZES, [one], state=5), np.zeros(6)
    for _ in range(8_000):
        sampler.run(table, 1.0, 4)
        found[table[0, 0] * 3 + table[0, 1]] += 1
    # Four sweeps between draws leave them nearly independent; exp is taken as (1 + x/256)^256.
    assert_law(found, law / law.sum(), alarm=1e-12)


def test_a_table_comes_to_agree_with_what_was_measured() -> None:
    rng = np.random.default_rng(1)
    truth = np.ascontiguousarray(rng.integers(0, SIZES[:, None], (3, 3000)).astype(np.uint8))
    truth[2] = truth[0] * 2 + truth[1] % 2
    measured = [Measured(clique, count_cells(truth, clique, SIZES), 1.0) for clique in ((0, 1), (1, 2), (0, 1, 2))]
    table = np.zeros((3000, 3), np.uint8)
    GibbsSampler(SIZES, measured, state=3).run(table, 3000.0, 12)
    for one in measured:
        found = count_cells(np.ascontiguousarray(table.T), one.clique, SIZES)
        assert np.abs(found - one.noisy).max() <= 12


def test_impossible_cells_empty_and_frozen_columns_stay() -> None:
    rng = np.random.default_rng(2)
    table = rng.integers(0, SIZES, (500, 3)).astype(np.uint8)
    before = table[:, 0].copy()
    cells = np.zeros(6, bool)
    cells[[1, 5]] = True
    measured = [Measured((1, 2), np.full(12, 40), 9.0)]
    sampler = GibbsSampler(SIZES, measured, impossible=[Impossible((0, 1), cells)], frozen=[0], state=1)
    sampler.run(table, 500.0, 3)
    assert (table[:, 0] == before).all()
    assert not cells[table[:, 0] * 3 + table[:, 1]].any()


@pytest.mark.parametrize("clique", [(1,), (0, 2), (0, 1, 2)])
def test_cells_are_counted_as_numpy_counts_them(clique: tuple[Any, ...]) -> None:
    columns = np.random.default_rng(0).integers(0, SIZES[:, None], (3, 200)).astype(np.uint8)
    cell = np.ravel_multi_index([columns[i] for i in clique], [SIZES[i] for i in clique])
    expected = np.bincount(cell, minlength=int(np.prod(SIZES[list(clique)])))
    assert (count_cells(columns, clique, SIZES) == expected).all()


def test_means_are_counted_in_people_over_the_sweeps() -> None:
    rng = np.random.default_rng(4)
    table = rng.integers(0, SIZES, (400, 3)).astype(np.uint8)
    truth = np.ascontiguousarray(table.T).copy()
    sampler = GibbsSampler(SIZES, [Measured((0, 1), 2 * count_cells(truth, (0, 1), SIZES), 1.0)], state=2)
    (mean,) = sampler.mean_counts(table, 800.0, [(0, 1)], 20)
    assert mean.sum() == pytest.approx(800)
    assert np.abs(mean - 2 * count_cells(truth, (0, 1), SIZES)).max() < 10
