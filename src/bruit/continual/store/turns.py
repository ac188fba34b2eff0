"""Bounds participation: decides whose rows count in a period, from each person's own past alone.

It is written in the transaction of the period, so that a period that was not published used up no turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import polars
from sqlalchemy import Connection, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from bruit.continual.participation import Contribution, Participation
from bruit.continual.store.sql_tables import sources, turns

TOGETHER = 500
"""People looked up by one statement: SQLite takes no more than a few thousand parameters."""


def admit(
    connection: Connection,
    token: str,
    period: int,
    vectors: polars.DataFrame,
    *,
    participation: Participation,
    contribution: Contribution,
) -> polars.DataFrame:
    """The rows of the people who may still take part in this period; their participation is recorded.

    A person's whole vector of the period counts against the bound on its norm, what is added with what is taken back.
    """
    norms = _squared_norms(vectors).filter(polars.col("squared_norm") <= contribution.squared_norm)
    people = {_pseudonym(token, person): (person, norm) for person, norm in norms.iter_rows()}
    known = dict(_known(connection, token, list(people)))
    admitted = {
        key: known.get(key, (0, 0))[1] + 1 for key in people if _has_turn(known.get(key), period, participation)
    }
    rows = [
        {"token": token, "person": key, "period": period, "times": times, "squared_norm": str(people[key][1])}
        for key, times in sorted(admitted.items())
    ]
    _keep(connection, rows)
    return vectors.filter(polars.col("person").is_in([people[key][0] for key in admitted]))


def _squared_norms(vectors: polars.DataFrame) -> polars.DataFrame:
    """The squared norm of what each person adds in all cells, exactly: 128 bits hold it."""
    summed = vectors.group_by("person", "cell").agg(polars.col("value").sum())
    square = polars.col("value").cast(polars.Int128) * polars.col("value").cast(polars.Int128)
    return summed.group_by("person").agg(square.sum().alias("squared_norm"))


def _has_turn(last: tuple[int, int] | None, period: int, participation: Participation) -> bool:
    if last is None:
        return True
    came, times = last
    return period >= came + participation.apart and (participation.times is None or times < participation.times)


def _known(connection: Connection, token: str, people: list[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """When the people came last, and how often, for those who came."""
    columns = (turns.c.person, turns.c.period, turns.c.times)
    for start in range(0, len(people), TOGETHER):
        these = turns.c.person.in_(people[start : start + TOGETHER])
        for person, period, times in connection.execute(select(*columns).where(turns.c.token == token, these)):
            yield person, (period, times)


def _keep(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    line = dialect.insert(turns)
    newer = {name: line.excluded[name] for name in ("period", "times", "squared_norm")}
    connection.execute(line.on_conflict_do_update(index_elements=["token", "person"], set_=newer), list(rows))


def read_sources(connection: Connection, token: str) -> frozenset[str]:
    """The names of the files already read into a stream."""
    return frozenset(connection.execute(select(sources.c.source).where(sources.c.token == token)).scalars())


def period_of(connection: Connection, token: str, source: str) -> int | None:
    """The period that a source was read into; None where it was not read."""
    line = select(sources.c.period).where(sources.c.token == token, sources.c.source == source)
    return connection.execute(line).scalar()


def record_sources(connection: Connection, token: str, period: int, names: Iterable[str]) -> None:
    """Records the files that a period was read from."""
    rows = [{"token": token, "source": name, "period": period} for name in names]
    if rows:
        connection.execute(insert(sources), rows)


def _pseudonym(token: str, person: str) -> str:
    """A keyed hash of a person: the store holds no names."""
    return blake2b(person.encode(), key=token.encode(), digest_size=16).hexdigest()
