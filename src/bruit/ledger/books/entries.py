"""Entries of a ledger: the charge as requested, the entry as stored, and the errors that refuse a charge."""

from __future__ import annotations

import getpass
import json
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from bruit.core.guarantee import Guarantee, guarantee_from_json
from bruit.core.losses import Loss, loss_from_json
from bruit.core.release import Receipt, Release
from bruit.errors import BudgetExceeded, LedgerError, StorageError
from bruit.ledger.books.kept_releases import release_from_json
from bruit.ledger.books.units import Units
from bruit.privacy.groups import LossCurve

SKEW: Final = 60_000_000
"""Microseconds by which the clocks of two machines that share a book may differ."""

NO_RELEASE: Final = "null"
"""Stands in the place of a release where an entry is finished without one."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Place:
    """The cell of a partition that a charge concerns, and the largest number of cells that one person can touch."""

    partition: str
    cell: str
    largest: int


@dataclass(frozen=True)
class Request:
    """A charge before it is written; with `once`, a second charge from the same source is refused."""

    what: str
    who: str
    loss: Loss
    guarantee: Guarantee
    cost: Units
    accountant: str
    place: Place | None = None
    source: str | None = None
    once: bool = False

    def texts(self) -> dict[str, Any]:
        """The columns of the entry that hold text; the numbers that are added up are stored separately."""
        return {
            "what": self.what,
            "who": self.who,
            "loss": json.dumps(self.loss.to_json(), ensure_ascii=False),
            "guarantee": json.dumps(self.guarantee.to_json(), ensure_ascii=False),
            "accountant": self.accountant,
            "partition": self.place.partition if self.place else None,
            "cell": self.place.cell if self.place else None,
            "source": self.source,
        }


@dataclass(frozen=True)
class Entry:
    """One charge: when, for what, by whom, its loss, its cost and the running total after it.

    `cost` and `total` are in the book's units. An entry is open until what it paid for came out: what crashed stays
    charged. `release` is None in an open entry, and where none is due: a declared list, steps of a training.
    """

    number: int
    when: datetime
    what: str
    who: str
    loss: Loss
    guarantee: Guarantee
    cost: Units
    total: Units
    accountant: str
    partition: str | None
    cell: str | None
    source: str | None
    release: Release[Any] | None
    finished: bool

    @property
    def state(self) -> str:
        """`finished` once its release is stored, else `open`."""
        return "finished" if self.finished else "open"

    def __repr__(self) -> str:
        return f"Entry({self.number}: {self.what}, {self.guarantee}, {self.state})"


def entry(row: dict[str, Any], receipt: Receipt) -> Entry:
    """Builds an entry from a stored row; its release gets the receipt of the entry."""
    kept, loss = row["release"], loss_from_json(json.loads(row["loss"]))
    promised = guarantee_from_json(json.loads(row["guarantee"]))
    return Entry(
        number=row["number"],
        when=_EPOCH + timedelta(microseconds=row["at"]),
        what=row["what"],
        who=row["who"],
        loss=loss,
        guarantee=replace(promised, curve=LossCurve(loss, promised.by)),
        cost=Units(row["cost"], row["cost_delta"]),
        total=Units(row["total"], row["total_delta"]),
        accountant=row["accountant"],
        partition=row["partition"],
        cell=row["cell"],
        source=row["source"],
        release=None if kept in (None, NO_RELEASE) else replace(release_from_json(kept), receipt=receipt),
        finished=kept is not None,
    )


def microseconds() -> int:
    """The current time by this machine's clock, in microseconds since 1970."""
    return time.time_ns() // 1000


def clock_went_back(now: int, last: int) -> StorageError:
    """The error for a charge dated before the book's last entry: the machine's clock went backwards."""
    stated, known = (_EPOCH + timedelta(microseconds=value) for value in (now, last))
    return StorageError(
        f"the clock says {stated:%Y-%m-%d %H:%M:%S} UTC, but the last entry of the book is of "
        f"{known:%Y-%m-%d %H:%M:%S}; nothing was charged: set the clock of this machine, or, if "
        "it is right and an entry was made under a wrong one, run `bruit ledger repair-clock`"
    )


def restored_book(name: str, at: int) -> LedgerError:
    """The error for charging a book that was restored from a backup and not yet resumed."""
    made = _EPOCH + timedelta(microseconds=at)
    return LedgerError(
        f"the book {name!r} was restored from a backup of {made:%Y-%m-%d %H:%M:%S} UTC and may have forgotten charges "
        "that came later; nothing was charged: say what they amount to with `bruit ledger resume`"
    )


def loss_used_twice(source: str | None) -> BudgetExceeded:
    """The error for paying twice with the same loss of a declared list."""
    return BudgetExceeded(
        f"{source}, of a declared list, was used before; nothing was charged. Declare as many losses as there are uses"
    )


def user() -> str:
    """The name of the operating-system user that runs this process."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
