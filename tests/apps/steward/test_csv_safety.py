"""Cells that a spreadsheet takes for data: no formula, nothing lost, numbers as numbers."""

import csv
import io
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bruit.apps.steward.csv_safety import csv_of, guard_cell, unguard_cell

FORMULAS = ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "\r=1", "-1+cmd|' /C calc'!A0", "＝1+1", "-inf", "+3_0", "-1\n"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_text_begins_as_a_formula(text: str) -> None:
    assert guard_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-1", "+2.5", "-.5", "-1e-9", "7", "yes", "a=b", ""])
def test_numbers_and_plain_texts_stay_as_they_are(text: str) -> None:
    assert guard_cell(text) == text


@given(st.text())
@example("'=1")
@example("''")
def test_every_text_comes_back(text: str) -> None:
    assert unguard_cell(guard_cell(text)) == text


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0")).filter(lambda text: "\r" not in text)


@given(st.lists(st.tuples(texts, st.floats(allow_nan=False, allow_infinity=False)), min_size=1))
def test_a_table_comes_back_from_its_csv(rows: list[tuple[Any, float]]) -> None:
    frame = pl.DataFrame(rows, {"=answer": pl.String, "share": pl.Float64}, orient="row")
    heads, *cells = csv.reader(io.StringIO(csv_of(frame), newline=""), quoting=csv.QUOTE_NONNUMERIC)
    assert [unguard_cell(head) for head in heads] == ["=answer", "share"]
    assert [(unguard_cell(text), number) for text, number in cells] == rows


def test_a_text_is_not_split_where_a_semicolon_parts_cells() -> None:
    assert csv_of(pl.DataFrame({"answer": ["a;=1+1"], "n": [-1]})) == '"answer","n"\n"a;=1+1",-1\n'
