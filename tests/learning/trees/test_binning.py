"""Bins are public, total, and keep the order of values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.errors import InvalidArgument
from bruit.learning.trees.binning import public_bins, read_bins
from bruit.tables import Domain, among, within


@given(high=st.integers(1, 5000), most=st.integers(2, 300), low=st.integers(-50, 50))
def test_every_integer_of_a_domain_has_a_bin_and_order_is_kept(high: int, most: int, low: int) -> None:
    domain = within(low, low + high, grid=1)
    bins = public_bins([domain], most)
    values = np.arange(low, low + high + 1)[:, None]
    codes = bins.codes(values)[:, 0].astype(int)
    assert codes[0] == 0
    assert codes[-1] == bins.sizes[0] - 1
    assert set(np.diff(codes)) <= {0, 1}
    assert bins.sizes[0] <= 2 * most + 1


def test_few_values_and_categories_have_bins_of_their_own() -> None:
    domains: list[Domain] = [within(0, 1, grid="0.25"), among(["a", "b"]), among(["a", "b"], drop_others=True)]
    bins = public_bins(domains, 32)
    assert bins.sizes.tolist() == [5, 3, 2]
    assert bins.categorical.tolist() == [False, True, True]
    assert bins.codes(np.array([[3, 2, 1]])).tolist() == [[3, 2, 1]]


def test_wide_domains_from_zero_have_narrow_bins_near_zero() -> None:
    (edges,) = public_bins([within(0, 99_999, grid=1)], 32).edges
    assert edges[0] == 0
    assert (np.diff(edges) > 0).all()
    assert (edges < 100).sum() > 5
    assert public_bins([within(-10_000, 10_000, grid=1)], 32).sizes[0] == 32


def test_bins_read_from_data_lie_halfway_or_at_quantiles() -> None:
    values = np.array([[1.0], [4.0], [2.0], [2.0]])
    np.testing.assert_array_equal(read_bins(values, 8).edges[0], [1.5, 3.0])
    many = np.random.default_rng(1).normal(size=(10_000, 1))
    bins = read_bins(many, 64)
    counts = np.bincount(bins.codes(many)[:, 0])
    assert len(counts) == 64
    assert counts.min() > 140
    assert counts.max() < 170
    skewed = np.concatenate([np.zeros(9000), np.arange(1, 1001)])[:, None]
    assert read_bins(skewed, 16).edges[0][0] == 0.5


@pytest.mark.parametrize("most", [1, 0, 2.5, True])
def test_the_number_of_bins_is_checked(most: object) -> None:
    with pytest.raises(InvalidArgument, match="bins"):
        public_bins([within(0, 1, grid=1)], most)  # type: ignore[arg-type]
