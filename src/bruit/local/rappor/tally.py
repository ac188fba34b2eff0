"""What RAPPOR reports add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument

if TYPE_CHECKING:
    from bruit.local.rappor.protocol import Rappor


@dataclass(frozen=True)
class RapporReports:
    """One row a report: its respondent's cohort and the noised bits, packed in words of 64."""

    protocol: Rappor
    cohorts: NDArray[np.int32]
    values: NDArray[np.uint64]
    seeded: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The reports as columns of a file: the cohort, then the words of bits."""
        return {"cohort": self.cohorts, **{f"report_{place}": column for place, column in enumerate(self.values.T)}}

    def of(self, columns: Mapping[str, NDArray[Any]], *, seeded: bool) -> RapporReports:
        """Other reports of the same protocol, from columns like these."""
        cohorts, *words = columns.values()
        return RapporReports(self.protocol, cohorts, np.column_stack(words), seeded)


@dataclass(frozen=True, eq=False)
class RapporTally:
    """How many reports of each cohort have each bit set, and how many each cohort sent; `+` merges two."""

    protocol: Rappor
    answers: NDArray[np.int64]
    counts: NDArray[np.int64]
    seeded: bool = False

    def __add__(self, other: RapporTally) -> RapporTally:
        if not isinstance(other, RapporTally):
            return NotImplemented
        if self.protocol != other.protocol:
            raise InvalidArgument("two tallies can be added only when their reports followed the same protocol")
        seeded = self.seeded or other.seeded
        return RapporTally(self.protocol, self.answers + other.answers, self.counts + other.counts, seeded)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RapporTally)
            and (self.protocol, self.seeded) == (other.protocol, other.seeded)
            and np.array_equal(self.answers, other.answers)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """The tally in JSON types, with its protocol."""
        numbers = {"answers": self.answers.tolist(), "counts": self.counts.tolist()}
        return {"protocol": self.protocol.to_json(), **numbers, "seeded": self.seeded}
