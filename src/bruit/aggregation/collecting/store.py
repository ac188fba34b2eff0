"""A collector's database (SQLite or PostgreSQL); each change is one transaction that checks the task's state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bruit.aggregation.collecting.tables import SCHEMA, checks, metadata, shares, tasks
from bruit.errors import InvalidArgument
from bruit.storage import connect, prepare, reading, writing

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

Values = Mapping[str, bytes | str]
"""Columns to be written with a step."""

AT_ONCE: Final = 500
"""Keys in one statement: SQLite allows 32 766 variables, older ones 999."""


class State(StrEnum):
    """The states of a task, in the one order in which it goes through them."""

    OPEN = "open"
    CLOSED = "closed"
    MATCHED = "matched"
    """The batch, what both collectors have, is fixed."""
    VERIFIED = "verified"
    """Which reports count is fixed."""
    CHARGED = "charged"
    DRAWN = "drawn"
    """The noised total is fixed: it was drawn once."""
    COMMITTED = "committed"
    """The other's commitment is kept, so the own total may be opened."""
    PUBLISHED = "published"
    TOO_FEW = "too few"
    """Below the least batch: no result, shares deleted."""

    @property
    def step(self) -> int:
        """The position of this state in the order."""
        return list(State).index(self)


class Reception(StrEnum):
    """The answer to a report that was sent: accepted, or why not."""

    KEPT = "kept"
    KNOWN = "known"
    """The same report was kept before: it was sent again because no answer came."""
    REPLAYED = "replayed"
    """The nonce or the token was used for another report."""
    CLOSED = "closed"


class ReportRow(NamedTuple):
    """A report at one collector; `sealed` is the encrypted part that the first keeps for the second."""

    nonce: bytes
    token: bytes
    public: bytes
    share: bytes
    sealed: bytes = b""


@dataclass(frozen=True)
class Record:
    """The stored row of a task, without its large binary columns."""

    name: str
    role: int
    definition: str
    state: State
    received: int
    key: bytes
    total: bytes
    salt: bytes
    peer_commitment: bytes
    release: str


class CollectorStore:
    """The tasks of one collector in one database."""

    def __init__(self, url: str) -> None:
        self._engine = connect(url)
        prepare(self._engine, "split polls", number=SCHEMA, tables=metadata)

    def create(self, name: str, role: int, definition: str, key: bytes) -> None:
        """Stores a new, open task; the same task again changes nothing, another role or key is refused."""
        empty = dict.fromkeys(("batch", "decisions", "accepted", "total", "salt", "peer_commitment"), b"")
        with writing(self._engine) as connection:
            found = connection.execute(tasks.select().where(tasks.c.name == name)).first()
            if found is None:
                values = {"name": name, "role": role, "definition": definition, "state": State.OPEN.value, "key": key}
                connection.execute(tasks.insert().values(values | empty | {"received": 0, "release": ""}))
            elif found.role != role or found.key != key:
                raise InvalidArgument("this task stands here already, with another role or verification key")

    def names(self) -> list[str]:
        """The names of all tasks."""
        from sqlalchemy import select

        with reading(self._engine) as connection:
            return list(connection.execute(select(tasks.c.name).order_by(tasks.c.name)).scalars())

    def record(self, name: str) -> Record | None:
        """The row of a task without its large columns; None where there is none."""
        from sqlalchemy import select

        columns = [tasks.c[field] for field in Record.__dataclass_fields__]
        with reading(self._engine) as connection:
            row = connection.execute(select(*columns).where(tasks.c.name == name)).first()
        return None if row is None else Record(**{**row._mapping, "state": State(row.state)})

    def blob(self, name: str, column: str) -> bytes:
        """One large column of a task."""
        from sqlalchemy import select

        with reading(self._engine) as connection:
            return bytes(connection.execute(select(tasks.c[column]).where(tasks.c.name == name)).scalar_one())

    # ------------------------------------------------------------ reports
    def add(self, name: str, rows: Sequence[ReportRow]) -> list[Reception]:
        """Stores reports while the task is open, checked in the same transaction as the state."""
        with writing(self._engine) as connection:
            state, received = self._lock_task(connection, name)
            if state is not State.OPEN:
                return [Reception.CLOSED] * len(rows)
            known, outcomes = self._find_known(connection, name, rows), []
            tokens = {row.token for row in known.values()}
            new: list[ReportRow] = []
            for row in rows:
                before = known.get(row.nonce)
                if before is None and row.token not in tokens:
                    new.append(row)
                    known[row.nonce] = row
                    tokens.add(row.token)
                    outcomes.append(Reception.KEPT)
                else:
                    outcomes.append(Reception.KNOWN if before == row else Reception.REPLAYED)
            if new:
                connection.execute(shares.insert(), [{"task": name, **row._asdict()} for row in new])
                line = tasks.update().where(tasks.c.name == name)
                connection.execute(line.values(received=received + len(new)))
        return outcomes

    def close(self, name: str) -> bool:
        """Closes a task; returns whether it was open."""
        return self.move(name, State.OPEN, State.CLOSED)

    def nonces(self, name: str) -> list[bytes]:
        """The sorted nonces of all reports."""
        from sqlalchemy import select

        line = select(shares.c.nonce).where(shares.c.task == name).order_by(shares.c.nonce)
        with reading(self._engine) as connection:
            return [bytes(nonce) for nonce in connection.execute(line).scalars()]

    def page(self, name: str, after: bytes, limit: int) -> list[ReportRow]:
        """The next reports in order of nonce."""
        line = shares.select().where(shares.c.task == name, shares.c.nonce > after)
        with reading(self._engine) as connection:
            rows = connection.execute(line.order_by(shares.c.nonce).limit(limit)).all()
        return [_row(row) for row in rows]

    def between(self, name: str, first: bytes, last: bytes) -> list[ReportRow]:
        """The reports with nonces from `first` to `last`, in order."""
        line = shares.select().where(shares.c.task == name, shares.c.nonce >= first, shares.c.nonce <= last)
        with reading(self._engine) as connection:
            return [_row(row) for row in connection.execute(line.order_by(shares.c.nonce))]

    # ------------------------------------------------------------ steps
    def move(self, name: str, before: State, after: State, **values: bytes | str) -> bool:
        """Moves a task from one state to another and writes values with it; False from any other state."""
        with writing(self._engine) as connection:
            return self._move(connection, name, before, after, values)

    def fix_batch(self, name: str, batch: bytes, unmatched: Sequence[bytes]) -> bool:
        """Fixes the batch of a closed task and deletes reports that only this collector holds."""
        with writing(self._engine) as connection:
            moved = self._move(connection, name, State.CLOSED, State.MATCHED, {"batch": batch})
            if moved:
                for at in range(0, len(unmatched), AT_ONCE):
                    some = shares.c.nonce.in_(unmatched[at : at + AT_ONCE])
                    connection.execute(shares.delete().where(shares.c.task == name, some))
        return moved

    def keep_check(self, name: str, number: int, bits: bytes) -> None:
        """Stores the decisions on one chunk of the batch; decisions already stored are kept."""
        with writing(self._engine) as connection:
            self._lock_task(connection, name)
            same = (checks.c.task == name) & (checks.c.number == number)
            if connection.execute(checks.select().where(same)).first() is None:
                connection.execute(checks.insert().values(task=name, number=number, bits=bits))

    def checks(self, name: str) -> dict[int, bytes]:
        """The stored decisions, by chunk."""
        with reading(self._engine) as connection:
            rows = connection.execute(checks.select().where(checks.c.task == name))
            return {int(row.number): bytes(row.bits) for row in rows}

    def end(self, name: str, before: State, after: State, **values: bytes | str) -> bool:
        """Moves a task to a final state and deletes shares, decisions and verification key, atomically."""
        with writing(self._engine) as connection:
            moved = self._move(connection, name, before, after, {"key": b"", **values})
            if moved:
                for table in (shares, checks):
                    connection.execute(table.delete().where(table.c.task == name))
        return moved

    def end_unfinished(self) -> int:
        """Ends every unfinished task without a result, after a restore from a backup; returns how many.

        What it did after the backup is forgotten: it would draw its noise a second time, and two draws of one total
        tell more than one. No answer, then, and never a wrong or a second one.
        """
        found = [self.record(name) for name in self.names()]
        ended = (State.PUBLISHED, State.TOO_FEW)
        return sum(self.end(one.name, one.state, State.TOO_FEW) for one in found if one and one.state not in ended)

    # ------------------------------------------------------------ inside a transaction
    def _lock_task(self, connection: Connection, name: str) -> tuple[State, int]:
        """State and number of reports, with the row locked where a database locks rows."""
        row = connection.execute(tasks.select().where(tasks.c.name == name).with_for_update()).first()
        if row is None:
            raise InvalidArgument("no such task stands at this collector")
        return State(row.state), int(row.received)

    def _move(
        self, connection: Connection, name: str, before: State, after: State, values: Mapping[str, bytes | str]
    ) -> bool:
        if self._lock_task(connection, name)[0] is not before:
            return False
        connection.execute(tasks.update().where(tasks.c.name == name).values(state=after.value, **values))
        return True

    def _find_known(self, connection: Connection, name: str, rows: Sequence[ReportRow]) -> dict[bytes, ReportRow]:
        """The kept reports that share a nonce or a token with the given ones, by their nonce."""
        found: dict[bytes, ReportRow] = {}
        for at in range(0, len(rows), AT_ONCE):
            some = rows[at : at + AT_ONCE]
            same = shares.c.nonce.in_([row.nonce for row in some]) | shares.c.token.in_([row.token for row in some])
            for row in connection.execute(shares.select().where(shares.c.task == name, same)):
                found[bytes(row.nonce)] = _row(row)
        return found


def _row(row: Row[Any]) -> ReportRow:
    return ReportRow(*(bytes(value) for value in (row.nonce, row.token, row.public, row.share, row.sealed)))
