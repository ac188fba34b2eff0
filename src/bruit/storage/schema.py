"""The schema number of each part that keeps tables in a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from bruit.errors import SchemaTooNew, SchemaTooOld
from bruit.storage.transactions import reading, writing

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, MetaData

_LOCK = 0x62727569
"""The advisory lock that makes one PostgreSQL client at a time create tables."""

Migration = Callable[["Connection"], None]
"""Takes the tables of a part from one schema number to the next."""


def prepare(
    engine: Engine, part: str, *, number: int, tables: MetaData, migrations: Mapping[int, Migration] | None = None
) -> None:
    """Creates the tables of a part if they are missing, or migrates older ones to schema `number`.

    `migrations[n]` goes from schema n to n + 1, all of them in one transaction. Tables that a later version wrote are
    refused, and so are older ones from which no migration leads here.
    """
    from sqlalchemy import text

    if _has_schema(engine, part, number):
        return
    with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        connection.execute(
            text("CREATE TABLE IF NOT EXISTS bruit_schema (part VARCHAR(40) PRIMARY KEY, number INTEGER NOT NULL)")
        )
        found, row = _number(connection, part), {"part": part, "number": number}
        if found is None:
            tables.create_all(connection)
            connection.execute(text("INSERT INTO bruit_schema (part, number) VALUES (:part, :number)"), row)
            return
        _migrate(connection, part, range(found, number), migrations or {})
        tables.create_all(connection)  # tables that are new; those that stand are left alone
        connection.execute(text("UPDATE bruit_schema SET number = :number WHERE part = :part"), row)


def _migrate(connection: Connection, part: str, numbers: range, migrations: Mapping[int, Migration]) -> None:
    for number in numbers:
        if number not in migrations:
            raise SchemaTooOld(
                f"the {part} tables have schema {number}, from which this bruit knows no way to {numbers.stop}; "
                "open the database with the version that wrote it and export what you need"
            )
        migrations[number](connection)


def _has_schema(engine: Engine, part: str, number: int) -> bool:
    """Whether the tables stand at this number; refuses later ones."""
    from sqlalchemy import inspect

    with reading(engine) as connection:
        found = _number(connection, part) if inspect(connection).has_table("bruit_schema") else None
    if found is not None and found > number:
        where = engine.url.render_as_string(hide_password=True)
        raise SchemaTooNew(
            f"{where}: its {part} tables have schema {found}, this bruit knows {number}; install a later one"
        )
    return found == number


def _number(connection: Connection, part: str) -> int | None:
    from sqlalchemy import text

    found = connection.execute(text("SELECT number FROM bruit_schema WHERE part = :part"), {"part": part}).scalar()
    return None if found is None else int(found)
