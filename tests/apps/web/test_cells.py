"""Cells that a spreadsheet takes for data: no formula, nothing lost, numbers as numbers."""

import csv
import io

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bruit.apps.web.cells import csv_of, guarded, unguarded

FORMULAS = ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "\r=1", "-1+cmd|' /C calc'!A0", "＝1+1", "-inf", "+3_0", "-1\n"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_text_begins_as_a_formula(text):
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-1", "+2.5", "-.5", "-1e-9", "7", "yes", "a=b", ""])
def test_numbers_and_plain_texts_stay_as_they_are(text):
    assert guarded(text) == text


@given(st.text())
@example("'=1")
@example("''")
def test_every_text_comes_back(text):
    assert unguarded(guarded(text)) == text


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0")).filter(lambda text: "\r" not in text)


@given(st.lists(st.tuples(texts, st.floats(allow_nan=False, allow_infinity=False)), min_size=1))
def test_a_table_comes_back_from_its_csv(rows):
    frame = pl.DataFrame(rows, {"=answer": pl.String, "share": pl.Float64}, orient="row")
    heads, *cells = csv.reader(io.StringIO(csv_of(frame), newline=""), quoting=csv.QUOTE_NONNUMERIC)
    assert [unguarded(head) for head in heads] == ["=answer", "share"]
    assert [(unguarded(text), number) for text, number in cells] == rows


def test_a_text_is_not_split_where_a_semicolon_parts_cells():
    assert csv_of(pl.DataFrame({"answer": ["a;=1+1"], "n": [-1]})) == '"answer","n"\n"a;=1+1",-1\n'
