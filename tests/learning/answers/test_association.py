"""What chance puts into a table is taken out, and what is there is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bruit.channels import ONE, symmetric
from bruit.learning.answers.association import associated, on_simplex, shrunk, unmixed_shares


@pytest.mark.parametrize("values", [2, 6, 15, 42])
def test_independence_is_hardly_ever_called_certain(values: int) -> None:
    """The limit is asymptotic: small tables stay within one in ten thousand."""
    channel, tables = symmetric(7, epsilon=1), 1000
    drawn = np.random.default_rng(1).multinomial(30_000, np.full(values * 7, 1 / (values * 7)), size=tables)
    called = sum(associated(table.reshape(values, 7), channel).certain for table in drawn)
    assert called <= stats.binom.isf(1e-9, tables, 0.0001)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_noised_table_without_chance_gives_back_the_true_association(epsilon: float) -> None:
    joint = np.array([[0.3, 0.05, 0.05], [0.1, 0.2, 0.1], [0.05, 0.05, 0.1]])
    channel = symmetric(3, epsilon=epsilon)
    noised = np.rint(joint @ channel.probabilities() * 10**12).astype(np.int64)
    found = associated(noised, channel)
    assert found.certain
    expected = joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))
    np.testing.assert_allclose(found.residual, expected, atol=1e-5)
    np.testing.assert_allclose(found.values, joint.sum(axis=1), atol=1e-9)


def test_nothing_is_found_in_nothing() -> None:
    found = associated(np.zeros((4, 3), np.int64), symmetric(3, epsilon=1))
    assert not found.certain
    assert not found.residual.any()
    assert not associated(np.array([[7, 2, 0], [0, 0, 0]]), symmetric(3, epsilon=1)).certain


def test_shrinking_takes_all_below_the_edge_and_little_of_the_large() -> None:
    edge = np.sqrt(5) + np.sqrt(6)
    kept = shrunk(np.array([edge - 1e-9, edge + 1e-9, 1000.0]), 5, 6)
    assert kept[0] == 0
    assert 0 <= kept[1] < 0.01
    assert 999.9 < kept[2] < 1000


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=8))
def test_the_nearest_shares_satisfy_the_conditions_of_the_least_distance(point: list[float]) -> None:
    given_point = np.array(point)
    found = on_simplex(given_point)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    taken = given_point - found
    level = taken[found > 0]
    np.testing.assert_allclose(level, level[0], atol=1e-9)
    assert (taken <= level[0] + 1e-9).all()


@given(counts=st.lists(st.integers(0, 500), min_size=3, max_size=3), epsilon=st.sampled_from([0.01, 0.5, 5.0]))
def test_the_largest_share_is_the_noised_majority(counts: list[int], epsilon: float) -> None:
    labels = np.repeat(np.arange(3), counts)
    shares = unmixed_shares(labels, symmetric(3, epsilon=epsilon))
    assert shares.sum() == pytest.approx(1)
    assert shares[int(np.argmax(counts))] == shares.max()
    assert shares.min() > 0


def test_shares_of_many_are_unbiased() -> None:
    channel, true = symmetric(3, epsilon=1), np.array([0.6, 0.3, 0.1])
    counts = np.rint(true @ channel.probabilities() * 10**6).astype(int)
    np.testing.assert_allclose(unmixed_shares(np.repeat(np.arange(3), counts), channel), true, atol=1e-4)
    assert channel.keep < ONE
