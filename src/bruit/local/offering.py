"""Descriptions of the protocols for planners, browsers, audits and tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

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
    """How a protocol kind is listed: an example, whether it can be chosen by name, and its report format.

    `example` makes a small one at an epsilon, for audits and tests. `by_name` lets `bruit survey plan` make it for a
    list of categories and an epsilon alone; `rank` places it, by the length of its report, among those that
    `choose_protocol` weighs. `report` is what a browser sends, None where no browser follows it.
    """

    example: Callable[[Exact], LocalProtocol]
    by_name: bool = False
    rank: int | None = None
    report: ReportShape | None = None


EXAMPLE = ("a", "b", "c", "d", "e")
"""The categories of examples."""
