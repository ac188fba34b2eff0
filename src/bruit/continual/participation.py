"""Participation: in how many periods one person counts, and how much one person adds in a period."""

from __future__ import annotations

from dataclasses import dataclass

from bruit.core.arguments import whole


@dataclass(frozen=True)
class Participation:
    """One person counts in at most `times` periods (None: any number), any two at least `apart` periods apart.

    The stream enforces it: rows of a person who may not come yet, or any more, are left out.
    """

    times: int | None
    apart: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "apart", whole(self.apart, "apart"))
        if self.times is not None:
            object.__setattr__(self, "times", whole(self.times, "times"))

    def most(self, periods: int) -> int:
        """The most of the first `periods` periods in which one person can count."""
        room = -(-periods // self.apart)
        return room if self.times is None else min(self.times, room)

    def __str__(self) -> str:
        if self.times == 1:
            return "once"
        often = "any number of times" if self.times is None else f"at most {self.times} times"
        return often if self.apart == 1 else f"{often}, any two at least {self.apart} periods apart"


def once() -> Participation:
    """Each person's rows count in one period only, the first with a row of theirs."""
    return Participation(1)


def at_most(times: int, *, apart: int = 1) -> Participation:
    """Each person's rows count in at most `times` periods, any two at least `apart` periods apart."""
    return Participation(times, apart)


def once_in(periods: int) -> Participation:
    """Each person's rows count at most once in any `periods` successive periods, to the end of the stream."""
    return Participation(None, periods)


@dataclass(frozen=True)
class Contribution:
    """The most one person adds in one period: integers with a bounded squared l2 norm over all cells.

    `largest` bounds a single cell, `cells` how many cells are not zero. Everything a person adds *and takes back* in a
    period counts. Where `signed` is false nothing is negative, which halves the price of replacing a person.
    """

    squared_norm: int
    largest: int
    cells: int
    signed: bool
