"""RAPPOR reports, and their tally by cohort and bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument

if TYPE_CHECKING:
    from bruit.local.rappor.protocol import Rappor


@dataclass(frozen=True)
class RapporReports:
    """RAPPOR reports, one per row: the respondent's cohort and the noised bits, packed in 64-bit words."""

    protocol: Rappor
    cohorts: NDArray[np.int32]
    values: NDArray[np.uint64]
    seeded: bool = False
    round: int = 1

    def __len__(self) -> int:
        return len(self.values)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The reports as columns of a file: the cohort, then the 64-bit words."""
        return {"cohort": self.cohorts, **{f"report_{place}": column for place, column in enumerate(self.values.T)}}

    def of(self, columns: Mapping[str, NDArray[Any]], *, seeded: bool) -> RapporReports:
        """Reads back reports of this protocol from the columns of a file, as `columns` wrote them."""
        cohorts, *words = columns.values()
        return RapporReports(self.protocol, cohorts, np.column_stack(words), seeded)


@dataclass(frozen=True, eq=False)
class RapporTally:
    """How many reports each cohort sent, and how many of these set each bit; `+` merges two tallies.

    A row of `rounds` says how many reports of each cohort were first ones of their respondents, how many second ones...
    """

    protocol: Rappor
    people: NDArray[np.int64]
    counts: NDArray[np.int64]
    seeded: bool = False
    rounds: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        sizes = tuple(map(int, self.people))
        object.__setattr__(self, "rounds", tuple(tuple(map(int, each)) for each in self.rounds) or (sizes,))
        if tuple(map(sum, zip(*self.rounds, strict=True))) != sizes:
            raise InvalidArgument(
                "rounds must count first reports, second reports and so on of each cohort, people= in all"
            )

    @property
    def respondents(self) -> NDArray[np.int64]:
        """The least number of different respondents of each cohort who can have sent these reports."""
        return np.asarray(np.max(np.array(self.rounds, np.int64), axis=0), np.int64)

    def __add__(self, other: RapporTally) -> RapporTally:
        if not isinstance(other, RapporTally):
            return NotImplemented
        if self.protocol != other.protocol:
            raise InvalidArgument("two tallies can be added only when their reports followed the same protocol")
        seeded = self.seeded or other.seeded
        none = (0,) * self.protocol.cohorts
        pairs = zip_longest(self.rounds, other.rounds, fillvalue=none)
        rounds = tuple(tuple(map(sum, zip(one, two, strict=True))) for one, two in pairs)
        return RapporTally(self.protocol, self.people + other.people, self.counts + other.counts, seeded, rounds)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RapporTally)
            and (self.protocol, self.seeded, self.rounds) == (other.protocol, other.seeded, other.rounds)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """The tally in JSON types, with its protocol."""
        numbers = {"answers": self.people.tolist(), "counts": self.counts.tolist()}
        rounds = {"rounds": [list(each) for each in self.rounds]} if len(self.rounds) > 1 else {}
        return {"protocol": self.protocol.to_json(), **numbers, **rounds, "seeded": self.seeded}
