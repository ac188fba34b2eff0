"""The last steps of a fit: what a marginal is believed, and rows that settle to the mean of several sweeps."""

import numpy as np
import pytest

from bruit.synthetic.fitting import (
    BELIEFS,
    believe,
    combine_singles,
    finish_rows,
    possible_row,
    without_impossible,
)
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


def test_counts_of_a_column_are_the_least_squares_of_all_marginals_that_hold_it() -> None:
    rng, variance = np.random.default_rng(11), {(0,): 90.0, (0, 1): 20.0, (0, 2): 7.0, (0, 1, 2): 3.0}
    noisy = {clique: rng.normal(500, 20, int(np.prod(SIZES[list(clique)]))) for clique in variance}
    design, answers, precision = [], [], []
    for clique, counts in noisy.items():
        for value, said in enumerate(counts.reshape(SIZES[0], -1).sum(1)):
            design.append(np.arange(SIZES[0]) == value)
            answers.append(said)
            precision.append(1 / (variance[clique] * len(counts) / SIZES[0]))
    weighed = np.array(design) * np.sqrt(precision)[:, None]
    least = np.linalg.lstsq(weighed, np.array(answers) * np.sqrt(precision), rcond=None)[0]
    measured = [Measured(clique, counts, variance[clique]) for clique, counts in noisy.items()]
    joined = combine_singles(measured, 1500.0, SIZES)
    assert joined[0].noisy == pytest.approx(least + (1500 - least.sum()) / len(least))
    assert joined[0].variance == pytest.approx(np.linalg.inv(weighed.T @ weighed)[0, 0])
    assert joined[1:] == measured[1:]


def test_combined_counts_are_never_negative_and_add_up_to_the_people() -> None:
    measured = [Measured((3,), np.array([-50, -3, 4, 0, 7, -1]), 9.0), Measured((0,), np.array([-1, -2, -3]), 9.0)]
    for one, size in zip(combine_singles(measured, 11.0, SIZES), (6, 3), strict=True):
        assert (one.noisy >= 0).all()
        assert one.noisy.sum() == pytest.approx(11)
        assert len(one.noisy) == size


def test_the_noise_of_empty_cells_does_not_fill_them() -> None:
    rng, truth = np.random.default_rng(12), np.r_[3000.0, 1000.0, np.zeros(40)]
    apart = []
    for _ in range(50):
        noisy = truth + rng.normal(0, 100, 42)
        (one,) = combine_singles([Measured((0,), noisy, 1e4)], 4000.0, np.array([42]))
        apart.append(np.abs(one.noisy - truth).sum() / 8000)
    assert np.mean(apart) < 0.1


def test_noise_that_dwarfs_the_people_still_gives_counts() -> None:
    (one,) = combine_singles([Measured((0,), np.array([1e18, 0.0, -1e18]), 1e36)], 1.0, np.array([3]))
    assert one.noisy.sum() == pytest.approx(1)
    assert (one.noisy >= 0).all()


def test_rows_that_are_all_impossible_become_possible_ones() -> None:
    known = [Impossible((0, 1), np.arange(12) != 11), Impossible((1, 3), np.arange(24) < 22)]
    table = without_impossible(_chain(50, seed=9) * 0, known, SIZES, np.random.default_rng(0))
    assert (table == [2, 3, 0, 4]).all()
    assert possible_row([*known, Impossible((3,), np.arange(6) > 3)], SIZES) is None
