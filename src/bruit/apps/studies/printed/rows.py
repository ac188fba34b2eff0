"""One line of the comparison: a number or a figure that a document prints, and ours."""

from __future__ import annotations

from dataclasses import asdict, dataclass

LEFT = "the study"
"""Ours, where one number would not tell it."""


GIVEN, LOST, CORRECTED = "taken as given", "not to be had", "the erratum"
"""Ours, where a number is quoted from others, rests on data that nobody may have, or is wrong as it stands."""


@dataclass(frozen=True)
class Printed:
    """What a document prints of an item of docs/spec.md, what comes out here, and why it differs where it does.

    `study` names the study that measures it, where one number would not tell it.
    """

    item: str
    what: str
    theirs: str
    ours: str
    why: str = ""
    study: str = ""

    def to_json(self) -> dict[str, str]:
        """The line in JSON types."""
        return asdict(self)


def spaced(number: float) -> str:
    """A whole number with spaces between its thousands, as the documents print them."""
    return f"{number:,.0f}".replace(",", " ").replace("-", "−")
