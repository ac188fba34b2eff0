"""Groups, their distances and the counting kernel, each against a plain way to the same."""

from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.anonymity._kernels import tally
from bruit.anonymity.coded import EVERY, NO_NUMBERS, NO_WEIGHTS, encode_column, join_codes, join_columns
from bruit.anonymity.disclosure.equivalence_classes import distances, group_rows
from bruit.errors import InvalidArgument

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=60)


def dense(groups: Any) -> Any:
    """The share of each value in each group, as a matrix."""
    shares = np.zeros((len(groups.keys), groups.values))
    shares[groups.group, groups.value] = groups.shares
    return shares


def made(rows: Any) -> Any:
    secret = encode_column(polars.Series("s", [value for _, value in rows])).ordered()
    return group_rows(np.array([key for key, _ in rows], np.int64), secret), secret


@given(st.lists(st.integers(0, 2**62 - 1), max_size=300), st.integers(1, 5))
def test_the_tally_counts_as_numpy_does(keys: list[int], weight: int) -> None:
    given_keys = np.array(keys, np.int64)
    numbers = np.empty(len(keys), np.int32)
    values, counts, whole = tally(given_keys, np.full(len(keys), weight, np.int64), numbers, EVERY)
    wanted, often = np.unique(given_keys, return_counts=True)
    order = np.argsort(values)
    assert whole
    assert (values[order] == wanted).all()
    assert (counts[order] == weight * often).all()
    assert (values[numbers] == given_keys).all()


def test_the_tally_grows_over_its_first_table() -> None:
    keys = np.random.default_rng(1).integers(0, 2**60, 30_000)
    values, counts, whole = tally(np.repeat(keys, 2), NO_WEIGHTS, NO_NUMBERS, EVERY)
    assert whole
    assert len(values) == len(np.unique(keys))
    assert set(counts.tolist()) == {2}


def test_the_tally_gives_up_beyond_the_most_it_may_find() -> None:
    _, _, whole = tally(np.arange(100), NO_WEIGHTS, NO_NUMBERS, 99)
    assert not whole


@given(ROWS)
def test_groups_hold_what_a_dictionary_counts(rows: list[tuple[int, int]]) -> None:
    groups, secret = made(rows)
    pairs: dict[tuple[int, int], int] = {}
    for row in rows:
        pairs[row] = pairs.get(row, 0) + 1
    found = {
        (int(groups.keys[group]), secret.labels[int(value)]): int(count)
        for group, value, count in zip(groups.group, groups.value, groups.count, strict=True)
    }
    assert found == pairs
    assert groups.sizes.sum() == len(rows)


@given(ROWS)
def test_distances_are_those_of_dense_cumulative_sums(rows: list[tuple[int, int]]) -> None:
    groups, secret = made(rows)
    gone = np.abs(np.cumsum(dense(groups) - groups.overall, axis=1))[:, :-1]
    ordered = gone.sum(axis=1) / max(groups.values - 1, 1)
    assert distances(groups, "ordered") == pytest.approx(ordered, abs=1e-12)
    gaps = np.diff(secret.numbers) / max(np.ptp(secret.numbers), 1e-300)
    assert distances(groups, "numeric", secret.numbers) == pytest.approx((gone * gaps).sum(axis=1), abs=1e-12)
    total = np.abs(dense(groups) - groups.overall).sum(axis=1) / 2
    assert distances(groups, "categorical") == pytest.approx(total, abs=1e-12)


def test_numeric_distances_refuse_texts() -> None:
    groups = group_rows(np.zeros(2, np.int64), encode_column(polars.Series("s", ["a", "b"])).ordered())
    with pytest.raises(InvalidArgument, match="ordered"):
        distances(groups, "numeric", None)


@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", None, "b"],
        [3, None, -2, 3],
        [10**12, 5, 5],
        [1.5, float("nan"), None, 1.5],
        [True, False, None],
        [],
        [None, None],
    ],
)
def test_codes_give_the_values_back(values: list[Any]) -> None:
    column = encode_column(polars.Series("x", values, strict=False))
    labels = column.labels.to_list()
    wanted = [None if value != value else value for value in values]
    told = [labels[code] for code in column.codes]
    assert [str(value).lower() for value in told] == [str(value).lower() for value in wanted]
    assert len(set(labels)) == len(labels)


def test_categories_are_coded_without_those_that_do_not_occur() -> None:
    series = polars.Series("x", ["a", "b", None, "c"]).cast(polars.Categorical)
    column = encode_column(series.gather([1, 2, 3, 3]))
    assert [column.labels[int(code)] for code in column.codes] == ["b", None, "c", "c"]
    assert column.size == 3


def test_texts_that_are_numbers_are_ordered_as_numbers() -> None:
    column = encode_column(polars.Series("x", ["10", "9", "100"])).ordered()
    assert column.labels.to_list() == ["9", "10", "100"]
    assert column.codes.tolist() == [1, 0, 2]


def test_keys_that_would_overflow_are_renumbered() -> None:
    rng = np.random.default_rng(1)
    parts = [(rng.integers(0, 2**20, 500), 2**20) for _ in range(5)]
    keys = join_codes(parts + parts, 500)
    rows = np.stack([codes for codes, _ in parts], axis=1)
    assert len(np.unique(keys)) == len(np.unique(rows, axis=0))
    assert keys.min() >= 0


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc")), min_size=1, max_size=40))
def test_rows_share_a_key_exactly_where_all_columns_agree(rows: list[tuple[int, str]]) -> None:
    columns = [
        encode_column(polars.Series("a", [a for a, _ in rows])),
        encode_column(polars.Series("b", [b for _, b in rows])),
    ]
    keys = join_columns(columns, len(rows)).tolist()
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert (keys[i] == keys[j]) == (one == other)
