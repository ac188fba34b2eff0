"""What a benchmark is: plain data, so that a peer's environment can read it with nothing installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Work = Callable[[], object]
"""What is timed. It is called several times."""

Prepare = Callable[[], Work]
"""Imports what it needs, makes the data (all untimed) and returns the work."""


@dataclass(frozen=True)
class Peer:
    """Somebody else's way to the same result.

    `times` is the goal: ours shall be at least so many times as good. `here` runs the peer in our own environment
    (NumPy, SciPy and whatever else bruit depends on) instead of the area's peers' environment. `ours` is another way of
    our own, which runs here too: texts as people beside numbers, say. Any other peer that imports bruit is refused.
    `rounds` is how many processes a peer gets that takes minutes; None is as many as ours.
    """

    name: str
    prepare: Prepare
    times: float | None = None
    here: bool = False
    ours: bool = False
    rounds: int | None = None


@dataclass(frozen=True)
class Case:
    """One row (one a peer): `amount` units of work are done in each call of the work.

    `unit` "s" is seconds a call; any other unit, such as "values/s", is `amount` divided by the seconds. With
    `returned` the figure is the number that the work returns (memory, an error) and its time does not count. `better`
    says which way is up. `goal` is a figure that ours shall reach whatever the peers do. `threads` holds NumPy, numba,
    polars and torch to so many threads; None leaves them alone. `calls` fixes the number of timed calls of each
    process; otherwise they fill half a second.
    """

    name: str
    unit: str
    better: str
    ours: Prepare
    peers: tuple[Peer, ...] = ()
    amount: float = 1.0
    goal: float | None = None
    returned: bool = False
    threads: int | None = 1
    calls: int | None = None
    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.better not in ("higher", "lower"):
            raise ValueError(f"{self.name}: better={self.better!r}; give 'higher' or 'lower'")

    def figure(self, seconds: float) -> float:
        """What a call of so many seconds counts for in this case's unit."""
        return seconds if self.unit == "s" else self.amount / seconds

    def ratio(self, ours: float, peer: float) -> float:
        """How many times as good ours is; above one is better whichever way is up."""
        good, bad = (ours, peer) if self.better == "higher" else (peer, ours)
        return good / bad if bad else float("inf")

    def reaches(self, ours: float, goal: float) -> bool:
        """Whether a figure is as good as the goal."""
        return ours >= goal if self.better == "higher" else ours <= goal
