"""The SQL tables in which a collector stores tasks, reports, decisions and pairings."""

from typing import Final

from sqlalchemy import Column, ForeignKey, Integer, LargeBinary, MetaData, String, Table, Text, UniqueConstraint

SCHEMA: Final = 1
"""Raised with every change of the tables."""

metadata = MetaData()

tasks = Table(
    "bruit_split_tasks",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("role", Integer, nullable=False),
    Column("definition", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("received", Integer, nullable=False),
    Column("key", LargeBinary, nullable=False),
    Column("batch", LargeBinary, nullable=False),
    Column("decisions", LargeBinary, nullable=False),
    Column("accepted", LargeBinary, nullable=False),
    Column("total", LargeBinary, nullable=False),
    Column("salt", LargeBinary, nullable=False),
    Column("peer_commitment", LargeBinary, nullable=False),
    Column("release", Text, nullable=False),
)

# Without SQLite's row numbers, which would keep the order in which people answered.
shares = Table(
    "bruit_split_shares",
    metadata,
    Column("task", String(64), ForeignKey(tasks.c.name), primary_key=True),
    Column("nonce", LargeBinary, primary_key=True),
    Column("token", LargeBinary, nullable=False),
    Column("public", LargeBinary, nullable=False),
    Column("share", LargeBinary, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    UniqueConstraint("task", "token"),
    sqlite_with_rowid=False,
)

checks = Table(
    "bruit_split_checks",
    metadata,
    Column("task", String(64), ForeignKey(tasks.c.name), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("bits", LargeBinary, nullable=False),
)

pairings = Table(
    "bruit_split_pairings",
    metadata,
    Column("identity", String(64), primary_key=True),
    Column("task", String(64), nullable=False),
    Column("details", Text, nullable=False),
)
