"""Stored polls and reports: each accepted report is on disk, each token counts once, and counters agree.

A report is what a respondent's device sent, already noised. No time and no address is kept beside it, and the reports
of a round are read in the order of their random tokens. (SQLite keeps them so; the pages of PostgreSQL still show its
administrator in which order rows came.)
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from bruit.apps.web.polls.store.tables import admission_keys, admissions, counters, polls, prepare_tables, reports
from bruit.storage import connect, reading, truncate_wal, writing

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

_FIND: Final = {
    "sqlite": """SELECT kept.poll, kept.round, kept.token FROM json_each(:batch) AS sent JOIN bruit_reports AS kept
        ON kept.poll = json_extract(sent.value, '$[0]') AND kept.round = json_extract(sent.value, '$[1]')
        AND kept.token = json_extract(sent.value, '$[2]')""",
    "postgresql": """SELECT kept.poll, kept.round, kept.token
        FROM json_array_elements(CAST(:batch AS json)) AS sent(value) JOIN bruit_reports AS kept
        ON kept.poll = value ->> 0 AND kept.round = (value ->> 1)::integer AND kept.token = value ->> 2""",
}
_LOCK_WAIT: Final = "SET LOCAL lock_timeout = '2s'"
"""A poll whose row another program of PostgreSQL holds is given up after this; SQLite has one lock, for all."""


@dataclass(frozen=True)
class StoredPoll:
    """The stored record of a poll: its definition in JSON, hashes of its secrets, the current round."""

    identity: str
    definition: str
    link_hash: str
    password_hash: str = ""
    password_salt: str = ""
    round: int = 1
    is_open: bool = True
    created: int = 0


class NewReport(NamedTuple):
    """A report that is about to be stored."""

    poll: str
    round: int
    token: str
    report: str


Key = tuple[str, int]
"""A poll and a round of it."""

Place = tuple[str, int, str]
"""A poll, a round and the token of a report: what makes a report one."""

Counts = tuple[int, bytes]
"""How many reports a round has, and what they add up to, in the collector's own form."""

Count = Callable[[Key, Counts, Sequence[str]], Counts]
"""Adds reports to counts."""


class Outcome(StrEnum):
    """The outcome for a submitted report; only the first two are final."""

    COUNTED = "counted"
    KNOWN = "counted before"
    OVER = "the round is over"
    UNKNOWN = "there is no such poll"


@dataclass(frozen=True)
class Added:
    """The result of one commit: the outcome of each report, and the new counts of the rounds that grew."""

    outcomes: tuple[Outcome, ...]
    counts: dict[Key, Counts]


Fence = Callable[["Connection"], None]
"""Refuses a transaction of a server that another has replaced."""


class ReportStore:
    """The polls of one database."""

    def __init__(self, url: str) -> None:
        self._engine = connect(url)
        prepare_tables(self._engine)

    # ------------------------------------------------------------ polls
    def create(self, poll: StoredPoll) -> None:
        """Stores a new poll with zero counters for its first round."""
        with writing(self._engine) as connection:
            connection.execute(polls.insert().values(vars(poll)))
            self._open_round(connection, poll.identity, poll.round)

    def poll(self, identity: str) -> StoredPoll | None:
        """The stored poll of this identity; None where there is none."""
        with reading(self._engine) as connection:
            row = connection.execute(polls.select().where(polls.c.identity == identity)).first()
        return None if row is None else StoredPoll(**row._mapping)

    def all(self) -> list[StoredPoll]:
        """Every poll, the newest first."""
        with reading(self._engine) as connection:
            rows = connection.execute(polls.select().order_by(polls.c.created.desc(), polls.c.identity)).all()
        return [StoredPoll(**row._mapping) for row in rows]

    def set_open(self, identity: str, *, is_open: bool) -> None:
        """Opens or closes a poll; reports stored after a close are not counted."""
        with writing(self._engine) as connection:
            connection.execute(polls.update().where(polls.c.identity == identity).values(is_open=is_open))

    def next_round(self, identity: str, *, ends: int) -> None:
        """Ends a round and opens the one after it; changes nothing where that round has ended already."""
        present = (polls.c.identity == identity) & (polls.c.round == ends)
        with writing(self._engine) as connection:
            if connection.execute(polls.update().where(present).values(round=ends + 1, is_open=True)).rowcount:
                self._open_round(connection, identity, ends + 1)

    def delete(self, identity: str) -> None:
        """Deletes a poll and all its reports, and overwrites them in SQLite's file and WAL."""
        mentions = [table.c.poll for table in (reports, counters, admissions, admission_keys)]
        with writing(self._engine) as connection:
            for column in (*mentions, polls.c.identity):
                connection.execute(column.table.delete().where(column == identity))
        truncate_wal(self._engine)

    # ------------------------------------------------------------ reports
    def add(self, batch: Sequence[NewReport], count: Count, fence: Fence | None = None) -> Added:
        """Stores reports and updates counts in one transaction; a known token changes nothing.

        The counts are read and written inside the transaction, so they agree with the reports whatever happens; and
        so is the state of each poll, so that no report is counted once a round is over.
        """
        first = {(one.poll, one.round, one.token): one for one in reversed(batch)}
        with writing(self._engine) as connection:
            if fence is not None:
                fence(connection)
            states = self._states(connection, {one.poll for one in batch})
            open_now = [one for one in first.values() if states.get(one.poll) == (one.round, True)]
            late = [one for one in first.values() if one.poll in states and states[one.poll] != (one.round, True)]
            new = self._execute(connection, _INSERT, open_now)
            known = self._execute(connection, _FIND, late)
            grouped: dict[Key, list[str]] = defaultdict(list)
            for key in sorted(new):
                grouped[key[0], key[1]].append(first[key].report)
            counts = {key: self._raise(connection, key, values, count) for key, values in grouped.items()}
        known |= {(one.poll, one.round, one.token) for one in open_now} - new
        return Added(tuple(_outcomes(batch, new, known, set(states))), counts)

    def has(self, identity: str, number: int, token: str) -> bool:
        """Whether a token was counted in a round."""
        same = (reports.c.poll == identity) & (reports.c.round == number) & (reports.c.token == token)
        with reading(self._engine) as connection:
            return connection.execute(reports.select().where(same)).first() is not None

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
        """Yields (token, report) for every report of a round, in the order of the tokens."""
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
    def _states(self, connection: Connection, identities: set[str]) -> dict[str, tuple[int, bool]]:
        """Round and openness of polls, which nobody changes before this transaction has ended."""
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(_LOCK_WAIT)
        line = polls.select().where(polls.c.identity.in_(sorted(identities))).with_for_update(read=True)
        return {row.identity: (int(row.round), bool(row.is_open)) for row in connection.execute(line)}

    def _execute(self, connection: Connection, lines: dict[str, str], batch: list[NewReport]) -> set[Place]:
        """The keys that one constant SQL text answers with for a batch: those inserted, or those found."""
        from sqlalchemy import text

        if not batch:
            return set()
        rows = connection.execute(text(lines[connection.dialect.name]), {"batch": json.dumps(batch)})
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


def _outcomes(
    batch: Sequence[NewReport], new: set[Place], known: set[Place], polls_there: set[str]
) -> Iterator[Outcome]:
    """What became of each report; of two with one token in a batch the first is the counted one."""
    left = set(new)
    for one in batch:
        place = (one.poll, one.round, one.token)
        if place in left:
            left.discard(place)
            yield Outcome.COUNTED
        elif place in new or place in known:
            yield Outcome.KNOWN
        else:
            yield Outcome.OVER if one.poll in polls_there else Outcome.UNKNOWN
