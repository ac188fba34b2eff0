"""Limits on open connections and event streams, in all and per address, fitted to the descriptor limit."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import Final, Protocol

KEPT: Final = 96
"""Descriptors kept for the database, its WAL, logs and files that are sent."""
MOST_CONNECTIONS: Final = 16_384
MOST_DESCRIPTORS: Final = MOST_CONNECTIONS + KEPT


@dataclass(frozen=True)
class ConnectionLimits:
    """The most open connections, in all and per address, and event streams, also for anonymous clients.

    Streams take at most half of the connections, so that reports always find one; a quarter of the streams is kept for
    people who are signed in.
    """

    connections: int
    connections_per_address: int
    streams: int
    streams_per_address: int
    anonymous_streams: int


def fit(descriptors: int, *, proxied: bool = False) -> ConnectionLimits:
    """The limits for a number of file descriptors; behind a proxy there is no limit per address."""
    connections = max(32, min(descriptors - KEPT, MOST_CONNECTIONS))
    streams = connections // 2
    return ConnectionLimits(
        connections=connections,
        connections_per_address=connections if proxied else 3 * connections // 4,
        streams=streams,
        streams_per_address=streams if proxied else min(256, streams // 2),
        anonymous_streams=3 * streams // 4,
    )


def raise_descriptor_limit() -> int:
    """Raises the soft limit on open files towards the hard one; returns how many this process may open."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows counts otherwise, and allows thousands
        return 2048
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


class Closable(Protocol):
    """A connection that can be closed to make room."""

    def give_up(self) -> None:
        """Closes the connection at once."""


@dataclass
class Connections:
    """All open connections; idle ones are closed to make room for new ones, the longest idle first."""

    limits: ConnectionLimits
    _by_address: Counter[str] = field(default_factory=Counter)
    _waiting: OrderedDict[Closable, str] = field(default_factory=OrderedDict)

    def add(self, one: Closable, address: str) -> bool:
        """Counts a new, idle connection; False where the limit is reached and no idle one can be closed."""
        own = self._by_address[address] >= self.limits.connections_per_address
        if (own or self._by_address.total() >= self.limits.connections) and not self._make_room(address, own=own):
            return False
        self._by_address[address] += 1
        self._waiting[one] = address
        return True

    def work(self, one: Closable) -> None:
        """Marks a connection as busy with a request, so that it is not closed to make room."""
        self._waiting.pop(one, None)

    def rest(self, one: Closable, address: str) -> None:
        """Marks a connection as idle again after its response."""
        self._waiting[one] = address

    def remove(self, one: Closable, address: str) -> None:
        """Removes a closed connection from the count."""
        self._waiting.pop(one, None)
        self._by_address[address] -= 1
        if self._by_address[address] <= 0:
            del self._by_address[address]

    def _make_room(self, address: str, *, own: bool) -> bool:
        """Gives up a waiting connection: one of the same address, or of the one that holds the most."""
        if not self._waiting:
            return False
        wanted = address if own else max(set(self._waiting.values()), key=lambda name: self._by_address[name])
        found = next((one for one, name in self._waiting.items() if name == wanted), None)
        if found is None:
            return False
        del self._waiting[found]
        found.give_up()
        return True


@dataclass
class StreamCount:
    """The number of open event streams, in all and per address."""

    limits: ConnectionLimits
    anonymous: int = 0
    _by_address: Counter[str] = field(default_factory=Counter)

    def enter(self, address: str, *, signed_in: bool) -> bool:
        """Counts a new stream; False where the limit is reached."""
        full = self._by_address.total() >= self.limits.streams
        crowd = self._by_address[address] >= self.limits.streams_per_address
        if full or (not signed_in and (crowd or self.anonymous >= self.limits.anonymous_streams)):
            return False
        self._by_address[address] += 1
        self.anonymous += not signed_in
        return True

    def leave(self, address: str, *, signed_in: bool) -> None:
        """Counts a closed stream out."""
        self._by_address[address] -= 1
        self.anonymous -= not signed_in
        if self._by_address[address] <= 0:
            del self._by_address[address]
