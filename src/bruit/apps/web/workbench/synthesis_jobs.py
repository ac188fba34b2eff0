"""Synthetic tables in the making: each in a thread of its own beside the requests, with its progress."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from bruit.apps.web.security.safe_logs import OWN, place
from bruit.errors import BruitError

log = logging.getLogger(OWN)

MOST_AT_ONCE = 1
"""Syntheses that run at a time, so that a server with two cores still responds; others wait, unpaid."""


@dataclass
class SynthesisJob:
    """A synthetic table that was asked for: of which table, paid from which book, and how far it is.

    `form` is what was filled in. When it has ended it has an `address`, that of its release, or an `error`.
    """

    table: str
    book: str
    form: dict[str, str] = field(repr=False)
    done: int = 0
    steps: int = 0
    address: str | None = None
    error: Exception | None = None

    @property
    def ended(self) -> bool:
        """Whether it was made or has failed."""
        return self.address is not None or self.error is not None

    def count(self, done: int, steps: int) -> None:
        """Notes how many of the noisy answers that were paid for are taken."""
        self.done, self.steps = done, steps

    def run(self, make: Callable[[], str]) -> None:
        """Makes the table and notes the address of its release, or why there is none."""
        try:
            self.address = make()
        except Exception as error:
            if not isinstance(error, BruitError):
                log.error("%s", place(error))
            self.error = error
