"""The database tables of polls, reports, sessions and admissions, and migrations from older schemas."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

from bruit.storage import Migration, prepare

SCHEMA: Final = 2
"""Raised with every change of the tables."""

metadata = MetaData()

polls = Table(
    "bruit_polls",
    metadata,
    Column("identity", String(32), primary_key=True),
    Column("definition", Text, nullable=False),
    Column("link_hash", String(64), nullable=False),
    Column("password_hash", String(64), nullable=False),
    Column("password_salt", String(64), nullable=False),
    Column("round", Integer, nullable=False),
    Column("is_open", Boolean, nullable=False),
    Column("created", BigInteger, nullable=False),
)

# Without SQLite's row numbers, which would keep the order in which people answered.
reports = Table(
    "bruit_reports",
    metadata,
    Column("poll", String(32), ForeignKey(polls.c.identity), primary_key=True),
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("token", String(32), primary_key=True),
    Column("report", Text, nullable=False),
    sqlite_with_rowid=False,
)

counters = Table(
    "bruit_counters",
    metadata,
    Column("poll", String(32), ForeignKey(polls.c.identity), primary_key=True),
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("answers", BigInteger, nullable=False),
    Column("counts", LargeBinary, nullable=False),
)

# Who is signed in: hashes of random identifiers, so that what is read here opens nothing.
sessions = Table(
    "bruit_sessions",
    metadata,
    Column("identity", String(64), primary_key=True),
    Column("subject", String(40), nullable=False),
    Column("proof", String(64), nullable=False),
    Column("expires", BigInteger, nullable=False),
)

# The key that signs admissions of a poll, and the one-time codes (their hashes) with what was signed for each.
admission_keys = Table(
    "bruit_admission_keys",
    metadata,
    Column("poll", String(32), ForeignKey(polls.c.identity), primary_key=True),
    Column("private", LargeBinary, nullable=False),
)

admissions = Table(
    "bruit_admissions",
    metadata,
    Column("poll", String(32), ForeignKey(polls.c.identity), primary_key=True),
    Column("code", String(64), primary_key=True),
    Column("blinded", String(64), nullable=False),
    sqlite_with_rowid=False,
)


def _add_tables(_connection: Connection) -> None:
    """From 1 to 2: sessions and admissions, which `prepare` makes; what stood stays as it is."""


MIGRATIONS: Final[dict[int, Migration]] = {1: _add_tables}


def prepare_tables(engine: Engine) -> None:
    """Creates the tables, or migrates those of an older version."""
    prepare(engine, "reports", number=SCHEMA, tables=metadata, migrations=MIGRATIONS)
