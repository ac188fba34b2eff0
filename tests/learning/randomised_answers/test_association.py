"""What chance puts into a table is taken out, and what is there is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law
from scipy import optimize, stats

from bruit.channels import ONE, symmetric
from bruit.learning.randomised_answers.association import (
    RARELY,
    association_of,
    chance_limit,
    chance_of_passing,
    largest_deviance,
    limit_by_law,
    shrunk,
    unmix_shares,
)


def passed_at(rows: int, columns: int, chance: float) -> float:
    """The square that the largest squared singular value of a normal matrix passes with a chance."""
    edge = (np.sqrt(rows) + np.sqrt(columns)) ** 2
    return optimize.brentq(lambda square: chance_of_passing(rows, columns, square) - chance, edge, 3 * edge + 40)


def without_association(values: int, labels: int, *, people: int, tables: int, falling: float) -> np.ndarray:
    """Tables whose shares fall by a factor from one value to the next, and from one label to the next."""
    first, second = (falling ** np.arange(size) for size in (values, labels))
    shares = np.outer(first / first.sum(), second / second.sum())
    drawn = np.random.default_rng([values, people]).multinomial(people, shares.ravel(), size=tables)
    return drawn.reshape(tables, values, labels)


def strays(table: np.ndarray) -> float:
    return largest_deviance(table, np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum())


@pytest.mark.parametrize("size", [1, 2, 6, 41, 150])
def test_the_limit_of_one_row_is_that_of_a_sum_of_squares(size: int) -> None:
    assert chance_limit(size, 1) == pytest.approx(stats.chi2.isf(RARELY, size), rel=1e-9)
    assert chance_limit(1, size) == pytest.approx(stats.chi2.isf(RARELY, size), rel=1e-9)


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (5, 6), (14, 6)])
def test_normal_matrices_pass_as_often_as_is_said(rows: int, columns: int) -> None:
    draws = 20_000
    drawn = np.random.default_rng([rows, columns]).standard_normal((draws, rows, columns))
    largest = np.linalg.eigvalsh(drawn.transpose(0, 2, 1) @ drawn)[:, -1]
    passed = int((largest > passed_at(rows, columns, 0.01)).sum())
    assert_law([passed, draws - passed], [0.01, 0.99])


@pytest.mark.parametrize(("rows", "columns"), [(100, 100), (150, 50), (180, 20)])
def test_large_matrices_have_the_limit_law(rows: int, columns: int) -> None:
    """Both laws meet where one takes over from the other: the limit law is passed at most 1.25 times as often."""
    by_law = limit_by_law(rows, columns)
    assert 0.8 * RARELY < chance_of_passing(rows, columns, by_law) < 1.25 * RARELY
    assert chance_limit(2 * rows, 2 * columns) == limit_by_law(2 * rows, 2 * columns)


@pytest.mark.parametrize("values", [2, 6, 15])
def test_tables_without_association_stray_as_often_as_normal_matrices(values: int) -> None:
    tables, square = 2000, passed_at(values - 1, 6, 0.01)
    drawn = without_association(values, 7, people=30_000, tables=tables, falling=0.9)
    passed = sum(strays(table) > square for table in drawn)
    assert_law([passed, tables - passed], [0.01, 0.99])


@pytest.mark.parametrize(("values", "labels"), [(2, 2), (6, 7), (42, 7)])
@pytest.mark.parametrize("people", [200, 5000])
def test_a_rare_value_with_a_rare_label_is_no_alarm(values: int, labels: int, people: int) -> None:
    """Squares (n - e)^2 / e of cells where hardly anybody is expected alarm in one table out of ten and more."""
    channel, tables = symmetric(labels, epsilon=1), 500
    drawn = without_association(values, labels, people=people, tables=tables, falling=0.03 if values == 2 else 0.4)
    called = sum(association_of(table, channel).certain for table in drawn)
    assert called <= stats.binom.isf(1e-9, tables, 3 * RARELY)


def test_a_single_person_is_no_evidence() -> None:
    table = np.array([[4000, 3000, 0], [2000, 1500, 0], [0, 0, 1]])
    found = association_of(table, symmetric(3, epsilon=8))
    assert not found.certain
    assert not found.residual.any()


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_noised_table_without_chance_gives_back_the_true_association(epsilon: float) -> None:
    joint = np.array([[0.3, 0.05, 0.05], [0.1, 0.2, 0.1], [0.05, 0.05, 0.1]])
    channel = symmetric(3, epsilon=epsilon)
    noised = np.rint(joint @ channel.probabilities() * 10**12).astype(np.int64)
    found = association_of(noised, channel)
    assert found.certain
    expected = joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))
    np.testing.assert_allclose(found.residual, expected, atol=1e-5)
    np.testing.assert_allclose(found.values, joint.sum(axis=1), atol=1e-9)


def test_nothing_is_found_in_nothing() -> None:
    found = association_of(np.zeros((4, 3), np.int64), symmetric(3, epsilon=1))
    assert not found.certain
    assert not found.residual.any()
    assert not association_of(np.array([[7, 2, 0], [0, 0, 0]]), symmetric(3, epsilon=1)).certain


def test_shrinking_takes_all_below_the_edge_and_little_of_the_large() -> None:
    edge = np.sqrt(5) + np.sqrt(6)
    kept = shrunk(np.array([edge - 1e-9, edge + 1e-9, 1000.0]), 5, 6)
    assert kept[0] == 0
    assert 0 <= kept[1] < 0.01
    assert 999.9 < kept[2] < 1000


@given(counts=st.lists(st.integers(0, 500), min_size=3, max_size=3), epsilon=st.sampled_from([0.01, 0.5, 5.0]))
def test_the_largest_share_is_the_noised_majority(counts: list[int], epsilon: float) -> None:
    labels = np.repeat(np.arange(3), counts)
    shares = unmix_shares(labels, symmetric(3, epsilon=epsilon))
    assert shares.sum() == pytest.approx(1)
    assert shares[int(np.argmax(counts))] == shares.max()
    assert shares.min() > 0


def test_shares_of_many_are_unbiased() -> None:
    channel, true = symmetric(3, epsilon=1), np.array([0.6, 0.3, 0.1])
    counts = np.rint(true @ channel.probabilities() * 10**6).astype(int)
    np.testing.assert_allclose(unmix_shares(np.repeat(np.arange(3), counts), channel), true, atol=1e-4)
    assert channel.keep < ONE
