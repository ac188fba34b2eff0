"""Entries of a book: what a charge asks for, what stands of it afterwards, and the errors that refuse one."""

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
    """The cell of a partition that a charge concerns; `largest` cells together are the most one person can touch."""

    partition: str
    cell: str
    largest: int


@dataclass(frozen=True)
class Request:
    """A charge as it is asked of a book; `once` refuses a second one from the same source."""

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
        """The descriptive columns of the entry as texts; numbers that are added up are kept beside them."""
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
    """One charge: when, what, by whom, the loss, what it cost and what the book had spent after it.

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
        """`finished` or `open`."""
        return "finished" if self.finished else "open"


def entry(row: dict[str, Any], receipt: Receipt) -> Entry:
    """The entry that a row of the book holds; its release gets the receipt of the entry."""
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
    """The time by this machine's clock, in microseconds since 1970."""
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
    """The error for charging a book that was put back from a backup."""
    made = _EPOCH + timedelta(microseconds=at)
    return LedgerError(
        f"the book {name!r} was restored from a backup of {made:%Y-%m-%d %H:%M:%S} UTC and may have forgotten charges "
        "that came later; nothing was charged: say what they amount to with `bruit ledger resume`"
    )


def loss_used_twice(source: str | None) -> BudgetExceeded:
    """The error for paying with a loss of a declared list that was used before."""
    return BudgetExceeded(
        f"{source}, of a declared list, was used before; nothing was charged. Declare as many losses as there are uses"
    )


def user() -> str:
    """The name under which this process runs."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
