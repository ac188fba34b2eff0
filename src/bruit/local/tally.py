"""What many reports add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import BadFile, InvalidArgument
from bruit.local.checking import checked_flag

if TYPE_CHECKING:
    from bruit.local.protocol import FrequencyProtocol


@dataclass(frozen=True)
class Reports:
    """The reports of many respondents, one row each; `seeded` when their noise can be drawn again."""

    protocol: FrequencyProtocol
    values: NDArray[Any]
    seeded: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001
        return np.array(self.values, dtype=dtype, copy=copy)


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


def tally_from_json(description: dict[str, Any]) -> Tally:
    """The tally that `to_json` described."""
    from bruit.local.protocol import protocol_from_json

    protocol = protocol_from_json(description.get("protocol", {}))
    try:
        counts = np.array(description["counts"], dtype=np.int64)
        tally = Tally(protocol, int(description["answers"]), counts, checked_flag(description["seeded"]))
    except (InvalidArgument, KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadFile("this block describes no tally: it was cut, changed, or written by something else") from error
    if counts.shape != protocol.empty().counts.shape or (counts < 0).any() or (counts > tally.answers).any():
        raise BadFile("this tally does not fit its own protocol: it was changed after it was written")
    return tally
