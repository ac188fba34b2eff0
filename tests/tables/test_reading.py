import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import exact_integers as exact
import numpy as np
import pandas as pd
import polars as pl
import pytest

from bruit import tables
from bruit.errors import BadFile, InvalidArgument, MissingData, StorageError
from bruit.privacy import EACH_ROW


def test_a_csv_file_is_text_until_a_domain_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,age\na, 31\nb,unknown\nc,\nd,200\n")
    table = tables.read(tmp_path / "people.csv", person="id").limit(rows=1)
    assert exact.total(table["age"].within(0, 120, grid=1)) == 31 + 120
    assert exact.total(table["age"].within(0, 120, grid=1, missing=40)) == 31 + 120 + 2 * 40


def test_rule_2_no_error_depends_on_values(tmp_path: Path) -> None:
    """One record with an absurd value changes the answer as the domain says and raises nothing."""
    for absurd in ("nan", "inf", "-1e308", "text", "", "é" * 1000, "1e999"):
        (tmp_path / "people.csv").write_text(f"x\n5\n{absurd}\n")
        column = tables.read(tmp_path / "people.csv", person=EACH_ROW)["x"].within(0, 10, grid=1)
        assert 5 <= exact.total(column) <= 15


def test_python_objects_of_mixed_types_become_text() -> None:
    frame = pd.DataFrame({"x": [1, "two", None, 3.5, object()]}, dtype=object)
    column = tables.read(frame, person=EACH_ROW)["x"].among(["two", "1"])
    assert exact.histogram(column).tolist() == [1, 1, 3]


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    for part in range(3):
        pl.DataFrame({"x": [part, part]}).write_parquet(tmp_path / f"{part}.parquet")
    assert exact.count(tables.read(tmp_path, person=EACH_ROW)) == 6


def test_a_folder_of_csv_files_is_one_table(tmp_path: Path) -> None:
    for part in range(3):
        (tmp_path / f"{part}.csv").write_text(f"x,y\n{part},a\n{part + 10},b\n")
    table = tables.read(tmp_path, person=EACH_ROW)
    assert exact.total(table["x"].within(0, 100, grid=1)) == 2 * (0 + 1 + 2) + 30


def cut_csv(folder: Any) -> None:
    (folder / "a.csv").write_text("x,y\n1,2\n")
    (folder / "b.csv").write_text("x,y\n1,2\n3")


def cut_parquet(folder: Any) -> None:
    frame = pl.DataFrame({"x": range(100)})
    frame.write_parquet(folder / "a.parquet")
    (folder / "b.parquet").write_bytes((folder / "a.parquet").read_bytes()[:-40])


def other_columns(folder: Any) -> None:
    (folder / "a.csv").write_text("x,y\n1,2\n")
    (folder / "b.csv").write_text("y,x\n1,2\n")


def other_types(folder: Any) -> None:
    pl.DataFrame({"x": [1]}).write_parquet(folder / "a.parquet")
    pl.DataFrame({"x": ["1"]}).write_parquet(folder / "b.parquet")


def two_kinds(folder: Any) -> None:
    pl.DataFrame({"x": [1]}).write_parquet(folder / "a.parquet")
    (folder / "b.csv").write_text("x\n1\n")


def empty_file(folder: Any) -> None:
    (folder / "a.csv").write_text("")


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (cut_csv, BadFile, "cut half-way"),
        (cut_parquet, BadFile, "not a whole Parquet file"),
        (other_columns, BadFile, "same columns"),
        (other_types, BadFile, "same columns"),
        (two_kinds, InvalidArgument, "several kinds"),
        (empty_file, BadFile, "columns"),
        (lambda folder: None, MissingData, "no CSV or Parquet"),
    ],
)
def test_files_that_are_cut_or_differ_are_refused_when_they_are_opened(
    make: Callable[..., Any], error: type[Exception], words: str, tmp_path: Path
) -> None:
    make(tmp_path)
    with pytest.raises(error, match=words):
        tables.read(tmp_path, person=EACH_ROW)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (lambda frame: tables.read("no/such/file.parquet", person=EACH_ROW), MissingData, "no such file"),
        (lambda frame: tables.read(frame, person="nobody"), InvalidArgument, "no column 'nobody'"),
        (lambda frame: tables.read(frame, person=None), InvalidArgument, "EACH_ROW"),
        (lambda frame: tables.read(frame, person="id", named="whole"), InvalidArgument, "people are named"),
        (lambda frame: tables.read(42, person=EACH_ROW), InvalidArgument, "cannot read a table"),
        (lambda frame: tables.read(frame, person=EACH_ROW)["y"], InvalidArgument, "the table has"),
        (lambda frame: tables.read(frame, person=EACH_ROW).limit(rows=2), InvalidArgument, "can only be 1"),
        (lambda frame: tables.read(frame, person="id").limit(rows=0), InvalidArgument, "at least 1"),
        (lambda frame: exact.count(tables.read(frame, person="id")), InvalidArgument, "limit"),
    ],
)
def test_errors_concern_schema_and_arguments(wrong: Callable[..., Any], error: type[Exception], words: str) -> None:
    frame = pl.DataFrame({"id": [1, 2], "x": [0.5, 1.5], "when": ["a", "b"]}).with_columns(
        pl.lit("2026-01-01").str.to_date().alias("when")
    )
    with pytest.raises(error, match=words):
        wrong(frame)


class Wordless:
    def __str__(self) -> str:
        raise RuntimeError


STRANGE = [1, 2.5, float("nan"), None, pd.NA, pd.NaT, b"bytes", [1, 2], np.array([1, 2]), "\ud800", 10**400, object()]
STRANGE += [10**5000, Wordless()]


@pytest.mark.parametrize("strange", STRANGE, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("ordinary", ["text", 7])
def test_rule_2_no_python_object_in_a_pandas_column_is_an_error(strange: Any, ordinary: Any) -> None:
    values = pd.Series([ordinary] * 200 + [strange], dtype=object)
    column = tables.read(pd.DataFrame({"x": values}), person=EACH_ROW)["x"].among([ordinary])
    assert exact.histogram(column)[0] == 200


def test_rule_2_categories_of_mixed_types_are_no_error() -> None:
    frame = pd.DataFrame({"x": pd.Categorical([1, "a", 1, None])})
    column = tables.read(frame, person=EACH_ROW)["x"].among(["1"])
    assert exact.histogram(column).tolist() == [2, 2]


def test_rule_2_what_the_engine_says_is_withheld() -> None:
    texts = ["1", "-".join(["sec", "ret"])]  # spelt so that no line of this file shows it in a traceback
    failing = pl.LazyFrame({"x": texts}).with_columns(pl.col("x").cast(pl.Int64))
    with pytest.raises(StorageError, match="withheld") as refused:
        exact.count(tables.read(failing, person=EACH_ROW)["x"].within(0, 1, grid=1))
    assert texts[1] not in "".join(traceback.format_exception(refused.value))


def test_bytes_that_are_no_text_are_read(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b"x\nParis\n\xff\xfe\n")
    column = tables.read(tmp_path / "people.csv", person=EACH_ROW)["x"].among(["Paris"])
    assert exact.histogram(column).tolist() == [1, 1]


def test_a_person_column_may_have_any_name() -> None:
    for name in ("rows", "person", "integer", "hash", "total"):
        table = tables.read(pl.DataFrame({name: [1, 1, 2], "x": [1.0, 2.0, 3.0]}), person=name).limit(rows=1)
        assert exact.count(table) == 2
        assert exact.histogram(table["x"].within(0, 3, grid=1)).sum() == 2


def test_a_missing_truth_value_is_other() -> None:
    frame = pl.DataFrame({"x": [True, False, None, None]})
    column = tables.read(frame, person=EACH_ROW)["x"].among(["true", "false"])
    assert exact.histogram(column).tolist() == [1, 1, 2]
