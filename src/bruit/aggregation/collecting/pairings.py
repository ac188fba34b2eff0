"""Pairs two collectors: an invitation at the first, keys and address at the second.

Only the hash of an invitation's secret is kept by the first collector; `task` is empty until the second has joined.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from bruit.aggregation.collecting.tables import SCHEMA, metadata, pairings
from bruit.storage import connect, prepare, reading, writing


@dataclass(frozen=True)
class Pairing:
    """An invitation to a second collector and, once accepted, its task, address and keys."""

    identity: str
    task: str
    details: dict[str, Any]


class Pairings:
    """The invitations and pairings in one collector's database."""

    def __init__(self, url: str) -> None:
        self._engine = connect(url)
        prepare(self._engine, "split polls", number=SCHEMA, tables=metadata)

    def find(self, identity: str) -> Pairing | None:
        """The pairing with that identity; None where there is none."""
        with reading(self._engine) as connection:
            row = connection.execute(pairings.select().where(pairings.c.identity == identity)).first()
        return None if row is None else Pairing(row.identity, row.task, json.loads(row.details))

    def of_task(self, task: str) -> Pairing | None:
        """The pairing that led to a task; None where there is none."""
        with reading(self._engine) as connection:
            row = connection.execute(pairings.select().where(pairings.c.task == task)).first()
        return None if row is None else Pairing(row.identity, row.task, json.loads(row.details))

    def keep(self, identity: str, details: dict[str, Any], *, task: str = "") -> Pairing:
        """Stores a pairing unless its identity is taken already; returns the stored one."""
        with writing(self._engine) as connection:
            row = connection.execute(pairings.select().where(pairings.c.identity == identity)).first()
            if row is None:
                values = {"identity": identity, "task": task, "details": json.dumps(details, ensure_ascii=False)}
                connection.execute(pairings.insert().values(values))
                return Pairing(identity, task, details)
        return Pairing(row.identity, row.task, json.loads(row.details))

    def join(self, identity: str, task: str, details: dict[str, Any]) -> bool:
        """Records the task that an invitation led to; False if another second collector accepted first."""
        with writing(self._engine) as connection:
            same = pairings.c.identity == identity
            row = connection.execute(pairings.select().where(same).with_for_update()).one()
            if row.task not in ("", task):
                return False
            line = pairings.update().where(same)
            connection.execute(line.values(task=task, details=json.dumps(details, ensure_ascii=False)))
        return True

    def forget(self, identity: str) -> None:
        """Deletes a pairing and its keys."""
        with writing(self._engine) as connection:
            connection.execute(pairings.delete().where(pairings.c.identity == identity))


def identity_of(secret: str) -> str:
    """The identity under which an invitation is stored: a hash of its secret."""
    return hashlib.sha256(b"bruit invitation:" + secret.encode()).hexdigest()
