"""The schema number of each part that keeps tables in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bruit.errors import SchemaTooNew
from bruit.storage.transactions import reading, writing

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, MetaData

_LOCK = 0x62727569
"""The advisory lock that makes one PostgreSQL client at a time create tables."""


def prepare(engine: Engine, part: str, *, number: int, tables: MetaData) -> None:
    """Makes the tables of a part if they are missing, and refuses tables that a later version wrote."""
    from sqlalchemy import text

    if _known(engine, part, number):
        return
    with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        connection.execute(
            text("CREATE TABLE IF NOT EXISTS bruit_schema (part VARCHAR(40) PRIMARY KEY, number INTEGER NOT NULL)")
        )
        if _number(connection, part) is None:
            tables.create_all(connection)
            row = {"part": part, "number": number}
            connection.execute(text("INSERT INTO bruit_schema (part, number) VALUES (:part, :number)"), row)


def _known(engine: Engine, part: str, number: int) -> bool:
    from sqlalchemy import inspect

    with reading(engine) as connection:
        found = _number(connection, part) if inspect(connection).has_table("bruit_schema") else None
    if found is not None and found > number:
        where = engine.url.render_as_string(hide_password=True)
        raise SchemaTooNew(
            f"{where}: its {part} tables have schema {found}, this bruit knows {number}; install a later one"
        )
    return found is not None


def _number(connection: Connection, part: str) -> int | None:
    from sqlalchemy import text

    found = connection.execute(text("SELECT number FROM bruit_schema WHERE part = :part"), {"part": part}).scalar()
    return None if found is None else int(found)
