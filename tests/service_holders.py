"""Holders of `holders.py` that need a running service: Spark's columns, and PostgreSQL's through SQLAlchemy."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from holders import COLUMNS, Holder, Table

SPARK = {
    "string": "texts",
    "bigint": "integers",
    "double": "floats",
    "float": "floats",
    "boolean": "booleans",
    "date": "days",
    "timestamp": "instants",
    "timestamp_ntz": "times",
    "decimal(38,6)": "decimals",
    "binary": "bytes",
    "array<bigint>": "lists",
}


def spark_holders(session: Any) -> Iterator[Holder]:
    """A column of each type of Spark."""
    for name, cells in SPARK.items():
        named = name in ("string", "bigint")

        def make(ids: list[Any], cells: list[Any], _folder: Path, kind: str = name, named: bool = named) -> Table:
            place = kind if named else "bigint"
            schema = ", ".join([f"id {place}", *(f"`{column}` {kind}" for column in COLUMNS)])
            rows = [(who, *[cell] * len(COLUMNS)) for who, cell in zip(ids, cells, strict=True)]
            return Table(session.createDataFrame(rows, schema))

        yield Holder("spark", name, cells, make, named=named)


POSTGRES = {
    "Text": (sa.Text(), "texts"),
    "BigInteger": (sa.BigInteger(), "integers"),
    "Double": (sa.Double(), "floats"),
    "Numeric": (sa.Numeric(), "decimals"),
    "Boolean": (sa.Boolean(), "booleans"),
    "Date": (sa.Date(), "days"),
    "DateTime": (sa.DateTime(), "times"),
    "DateTime with a zone": (sa.DateTime(timezone=True), "instants"),
    "JSON": (sa.JSON(), "texts"),
    "LargeBinary": (sa.LargeBinary(), "bytes"),
    "ARRAY": (sa.ARRAY(sa.BigInteger()), "lists"),
}


def postgres_holders(url: str) -> Iterator[Holder]:
    """A column of each type of PostgreSQL, written and read through SQLAlchemy."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)  # no connection is left for a later test to warn of
    for name, (kind, cells) in POSTGRES.items():
        named = name in ("Text", "BigInteger")

        def make(ids: list[Any], cells: list[Any], _folder: Path, kind: Any = kind, named: bool = named) -> Table:
            place = sa.Column("id", kind if named else sa.BigInteger())
            held = sa.Table("held", sa.MetaData(), place, *(sa.Column(column, kind) for column in COLUMNS))
            rows = [{"id": who, **dict.fromkeys(COLUMNS, cell)} for who, cell in zip(ids, cells, strict=True)]
            with engine.begin() as connection:
                held.drop(connection, checkfirst=True)
                held.create(connection)
                connection.execute(sa.insert(held), rows)
            return Table(sa.select(held), connection=engine)

        yield Holder("postgres", name, cells, make, named=named)
