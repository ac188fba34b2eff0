"""The limit on what one person contributes: rows in all, or rows in each of a number of groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bruit.core.arguments import whole
from bruit.errors import InvalidArgument

MOST_ROWS = 2**16
"""The most rows of a person that can count, and the most copies of one row that are told apart."""


@dataclass(frozen=True)
class Limit:
    """At most `rows` rows of each person in all, or at most `each` rows in each of at most `groups` groups."""

    rows: int | None = None
    groups: int | None = None
    each: int | None = None

    def __post_init__(self) -> None:
        stated = {name: getattr(self, name) for name in ("rows", "groups", "each") if getattr(self, name) is not None}
        if set(stated) not in ({"rows"}, {"groups", "each"}):
            raise InvalidArgument(
                f"limit({', '.join(f'{name}={value}' for name, value in stated.items())}): say rows=..., or groups=... "
                "and each=..., which are two different limits"
            )
        for name, value in stated.items():
            object.__setattr__(self, name, whole(value, name, most=MOST_ROWS))

    def __str__(self) -> str:
        if self.rows is not None:
            return f"at most {_count_of(self.rows, 'row')} of each person, chosen at random"
        each, groups = _count_of(self.each or 1, "row"), _count_of(self.groups or 1, "group")
        return f"at most {each} in each of at most {groups} of each person, chosen at random"

    def to_json(self) -> dict[str, Any]:
        """The numbers that were stated, in JSON types."""
        return {name: value for name, value in vars(self).items() if value is not None}


def _count_of(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


ONE_ROW = Limit(rows=1)
"""The only limit where each row is a person."""
