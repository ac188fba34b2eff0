"""The token of a report that a card admits: derived from the signed message, not linkable to a card."""

from __future__ import annotations

import hashlib
from typing import Final, Protocol

from bruit.apps.web.admission.blind_signatures import PublicKey, verify

DOMAIN: Final = b"bruit admission "


class Admitted(Protocol):
    """A report that carries an admission: its token and its round."""

    @property
    def token(self) -> str:
        """The report's token, which is counted only once."""

    @property
    def round(self) -> int:
        """The round that the report answers."""


def token_of(message: bytes, number: int) -> str:
    """The token of a report in a round: a hash of the signed message, so that a card counts once per round."""
    return hashlib.sha256(DOMAIN + message + number.to_bytes(4, "big")).hexdigest()[:32]


def is_admitted(key: PublicKey, report: Admitted, message: str, signature: str) -> bool:
    """Whether a report's token belongs to a message that the poll's key signed."""
    read = bytes.fromhex(message)
    return token_of(read, report.round) == report.token and verify(key, read, bytes.fromhex(signature))
