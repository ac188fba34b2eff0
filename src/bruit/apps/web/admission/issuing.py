"""Issues admissions: a card's one-time code pays for one blind signature, which later admits one report."""

from __future__ import annotations

import secrets
from typing import Final

from bruit.apps.web.admission.blind_signatures import PublicKey, blind_sign
from bruit.apps.web.settings import hash_secret
from bruit.errors import MissingExtra

BITS: Final = 2048
CODE: Final = 16
"""Random bytes of a card's code."""


class SigningKey:
    """The signing key of one poll; its signatures admit reports to that poll only."""

    def __init__(self, private: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_der_private_key

        loaded = load_der_private_key(private, None)
        assert isinstance(loaded, RSAPrivateKey)
        numbers = loaded.private_numbers()
        self.public, self._d = PublicKey(numbers.public_numbers.n, numbers.public_numbers.e), numbers.d

    def sign(self, blinded: bytes) -> bytes:
        """Signs a blinded message without learning it; the same message gives the same signature."""
        return blind_sign(self.public, self._d, blinded)


def new_signing_key() -> bytes:
    """A fresh RSA key of 2048 bits as DER; takes a fraction of a second."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa
    except ModuleNotFoundError as error:
        raise MissingExtra("a poll with cards", "collectors") from error
    return rsa.generate_private_key(65537, BITS).private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def new_codes(count: int) -> list[str]:
    """Fresh one-time codes for cards; only their hashes are stored."""
    return [secrets.token_hex(CODE) for _ in range(count)]


def hash_code(code: str) -> str:
    """The hash under which a code, or a blinded message, is stored."""
    return hash_secret(code)
