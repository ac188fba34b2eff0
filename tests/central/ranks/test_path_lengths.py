"""The closed formulas of the lengths against a search through all tables, and their sensitivity."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bruit.central.finite_functions import lengths as searched
from bruit.central.ranks.mechanisms.path_lengths import lengths_by_exchange, lengths_by_moves, smoothed
from bruit.central.ranks.mechanisms.segments import Segments, near, segments

GRID = 4
PROBABILITIES = [Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(3, 4), Fraction(9, 10)]
TABLES = [cells for rows in range(6) for cells in combinations_with_replacement(range(GRID), rows)]


def quantile(probability: Fraction) -> Callable[..., Any]:
    def value(counts: Any) -> Any:
        rank = -(-probability.numerator * int(counts.sum()) // probability.denominator)
        return int(np.searchsorted(np.cumsum(counts), rank)) if rank > 0 else None

    return value


def by_cell(where: Segments, losses: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(losses, where.length)


@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("exchange", [False, True])
def test_the_formula_is_the_search(probability: Fraction, exchange: bool) -> None:
    formula = lengths_by_exchange if exchange else lengths_by_moves
    for cells in TABLES:
        if exchange and not cells:
            continue  # an empty table of public size zero has one answer: no search can leave it
        where = segments(np.array(cells, np.int64), 0, GRID - 1)
        counts = tuple(np.bincount(np.array(cells, np.int64), minlength=GRID).tolist())
        reach = 5
        found = searched(counts, quantile(probability), range(GRID), reach=reach, exchange=exchange)
        given = by_cell(where, formula(where, probability, len(cells)))
        np.testing.assert_array_equal(np.minimum(given, reach + 1), found, err_msg=f"{cells}")


def brute_smooth(lengths: NDArray[np.int64], radius: int) -> NDArray[np.int64]:
    """The cells of length at most l, made an interval, widened."""
    out = np.full(len(lengths), lengths.max())
    for level in np.unique(lengths)[::-1]:
        inside = np.flatnonzero(lengths <= level)
        out[max(inside[0] - radius, 0) : inside[-1] + radius + 1] = level
    return out


@pytest.mark.parametrize("radius", [1, 2, 7])
@pytest.mark.parametrize("formula", [lengths_by_exchange, lengths_by_moves])
def test_smoothing_widens_every_level(radius: int, formula: Callable[..., Any]) -> None:
    rng = np.random.default_rng(radius)
    for rows in (1, 2, 5, 30):
        cells = np.sort(rng.integers(0, 20, rows))
        where = segments(cells, 0, 19)
        lengths = formula(where, Fraction(3, 4), rows)
        wide, less = smoothed(where, lengths, radius, first=0, last=19)
        np.testing.assert_array_equal(by_cell(wide, less), brute_smooth(by_cell(where, lengths), radius))


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_one_record_moves_a_smoothed_length_by_at_most_one(probability: Fraction) -> None:
    def smooth(cells: Any) -> Any:
        where = segments(np.array(cells, np.int64), 0, GRID - 1)
        return by_cell(*smoothed(where, lengths_by_moves(where, probability, len(cells)), 1, first=0, last=GRID - 1))

    for cells, more in product(TABLES, range(GRID)):
        assert np.abs(smooth(cells) - smooth(tuple(sorted((*cells, more))))).max() <= 1


def test_segments_cover_the_grid_once() -> None:
    where = segments(np.array([0, 3, 3, 9], np.int64), 0, 9)
    assert where.length.sum() == 10
    np.testing.assert_array_equal(np.repeat(where.below, where.length), [0, 1, 1, 1, 3, 3, 3, 3, 3, 3])
    np.testing.assert_array_equal(np.repeat(where.upto, where.length), [1, 1, 1, 3, 3, 3, 3, 3, 3, 4])
    empty = segments(np.empty(0, np.int64), 2, 5)
    assert (empty.start.tolist(), empty.length.tolist()) == ([2], [4])


def test_near_keeps_every_segment_that_meets_the_ranks() -> None:
    where = segments(np.repeat(np.arange(10), 10), 0, 9)
    kept = near(where, Fraction(35, 2), Fraction(41, 2))
    assert set(kept.start[kept.length > 0].tolist()) == {1, 2}
