"""Descriptions of the protocols for planners, browsers, audits and tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bruit.core.numbers import Exact
    from bruit.local.protocol import LocalProtocol


class ReportShape(StrEnum):
    """The format of one report sent by a browser."""

    PLACE = "place"
    """A whole number: the place of an answer, or a bit."""

    BITS = "bits"
    """A row of bits."""

    COHORT_BITS = "cohort and bits"
    """The respondent's cohort and a row of bits."""


@dataclass(frozen=True)
class Offer:
    """How a protocol kind is listed: an example, whether it can be chosen by name, its report format and plain words.

    `example` makes a small one at an epsilon, for audits and tests. `by_name` lets `bruit survey plan` make it for a
    list of categories and an epsilon alone; `rank` places it, by the length of its report, among those that
    `choose_protocol` weighs. `report` is what a browser sends, None where no browser follows it, and `plain_words` says
    in a sentence what the noise does.
    """

    example: Callable[[Exact], LocalProtocol]
    by_name: bool = False
    rank: int | None = None
    report: ReportShape | None = None
    plain_words: Callable[[Any], str] | None = None


EXAMPLE = ("a", "b", "c", "d", "e")
"""The categories of examples."""


def say_kept(protocol: Any) -> str:
    """A sentence that says how many of a hundred people send their true answer."""
    kept = 100 * float(protocol.channel.probabilities()[0, 0])
    return f"Out of 100 people, about {kept:.0f} send their true answer; the others send another."


def say_each_bit(_: Any) -> str:
    """A sentence that says what a report of noised bits is."""
    return "Each person sends a yes or no for every choice, each of them changed by chance."
