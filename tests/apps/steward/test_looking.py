"""Exact figures for the curator: every cell is counted once, by the reading that the engines have."""

from datetime import date
from pathlib import Path
from typing import Any

import pandas
import polars as pl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from bruit.apps.steward.looking import judge, look_at
from bruit.apps.steward.schemas import draft_schema, read_names, read_schema
from bruit.errors import BadFile, InvalidArgument, MissingData
from bruit.tables import open_table
from bruit.tables.cells.single import read_cell
from bruit.tables.cells.texts import Reading
from bruit.tables.schema import Schema, category, csv, number, text, yesno
from bruit.tables.schema import date as day

COLUMNS = {
    "n": number(0, 10, grid=1),
    "d": day(format="dd/mm/yyyy", first="2025-01-01", last="2025-12-31", outside="drop"),
    "c": category(["a", "b"], others="drop"),
    "y": yesno(yes=["oui"], no=["non"]),
}
READING = Reading(csv(missing=["", "NA"]))


@pytest.mark.parametrize(
    ("column", "cell", "verdict"),
    [
        ("n", "3", "declared"), ("n", " 3.0 ", "declared"), ("n", "11", "outside"), ("n", "-1", "outside"),
        ("n", "x", "unreadable"), ("n", "", "missing"), ("n", "NA", "missing"), ("n", None, "missing"),
        ("n", 4, "declared"), ("n", float("nan"), "missing"), ("n", 1e30, "outside"),
        ("d", "31/01/2025", "declared"), ("d", "31/02/2025", "unreadable"), ("d", "31/01/2024", "outside"),
        ("d", date(2025, 3, 1), "declared"), ("c", "a", "declared"), ("c", "z", "outside"), ("c", "NA", "missing"),
        ("y", "oui", "declared"), ("y", "peut-être", "outside"), ("y", True, "declared"),
    ],
)  # fmt: skip
def test_a_cell_is_declared_missing_unreadable_or_outside(column: Any, cell: Any, verdict: Any) -> None:
    assert judge(cell, COLUMNS[column], READING) == verdict


@given(st.sampled_from(sorted(COLUMNS)), st.text(max_size=12) | st.integers(-30, 30).map(str) | st.dates().map(str))
def test_a_cell_counts_as_declared_only_if_it_is_read(name: Any, cell: Any) -> None:
    read = read_cell(cell, COLUMNS[name], READING)
    verdict = judge(cell, COLUMNS[name], READING)
    if verdict == "declared":
        assert read is not None
    elif name != "n":  # a number outside is moved to its bound
        assert read is None


def test_every_cell_of_a_table_is_counted_once(tmp_path: Path) -> None:
    lines = ["id,n,c", "1,3,a", "1,99,z", ",NA,b", 'x"y,1,a', "2,x,a", "2,5"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    columns = {"id": text(), "n": COLUMNS["n"], "c": COLUMNS["c"]}
    plan = open_table(tmp_path / "t.csv", Schema("id", columns, file=csv(missing=["", "NA"])))
    look = look_at(plan, tmp_path / "t.csv", values=True)
    assert (look.rows, look.lost_lines, look.people) == (4, 2, 2)
    assert look.rows_per_person["100%"] == 2
    found = {each.name: (each.declared, each.missing, each.unreadable, each.outside) for each in look.columns}
    assert found == {"id": (3, 1, 0, 0), "n": (1, 1, 1, 1), "c": (3, 0, 0, 1)}
    odd = {each.name: each.odd for each in look.columns}
    assert set(odd["n"]) == {("99", 1), ("x", 1)}
    assert odd["id"] == ()
    assert "CURATOR ONLY" in look.to_json()["notice"]


def test_typed_tables_are_looked_at_too(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["a", "b"], "n": [3, 30]}).write_parquet(tmp_path / "t.parquet")
    schema = Schema.from_json({"person": "id", "file": {"kind": "parquet"}, "columns": {
        "id": {"type": "text"}, "n": {"type": "number", "low": 0, "high": 10, "grid": 1}}})  # fmt: skip
    look = look_at(open_table(tmp_path / "t.parquet", schema))
    assert [each.outside for each in look.columns] == [0, 1]
    with pytest.raises(InvalidArgument, match="pandas"):
        look_at(open_table(pandas.DataFrame({"id": ["a"], "n": [None]}, dtype=object), schema))


def test_a_draft_holds_names_and_stated_types_and_is_refused_until_it_is_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "séjours.csv"
    path.write_bytes("nom;âge\r\nZoé;31".encode("windows-1252"))
    draft = tmp_path / "draft.toml"
    draft.write_text(draft_schema(read_names(path), "stays"), encoding="utf-8")
    assert "Zoé" not in draft.read_text(encoding="utf-8")
    with pytest.raises(InvalidArgument, match=r"draft\.toml: column 'nom': its type is not filled in; choose among"):
        read_schema(draft)
    filled = draft.read_text(encoding="utf-8")
    filled = filled.replace('"nom"]\ntype = ""', '"nom"]\ntype = "text"').replace('person = ""', 'person = "nom"')
    filled = filled.replace('"âge"]\ntype = ""', '"âge"]\ntype = "number"\nlow = 0\nhigh = 120\ngrid = 1')
    with pytest.raises(InvalidArgument, match="complete='' must be true or false"):
        Schema.from_toml(filled)
    draft.write_text(filled.replace('complete = ""', "complete = true"), encoding="utf-8")
    assert open_table(path, read_schema(draft)).person == "nom"


def test_a_draft_begins_at_the_stated_header_and_leaves_columns_without_a_name_out(tmp_path: Path) -> None:
    path, book = tmp_path / "export.csv", tmp_path / "export.xlsx"
    path.write_bytes("Séjours 2025;;;\r\nnom;âge;;\r\nZoé;31;;\r\n".encode("windows-1252"))
    head = read_names(path, header=2)
    assert (list(head.columns), head.file.encoding, head.file.header) == (["nom", "âge"], "windows-1252", 2)
    columns: dict[str, Any] = {"nom": text(), "âge": number(0, 120, grid=1)}
    looked = look_at(open_table(path, Schema("nom", columns, file=head.file)), path)
    assert (looked.rows, looked.lost_lines) == (1, 0)
    with xlsxwriter.Workbook(str(book)) as sheets:
        sheets.add_worksheet("Paramètres").hide()
        sheet = sheets.add_worksheet("Séjours")
        sheet.merge_range(0, 0, 0, 2, "Séjours 2025")
        sheet.write_row(1, 0, ["nom", "âge"])
        sheet.write_row(2, 0, ["Zoé", 31, None])
    assert list(read_names(book, sheet="Séjours", header=2).columns) == ["nom", "âge"]
    with pytest.raises(BadFile, match="the sheets are Paramètres, Séjours"):
        read_names(book, sheet="Sejours")
    book.write_bytes(b"PK")
    with pytest.raises(BadFile, match="no whole Excel file"):
        read_names(book)


def test_a_draft_of_parquet_states_its_types_and_reads_no_row(tmp_path: Path) -> None:
    pl.DataFrame({"n": [7], "d": [date(2025, 1, 1)], "b": [True], "t": ["Secret"]}).write_parquet(
        tmp_path / "t.parquet"
    )
    text = draft_schema(read_names(tmp_path / "t.parquet"), "t")
    assert "Secret" not in text
    assert 'type = "number"\nlow = ""' in text
    assert 'type = "date"\nfirst = ""' in text


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [("a.toml", b"person = 3 = 4", BadFile), ("a.json", b"{", BadFile), ("a.toml", b"\xff\xfe", BadFile)],
)
def test_a_schema_that_is_none_names_its_file(tmp_path: Path, name: Any, content: Any, error: Any) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=name):
        read_schema(tmp_path / name)
    with pytest.raises(MissingData, match="bruit schema"):
        read_schema(tmp_path / "gone.toml")
