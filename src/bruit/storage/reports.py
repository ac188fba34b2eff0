"""Polls and the reports sent to them: what was accepted is on disk, each token once, and the counters agree.

A report is what a respondent's device sent, already noised. No time and no address is kept beside it, and the reports
of a round are read in the order of their random tokens. (SQLite keeps them so; the pages of PostgreSQL still show its
administrator in which order rows came.)
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from bruit.storage.engines import connect
from bruit.storage.report_tables import SCHEMA, counters, metadata, polls, reports
from bruit.storage.schema import prepare
from bruit.storage.transactions import reading, writing

if TYPE_CHECKING:
    from sqlalchemy import Connection

PAGE: Final = 10_000
"""Reports read at once."""

_INSERT: Final = {
    "sqlite": """INSERT INTO bruit_reports (poll, round, token, report)
        SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
        json_extract(value, '$[3]') FROM json_each(:batch) WHERE true
        ON CONFLICT DO NOTHING RETURNING poll, round, token""",
    "postgresql": """INSERT INTO bruit_reports (poll, round, token, report)
        SELECT value ->> 0, (value ->> 1)::integer, value ->> 2, value ->> 3
        FROM json_array_elements(CAST(:batch AS json))
        ON CONFLICT DO NOTHING RETURNING poll, round, token""",
}
"""A batch travels as one JSON text: no statement for each size of batch is compiled and kept."""


@dataclass(frozen=True)
class StoredPoll:
    """A poll as it is kept: its definition in JSON, hashes of its secrets, the round that is asked now."""

    identity: str
    definition: str
    link_hash: str
    password_hash: str = ""
    password_salt: str = ""
    round: int = 1
    is_open: bool = True
    created: int = 0


class NewReport(NamedTuple):
    """A report on its way to the disk."""

    poll: str
    round: int
    token: str
    report: str


Key = tuple[str, int]
"""A poll and a round of it."""

Counts = tuple[int, bytes]
"""How many reports a round has, and what they add up to, in the collector's own form."""

Count = Callable[[Key, Counts, Sequence[str]], Counts]
"""Adds reports to counts."""


@dataclass(frozen=True)
class Added:
    """What one commit did: which reports were new, and the counts of the rounds they belong to."""

    new: frozenset[tuple[str, int, str]]
    counts: dict[Key, Counts]


class ReportStore:
    """The polls of one database."""

    def __init__(self, url: str) -> None:
        self._engine = connect(url)
        prepare(self._engine, "reports", number=SCHEMA, tables=metadata)

    # ------------------------------------------------------------ polls
    def create(self, poll: StoredPoll) -> None:
        """Keeps a new poll, with the counters of its first round."""
        with writing(self._engine) as connection:
            connection.execute(polls.insert().values(vars(poll)))
            self._open_round(connection, poll.identity, poll.round)

    def poll(self, identity: str) -> StoredPoll | None:
        """The poll of this identity."""
        with reading(self._engine) as connection:
            row = connection.execute(polls.select().where(polls.c.identity == identity)).first()
        return None if row is None else StoredPoll(**row._mapping)

    def all(self) -> list[StoredPoll]:
        """Every poll, the newest first."""
        with reading(self._engine) as connection:
            rows = connection.execute(polls.select().order_by(polls.c.created.desc(), polls.c.identity)).all()
        return [StoredPoll(**row._mapping) for row in rows]

    def set_open(self, identity: str, *, is_open: bool) -> None:
        """Opens or closes a poll."""
        with writing(self._engine) as connection:
            connection.execute(polls.update().where(polls.c.identity == identity).values(is_open=is_open))

    def next_round(self, identity: str) -> None:
        """Asks the same question once more."""
        with writing(self._engine) as connection:
            line = polls.update().where(polls.c.identity == identity).values(round=polls.c.round + 1)
            number = connection.execute(line.returning(polls.c.round)).scalar_one()
            self._open_round(connection, identity, int(number))

    def delete(self, identity: str) -> None:
        """Forgets a poll and every report of it."""
        with writing(self._engine) as connection:
            for table, column in ((reports, reports.c.poll), (counters, counters.c.poll), (polls, polls.c.identity)):
                connection.execute(table.delete().where(column == identity))

    # ------------------------------------------------------------ reports
    def add(self, batch: Sequence[NewReport], count: Count) -> Added:
        """Writes reports and their counts in one transaction; a token that is there already changes nothing.

        The counts are read and written inside the transaction, so they agree with the reports whatever happens.
        """
        first = {(one.poll, one.round, one.token): one for one in reversed(batch)}
        with writing(self._engine) as connection:
            new = self._insert(connection, list(first.values()))
            grouped: dict[Key, list[str]] = defaultdict(list)
            for key in sorted(new):
                grouped[key[0], key[1]].append(first[key].report)
            counts = {key: self._raise(connection, key, values, count) for key, values in grouped.items()}
        return Added(frozenset(new), counts)

    def counts(self, identity: str, number: int) -> Counts:
        """The counts of a round."""
        with reading(self._engine) as connection:
            return self._counts(connection, (identity, number))

    def rounds(self, identity: str) -> list[int]:
        """The rounds of a poll."""
        line = counters.select().where(counters.c.poll == identity).order_by(counters.c.round)
        with reading(self._engine) as connection:
            return [int(row.round) for row in connection.execute(line)]

    def reports(self, identity: str, number: int) -> Iterator[tuple[str, str]]:
        """Token and report of every report of a round, in the order of the tokens."""
        after = ""
        while True:
            line = reports.select().where(
                reports.c.poll == identity, reports.c.round == number, reports.c.token > after
            )
            with reading(self._engine) as connection:
                rows = connection.execute(line.order_by(reports.c.token).limit(PAGE)).all()
            yield from ((row.token, row.report) for row in rows)
            if len(rows) < PAGE:
                return
            after = rows[-1].token

    # ------------------------------------------------------------ inside a transaction
    def _insert(self, connection: Connection, batch: list[NewReport]) -> set[tuple[str, int, str]]:
        """Inserts what is new, in one statement whose text never changes; which reports those are."""
        from sqlalchemy import text

        line = text(_INSERT[connection.dialect.name])
        rows = connection.execute(line, {"batch": json.dumps(batch)})
        return {(poll, number, token) for poll, number, token in rows}

    def _raise(self, connection: Connection, key: Key, new: Sequence[str], count: Count) -> Counts:
        before = self._counts(connection, key, lock=True)
        answers, counts = count(key, before, new)
        line = counters.update().where(counters.c.poll == key[0], counters.c.round == key[1])
        connection.execute(line.values(answers=answers, counts=counts))
        return answers, counts

    def _counts(self, connection: Connection, key: Key, *, lock: bool = False) -> Counts:
        line = counters.select().where(counters.c.poll == key[0], counters.c.round == key[1])
        row = connection.execute(line.with_for_update() if lock else line).one()
        return int(row.answers), bytes(row.counts)

    def _open_round(self, connection: Connection, identity: str, number: int) -> None:
        connection.execute(counters.insert().values(poll=identity, round=number, answers=0, counts=b""))
