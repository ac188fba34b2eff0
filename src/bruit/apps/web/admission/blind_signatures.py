"""RSA blind signatures with PSS and SHA-384: the signer sees neither message nor signature. [RFC 9474]

Numbers are octet strings of the modulus' length, big end first. The variant of admissions is
RSABSSA-SHA384-PSS-Randomized: 48 bytes of salt, and 32 random bytes before every message.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from dataclasses import dataclass
from typing import Final

from bruit.errors import ProtocolError

SALT: Final = 48
PREFIX: Final = 32
_HASH: Final = 48
"""Bytes of SHA-384."""


@dataclass(frozen=True)
class PublicKey:
    """The modulus and exponent by which signatures are verified."""

    n: int
    e: int

    @property
    def size(self) -> int:
        """The size of the modulus in bytes."""
        return (self.n.bit_length() + 7) // 8


@dataclass(frozen=True)
class Blinded:
    """A blinded message for the signer, and the inverse that unblinds the signer's answer."""

    message: bytes
    blinded: bytes
    inverse: int


def prepare(message: bytes) -> bytes:
    """The message with 32 random bytes before it, so that a chosen message reveals nothing. [RFC 9474, 4.1]"""
    return secrets.token_bytes(PREFIX) + message


def blind(key: PublicKey, prepared: bytes, *, salt: bytes | None = None, factor: int | None = None) -> Blinded:
    """Blinds a prepared message: z = EMSA-PSS(m) r^e mod n; only test vectors give `salt` and `factor`.

    [RFC 9474, 4.2]
    """
    encoded = _encode(prepared, key.n.bit_length() - 1, secrets.token_bytes(SALT) if salt is None else salt)
    number = int.from_bytes(encoded, "big")
    if math.gcd(number, key.n) != 1:
        raise ProtocolError("a message that shares a factor with the modulus; the key is broken")
    r = 1 + secrets.randbelow(key.n - 1) if factor is None else factor
    z = number * pow(r, key.e, key.n) % key.n
    return Blinded(prepared, z.to_bytes(key.size, "big"), pow(r, -1, key.n))


def blind_sign(key: PublicKey, private: int, blinded: bytes) -> bytes:
    """Signs a blinded message: z^d mod n, verified before it is returned; deterministic. [RFC 9474, 4.3]"""
    z = int.from_bytes(blinded, "big")
    if len(blinded) != key.size or z >= key.n:
        raise ProtocolError(f"a blinded message has {key.size} bytes and is below the modulus")
    signed = pow(z, private, key.n)
    if pow(signed, key.e, key.n) != z:  # a fault here would give a factor of the key away
        raise ProtocolError("the signature came out wrong; nothing was signed")
    return signed.to_bytes(key.size, "big")


def finalise(key: PublicKey, waiting: Blinded, answer: bytes) -> bytes:
    """Unblinds the signer's answer into a signature; refuses one that does not verify. [RFC 9474, 4.4]"""
    if len(answer) != key.size:
        raise ProtocolError(f"a blind signature has {key.size} bytes")
    signature = (int.from_bytes(answer, "big") * waiting.inverse % key.n).to_bytes(key.size, "big")
    if not verify(key, waiting.message, signature):
        raise ProtocolError("the issuer's signature does not verify; nothing was sent with it")
    return signature


def verify(key: PublicKey, prepared: bytes, signature: bytes, *, salt: int = SALT) -> bool:
    """Whether a signature over the prepared message is valid under the key. [RFC 8017, 8.1.2 and 9.1.2]"""
    number = int.from_bytes(signature, "big")
    if len(signature) != key.size or number >= key.n:
        return False
    bits = key.n.bit_length() - 1
    size = (bits + 7) // 8
    recovered = pow(number, key.e, key.n)
    if recovered >> bits:
        return False
    encoded = recovered.to_bytes(size, "big")
    masked, digest = encoded[: size - _HASH - 1], encoded[size - _HASH - 1 : -1]
    block = bytearray(_xor(masked, _mask(digest, len(masked))))
    block[0] &= 0xFF >> (8 * size - bits)
    start = len(masked) - salt - 1
    if encoded[-1] != 0xBC or any(block[:start]) or block[start] != 1:
        return False
    return _digest(prepared, bytes(block[start + 1 :])) == digest


def _encode(message: bytes, bits: int, salt: bytes) -> bytes:
    """EMSA-PSS-ENCODE with SHA-384 and MGF1. [RFC 8017, 9.1.1]"""
    size = (bits + 7) // 8
    if size < _HASH + len(salt) + 2:
        raise ProtocolError("the modulus is too short for SHA-384 and its salt")
    digest = _digest(message, salt)
    block = bytes(size - len(salt) - _HASH - 2) + b"\x01" + salt
    masked = bytearray(_xor(block, _mask(digest, len(block))))
    masked[0] &= 0xFF >> (8 * size - bits)
    return bytes(masked) + digest + b"\xbc"


def _digest(message: bytes, salt: bytes) -> bytes:
    return hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()


def _mask(seed: bytes, length: int) -> bytes:
    """MGF1, the mask generation function of RSA-PSS. [RFC 8017, B.2.1]"""
    rounds = range(-(-length // _HASH))
    return b"".join(hashlib.sha384(seed + count.to_bytes(4, "big")).digest() for count in rounds)[:length]


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
