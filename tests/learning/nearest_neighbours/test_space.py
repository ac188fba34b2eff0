"""Coordinates are whole numbers that a double holds, also summed up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.errors import InvalidArgument
from bruit.learning.nearest_neighbours.space import space_of
from bruit.tables import among, within

MIXED = (within(0, 100, grid=1), among(["a", "b", "c"]), within(-1, 1, grid="0.001"))


def test_two_categories_and_two_ends_are_one_unit_apart() -> None:
    space = space_of(MIXED, None)
    numbers = np.array([[0, 0, -1000], [100, 0, -1000], [0, 2, -1000], [0, 0, 1000]])
    first, *others = space.coordinates(numbers) / space.unit
    np.testing.assert_allclose([np.linalg.norm(first - other) for other in others], 1, atol=1e-6)


def test_a_weight_stretches_its_column_alone() -> None:
    space = space_of(MIXED, [3, 1, 0.5])
    rows = space.coordinates(np.array([[0, 0, 0], [100, 0, 0], [0, 1, 0], [0, 0, 1000]])) / space.unit
    np.testing.assert_allclose(np.linalg.norm(rows[1:] - rows[0], axis=1), [3, 1, 0.25], atol=1e-6)


@given(columns=st.integers(1, 3000), weight=st.floats(0.01, 1000))
def test_every_sum_of_a_squared_distance_is_exact(columns: int, weight: float) -> None:
    space = space_of([within(0, 1, grid=1)] * columns, [weight] * columns)
    far = space.coordinates(np.ones((1, columns), np.int64))
    assert far.max() >= 1
    np.testing.assert_array_equal(far, np.rint(far))
    assert 4 * columns * int(far.max()) ** 2 < 2**53 * 1.01


@pytest.mark.parametrize("weights", [[1, 1], [1, 0, 1], [1, -2, 1], [1, 1e9, 1], [1, float("nan"), 1]])
def test_weights_are_one_positive_number_a_column(weights: list[float]) -> None:
    with pytest.raises(InvalidArgument, match="one for each column"):
        space_of(MIXED, weights)
