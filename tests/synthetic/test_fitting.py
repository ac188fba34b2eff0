"""The last steps of a fit: what a marginal is believed, and rows that settle to the mean of several sweeps."""

import numpy as np
import pytest

from bruit.synthetic.fitting import BELIEFS, believe, finish_rows, possible_row, without_impossible
from bruit.synthetic.gibbs import GibbsSampler, Impossible, Measured
from bruit.synthetic.marginals import count_cells

SIZES = np.array([3, 4, 5, 6])
PAIRS = ((0, 1), (1, 2), (2, 3))


def _chain(rows: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Rows whose columns each lean on the column before: pairs of neighbours say all."""
    rng, table = np.random.default_rng(seed), np.empty((rows, len(SIZES)), np.uint8)
    table[:, 0] = rng.integers(0, SIZES[0], rows)
    for i in range(1, len(SIZES)):
        table[:, i] = np.where(rng.random(rows) < 0.5, table[:, i - 1] % SIZES[i], rng.integers(0, SIZES[i], rows))
    return table


def _off(table: np.ndarray, people: np.ndarray) -> float:
    """The mean total variation of all triples of columns."""
    off = []
    for left in range(len(SIZES)):
        clique = tuple(i for i in range(len(SIZES)) if i != left)
        one, other = (count_cells(np.ascontiguousarray(rows.T), clique, SIZES) / len(rows) for rows in (table, people))
        off.append(np.abs(one - other).sum() / 2)
    return float(np.mean(off))


def test_rows_that_settle_are_nearer_to_the_people_than_rows_drawn_by_lot() -> None:
    population = _chain(400_000, seed=1)
    columns = np.ascontiguousarray(population.T)
    measured = [Measured(pair, count_cells(columns, pair, SIZES) / 100, 1.0) for pair in PAIRS]
    drawn, settled = (_chain(4000, seed=2) for _ in range(2))
    GibbsSampler(SIZES, measured, state=3).run(drawn, 4000.0, 12)
    finish_rows(GibbsSampler(SIZES, measured, state=3), settled, 4000.0, frozen=0)
    assert _off(settled, population) < 0.6 * _off(drawn, population)


def test_rows_settle_without_what_is_impossible_and_leave_frozen_columns() -> None:
    table = _chain(2000, seed=5)
    before, cells = table[:, 0].copy(), np.zeros(20, bool)
    cells[[0, 7]] = True
    measured = [Measured((1, 2), np.full(20, 100), 4.0)]
    sampler = GibbsSampler(SIZES, measured, impossible=[Impossible((1, 2), cells)], frozen=[0], state=1)
    finish_rows(sampler, table, 2000.0, frozen=1)
    assert (table[:, 0] == before).all()
    assert not cells[table[:, 1] * 5 + table[:, 2]].any()


@pytest.mark.parametrize(("times", "belief"), [(0.0, BELIEFS[0]), (1.0, 1.0), (30.0, BELIEFS[-1])])
def test_a_marginal_is_believed_by_how_far_it_is_from_what_was_expected(times: float, belief: float) -> None:
    rng, table = np.random.default_rng(7), _chain(20_000, seed=8)
    expected = count_cells(np.ascontiguousarray(table.T), (2, 3), SIZES)
    deviation, found = 25.0, []
    for _ in range(50):
        own = rng.normal(0, np.sqrt(times * expected * deviation))
        noisy = np.rint(expected + own + rng.normal(0, deviation, len(expected))).astype(np.int64)
        (one,) = believe([Measured((2, 3), noisy, deviation**2)], table, 20_000.0, SIZES)
        found.append(np.log(one.belief))
        assert one.pull == pytest.approx(one.belief / deviation)
    assert np.mean(found) == pytest.approx(np.log(belief), abs=0.2)


def test_rows_that_are_all_impossible_become_possible_ones() -> None:
    known = [Impossible((0, 1), np.arange(12) != 11), Impossible((1, 3), np.arange(24) < 22)]
    table = without_impossible(_chain(50, seed=9) * 0, known, SIZES, np.random.default_rng(0))
    assert (table == [2, 3, 0, 4]).all()
    assert possible_row([*known, Impossible((3,), np.arange(6) > 3)], SIZES) is None
