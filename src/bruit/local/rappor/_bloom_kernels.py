"""Hashing texts into the bits of a Bloom filter with 32-bit operations that JavaScript can do (Math.imul, >>> 0)."""

from typing import Any

import numpy as np

from bruit._jit import inlined, kernel


@inlined
def _mixed(x: Any) -> Any:
    """A permutation of 32-bit words that lets every bit of the input reach every bit of the output."""
    x ^= x >> np.uint32(16)
    x = np.uint32(x * np.uint32(0x7FEB352D))
    x ^= x >> np.uint32(15)
    x = np.uint32(x * np.uint32(0x846CA68B))
    return x ^ (x >> np.uint32(16))


@kernel
def digest_texts(data: Any, ends: Any, digests: Any) -> None:
    """Two hash words per text: data (bytes,) uint8 of all texts in a row, ends (n,) int64, digests (n, 2) uint32."""
    start = 0
    for i in range(ends.size):
        one = np.uint32(0x811C9DC5)
        two = np.uint32(0x9E3779B9)
        for j in range(start, ends[i]):
            one = np.uint32((one ^ np.uint32(data[j])) * np.uint32(0x01000193))
            two = np.uint32((two ^ np.uint32(data[j])) * np.uint32(0x85EBCA6B))
            two ^= two >> np.uint32(13)
        digests[i, 0] = _mixed(one)
        digests[i, 1] = _mixed(np.uint32(two + np.uint32(ends[i] - start)))
        start = ends[i]


@kernel
def positions(digests: Any, cohorts: Any, hashes: int, bits: int, out: Any) -> None:
    """Which bits each text sets in its cohort: digests (n, 2) uint32, cohorts (n,) int32, out (n, hashes) int32.

    Hash j of cohort c is mixed(two + mixed(one + mixed(c * hashes + j + 1))), cut into `bits` parts.
    """
    for i in range(cohorts.size):
        for j in range(hashes):
            seed = _mixed(np.uint32(np.uint32(cohorts[i]) * np.uint32(hashes) + np.uint32(j + 1)))
            word = _mixed(np.uint32(digests[i, 1] + _mixed(np.uint32(digests[i, 0] + seed))))
            out[i, j] = np.int32((np.uint64(word) * np.uint64(bits)) >> np.uint64(32))


@kernel
def set_bits(places: Any, filters: Any) -> None:
    """Sets the bits at places (n, hashes) int32 in filters (n, width) uint64."""
    for i in range(places.shape[0]):
        for j in range(places.shape[1]):
            filters[i, places[i, j] >> 6] |= np.uint64(1) << np.uint64(places[i, j] & 63)
