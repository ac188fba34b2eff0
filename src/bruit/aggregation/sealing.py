"""Encrypts the second collector's share to its public key (HPKE), so that the first can store but not read it.

HPKE in base mode with X25519, HKDF-SHA256 and AES-128-GCM [RFC 9180]. The share is bound to the task, the nonce, the
token and the public share: whoever carries it can drop it and alter nothing.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from bruit.errors import MissingExtra, ProtocolError

if TYPE_CHECKING:
    from bruit.aggregation.collecting import ReportRow
    from bruit.aggregation.tasks import Task

INFO = b"bruit split poll share"


class SealingKey:
    """The second collector's key pair; the private half never leaves its machine."""

    def __init__(self, private: bytes | None = None) -> None:
        keys = _keys()
        self._private = keys.generate() if private is None else keys.from_private_bytes(private)

    @property
    def private(self) -> bytes:
        """The 32 bytes of the private key."""
        return bytes(self._private.private_bytes_raw())

    @property
    def public(self) -> bytes:
        """The 32 bytes of the public key, as stated in the task."""
        return bytes(self._private.public_key().public_bytes_raw())

    def open(self, task: Task, row: ReportRow) -> bytes:
        """Decrypts the share in a row; refused if it was sealed for another key, task or report."""
        from cryptography.exceptions import InvalidTag

        try:
            share = bytes(_suite().decrypt(row.sealed, self._private, info=bound_to(task.digest, row)))
        except (InvalidTag, ValueError) as error:
            raise ProtocolError("a sealed half was made for another key, task or report, or was altered") from error
        if len(share) != task.scheme.share_size(1):
            raise ProtocolError(f"a sealed half holds {len(share)} bytes, not {task.scheme.share_size(1)}")
        return share


def seal(task: Task, row: ReportRow, share: bytes) -> bytes:
    """Encrypts a share to the task's second collector, bound to the row it belongs to."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    key = X25519PublicKey.from_public_bytes(bytes.fromhex(task.parties[1].key))
    return bytes(_suite().encrypt(share, key, info=bound_to(task.digest, row)))


def bound_to(digest: bytes, row: ReportRow) -> bytes:
    """The HPKE info that binds a sealed share to its task, nonce, token and public share."""
    return INFO + digest + row.nonce + row.token + hashlib.sha256(row.public).digest()


def _keys() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    except ModuleNotFoundError as error:
        raise MissingExtra("a poll of two collectors", "collectors") from error
    return X25519PrivateKey


def _suite() -> Any:
    try:
        from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
    except ModuleNotFoundError as error:
        raise MissingExtra("a poll of two collectors", "collectors") from error
    return Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
