"""Streams in SQLite or PostgreSQL; each period is published in one transaction.

Every statement after the opening names the token, so that a handle on a stream that was replaced changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, CursorResult, Dialect, Executable, and_, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bruit.continual.store.sql_tables import SCHEMA, marks, metadata, published, sources, streams, turns
from bruit.errors import StorageError
from bruit.storage import connect, prepare, reading, writing

if TYPE_CHECKING:
    from sqlalchemy import Engine

SET_BACK = "set back from"
"""What stands for a digest where a new branch has published nothing yet."""

PAGE = 1000
"""Periods read at once."""


@dataclass(frozen=True)
class StoredState:
    """The stored row of a stream: its terms, the entry that paid, and the secret state after its last period."""

    token: str
    terms: str
    entry: int | None
    generation: int
    period: int
    totals: bytes
    buffers: bytes
    keys: str
    marked: tuple[int, int]

    @property
    def was_set_back(self) -> bool:
        """Whether the store was restored to a state older than what was published."""
        return (self.generation, self.period) < self.marked


@dataclass(frozen=True)
class StoredValues:
    """The values published in one period."""

    period: int
    values: NDArray[np.int64]
    labels: str


_FIELDS = tuple(
    streams.c[name] for name in ("token", "terms", "entry", "generation", "period", "totals", "buffers", "keys")
)
_WITH_MARK = select(*_FIELDS, marks.c.generation, marks.c.period).join(marks, marks.c.token == streams.c.token)
_PAID = _WITH_MARK.where(streams.c.entry.is_not(None))

_LAST = (
    select(
        streams.c.generation,
        streams.c.period,
        marks.c.generation.label("marked_generation"),
        marks.c.period.label("marked_period"),
        marks.c.digest,
        published.c["values"].label("last_values"),
        published.c.labels,
    )
    .join(marks, marks.c.token == streams.c.token)
    .outerjoin(
        published,
        and_(
            published.c.token == streams.c.token,
            published.c.period == streams.c.period,
            published.c.generation == streams.c.generation,
        ),
    )
)

# The statements of a period are compiled once and given to the driver as texts: a statement that is looked up in
# SQLAlchemy's cache takes twice as long, and four of them longer than the noise of a thousand cells.
_LOCK = _PAID.where(streams.c.token == bindparam("this")).with_for_update(of=streams)
_PUBLISH = insert(published)
_KEEP = (
    update(streams)
    .where(streams.c.token == bindparam("this"), streams.c.period == bindparam("before"))
    .values({name: bindparam(f"new_{name}") for name in ("period", "totals", "buffers", "keys")})
)
_MARK = (
    update(marks)
    .where(marks.c.token == bindparam("this"))
    .values({name: bindparam(f"new_{name}") for name in ("generation", "period", "digest")})
)


def prepare_store(address: str) -> Engine:
    """The engine of a database, once its tables of streams exist."""
    engine = connect(address)
    prepare(engine, "continual", number=SCHEMA, tables=metadata)
    return engine


def find(engine: Engine, book: str, name: str) -> StoredState | None:
    """The stream of that name, paid for or not; None where there is none."""
    with reading(engine) as connection:
        return _state(connection.execute(_WITH_MARK.where(streams.c.book == book, streams.c.name == name)).first())


def stream_names(engine: Engine, book: str) -> tuple[str, ...]:
    """The sorted names of the streams that a ledger has paid for."""
    line = select(streams.c.name).where(streams.c.book == book, streams.c.entry.is_not(None)).order_by(streams.c.name)
    with reading(engine) as connection:
        return tuple(connection.execute(line).scalars())


def create(engine: Engine, book: str, name: str, terms: str, empty: tuple[bytes, bytes]) -> StoredState:
    """Creates a stream of that name that is not paid for yet, or returns the one that exists."""
    token = token_hex(16)
    with writing(engine) as connection:
        dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
        state = {"generation": 1, "period": 0, "totals": empty[0], "buffers": empty[1], "keys": "[]"}
        row = {"token": token, "book": book, "name": name, "terms": terms, "entry": None, **state}
        line = dialect.insert(streams).values(row).on_conflict_do_nothing(index_elements=["book", "name"])
        if connection.execute(line).rowcount:
            first = {"token": token, "generation": 1, "period": 0, "digest": _digest(b"", "")}
            connection.execute(insert(marks).values(first))
    return _standing(find(engine, book, name), name)


def replace_unpaid(engine: Engine, token: str) -> None:
    """Deletes a stream unless it was paid for meanwhile."""
    with writing(engine) as connection:
        unpaid = and_(streams.c.token == token, streams.c.entry.is_(None), streams.c.period == 0)
        if connection.execute(streams.delete().where(unpaid)).rowcount:
            for table in (marks, turns, sources):
                connection.execute(table.delete().where(table.c.token == token))


def mark_paid(engine: Engine, token: str, entry: int) -> None:
    """Records the entry that paid for a stream; no noise is drawn before."""
    with writing(engine) as connection:
        line = update(streams).where(streams.c.token == token, streams.c.entry.is_(None)).values(entry=entry)
        if connection.execute(line).rowcount:
            return
        known = connection.execute(select(streams.c.entry).where(streams.c.token == token)).scalar()
    if known != entry:
        raise StorageError(
            "the stream was replaced by another of its name while it was paid for; its entry stands in the book: "
            "open the other one, or choose another name"
        )


def set_generation(engine: Engine, token: str, *, entry: int, seen: int) -> None:
    """Starts a new generation at the stored period, paid for by another entry, after a restore."""
    with writing(engine) as connection:
        state = lock(connection, token)
        number = max(state.generation, state.marked[0]) + 1
        connection.execute(update(streams).where(streams.c.token == token).values(generation=number, entry=entry))
        after = {"generation": number, "period": state.period, "digest": f"{SET_BACK} {max(seen, state.marked[1])}"}
        connection.execute(update(marks).where(marks.c.token == token).values(after))


def read_state(connection: Connection, token: str) -> StoredState:
    """The state of a stream that was paid for."""
    return _standing(_state(connection.execute(_PAID.where(streams.c.token == token)).first()), token)


def lock(connection: Connection, token: str) -> StoredState:
    """The state of a stream, locked against other writers until the transaction ends."""
    return _standing(_state(_execute(connection, _LOCK, {"this": token}).first()), token)


def write(
    connection: Connection, before: StoredState, *, state: tuple[bytes, bytes, str], values: bytes, labels: str
) -> None:
    """Publishes the next period of a locked stream and stores its new state, atomically."""
    token, period = before.token, before.period + 1
    key = {"token": token, "period": period, "generation": before.generation}
    _execute(connection, _PUBLISH, {**key, "values": values, "labels": labels})
    after = dict(zip(("new_totals", "new_buffers", "new_keys"), state, strict=True))
    this = {"this": token, "new_period": period}
    changed = _execute(connection, _KEEP, {**this, "before": before.period, **after}).rowcount
    mark = {"new_generation": before.generation, "new_digest": _digest(values, labels)}
    marked = _execute(connection, _MARK, {**this, **mark}).rowcount
    if changed != 1 or marked != 1:
        raise StorageError("the stream is not there any more: it was removed from its store")


def values_between(connection: Connection, token: str, first: int, last: int) -> Iterator[StoredValues]:
    """The values published from `first` to `last`; of a period published twice, those of the later generation."""
    after = first - 1
    while after < last:
        these = and_(published.c.token == token, published.c.period > after, published.c.period <= last)
        line = select(published.c.period, published.c["values"], published.c.labels).where(these)
        rows = connection.execute(line.order_by(published.c.period, published.c.generation).limit(PAGE)).all()
        if not rows:
            return
        latest = {row[0]: row for row in rows}
        for period in sorted(latest):
            yield StoredValues(period, np.frombuffer(latest[period][1], "<i8"), latest[period][2])
        after = rows[-1][0]


def values_at(connection: Connection, token: str, period: int) -> StoredValues:
    """The values published in one period."""
    found = next(values_between(connection, token, period, period), None)
    if found is None:
        raise StorageError(f"the values of period {period} are gone from the store: it was set back")
    return found


def check_digest(engine: Engine, token: str) -> None:
    """Refuses a store whose last published values differ from their recorded digest.

    One statement reads both: a writer that publishes between two would look like a store that was set back.
    """
    with reading(engine) as connection:
        row = connection.execute(_LAST.where(streams.c.token == token)).first()
    if row is None or row.period == 0 or (row.generation, row.period) < (row.marked_generation, row.marked_period):
        return
    stored = None if row.last_values is None else _digest(bytes(row.last_values), row.labels)
    if row.digest.startswith(SET_BACK) or row.digest == stored:
        return
    raise StorageError(
        f"the values of period {row.period} are not those that were published: the store was set back or changed; "
        "Stream.restore(name, budget=..., seen=...) pays once more and goes on"
    )


def _execute(connection: Connection, statement: Executable, values: dict[str, Any]) -> CursorResult[Any]:
    """Runs one of the statements above with the driver's own types."""
    text, order = _compiled(statement, connection.dialect)
    return connection.exec_driver_sql(text, values if order is None else tuple(values[name] for name in order))


@lru_cache(maxsize=32)
def _compiled(statement: Executable, dialect: Dialect) -> tuple[str, tuple[str, ...] | None]:
    """The text of a statement, and the order of its values where the driver takes them by their places."""
    found: Any = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
    return str(found), None if found.positiontup is None else tuple(found.positiontup)


def _state(row: Sequence[Any] | None) -> StoredState | None:
    if row is None:
        return None
    token, terms, entry, generation, period, totals, buffers, keys, *marked = row
    state = (bytes(totals), bytes(buffers), keys)
    return StoredState(token, terms, entry, generation, period, *state, (marked[0], marked[1]))


def _standing(state: StoredState | None, name: str) -> StoredState:
    if state is None:
        raise StorageError(f"the stream {name!r} is not there, or nobody has paid for it; open it with a budget")
    return state


def _digest(values: bytes, labels: str) -> str:
    return sha256(values + labels.encode()).hexdigest()
