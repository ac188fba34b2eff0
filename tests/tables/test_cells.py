"""Each cell is read by a total function of that cell and the schema: alike in Python and inside each engine."""

import datetime as dt
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sqlalchemy
from hostile import DAYS, FLOATS, INTEGERS, OBJECTS, TEXTS, TIMES

from bruit.errors import BadFile, BruitError, InvalidArgument
from bruit.privacy import EACH_ROW
from bruit.tables.cells.single import read_cell
from bruit.tables.cells.texts import Reading
from bruit.tables.relations.operations import Scan
from bruit.tables.relations.running import run
from bruit.tables.schema import Schema, category, csv, date, found, long, number, text, time, whole, yesno
from bruit.tables.schema.files import File
from bruit.tables.sources.opening import Source, open_source

COLUMNS: dict[str, Any] = {
    "number": number(-10, 1000, grid="0.25", strip=["€"]),
    "filled": number(0, 20, grid=1, missing=4),
    "category": category(["a", "é", "1", "7", "true", "Lyon", "'"]),
    "dropped": category(["a", "Lyon"], others="drop"),
    "yesno": yesno(yes=["oui", "1", "true"], no=["non", "0"]),
    "date": date(format="dd/mm/yyyy", first="2025-01-01", last="2025-12-31"),
    "serial": date(format="excel", first="2025-01-01", last="2025-12-31"),
    "nearest": date(first="2025-01-01", last="2025-12-31", outside="nearest"),
    "time": time(format="dd/mm/yyyy HH:MM", first="2025-01-01", last="2025-12-31", zone="Europe/Paris", outside="drop"),
    "whole": whole(),
    "long": long(),
    "text": text(),
    "found": found(longest=3),
}
NAMES = [name for name in COLUMNS if name != "long"]
FRENCH = csv(decimal=",", thousands=" ", missing=["", "NA"])


def schema(names: list[str], facts: File = FRENCH) -> Schema:
    return Schema(EACH_ROW, {name: COLUMNS[name] for name in names}, file=facts)


def read_all(source: Source, stated: Schema) -> dict[str, list[Any]]:
    (frame,) = run([Scan(source, stated, tuple(stated.columns), person=False)])
    return frame.to_dict(as_series=False)


def expected(
    values: list[Any], names: list[str], facts: File = FRENCH, *, machine: bool = False
) -> dict[str, list[Any]]:
    reading = Reading(facts, machine)
    return {name: [read_cell(value, COLUMNS[name], reading) for value in values] for name in names}


def repeated(values: Any, names: list[str]) -> dict[str, Any]:
    return dict.fromkeys(names, values)


TYPED = {
    "texts": pl.Series(TEXTS, dtype=pl.String),
    "texts and none": pl.Series([*TEXTS, None], dtype=pl.String),
    "categorical": pl.Series(TEXTS, dtype=pl.Categorical()),
    "integers": pl.Series([*INTEGERS, None], dtype=pl.Int64),
    "narrow": pl.Series([0, 1, 7, 100, None], dtype=pl.Int8),
    "unsigned": pl.Series([0, 1, 7, 2**64 - 1, None], dtype=pl.UInt64),
    "floats": pl.Series([*FLOATS, None], dtype=pl.Float64),
    "booleans": pl.Series([True, False, None]),
    "dates": pl.Series([*DAYS, None]),
    "times": pl.Series([*TIMES, None], dtype=pl.Datetime("us")),
    "milliseconds": pl.Series([*TIMES, None], dtype=pl.Datetime("ms")),
    "instants": pl.Series([*(time.replace(tzinfo=dt.UTC) for time in TIMES), None], dtype=pl.Datetime("us", "UTC")),
}


@pytest.mark.parametrize("engine", ["polars", "arrow", "duckdb"])
@pytest.mark.parametrize("kind", TYPED)
def test_an_engine_reads_each_cell_as_python_does(kind: str, engine: str) -> None:
    if (engine, kind) in {("duckdb", "milliseconds"), ("duckdb", "categorical")}:
        pytest.skip("DuckDB receives it as another type")
    values = TYPED[kind].to_list()
    frame = pl.DataFrame(dict.fromkeys(COLUMNS, TYPED[kind]))
    stated = schema(list(COLUMNS))
    source: Any = {"polars": frame, "arrow": frame.to_arrow()}.get(engine)
    if engine == "duckdb":
        source = duckdb.connect().from_arrow(frame.to_arrow())
    assert read_all(open_source(source, stated), stated) == expected(values, list(COLUMNS))


def test_types_that_cannot_be_read_are_missing_everywhere() -> None:
    frame = pl.DataFrame(
        {"a": [[1]], "b": [{"x": 1}], "c": [b"\xff"], "d": [dt.timedelta(1)], "e": [dt.time(3)], "f": [None]}
    )
    for name in frame.columns:
        column = pl.DataFrame(dict.fromkeys(COLUMNS, frame[name]))
        read = read_all(open_source(column, schema(list(COLUMNS))), schema(list(COLUMNS)))
        assert read == expected([None], list(COLUMNS)), name


NULLABLE: dict[str, Any] = {
    "Int64": [0, 7, 2**53 - 1, 2**60, None],
    "UInt8": [0, 7, 255, None],
    "Float64": [0.5, 7.0, float("inf"), None],
    "boolean": [True, False, None],
    "string": [*TEXTS, None],
    "int64[pyarrow]": [0, 7, 2**60, None],
    "bool[pyarrow]": [True, None],
    "category": ["a", "Lyon", "zzzz", None],
    "datetime64[ns]": [dt.datetime(2025, 7, 1, 8, 30), None],
    "datetime64[us, UTC]": [dt.datetime(2025, 7, 1, 8, 30, tzinfo=dt.UTC), None],
}


@pytest.mark.parametrize("kind", NULLABLE)
def test_typed_columns_of_pandas_keep_digits_and_missing_values(kind: str) -> None:
    frame = pd.DataFrame({name: pd.Series(NULLABLE[kind], dtype=kind) for name in NAMES})
    assert read_all(open_source(frame, schema(NAMES)), schema(NAMES)) == expected(NULLABLE[kind], NAMES)


PLAIN = {
    "integers": [0, 1, 7, 2**53 - 1, 2**53 + 1],
    "booleans": [True, False, True],
    "floats": [0.5, 7.0, -3.0, 1e300],
    "texts": ["a", "1", "7", "oui", "31/12/2025", "12,5"],
    "timestamps": [pd.Timestamp("2025-07-01 08:30"), pd.Timestamp("2025-12-31")],
    "dates": [dt.date(2025, 7, 1), dt.date(2024, 1, 1)],
}


@pytest.mark.parametrize("kind", PLAIN)
def test_no_record_changes_how_pandas_reads_the_others(kind: str) -> None:
    """pandas chooses the type of a column by all of its records: every one of a hostile list, beside every kind."""
    values = PLAIN[kind]
    alone = read_all(open_source(pd.DataFrame(repeated(values, NAMES)), schema(NAMES)), schema(NAMES))
    for extra in [*OBJECTS, *TEXTS[:60]]:
        if (
            kind == "integers"
            and isinstance(extra, (int, float))
            and not isinstance(extra, bool)
            and abs(extra) >= 2**63
        ):
            continue  # pandas itself then rounds every number of the column, or refuses the list
        lone = isinstance(extra, str) and not extra.isprintable() and not extra.isascii()  # pandas itself refuses it
        column = pd.Series([*values, extra], dtype=object if lone else None)  # type: ignore[misc]
        frame = pd.DataFrame(dict.fromkeys(NAMES, column))
        read = read_all(open_source(frame, schema(NAMES)), schema(NAMES))
        assert {name: cells[: len(values)] for name, cells in read.items()} == alone, repr(type(extra))


def test_long_numbers_are_refused_where_a_missing_value_could_round_them() -> None:
    for frame in (pd.DataFrame({"long": [1, 2]}), pd.DataFrame({"long": ["x", None]}, dtype=object)):
        with pytest.raises(InvalidArgument, match="is declared long, but NumPy's columns of pandas lose digits"):
            open_source(frame, schema(["long"]))
    nullable = pd.DataFrame({"long": pd.Series([2**62 + 1, None], dtype="Int64")})
    assert read_all(open_source(nullable, schema(["long"])), schema(["long"])) == {"long": [2**62 + 1, None]}


ENCODINGS = ["utf-8", "utf-16", "latin-1", "windows-1252"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_csv_file_of_any_separator_and_encoding_gives_its_texts(encoding: str, tmp_path: Path) -> None:
    codec = {"windows-1252": "cp1252"}.get(encoding, encoding)
    texts = [
        value
        for value in TEXTS
        if "\n" not in value and value != '"' and value.encode(codec, "replace").decode(codec) == value
    ]
    lines = [";".join(["x"] * 2), *(f"{value};{value}" for value in texts)]
    names = ["number", "text"]
    facts = csv(separator=";", encoding=encoding, decimal=",", thousands=" ", missing=["", "NA"], complete=True)
    path = tmp_path / "table.csv"
    lines[0] = ";".join(names)
    path.write_bytes("\r\n".join(lines).encode(codec))
    assert read_all(open_source(path, schema(names, facts)), schema(names, facts)) == expected(texts, names, facts)


SIGNS = {" ": " \u00a0\u202f", ".": ".", ",": ",", "'": "'\u2019", "?": "?"}


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("sign", SIGNS)
def test_thousands_are_read_in_each_way_in_which_their_sign_is_written(sign: str, engine: str) -> None:
    """A question mark is what Excel on Windows writes for the narrow blank of French numbers in windows-1252."""
    decimal = "." if sign == "," else ","
    facts, names = csv(decimal=decimal, thousands=sign), ["number"]
    texts = [f"{digits}{decimal}5 €" for way in SIGNS[sign] for digits in (f"-1{way}000", f"0{way}250", f"{way}12")]
    frame = pl.DataFrame({"number": [*texts, "12 x 500", "1_250"]})
    source: Any = frame if engine == "polars" else duckdb.connect().from_arrow(frame.to_arrow())
    read = read_all(open_source(source, schema(names, facts)), schema(names, facts))
    assert read == expected(frame["number"].to_list(), names, facts)
    lost = 50 if sign == " " else None  # a blank before the digits is no sign between them
    assert read["number"] == [*([-40, 1002, lost] * len(SIGNS[sign])), None, None]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_blanks_that_are_not_to_be_broken_are_taken_off_the_ends_of_every_text(engine: str) -> None:
    """French puts one before the sign of a currency, and pages copied into Excel leave them after names."""
    names = [name for name in NAMES if name not in ("serial", "long")]
    plain = ["250,5", "12,5 €", "1 250 €", "Lyon", "é", "oui", "NA", "", "03/02/2025", "03/02/2025 07:15", "42"]
    frames = [
        pl.DataFrame({name: [way + text.replace(" €", way + "€") + way for text in plain] for name in names})
        for way in (" ", "\u00a0", "\u202f")
    ]
    stated = schema(names)
    sources: list[Any] = frames if engine == "polars" else [duckdb.connect().from_arrow(f.to_arrow()) for f in frames]
    reads = [read_all(open_source(source, stated), stated) for source in sources]
    for frame, read in zip(frames, reads, strict=True):
        assert read == {name: expected(frame[name].to_list(), [name])[name] for name in names}
        assert {**read, "text": 0, "found": 0} == {**reads[0], "text": 0, "found": 0}  # which keep those inside
    assert reads[1]["number"][:3] == [1002, 50, 4000]


def test_a_file_that_does_not_end_is_whole_only_where_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("number,text\n1,a\n2,b")
    names = ["number", "text"]
    with pytest.raises(BadFile, match="complete = true"):
        open_source(path, schema(names, csv()))
    whole_file = schema(names, csv(complete=True))
    assert read_all(open_source(path, whole_file), whole_file)["text"] == ["a", "b"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_titles_above_the_names_of_columns_are_no_rows(encoding: str, tmp_path: Path) -> None:
    path, names = tmp_path / "table.csv", ["number", "text"]
    codec = {"windows-1252": "cp1252"}.get(encoding, encoding)
    path.write_bytes('Export "été"\n;;\nnumber;text;\n1;a;\n2;b;\n'.encode(codec))
    stated = schema(names, csv(separator=";", encoding=encoding, header=3))
    assert read_all(open_source(path, stated), stated)["text"] == ["a", "b"]
    for header, refused in ((1, "line 1 must name"), (9, "line 9 of the file must name the columns")):
        with pytest.raises(BruitError, match=refused):
            open_source(path, schema(names, csv(separator=";", encoding=encoding, header=header)))


def test_a_declared_column_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("number,text,text\n1,a,b\n")
    with pytest.raises(InvalidArgument, match="several columns are called 'text'"):
        open_source(path, schema(["number", "text"], csv()))
    stated = schema(["number"], csv())
    assert len(read_all(open_source(path, stated), stated)["number"]) == 1


def test_a_bad_line_hides_no_other_in_any_encoding(tmp_path: Path) -> None:
    path, names = tmp_path / "table.csv", ["text"]
    good = [f"p{i}" for i in range(50)]
    for encoding, bad in (
        ("utf-8", b'"open'),
        ("windows-1252", b"\x81\x9d"),
        ("utf-16", "\ud800".encode("utf-16-le", "surrogatepass")),
    ):
        codec = {"windows-1252": "cp1252", "utf-16": "utf-16-le"}.get(encoding, encoding)
        lines = ["text", *good[:20]]
        data = (
            "\n".join(lines).encode(codec)
            + "\n".encode(codec)
            + bad
            + "\n".encode(codec)
            + "\n".join([*good[20:], ""]).encode(codec)
        )
        path.write_bytes(data)
        facts = csv(encoding=encoding)
        read = read_all(open_source(path, schema(names, facts)), schema(names, facts))["text"]
        assert [cell for cell in read if cell in good] == good, encoding


def test_an_excel_sheet_is_read_as_text_whatever_its_cells_are(tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    path = tmp_path / "stays.xlsx"
    book = xlsxwriter.Workbook(str(path), {"strings_to_formulas": False})
    sheet, day = book.add_worksheet("Stays"), book.add_format({"num_format": "dd/mm/yyyy"})
    cells = [12.5, "12,5", "3 014,38 €", 7, "7", True, dt.datetime(2025, 7, 1), "01/07/2025", "x", "NA"]
    sheet.write_row(2, 0, NAMES)
    for row, cell in enumerate(cells, 3):
        for column in range(len(NAMES)):
            (
                sheet.write_datetime(row, column, cell, day)
                if isinstance(cell, dt.datetime)
                else sheet.write(row, column, cell)
            )
    book.close()
    facts = File(kind="excel", sheet="Stays", header=3, decimal=",", thousands=" ", missing=("", "NA"))
    texts = ["12.5", "12,5", "3 014,38 €", "7", "7", "true", "2025-07-01 00:00:00", "01/07/2025", "x", "NA"]
    stated = schema(NAMES, facts)
    read = read_all(open_source(path, stated), stated)
    assert read == expected(texts, NAMES, facts, machine=True)
    assert read["number"][:5] == [50, 50, 4000, 28, 28]
    assert read["date"][6:8] == [(dt.date(2025, 7, 1) - dt.date(1970, 1, 1)).days] * 2
    with pytest.raises(InvalidArgument, match="15 digits"):
        open_source(path, schema(["long"], facts))


def test_a_sheet_that_fills_the_memory_is_refused_and_ends_no_process(tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    path = tmp_path / "far.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "number")
        sheet.write(2**20 - 1, 2**14 - 1, 1)
    with pytest.raises(BadFile, match="too large to be opened"):
        open_source(path, schema(["number"], File(kind="excel")))


def test_a_sheet_that_is_read_without_end_is_given_up() -> None:
    pytest.importorskip("resource")
    program = (
        "from bruit.tables.sources import excel_names as reader; reader.MOST_SECONDS = 1; reader.limit_resources()\n"
        "while True: pass"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode < 0


def test_a_database_casts_each_cell_to_text_and_no_type_of_it_can_fail(tmp_path: Path) -> None:
    path = tmp_path / "table.db"
    with sqlite3.connect(path) as connection:
        kinds = ["integer", "datetime", "text", "json", "boolean"] * 3
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(NAMES, kinds, strict=False))
        connection.execute(f"create table t ({columns})")
        cells = [cell for cell in TEXTS if "\x00" not in cell] + [7, 2**60, 0.5, None]
        places = ", ".join("?" * len(NAMES))
        connection.executemany(f"insert into t values ({places})", [[cell] * len(NAMES) for cell in cells])
        connection.execute(f"insert into t values ({', '.join(['cast(x' + repr('ff41') + ' as text)'] * len(NAMES))})")
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    stated = schema(NAMES)
    names = sqlalchemy.MetaData()
    table = sqlalchemy.Table("t", names, *(sqlalchemy.Column(name, sqlalchemy.Enum("a", "b")) for name in NAMES))
    for query in (
        "select * from t",
        sqlalchemy.text("select * from t where 1 = :one").bindparams(one=1),
        sqlalchemy.select(table),
    ):
        read = read_all(open_source(query, stated, connection=engine), stated)
        assert len(read["text"]) == len(cells) + 1
        assert read["text"][len(cells) - 4 :] == ["7", str(2**60), "0.5", None, "\ufffdA"]
        assert read["number"][cells.index("12,5")] == 50
        assert read["date"][cells.index("2025-07-01")] == (dt.date(2025, 7, 1) - dt.date(1970, 1, 1)).days
    with pytest.raises(InvalidArgument, match="does not answer this query"):
        open_source("select nothing from nowhere", stated, connection=engine)


def test_a_column_that_the_schema_names_must_be_there() -> None:
    with pytest.raises(InvalidArgument, match="no column 'text', which the schema declares"):
        open_source(pl.DataFrame({"number": [1]}), schema(["number", "text"]))
    with pytest.raises(InvalidArgument, match="cannot read a table from list"):
        open_source([1, 2], schema(["number"]))


def test_arrow_dictionaries_are_read_through_their_texts() -> None:
    table = pa.table({"category": pa.array(["a", "b", None, "Lyon"]).dictionary_encode()})
    assert read_all(open_source(table, schema(["category"])), schema(["category"])) == expected(
        ["a", "b", None, "Lyon"], ["category"]
    )
