"""Votes: those of scikit-learn where nothing is tied, and a sensitivity that ties cannot break."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from bruit.learning.nearest_neighbours import votes
from bruit.learning.nearest_neighbours.votes import count_votes

CLASSES = 3
RECORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=12)
"""A place on a short line, so that most distances are tied, and a class."""


def asked(rows: list[tuple[int, int]], nearest: int) -> np.ndarray:
    places = np.array([[place] for place, _ in rows], float).reshape(-1, 1)
    labels = np.array([label for _, label in rows], np.int64)
    with patch.object(votes, "ROWS", 4):
        return count_votes(places, labels, np.array([[0.0], [1.0]]), nearest=nearest, classes=CLASSES)


def moved_by(first: np.ndarray, second: np.ndarray, rows: int) -> None:
    """No class moves by more than the rows of one person, all of them by twice as much, in any question."""
    moved = np.abs(first - second)
    assert moved.max() <= rows
    assert moved.sum(axis=1).max() <= 2 * rows
    assert (moved**2).sum(axis=1).max() <= 2 * rows**2


@given(rows=RECORDS, nearest=st.integers(1, 8), gone=st.integers(0, 11))
def test_one_record_more_exchanges_one_voter(rows: list[tuple[int, int]], nearest: int, gone: int) -> None:
    fewer = [row for place, row in enumerate(rows) if place != gone % len(rows)]
    moved_by(asked(rows, nearest), asked(fewer, nearest), 1)


@given(
    rows=RECORDS,
    nearest=st.integers(1, 8),
    gone=st.integers(0, 11),
    other=st.tuples(st.integers(0, 3), st.integers(0, 2)),
)
def test_one_record_for_another_exchanges_one_voter(
    rows: list[tuple[int, int]], nearest: int, gone: int, other: tuple[int, int]
) -> None:
    exchanged = [other if place == gone % len(rows) else row for place, row in enumerate(rows)]
    moved_by(asked(rows, nearest), asked(exchanged, nearest), 1)


@given(
    rows=RECORDS,
    nearest=st.integers(1, 8),
    others=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=3),
)
def test_three_rows_of_one_person_exchange_three_voters(
    rows: list[tuple[int, int]], nearest: int, others: list[tuple[int, int]]
) -> None:
    moved_by(asked(rows, nearest), asked([*others, *rows[3:]], nearest), 3)


def test_one_record_can_move_two_classes() -> None:
    first, second = asked([(1, 0), (0, 1)], 1), asked([(1, 0), (0, 2)], 1)
    np.testing.assert_array_equal(first[0] - second[0], [0, 1, -1])
    alone = asked([(1, 0)], 1)
    np.testing.assert_array_equal(first[0] - alone[0], [-1, 1, 0])


def test_the_voters_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    records, questions = np.rint(rng.random((9000, 6)) * 2**20), np.rint(rng.random((300, 6)) * 2**20)
    labels = rng.integers(0, CLASSES, 9000)
    places = (
        NearestNeighbors(n_neighbors=25, algorithm="brute").fit(records).kneighbors(questions, return_distance=False)
    )
    expected = np.stack([(labels[places] == each).sum(axis=1) for each in range(CLASSES)], axis=1)
    np.testing.assert_array_equal(count_votes(records, labels, questions, nearest=25, classes=CLASSES), expected)


def test_a_table_of_fewer_records_than_voters_lets_all_vote() -> None:
    np.testing.assert_array_equal(asked([(0, 2), (3, 0), (1, 2)], 50), [[1, 0, 2]] * 2)
    np.testing.assert_array_equal(asked([], 5), np.zeros((2, CLASSES)))
