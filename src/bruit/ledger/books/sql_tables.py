"""The database tables that store the books."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

from bruit.storage import Migration, prepare

SCHEMA: Final = 2
"""Raised with every change of the tables."""

metadata = MetaData()

books = Table(
    "bruit_books",
    metadata,
    Column("identity", String(32), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("terms", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("accountant", Text, nullable=False),
    Column("capacity", BigInteger, nullable=False),
    Column("capacity_delta", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("total_delta", BigInteger, nullable=False),
    Column("whole", BigInteger, nullable=False),
    Column("whole_delta", BigInteger, nullable=False),
    Column("charges", BigInteger, nullable=False),
    Column("last", BigInteger, nullable=False),
)

entries = Table(
    "bruit_entries",
    metadata,
    Column("book", String(32), ForeignKey(books.c.identity), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("what", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("loss", Text, nullable=False),
    Column("guarantee", Text, nullable=False),
    Column("accountant", Text, nullable=False),
    Column("cost", BigInteger, nullable=False),
    Column("cost_delta", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("total_delta", BigInteger, nullable=False),
    Column("partition", Text),
    Column("cell", Text),
    Column("source", String(64)),
    Column("release", Text),
)

partitions = Table(
    "bruit_partitions",
    metadata,
    Column("book", String(32), ForeignKey(books.c.identity), primary_key=True),
    Column("partition", Text, primary_key=True),
    Column("largest", Integer, nullable=False),
    Column("worst", BigInteger, nullable=False),
    Column("worst_delta", BigInteger, nullable=False),
)

cells = Table(
    "bruit_cells",
    metadata,
    Column("book", String(32), ForeignKey(books.c.identity), primary_key=True),
    Column("partition", Text, primary_key=True),
    Column("cell", Text, primary_key=True),
    Column("total", BigInteger, nullable=False),
    Column("total_delta", BigInteger, nullable=False),
)

# Books that were put back from a backup: charges made after it may be missing, so they refuse until that is settled.
restored = Table(
    "bruit_restored",
    metadata,
    Column("book", String(32), ForeignKey(books.c.identity), primary_key=True),
    Column("at", BigInteger, nullable=False),
)

# The largest cells of a partition are read from the end of an index: the work does not grow with their number.
Index("bruit_cells_total", cells.c.book, cells.c.partition, cells.c.total)
Index("bruit_cells_total_delta", cells.c.book, cells.c.partition, cells.c.total_delta)
Index("bruit_entries_source", entries.c.book, entries.c.source)


def _add_restored(_connection: Connection) -> None:
    """From 1 to 2: the list of restored books, which `prepare` makes; what stood stays as it is."""


MIGRATIONS: Final[dict[int, Migration]] = {1: _add_restored}


def prepare_tables(engine: Engine) -> None:
    """Creates the tables of the books, or migrates those of an older version."""
    prepare(engine, "ledger", number=SCHEMA, tables=metadata, migrations=MIGRATIONS)
