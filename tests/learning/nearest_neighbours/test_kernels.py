"""The kernel keeps the first k in the order of distance and place, however the rows are cut into blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bruit.learning.nearest_neighbours._kernels import keep_nearest


def kept_by_sorting(distances: np.ndarray, most: int) -> list[set[int]]:
    order = np.argsort(distances, axis=1, kind="stable")[:, :most]
    return [set(row.tolist()) for row in order]


@given(
    distances=arrays.arrays(np.float64, (3, 23), elements=st.integers(0, 5).map(float)),
    most=st.integers(1, 23),
    block=st.integers(1, 23),
)
def test_the_nearest_are_those_of_a_stable_sort(distances: np.ndarray, most: int, block: int) -> None:
    near, places, kept = np.empty((3, most)), np.empty((3, most), np.int64), 0
    for start in range(0, 23, block):
        part = np.ascontiguousarray(distances[:, start : start + block])
        kept = keep_nearest(part, start, kept, near, places)
    assert kept == most
    assert [set(row.tolist()) for row in places] == kept_by_sorting(distances, most)
    np.testing.assert_array_equal(near, np.take_along_axis(distances, places, axis=1))


@pytest.mark.parametrize("most", [1, 7, 200])
def test_a_long_stream_gives_what_sorting_gives(most: int) -> None:
    distances = np.random.default_rng(1).integers(0, 50, (4, 5000)).astype(float)
    near, places = np.empty((4, most)), np.empty((4, most), np.int64)
    assert keep_nearest(distances, 0, 0, near, places) == most
    assert [set(row.tolist()) for row in places] == kept_by_sorting(distances, most)
