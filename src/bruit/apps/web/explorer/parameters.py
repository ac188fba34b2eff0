"""The parameters of an explorer tool: numbers with a slider, and choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from bruit.core.numbers import exactly
from bruit.errors import InvalidArgument

STEPS = 200
"""Places of a slider."""

LONGEST = 60
"""Characters of a number."""

Values = Mapping[str, str]
"""A text for each parameter, as it was typed: 0.1 means one tenth."""


@dataclass(frozen=True)
class Number:
    """A numeric parameter; its slider goes from `low` to `high`, logarithmically where `log`.

    From `least` to `most` it may be typed: far enough for any sensible view, near enough to be computed at once.
    """

    name: str
    label: str
    start: str
    low: float
    high: float
    least: float
    most: float
    hint: str = ""
    whole: bool = False
    log: bool = True

    def check(self, text: str) -> str:
        """Returns the text, or refuses one that is not an allowed number."""
        if len(text) > LONGEST:
            raise InvalidArgument(f"{self.label}: write the number in at most {LONGEST} characters")
        number = exactly(text.strip(), self.label)
        if self.whole and number.denominator != 1:
            raise InvalidArgument(f"{self.label}: {number} is no whole number")
        if not self.least <= number <= self.most:
            raise InvalidArgument(f"{self.label}: give a number from {self.least:g} to {self.most:g}")
        return str(int(number)) if self.whole else text.strip()

    def place(self, text: str) -> int:
        """The slider's position for a number."""
        from math import log

        value = min(max(float(exactly(text, self.label)), self.low), self.high)
        share = log(value / self.low) / log(self.high / self.low) if self.log else self._share(value)
        return round(STEPS * share)

    def _share(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Choice:
    """A parameter that is one of a few words."""

    name: str
    label: str
    start: str
    options: tuple[tuple[str, str], ...]
    hint: str = ""

    def check(self, text: str) -> str:
        """Returns the text, or refuses one that is not among the words."""
        if text not in dict(self.options):
            raise InvalidArgument(f"{self.label}: choose among {', '.join(dict(self.options))}")
        return text


Parameter = Number | Choice


def read_parameters(parameters: Sequence[Parameter], given: Values) -> dict[str, str]:
    """Every parameter as given in the address's query, or its default; unknown names are ignored."""
    return {one.name: one.check(given.get(one.name, one.start)) for one in parameters}


def link(values: Values) -> str:
    """The query string of the address that shows the same settings."""
    return "?" + urlencode(values)
