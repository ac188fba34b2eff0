"""The lines of a book."""

from __future__ import annotations

import getpass
import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from bruit.errors import BudgetExceeded, StorageError
from bruit.ledger.releases import release_from_json
from bruit.ledger.units import Units
from bruit.privacy import Guarantee, Loss, Release, guarantee_from_json, loss_from_json

SKEW: Final = 60_000_000
"""Microseconds by which the clocks of two machines that share a book may differ."""

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
        """The columns that only describe; what counts is beside them."""
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

    `cost` and `total` are in the book's units. `release` is None while nothing was kept: what crashed stays charged.
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


def entry(row: dict[str, Any]) -> Entry:
    """The entry that a row of the book holds."""
    kept = row["release"]
    return Entry(
        number=row["number"],
        when=_EPOCH + timedelta(microseconds=row["at"]),
        what=row["what"],
        who=row["who"],
        loss=loss_from_json(json.loads(row["loss"])),
        guarantee=guarantee_from_json(json.loads(row["guarantee"])),
        cost=Units(row["cost"], row["cost_delta"]),
        total=Units(row["total"], row["total_delta"]),
        accountant=row["accountant"],
        partition=row["partition"],
        cell=row["cell"],
        source=row["source"],
        release=None if kept is None else release_from_json(kept),
    )


def microseconds() -> int:
    """The time by this machine's clock, in microseconds since 1970."""
    return time.time_ns() // 1000


def clock_went_back(now: int, last: int) -> StorageError:
    """The refusal of a charge that would stand before the last one."""
    stated, known = (_EPOCH + timedelta(microseconds=value) for value in (now, last))
    return StorageError(
        f"the clock says {stated:%Y-%m-%d %H:%M:%S} UTC, but the last entry of the book is of "
        f"{known:%Y-%m-%d %H:%M:%S}; nothing was charged: set the clock of this machine"
    )


def drawn_before(source: str | None) -> BudgetExceeded:
    """The refusal to use a loss of a declared list twice."""
    return BudgetExceeded(
        f"{source}, of a declared list, was used before; nothing was charged. Declare as many losses as there are uses"
    )


def user() -> str:
    """The name under which this process runs."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
