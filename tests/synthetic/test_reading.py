"""Cells come from domains, and which of a person's rows count depends on that person alone."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law

import bruit
from bruit.errors import InvalidArgument, OutOfDomain
from bruit.synthetic.coding import code_columns
from bruit.synthetic.reading import choose_rows, read_cells
from bruit.tables import among, read, within

WITHIN = within(0, 99, grid=1)


def test_every_value_has_a_cell_whatever_it_is() -> None:
    columns: dict[str, Any] = {"age": WITHIN, "kind": among(["a", "b"]), "mark": among(["a", "b"], drop_others=True)}
    coded = code_columns(columns, {"age": [18, 65]})
    frame = pl.DataFrame({"age": [17.4, 18.0, 200.0, None, float("nan")], "kind": ["a", "b", "?", None, "a"]})
    table = read(frame.with_columns(pl.col("kind").alias("mark")), person=bruit.EACH_ROW)
    cells = read_cells(table, coded, rows=1, rng=np.random.default_rng(0)).columns
    assert cells.tolist() == [[0, 1, 2, 3, 3], [0, 1, 2, 2, 0], [0, 1, 2, 2, 0]]


@given(st.integers(1, 400), st.integers(0, 2**32 - 1))
def test_a_value_comes_back_into_its_own_cell_and_onto_its_grid(steps: int, seed: int) -> None:
    domain = within(-steps, steps, grid="0.5", missing=0)
    (column,) = code_columns({"x": domain})
    cells = np.random.default_rng(seed).integers(0, column.size, 50).astype(np.uint8)
    values = column.decode(cells, np.random.default_rng(seed))
    again = read_cells(
        read(pl.DataFrame(values), person=bruit.EACH_ROW), (column,), rows=1, rng=np.random.default_rng(0)
    )
    assert again.columns[0].tolist() == cells.tolist()
    assert ((values * 2) == (values * 2).round()).all()


def test_texts_are_read_as_numbers_and_missing_ones_stay_missing() -> None:
    (column,) = code_columns({"age": WITHIN}, {"age": [50]})
    table = read(pl.DataFrame({"age": ["12", " 70 ", "old", ""]}), person=bruit.EACH_ROW)
    cells = read_cells(table, (column,), rows=1, rng=np.random.default_rng(0)).columns[0]
    assert cells.tolist() == [0, 1, 2, 2]
    assert column.decode(cells, np.random.default_rng(0)).is_null().to_list() == [False, False, True, True]


@pytest.mark.parametrize("edges", [[5, 5], [0], [120], [1.5]])
def test_edges_that_are_no_cells_are_refused(edges: list[float]) -> None:
    with pytest.raises(OutOfDomain, match="edges must"):
        code_columns({"age": WITHIN}, {"age": edges})


def test_columns_that_cannot_be_cells_are_refused() -> None:
    with pytest.raises(OutOfDomain, match="at most 256"):
        code_columns({"city": among(list(range(300)))})
    with pytest.raises(InvalidArgument, match="edges are for numbers"):
        code_columns({"city": among(["a"])}, {"city": [1]})
    with pytest.raises(InvalidArgument, match="no such column"):
        code_columns({"city": among(["a"])}, {"town": [1]})


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_a_newcomer_changes_no_other_persons_rows(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    people = np.sort(rng.integers(0, 6, 40))
    cells = rng.integers(0, 5, (3, 40)).astype(np.uint8)
    without = people != people[-1]
    kept = choose_rows(people, people * 7 % 11, cells, rows=rows, rng=np.random.default_rng(seed))
    fewer = choose_rows(people[without], people[without] * 7 % 11, cells[:, without], rows=rows,
                        rng=np.random.default_rng(seed))  # fmt: skip
    assert kept[without[kept]].tolist() == fewer.tolist()
    assert np.bincount(people[kept]).max() <= rows


def test_each_of_a_persons_rows_is_as_likely_to_count() -> None:
    people, cells = np.repeat(np.arange(20_000), 5), np.tile(np.arange(5, dtype=np.uint8), 20_000)[None]
    kept = choose_rows(people, people, cells, rows=1, rng=np.random.default_rng(4))
    assert_law(np.bincount(cells[0, kept], minlength=5), np.full(5, 0.2))


def test_rows_that_name_nobody_are_left_out() -> None:
    frame = pl.DataFrame({"id": ["a", None, None, "b"], "kind": ["x", "x", "y", "y"]})
    coded = code_columns({"kind": among(["x", "y"])})
    cells = read_cells(read(frame, person="id").limit(rows=1), coded, rows=1, rng=np.random.default_rng(0))
    assert cells.columns.tolist() == [[0, 1]]
