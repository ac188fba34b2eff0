"""How often one client may ask: a bucket of tokens per address and kind of request."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

MOST_CLIENTS = 100_000
"""Addresses remembered; the ones seen longest ago are forgotten first."""


@dataclass(frozen=True)
class Rate:
    """So many requests a second in the long run, and at most `burst` at once."""

    per_second: float
    burst: int


@dataclass
class Buckets:
    """The tokens that each client has left of one kind of request."""

    rate: Rate
    clock: Callable[[], float] = monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, client: str) -> float:
        """Takes one token; 0 if there was one, else the seconds to wait for it."""
        now = self.clock()
        left, before = self._left.pop(client, (float(self.rate.burst), now))
        left = min(self.rate.burst, left + (now - before) * self.rate.per_second)
        wait = 0.0 if left >= 1 else (1 - left) / self.rate.per_second
        self._left[client] = (left - 1 if wait == 0 else left, now)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return wait
