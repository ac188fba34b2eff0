"""What many reports add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument

if TYPE_CHECKING:
    from bruit.local.frequency_protocol import FrequencyProtocol
    from bruit.local.protocol import LocalProtocol


@dataclass(frozen=True)
class Reports:
    """The reports of many respondents, one row each; `seeded` when their noise can be drawn again."""

    protocol: LocalProtocol
    values: NDArray[Any]
    seeded: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001
        return np.array(self.values, dtype=dtype, copy=copy)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The reports as columns of a file: one, or one for each part of a report."""
        values = self.values if self.values.ndim == 2 else self.values[:, None]
        return {f"report_{place}": column for place, column in enumerate(values.T)}

    def of(self, columns: Mapping[str, NDArray[Any]], *, seeded: bool) -> Reports:
        """Other reports of the same protocol, from columns like these."""
        parts = list(columns.values())
        return Reports(self.protocol, parts[0] if self.values.ndim == 1 else np.column_stack(parts), seeded)


@dataclass(frozen=True, eq=False)
class Tally:
    """How many reports support each category, out of how many: all that an estimate needs; `+` merges two.

    Everything here is a sum over reports, so any engine can reduce it in any order.
    """

    protocol: FrequencyProtocol
    answers: int
    counts: NDArray[np.int64]
    seeded: bool = False

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.protocol != other.protocol:
            raise InvalidArgument("two tallies can be added only when their reports followed the same protocol")
        return Tally(
            self.protocol, self.answers + other.answers, self.counts + other.counts, self.seeded or other.seeded
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tally)
            and (self.protocol, self.answers, self.seeded) == (other.protocol, other.answers, other.seeded)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """The tally in JSON types, with its protocol."""
        return {
            "protocol": self.protocol.to_json(),
            "answers": self.answers,
            "counts": self.counts.tolist(),
            "seeded": self.seeded,
        }
