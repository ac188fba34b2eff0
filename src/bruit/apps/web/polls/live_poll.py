"""A poll in memory: its stored record, question, protocol, and the counters of its round."""

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

    def become(self, stored: StoredPoll, counts: Counts) -> None:
        """Updates the poll to what is stored now."""
        self.stored, self.counts, self.version = stored, counts, self.version + 1
