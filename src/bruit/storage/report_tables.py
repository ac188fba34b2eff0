"""The tables of polls and reports."""

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, LargeBinary, MetaData, String, Table, Text

SCHEMA: Final = 1
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
