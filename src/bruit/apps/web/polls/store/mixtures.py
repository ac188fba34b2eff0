"""A shuffler's database: waiting reports, the batch being sent, and the tokens already seen."""

from __future__ import annotations

import secrets
from typing import NamedTuple

from sqlalchemy import Column, Integer, MetaData, String, Table, Text, func, select

from bruit.storage import connect, prepare, reading, truncate_wal, writing

metadata = MetaData()

# Without SQLite's row numbers, which would keep the order in which people answered. A report that was handed on leaves
# its token alone; `sent_as` is the random token of a batch that is being handed on.
waiting = Table(
    "bruit_shuffled",
    metadata,
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("token", String(32), primary_key=True),
    Column("report", Text, nullable=False),
    Column("sent_as", String(32), nullable=False),
    sqlite_with_rowid=False,
)


class Mixed(NamedTuple):
    """A report of a batch, with the fresh token it is forwarded under."""

    sent_as: str
    round: int
    report: str


class MixtureStore:
    """The reports of one poll at its shuffler."""

    def __init__(self, url: str) -> None:
        self._engine = connect(url)
        prepare(self._engine, "shuffler", number=1, tables=metadata)

    def keep(self, number: int, token: str, report: str) -> bool:
        """Stores a report; False where its token was seen before."""
        same = (waiting.c.round == number) & (waiting.c.token == token)
        with writing(self._engine) as connection:
            if connection.execute(waiting.select().where(same)).first() is not None:
                return False
            connection.execute(waiting.insert().values(round=number, token=token, report=report, sent_as=""))
        return True

    def count(self) -> int:
        """The number of waiting reports."""
        line = select(func.count()).select_from(waiting).where(waiting.c.report != "", waiting.c.sent_as == "")
        with reading(self._engine) as connection:
            return int(connection.execute(line).scalar_one())

    def mix(self, least: int) -> list[Mixed]:
        """The batch to forward, in the order of fresh random tokens, or the previous one if not yet forwarded.

        Fewer than `least` reports of one round are no batch: the collector sees the round of each, so that those of
        another round hide nobody. The tokens are on disk before anything is sent: a batch that is sent twice, because
        somebody was killed between, is counted once.
        """
        batch = self._under_way()
        if batch:
            return batch
        with writing(self._engine) as connection:
            line = select(waiting.c.round).where(waiting.c.report != "", waiting.c.sent_as == "")
            full = line.group_by(waiting.c.round).having(func.count() >= least).order_by(waiting.c.round)
            number = connection.execute(full).scalar()
            if number is None:
                return []
            for row in connection.execute(waiting.select().where(waiting.c.report != "", waiting.c.round == number)):
                same = (waiting.c.round == row.round) & (waiting.c.token == row.token)
                connection.execute(waiting.update().where(same).values(sent_as=secrets.token_hex(16)))
        return self._under_way()

    def forget(self) -> None:
        """Deletes the reports that were forwarded; their tokens are kept."""
        with writing(self._engine) as connection:
            connection.execute(waiting.update().where(waiting.c.sent_as != "").values(report="", sent_as=""))
        truncate_wal(self._engine)

    def _under_way(self) -> list[Mixed]:
        with reading(self._engine) as connection:
            rows = connection.execute(waiting.select().where(waiting.c.sent_as != "").order_by(waiting.c.sent_as)).all()
        return [Mixed(row.sent_as, row.round, row.report) for row in rows]
