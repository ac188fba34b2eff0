"""The interface of every local protocol, and the reading of protocols and tallies from JSON."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bruit.core.losses import Pure
from bruit.core.numbers import ShowsDecimals
from bruit.errors import BadFile, BruitError
from bruit.local.offering import Offer
from bruit.local.received import checked_flag

_DAMAGE: Final = (BruitError, KeyError, TypeError, ValueError, ArithmeticError)
"""What a block raises that no `to_json` wrote."""


class ReportsKind(Protocol):
    """The interface of reports of any protocol: rows as named columns, and reports from such columns."""

    @property
    def protocol(self) -> LocalProtocol:
        """The protocol that the reports followed."""

    @property
    def seeded(self) -> bool:
        """Whether the noise came from a seeded generator and can be reproduced."""

    def __len__(self) -> int:
        """How many reports there are."""

    def columns(self) -> dict[str, NDArray[Any]]:
        """The reports as named columns of a file, one row per report."""

    def of(self, columns: Mapping[str, NDArray[Any]], *, seeded: bool) -> Self:
        """Reports of the same protocol from columns with the same names."""


class TallyKind(Protocol):
    """The interface of tallies of any protocol: sums over reports that can be added and written as JSON."""

    @property
    def protocol(self) -> LocalProtocol:
        """The protocol that the reports followed."""

    @property
    def seeded(self) -> bool:
        """Whether the noise of any report came from a seeded generator."""

    def __add__(self, other: Any, /) -> Self:
        """The tally of all reports of both."""

    def to_json(self) -> dict[str, Any]:
        """The tally in JSON types, with its protocol under `protocol` and whether it is seeded under `seeded`."""


class LocalProtocol(ShowsDecimals, ABC):
    """A local protocol: noise on the respondent's own device, then a tally of the reports by the collector.

    A kind says how it randomises and tallies, and how it and its tallies come back from JSON; files need no more.
    """

    kinds: ClassVar[dict[str, type[LocalProtocol]]] = {}
    offer: ClassVar[Offer | None] = None
    """How the kind is offered; None for a base, or for what protects nobody."""

    epsilon: Fraction | float
    """What one report costs its respondent at most."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "offer" not in vars(cls):
            cls.offer = None  # a subclass has an offer of its own, or none
        LocalProtocol.kinds[cls.__name__] = cls

    @abstractmethod
    def randomise(self, values: Any, *, rng: np.random.Generator | None = None) -> ReportsKind:
        """One report for each answer; this is the step that runs on the respondent's own device."""

    @abstractmethod
    def tally(self, reports: Any) -> TallyKind:
        """The tally of the reports; refuses reports that this protocol cannot produce."""

    @abstractmethod
    def privacy(self) -> Pure:
        """The privacy loss of a respondent, ready to be composed."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """All settings needed to recreate this protocol, its weights, and its name under `protocol`, in JSON types."""

    @classmethod
    @abstractmethod
    def _from_json(cls, block: Mapping[str, Any]) -> LocalProtocol:
        """The protocol made again from the settings in its JSON."""

    @abstractmethod
    def tally_of(self, counts: Any, people: Any, *, seeded: bool = False) -> TallyKind:
        """A tally from the number of people and the counts of their reports; refuses impossible counts."""

    def _tally_from_json(self, block: Mapping[str, Any], *, seeded: bool) -> TallyKind:
        """The tally made again from the numbers in its JSON."""
        rounds = {"rounds": block["rounds"]} if "rounds" in block else {}
        return self.tally_of(block["counts"], block["answers"], seeded=seeded, **rounds)

    def empty(self) -> TallyKind:
        """The tally of no reports, to add others to."""
        return self.tally(self.randomise([]))


def protocol_from_json(description: Mapping[str, Any] | str) -> LocalProtocol:
    """The protocol described by `to_json`, recreated from its settings and checked to have the same weights."""
    try:
        block = dict(json.loads(description) if isinstance(description, str) else description)
        protocol = LocalProtocol.kinds[block["protocol"]]._from_json(block)
        same = json.loads(json.dumps(protocol.to_json())) == json.loads(json.dumps(block))
    except _DAMAGE as error:
        raise BadFile("this block describes no protocol: it was cut, changed, or written by something else") from error
    if not same:
        raise BadFile("this protocol does not come out as the block says: a parameter was changed after it was written")
    return protocol


def tally_from_json(description: Mapping[str, Any] | str) -> TallyKind:
    """The tally that `to_json` described."""
    try:
        block = dict(json.loads(description) if isinstance(description, str) else description)
    except _DAMAGE as error:
        raise BadFile("this block describes no tally: it was cut, changed, or written by something else") from error
    protocol = protocol_from_json(block.get("protocol", {}))
    try:
        return protocol._tally_from_json(block, seeded=checked_flag(block["seeded"]))
    except _DAMAGE as error:
        raise BadFile(
            "this tally does not fit its own protocol: it was cut, or changed after it was written"
        ) from error


def offers() -> dict[str, Offer]:
    """Every offered protocol kind, by its name."""
    return {name: kind.offer for name, kind in LocalProtocol.kinds.items() if kind.offer is not None}
