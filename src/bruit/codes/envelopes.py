"""A Reed–Solomon envelope for bytes in transit: repairs damage, fills erasures, and reports what it cannot repair."""

from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike

from bruit.codes.reed_solomon.code import ReedSolomon
from bruit.core.arguments import octets, whole
from bruit.errors import DecodingFailure, InvalidArgument

DIGEST = 8
LENGTH = 8
LONGEST = 255
"""The symbols of a word whose symbols are bytes."""


def envelope(payload: bytes, *, checks: int = 32) -> bytes:
    """The payload with length and CRC, split into interleaved Reed–Solomon codewords.

    Each word of at most 255 bytes carries `checks` of them. B words stand one symbol of each after the other, so a
    run of up to B·checks/2 wrong or B·checks lost bytes is repaired. Whoever opens it must know `checks`.
    It guards against noise, not against people: anyone can make an envelope. Sealing what was randomised is
    post-processing and costs no ε.
    """
    _require_checks(checks)
    payload = octets(payload, "payload")
    content = len(payload).to_bytes(LENGTH, "big") + payload
    content += blake2b(content, digest_size=DIGEST).digest()
    words = -(-len(content) // (LONGEST - checks))
    k = -(-len(content) // words)
    padded = np.frombuffer(content.ljust(words * k, b"\0"), np.uint8).reshape(words, k)
    return np.ascontiguousarray(_code(k, checks).encode(padded).T).tobytes()


def open_envelope(sealed: bytes, *, erasures: ArrayLike = (), checks: int = 32) -> bytes:
    """The repaired payload of an envelope; raises `DecodingFailure` where it is damaged beyond repair.

    `erasures` are the places of bytes known to be lost, for example of packets that never came; what stands there
    does not matter. The checksum of 64 bits stands behind the answer.
    """
    _require_checks(checks)
    sealed = octets(sealed, "sealed")
    words = -(-len(sealed) // LONGEST)
    if not words or len(sealed) % words or len(sealed) // words <= checks:
        raise DecodingFailure(f"{len(sealed)} bytes are no whole envelope: it was cut, or sealed with other checks")
    received = np.ascontiguousarray(np.frombuffer(sealed, np.uint8).reshape(-1, words).T)
    lost = _lost(erasures, len(sealed)).reshape(-1, words).T
    if int(lost.sum(axis=1).max()) > checks:
        raise DecodingFailure(f"a word of the envelope lost more than {checks} bytes, as many as it has checks")
    code = _code(received.shape[1] - checks, checks)
    content = code.decode(received, erasures=lost, raise_on_failure=True).message.tobytes()
    return _verify(content)


def _verify(content: bytes) -> bytes:
    """The bytes between the length and the checksum of an envelope; refuses a checksum that does not match."""
    end = LENGTH + int.from_bytes(content[:LENGTH], "big")
    digest = blake2b(content[:end], digest_size=DIGEST).digest() if end <= len(content) else b""
    if not digest or content[end : end + DIGEST] != digest:
        raise DecodingFailure("the checksum of the envelope does not agree with what was repaired; ask for it again")
    return content[LENGTH:end]


def _lost(erasures: ArrayLike, size: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    places = np.asarray(erasures)
    if places.size and (places.dtype.kind not in "iu" or int(places.min()) < 0 or int(places.max()) >= size):
        raise InvalidArgument(f"erasures must be whole numbers from 0 to {size - 1}, the places of lost bytes")
    flags = np.zeros(size, np.bool_)
    flags[places.astype(np.int64)] = True
    return flags


def _require_checks(checks: int) -> None:
    whole(checks, "checks", most=LONGEST - 1, why=f"they stand in a word of {LONGEST} bytes")


def _code(k: int, checks: int) -> ReedSolomon:
    return ReedSolomon(k + checks, k, bits=8)
