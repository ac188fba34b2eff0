"""The token of a report that a card admits: fixed by the signed message, tied to no card. Needs no web framework."""

from __future__ import annotations

import hashlib
from typing import Final, Protocol

from bruit.apps.web.admission.blind_signatures import PublicKey, verify

DOMAIN: Final = b"bruit admission "


class Admitted(Protocol):
    """A report that carries an admission."""

    @property
    def token(self) -> str:
        """What it is counted once by."""

    @property
    def round(self) -> int:
        """The round it answers."""


def token_of(message: bytes, number: int) -> str:
    """The token of a report in a round: fixed by the signed message, so that one card counts once in each."""
    return hashlib.sha256(DOMAIN + message + number.to_bytes(4, "big")).hexdigest()[:32]


def is_admitted(key: PublicKey, report: Admitted, message: str, signature: str) -> bool:
    """Whether a report's token is that of a message which the poll's key signed."""
    read = bytes.fromhex(message)
    return token_of(read, report.round) == report.token and verify(key, read, bytes.fromhex(signature))
