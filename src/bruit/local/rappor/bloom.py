"""Bloom filters: each text sets a few bits, different ones in each cohort."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.local.frequencies.bits import words_for
from bruit.local.rappor import _bloom_kernels


def digests(texts: Iterable[Any]) -> NDArray[np.uint32]:
    """Two 32-bit words for each text, from its UTF-8 bytes."""
    encoded = [utf8(text) for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64) if encoded else np.zeros(0, np.int64)
    found = np.empty((len(encoded), 2), np.uint32)
    _bloom_kernels.digest_texts(np.frombuffer(b"".join(encoded), np.uint8), ends, found)
    return found


def text_of(value: Any) -> str:
    """An answer as text, empty where it has none; no answer raises an error."""
    try:
        return str(value)
    except Exception:  # whatever an answer does when it is read, nobody may see it
        return ""


def utf8(value: Any) -> bytes:
    """The UTF-8 bytes of an answer; a lone surrogate becomes U+FFFD, as in browsers."""
    text = text_of(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def places(digested: NDArray[np.uint32], cohorts: NDArray[np.int32], *, hashes: int, bits: int) -> NDArray[np.int32]:
    """The bits that each text sets in its respondent's cohort: (texts, hashes)."""
    found = np.empty((len(digested), hashes), np.int32)
    _bloom_kernels.positions(digested, cohorts, hashes, bits, found)
    return found


def candidate_places(texts: Iterable[Any], *, cohorts: int, hashes: int, bits: int) -> NDArray[np.int32]:
    """The bits that each candidate text sets in every cohort: (texts, cohorts, hashes)."""
    digested = digests(texts)
    every = np.tile(np.arange(cohorts, dtype=np.int32), len(digested))
    found = places(np.repeat(digested, cohorts, axis=0), every, hashes=hashes, bits=bits)
    return found.reshape(len(digested), cohorts, hashes)


def filters(found: NDArray[np.int32], bits: int) -> NDArray[np.uint64]:
    """Packed Bloom filters with the given bits set."""
    packed = np.zeros((len(found), words_for(bits)), np.uint64)
    _bloom_kernels.set_bits(found, packed)
    return packed
