"""The database tables of streams, beside those of the ledgers that paid for them."""

from typing import Final

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, String, Table, Text, UniqueConstraint

SCHEMA: Final = 1
"""Raised with every change of the tables."""

metadata = MetaData()

# `totals`, `buffers` and `keys` are as secret as the data: with what is published, the buffers tell the totals.
streams = Table(
    "bruit_streams",
    metadata,
    Column("token", String(32), primary_key=True),
    Column("book", String(32), nullable=False),
    Column("name", Text, nullable=False),
    Column("terms", Text, nullable=False),
    Column("entry", BigInteger),
    Column("generation", Integer, nullable=False),
    Column("period", BigInteger, nullable=False),
    Column("totals", LargeBinary, nullable=False),
    Column("buffers", LargeBinary, nullable=False),
    Column("keys", Text, nullable=False),
    UniqueConstraint("book", "name"),
)

published = Table(
    "bruit_stream_values",
    metadata,
    Column("token", String(32), primary_key=True),
    Column("period", BigInteger, primary_key=True, autoincrement=False),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("values", LargeBinary, nullable=False),
    Column("labels", Text, nullable=False),
)

# What the book remembers of a stream: a state that is older than its mark was set back.
marks = Table(
    "bruit_stream_marks",
    metadata,
    Column("token", String(32), primary_key=True),
    Column("generation", Integer, nullable=False),
    Column("period", BigInteger, nullable=False),
    Column("digest", String(64), nullable=False),
)

# When a person came last, how often, and with what squared norm; people are keyed hashes.
turns = Table(
    "bruit_stream_turns",
    metadata,
    Column("token", String(32), primary_key=True),
    Column("person", String(32), primary_key=True),
    Column("period", BigInteger, nullable=False),
    Column("times", BigInteger, nullable=False),
    Column("squared_norm", Text, nullable=False),
    sqlite_with_rowid=False,
)

# Which files of a growing folder were read, in which period.
sources = Table(
    "bruit_stream_sources",
    metadata,
    Column("token", String(32), primary_key=True),
    Column("source", Text, primary_key=True),
    Column("period", BigInteger, nullable=False),
)
