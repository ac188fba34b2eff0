"""Support counts of listed fingerprints in local-hashing reports: (a x + b) mod 2^32 in the reported bucket."""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Words = NDArray[np.uint32]
Counts = NDArray[np.int32]


@kernel
def add_four(a: Words, b: Words, width: Words, fingerprints: Words, counts: Counts) -> None:
    """Adds to counts (k,) int32 how many of four reports, (4,) uint32 each of a, b and width, each fingerprint meets.

    b has the start of the bucket taken off, so that the test of a bucket is one comparison.
    """
    a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
    b0, b1, b2, b3 = b[0], b[1], b[2], b[3]
    w0, w1, w2, w3 = width[0], width[1], width[2], width[3]
    for v in range(fingerprints.size):
        x = fingerprints[v]
        c = np.int32(np.uint32(np.uint32(a0 * x) + b0) < w0)
        c += np.int32(np.uint32(np.uint32(a1 * x) + b1) < w1)
        c += np.int32(np.uint32(np.uint32(a2 * x) + b2) < w2)
        c += np.int32(np.uint32(np.uint32(a3 * x) + b3) < w3)
        counts[v] += np.int32(c)


@kernel
def count_listed(a: Words, b: Words, width: Words, fingerprints: Words, counts: Counts) -> None:
    """Adds the support of reports (n,) uint32, n a multiple of 4, to counts (k,) int32 of fingerprints (k,) uint32.

    Fingerprints are taken in blocks that stay in the first-level cache while all reports pass over them.
    """
    for first in range(0, fingerprints.size, 2048):
        block = slice(first, min(first + 2048, fingerprints.size))
        for i in range(0, a.size, 4):
            add_four(a[i : i + 4], b[i : i + 4], width[i : i + 4], fingerprints[block], counts[block])
