"""Rate limits: a token bucket for each client address and kind of request."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv6Address
from time import monotonic

MOST_CLIENTS = 100_000
"""Addresses remembered; the ones seen longest ago are forgotten first."""


def network(address: str) -> str:
    """The rate-limit key of a client: its IPv4 address, or the /64 network of its IPv6 address."""
    if ":" not in address:
        return address
    try:
        whole = IPv6Address(address.partition("%")[0])
    except AddressValueError:
        return address
    return str(whole.ipv4_mapped or IPv6Address(int(whole) >> 64 << 64))


@dataclass(frozen=True)
class Rate:
    """A rate limit: requests per second in the long run, and at most `burst` at once."""

    per_second: float
    burst: int


@dataclass
class Buckets:
    """Token buckets, one per client, for one kind of request."""

    rate: Rate
    clock: Callable[[], float] = monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, client: str, cost: float = 1) -> float:
        """Takes `cost` tokens and returns 0, or returns the seconds to wait until there are enough."""
        now = self.clock()
        left, before = self._left.pop(client, (float(self.rate.burst), now))
        left = min(self.rate.burst, left + (now - before) * self.rate.per_second)
        wait = 0.0 if left >= cost else (cost - left) / self.rate.per_second
        self._left[client] = (left - cost if wait == 0 else left, now)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return wait
