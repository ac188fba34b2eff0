"""Registers tables: the ledger records name, person, schema and version; the curator keeps a digest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bruit.errors import BudgetExceeded, InvalidArgument, PrivacyError
from bruit.tables.plan.operators import Plan, open_table
from bruit.tables.plan.parts import Parts, parts_of
from bruit.tables.schema.statement import Schema
from bruit.tables.sources.opening import files_of
from bruit.tables.versions.curator_file import CuratorFile, Registration

if TYPE_CHECKING:
    from bruit.ledger import Ledger

WHAT = "tables.register"
"""What stands in the book for a registration."""


@dataclass(frozen=True, eq=False)
class Registered:
    """A table registered in a ledger under a name and a version; questions are asked of its `plan`."""

    plan: Plan
    ledger: Ledger

    @property
    def registration(self) -> Registration:
        """The table's name, its version and the ledger's identity."""
        found = self.plan.leaves[0].registration
        assert found is not None
        return found

    @property
    def name(self) -> str:
        """The name of the table, as in its schema."""
        return self.registration.table

    @property
    def version(self) -> int:
        """The version, as stated when it was registered."""
        return self.registration.version

    def part(self, column: str, *, cells: int, keep: str | None = None) -> Parts:
        """The cells of the table by a declared column, such as "ward" or "admitted.month", each charged apart.

        A person keeps rows in at most `cells` of them; adding or removing a person costs the `cells` largest totals,
        replacing one twice as many. With keep="first" a list beside the file holds people to their first cells in all
        versions; without it each version is a partition of its own.
        """
        return parts_of(self.plan, self.ledger, column, cells, keep)


def register(
    source: object, schema: Schema, *, ledger: Ledger, connection: object = None, version: int | None = None
) -> Registered:
    """Registers a table in a ledger as its first version, or as the next: the same people, other content.

    No record is read but for the keyed digest of a file, which stays with the curator. A table inside an engine has no
    digest: its `version` is what the curator states.

    >>> import bruit, polars
    >>> from bruit.tables.schema import Schema, number, whole
    >>> book = bruit.Ledger("clinic", epsilon=1, neighbours=bruit.ADD_OR_REMOVE_ONE, person="id")
    >>> schema = Schema("id", {"id": whole(), "days": number(0, 60, grid=1)}, name="stays")
    >>> stays = bruit.tables.register(polars.DataFrame({"id": [1, 2], "days": [3, 9]}), schema, ledger=book)
    >>> stays.name, stays.version, float(book.spent.epsilon)
    ('stays', 1, 0.0)
    """
    plan = open_table(source, schema, connection=connection)
    _require_own_people(plan, ledger)
    stands = versions_of(ledger, schema.name)
    number = _checked(version, stands)
    _write(ledger, schema, number, stated=version is not None)
    registered = _registered(plan, source, schema, number, ledger, queried=connection is not None)
    found = registered.registration
    if found.curator is not None:
        found.curator.remember(found.table, number, found.files)
    return registered


def open_registered(source: object, schema: Schema, *, ledger: Ledger, connection: object = None) -> Registered:
    """Opens a table at its last version registered in a ledger, with the schema it was registered with."""
    plan = open_table(source, schema, connection=connection)
    _require_own_people(plan, ledger)
    stands = versions_of(ledger, schema.name)
    if not stands:
        raise InvalidArgument(
            f"no table {schema.name!r} is registered in the book {ledger.name!r}: bruit.tables.register(...) does that"
        )
    number, known = max(stands.items())
    if known["schema"] != schema.digest:
        raise InvalidArgument(
            f"version {number} of {schema.name!r} was registered with another schema: register the table again, which "
            "makes a new version, or use the schema it has"
        )
    return _registered(plan, source, schema, number, ledger, queried=connection is not None)


def versions_of(ledger: Ledger, table: str) -> dict[int, dict[str, Any]]:
    """The registered versions of a table in a ledger, with what was recorded of each."""
    notes = (entry.release.details for entry in ledger.entries if entry.what == WHAT and entry.release is not None)
    return {note["version"]: note for note in notes if note["table"] == table}


def _registered(
    plan: Plan, source: object, schema: Schema, version: int, ledger: Ledger, *, queried: bool
) -> Registered:
    path = Path(source) if isinstance(source, str | Path) and not queried else None
    registration = Registration(
        schema.name,
        version,
        ledger.book.identity,
        None if path is None else CuratorFile.beside(path),
        () if path is None else tuple(files_of(path, schema.file)),
    )
    leaf = replace(plan.leaves[0], registration=registration)
    return Registered(replace(plan, step=leaf, leaves=(leaf,)), ledger)


def _write(ledger: Ledger, schema: Schema, version: int, *, stated: bool) -> None:
    about = {"table": schema.name, "version": version, "person": schema.person, "schema": schema.digest}
    once = hashlib.sha256(f"{WHAT}\0{schema.name}\0{version}".encode()).hexdigest()
    try:
        ledger.note(WHAT, about=about | {"stated": stated}, once=once)
    except BudgetExceeded:
        raise InvalidArgument(
            f"version {version} of {schema.name!r} was registered at this moment by somebody else: register again"
        ) from None


def _checked(version: int | None, stands: dict[int, Any]) -> int:
    following = max(stands, default=0) + 1
    if version is None:
        return following
    if isinstance(version, bool) or not isinstance(version, int) or version < following:
        raise InvalidArgument(f"version={version!r}: the next version is a whole number from {following}")
    return version


def _require_own_people(plan: Plan, ledger: Ledger) -> None:
    if plan.person != ledger.person:
        raise PrivacyError(
            f"the book {ledger.name!r} protects {ledger.person!r}, the rows of this table belong to {plan.person!r}: "
            "register it in a book for these people"
        )
