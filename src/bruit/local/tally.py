"""Reports of a frequency protocol, and their tally by category."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.core.arguments import whole
from bruit.errors import InvalidArgument

if TYPE_CHECKING:
    from bruit.local.frequency_protocol import FrequencyProtocol
    from bruit.local.protocol import LocalProtocol


@dataclass(frozen=True)
class Reports:
    """The reports of many respondents, one per row; `seeded` where the noise came from a seeded generator.

    `round` is how many reports each of these respondents has sent with this one.
    """

    protocol: LocalProtocol
    values: NDArray[Any]
    seeded: bool = False
    round: int = 1

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001
        return np.array(self.values, dtype=dtype, copy=copy)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The reports as columns of a file: one column, or one for each part of a report."""
        values = self.values if self.values.ndim == 2 else self.values[:, None]
        return {f"report_{place}": column for place, column in enumerate(values.T)}

    def of(self, columns: Mapping[str, NDArray[Any]], *, seeded: bool) -> Reports:
        """Reports of the same protocol from columns with the same names."""
        parts = list(columns.values())
        return Reports(self.protocol, parts[0] if self.values.ndim == 1 else np.column_stack(parts), seeded)


@dataclass(frozen=True, eq=False)
class Tally:
    """How many reports there are and how many support each category, all that an estimate needs; `+` merges two.

    Everything here is a sum over reports, so any engine can reduce it in any order. `rounds` says how many of them were
    first reports of their respondents, how many second ones, and so on: who reports ten times is still one respondent.
    """

    protocol: FrequencyProtocol
    people: int
    counts: NDArray[np.int64]
    seeded: bool = False
    rounds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", tuple(map(int, self.rounds)) or (self.people,))
        if sum(self.rounds) != self.people or min(self.rounds) < 0:
            raise InvalidArgument(
                f"rounds={self.rounds} must count first reports, second reports and so on, {self.people} in all"
            )

    @property
    def respondents(self) -> int:
        """The least number of different respondents who can have sent these reports."""
        return max(self.rounds)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.protocol != other.protocol:
            raise InvalidArgument("two tallies can be added only when their reports followed the same protocol")
        rounds = tuple(map(sum, zip_longest(self.rounds, other.rounds, fillvalue=0)))
        people, counts = self.people + other.people, self.counts + other.counts
        return Tally(self.protocol, people, counts, self.seeded or other.seeded, rounds)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tally)
            and (self.protocol, self.rounds, self.seeded) == (other.protocol, other.rounds, other.seeded)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """The tally in JSON types, with its protocol."""
        numbers = {"answers": self.people, "counts": self.counts.tolist()}
        rounds = {"rounds": list(self.rounds)} if len(self.rounds) > 1 else {}
        return {"protocol": self.protocol.to_json(), **numbers, **rounds, "seeded": self.seeded}


def round_counts(asked: int | None, known: int, reports: int) -> tuple[int, ...]:
    """The count of reports in each round, where all the given reports belong to one round."""
    number = known if asked is None else whole(asked, "round")
    return (*[0] * (number - 1), reports)
