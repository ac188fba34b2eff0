"""Everything that can hold a table, each with a type of column: what the matrix of hostile records is made of.

A holder makes a table of an `id` and of columns that all hold the same cells. Where the library itself refuses to hold
a cell, `hold` raises whatever the library raises: no table with that record exists then.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import sqlalchemy as sa
from hostile import BYTES, DAYS, FLOATS, INTEGERS, OBJECTS, TEXTS, TIMES, ZONED

from bruit.tables.schema import File
from bruit.tables.schema import csv as csv_facts

FRIENDLY: dict[str, list[Any]] = {
    "texts": ["a", "1", "7", "oui", "31/12/2025", "12,5"],
    "integers": [0, 1, 7, 12, 1, 900],
    "floats": [0.5, 7.0, -3.0, 1.0, 0.0, 12.5],
    "booleans": [True, False, True, True, False, True],
    "days": [dt.date(2025, 1, 1), dt.date(2025, 7, 14), dt.date(2025, 12, 31)] * 2,
    "times": [dt.datetime(2025, 7, 14, 12), dt.datetime(2025, 3, 30, 2, 30), dt.datetime(2025, 1, 1)] * 2,
    "instants": [dt.datetime(2025, 7, 14, 12, tzinfo=dt.UTC), dt.datetime(2025, 1, 1, tzinfo=dt.UTC)] * 3,
    "decimals": [Decimal("7"), Decimal("1.5"), Decimal("0"), Decimal("12.5"), Decimal("7"), Decimal("1")],
    "bytes": [b"a", b"Lyon", b"7", b"1", b"", b"oui"],
    "lists": [[1], [2, 3], [], [1], [7], [1]],
    "objects": ["a", 7, 0.5, True, dt.date(2025, 7, 14), "12,5"],
}
"""Six cells of every kind, which no record may change."""

HOSTILE: dict[str, list[Any]] = {
    "texts": [*TEXTS, None],
    "integers": [*INTEGERS, 2**64 - 1, 2**70, None, 0.5, float("nan"), "x", True],
    "floats": [*FLOATS, None, "1e5", 2**63 - 1, True],
    "booleans": [None, True, 1, "True", 0.5, float("nan")],
    "days": [*DAYS, None, dt.datetime(2025, 7, 1, 8), "99/99/9999"],
    "times": [*TIMES, None, "year 10000"],
    "instants": [*ZONED, *(time.replace(tzinfo=dt.UTC) for time in TIMES), None],
    "decimals": [Decimal("NaN"), Decimal("1e30"), Decimal("-0"), Decimal("7.125"), None],
    "bytes": [*BYTES, None],
    "lists": [[None], [2**63 - 1], None, [1] * 1000],
    "objects": [*OBJECTS, *TEXTS],
}

COLUMNS = ("number", "category", "yesno", "date", "time", "found")


FRENCH = csv_facts(decimal=",", thousands=" ", missing=["", "NA"])


@dataclass(frozen=True)
class Table:
    """What is opened: a source, how its file is written, and the connection of a query."""

    source: Any
    facts: File = FRENCH
    connection: Any = None


@dataclass(frozen=True)
class Holder:
    """A library with one type of column; `kind` says which cells it is given."""

    library: str
    column_type: str
    kind: str
    make: Callable[[list[Any], list[Any], Path], Table]
    named: bool = False
    """Whether the id has the same type as the cells."""

    def __str__(self) -> str:
        return f"{self.library} {self.column_type}"

    def hold(self, ids: list[Any], cells: list[Any], folder: Path) -> Table:
        """The table of these rows, or the library's own refusal."""
        return self.make(ids, cells, folder)


def holders() -> Iterator[Holder]:
    """Every holder that needs no service."""
    yield from _csv_holders()
    yield from _polars_holders()
    yield from _pandas_holders()
    yield from _arrow_holders()
    yield from _duckdb_holders()
    yield from _sqlite_holders()
    yield Holder("excel", "mixed cells", "objects", _excel, named=True)


def _columns(ids: Any, cells: Any) -> dict[str, Any]:
    return {"id": ids, **dict.fromkeys(COLUMNS, cells)}


def _csv_holders() -> Iterator[Holder]:
    dialects = [
        (",", "utf-8", csv.QUOTE_MINIMAL, "\n"),
        (";", "windows-1252", csv.QUOTE_MINIMAL, "\r\n"),
        ("\t", "utf-16", csv.QUOTE_MINIMAL, "\r\n"),
        ("|", "latin-1", csv.QUOTE_ALL, "\n"),
        (",", "utf-8", csv.QUOTE_NONE, "\n"),
    ]
    for separator, encoding, quoting, end in dialects:
        style = {csv.QUOTE_MINIMAL: "quoted where needed", csv.QUOTE_ALL: "all quoted", csv.QUOTE_NONE: "raw"}[quoting]
        facts = csv_facts(
            separator=separator, encoding=encoding, decimal=",", thousands=" ", missing=["", "NA"], complete=True
        )
        make = _csv_writer(facts, quoting, end)
        yield Holder("csv", f"{separator!r} {encoding} {style}", "texts", make, named=True)
    yield Holder("csv", "bytes", "bytes", _csv_of_bytes, named=False)


def _csv_writer(facts: File, quoting: Any, end: str) -> Callable[[list[Any], list[Any], Path], Table]:
    codec = {"windows-1252": "cp1252", "utf-16": "utf-16-le"}.get(facts.encoding, facts.encoding)

    def make(ids: list[Any], cells: list[Any], folder: Path) -> Table:
        rows = [("id", *COLUMNS), *((who, *[cell] * len(COLUMNS)) for who, cell in zip(ids, cells, strict=True))]
        if quoting == csv.QUOTE_NONE:
            lines = [facts.separator.join("" if cell is None else str(cell) for cell in row) + end for row in rows]
        else:
            text = io.StringIO()
            csv.writer(text, delimiter=facts.separator, quoting=quoting, lineterminator=end).writerows(rows)
            lines = [text.getvalue()]
        path = folder / "table.csv"
        path.write_bytes("".join(lines).encode(codec, "replace"))
        return Table(path, facts)

    return make


def _csv_of_bytes(ids: list[Any], cells: list[Any], folder: Path) -> Table:
    path = folder / "table.csv"
    head = ",".join(("id", *COLUMNS)).encode()
    rows = [b",".join((str(who).encode(), *[cell or b""] * len(COLUMNS))) for who, cell in zip(ids, cells, strict=True)]
    path.write_bytes(b"\n".join((head, *rows, b"")))
    return Table(path, csv_facts())


POLARS: dict[str, tuple[Any, str]] = {
    "String": (pl.String, "texts"),
    "Categorical": (pl.Categorical(), "texts"),
    "Int64": (pl.Int64, "integers"),
    "Int128": (pl.Int128, "integers"),
    "UInt64": (pl.UInt64, "integers"),
    "Float64": (pl.Float64, "floats"),
    "Float32": (pl.Float32, "floats"),
    "Boolean": (pl.Boolean, "booleans"),
    "Date": (pl.Date, "days"),
    "Datetime[us]": (pl.Datetime("us"), "times"),
    "Datetime[ms]": (pl.Datetime("ms"), "times"),
    "Datetime[ns]": (pl.Datetime("ns"), "times"),
    "Datetime[UTC]": (pl.Datetime("us", "UTC"), "instants"),
    "Decimal": (pl.Decimal(38, 6), "decimals"),
    "Binary": (pl.Binary, "bytes"),
    "List": (pl.List(pl.Int64), "lists"),
    "Object": (pl.Object, "objects"),
    "inferred": (None, "objects"),
    "inferred integers": (None, "integers"),
    "inferred floats": (None, "floats"),
    "inferred texts": (None, "texts"),
    "Null": (pl.Null, "nulls"),
}
FRIENDLY["nulls"], HOSTILE["nulls"] = [None] * 6, [None]


def _polars_holders() -> Iterator[Holder]:
    for name, (kind, cells) in POLARS.items():
        named = name in ("String", "Categorical", "Int64", "Object")
        yield Holder("polars", name, cells, _polars_maker(kind, named=named, parquet=False), named=named)
        if name not in ("Object", "Null") and "inferred" not in name:
            yield Holder("parquet", name, cells, _polars_maker(kind, named=named, parquet=True), named=named)


def _polars_maker(kind: Any, *, named: bool, parquet: bool) -> Callable[[list[Any], list[Any], Path], Table]:
    def make(ids: list[Any], cells: list[Any], folder: Path) -> Table:
        series = pl.Series(cells, dtype=kind, strict=kind is not None)
        if sum(each is None for each in series.to_list()) > sum(each is None for each in cells):
            raise TypeError("polars itself lost a cell when it chose the type")
        frame = pl.DataFrame(_columns(pl.Series(ids, dtype=kind) if named else ids, series))
        if not parquet:
            return Table(frame)
        frame.write_parquet(folder / "table.parquet")
        return Table(folder / "table.parquet", File(kind="parquet", decimal=",", thousands=" ", missing=("", "NA")))

    return make


PANDAS = {
    "inferred": (None, "objects"),
    "inferred texts": (None, "texts"),
    "inferred integers": (None, "integers"),
    "inferred floats": (None, "floats"),
    "inferred booleans": (None, "booleans"),
    "inferred days": (None, "days"),
    "inferred times": (None, "times"),
    "object": (object, "objects"),
    "Int64": ("Int64", "integers"),
    "Float64": ("Float64", "floats"),
    "boolean": ("boolean", "booleans"),
    "string": ("string", "texts"),
    "string[python]": ("string[python]", "texts"),
    "category of texts": ("category", "texts"),
    "category of integers": ("category", "integers"),
    "category of objects": ("category", "objects"),
    "datetime64[ns]": ("datetime64[ns]", "times"),
    "datetime64[us, UTC]": ("datetime64[us, UTC]", "instants"),
    "int64[pyarrow]": ("int64[pyarrow]", "integers"),
    "string[pyarrow]": ("string[pyarrow]", "texts"),
    "double[pyarrow]": ("double[pyarrow]", "floats"),
    "period[D]": ("period[D]", "days"),
    "timedelta64[ns]": ("timedelta64[ns]", "integers"),
    "Sparse[float]": ("Sparse[float]", "floats"),
    "complex": (complex, "floats"),
}


def _pandas_holders() -> Iterator[Holder]:
    for name, (kind, cells) in PANDAS.items():
        named = name in ("inferred texts", "inferred integers", "object", "Int64", "string", "category of texts")

        def make(ids: list[Any], cells: list[Any], _folder: Path, kind: Any = kind, named: bool = named) -> Table:
            column = pd.Series(cells, dtype=kind)
            return Table(pd.DataFrame(_columns(pd.Series(ids, dtype=kind) if named else ids, column)))

        yield Holder("pandas", name, cells, make, named=named)


ARROW = {
    "string": (pa.string(), "texts"),
    "large_string": (pa.large_string(), "texts"),
    "string_view": (pa.string_view(), "texts"),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), "texts"),
    "binary": (pa.binary(), "bytes"),
    "int64": (pa.int64(), "integers"),
    "uint64": (pa.uint64(), "integers"),
    "float64": (pa.float64(), "floats"),
    "float16": (pa.float16(), "floats"),
    "bool": (pa.bool_(), "booleans"),
    "date32": (pa.date32(), "days"),
    "timestamp[s]": (pa.timestamp("s"), "times"),
    "timestamp[us, Tokyo]": (pa.timestamp("us", "Asia/Tokyo"), "instants"),
    "decimal128": (pa.decimal128(38, 6), "decimals"),
    "list": (pa.list_(pa.int64()), "lists"),
    "duration": (pa.duration("s"), "integers"),
}


def _arrow_holders() -> Iterator[Holder]:
    for name, (kind, cells) in ARROW.items():
        named = name in ("string", "dictionary", "int64")

        def make(ids: list[Any], cells: list[Any], _folder: Path, kind: Any = kind, named: bool = named) -> Table:
            column = pa.array(cells, type=kind)
            return Table(pa.table(_columns(pa.array(ids, type=kind) if named else pa.array(ids), column)))

        yield Holder("arrow", name, cells, make, named=named)


DUCKDB = {
    "VARCHAR": "texts",
    "BIGINT": "integers",
    "HUGEINT": "integers",
    "DOUBLE": "floats",
    "FLOAT": "floats",
    "BOOLEAN": "booleans",
    "DATE": "days",
    "TIMESTAMP": "times",
    "TIMESTAMPTZ": "instants",
    "DECIMAL(38, 6)": "decimals",
    "BLOB": "bytes",
    "BIGINT[]": "lists",
}


def _duckdb_holders() -> Iterator[Holder]:
    connection = duckdb.connect()  # one for all: a new one takes longer than a question
    for name, cells in DUCKDB.items():
        named = name in ("VARCHAR", "BIGINT")

        def make(ids: list[Any], cells: list[Any], _folder: Path, kind: str = name, named: bool = named) -> Table:
            place = kind if named else "BIGINT"
            columns = ", ".join([f"id {place}", *(f'"{column}" {kind}' for column in COLUMNS)])
            connection.execute(f"CREATE OR REPLACE TABLE held ({columns})")
            marks = ", ".join("?" * (len(COLUMNS) + 1))
            rows = [(who, *[cell] * len(COLUMNS)) for who, cell in zip(ids, cells, strict=True)]
            connection.executemany(f"INSERT INTO held VALUES ({marks})", rows)
            return Table(connection.table("held"))

        yield Holder("duckdb", name, cells, make, named=named)


SQLITE = {
    "Text": (sa.Text(), "objects"),
    "Integer": (sa.Integer(), "integers"),
    "Numeric": (sa.Numeric(), "floats"),
    "Enum": (sa.Enum("a", "b"), "texts"),
    "DateTime": (sa.DateTime(), "texts"),
    "Date": (sa.Date(), "texts"),
    "JSON": (sa.JSON(), "texts"),
    "Boolean": (sa.Boolean(), "integers"),
    "LargeBinary": (sa.LargeBinary(), "bytes"),
}


def _sqlite_holders() -> Iterator[Holder]:
    for name, (kind, cells) in SQLITE.items():

        def make(ids: list[Any], cells: list[Any], folder: Path, kind: Any = kind) -> Table:
            """Rows go in through the driver, as another program would write them: SQLite holds any cell anywhere."""
            path = folder / "table.db"
            path.unlink(missing_ok=True)
            engine = sa.create_engine(f"sqlite:///{path}")
            held = sa.Table("held", sa.MetaData(), *(sa.Column(each, kind) for each in ("id", *COLUMNS)))
            with sqlite3.connect(path) as connection:
                connection.execute(str(sa.schema.CreateTable(held).compile(engine)))
                marks = ", ".join("?" * (len(COLUMNS) + 1))
                rows = [(who, *[cell] * len(COLUMNS)) for who, cell in zip(ids, cells, strict=True)]
                connection.executemany(f"INSERT INTO held VALUES ({marks})", rows)
            connection.close()
            return Table(sa.select(held), connection=engine)

        yield Holder("sqlite", name, cells, make, named=True)


def _excel(ids: list[Any], cells: list[Any], folder: Path) -> Table:
    import xlsxwriter

    path = folder / "table.xlsx"
    book = xlsxwriter.Workbook(str(path), {"strings_to_formulas": False, "strings_to_urls": False})
    try:
        sheet, day = book.add_worksheet("Held"), book.add_format({"num_format": "dd/mm/yyyy"})
        sheet.write_row(0, 0, ("id", *COLUMNS))
        for row, (who, cell) in enumerate(zip(ids, cells, strict=True), 1):
            for place, value in enumerate((who, *[cell] * len(COLUMNS))):
                sheet.write(row, place, value, *([day] if isinstance(value, dt.date) else []))
    finally:
        book.close()
    return Table(path, File(kind="excel", sheet="Held", decimal=",", thousands=" ", missing=("", "NA")))
