"""A poll in memory: its stored record, question, protocol, and the counters of its rounds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from bruit.apps.web.admission.issuing import SigningKey
from bruit.apps.web.polls.broadcast import Broadcast
from bruit.apps.web.polls.question import PollQuestion
from bruit.apps.web.polls.store import Counts, Key, StoredPoll
from bruit.apps.web.report_format import Wire


@dataclass
class LivePoll:
    """A poll in memory; `version` grows with every change that dashboards must show."""

    stored: StoredPoll
    question: PollQuestion
    wire: Wire
    counts: Counts
    signing: SigningKey | None = None
    earlier: tuple[tuple[Wire, Counts], ...] = ()
    """The rounds of an open question that are over: what each asked about follows from those before it."""
    broadcast: Broadcast = field(default_factory=Broadcast)
    version: int = 0
    summed: tuple[int, dict[str, Any]] | None = None
    summing: asyncio.Task[None] | None = None
    errors: list[tuple[int, float]] | None = None
    talking: asyncio.Task[None] | None = None
    said: int = -1

    @property
    def key(self) -> Key:
        """The identity of the poll and the number of its round."""
        return self.stored.identity, self.stored.round

    @property
    def has_rounds(self) -> bool:
        """Whether the question is asked in rounds."""
        return self.question.forever is not None or self.question.kind == "open"

    def wire_of(self, number: int) -> Wire | None:
        """The format of the reports of a round; None for a round of an open question that has not begun."""
        if self.question.kind != "open" or number == self.stored.round:
            return self.wire
        return self.earlier[number - 1][0] if number < self.stored.round else None

    def become(self, stored: StoredPoll, counts: Counts) -> None:
        """Updates the poll to what is stored now."""
        self.stored, self.counts, self.version = stored, counts, self.version + 1
